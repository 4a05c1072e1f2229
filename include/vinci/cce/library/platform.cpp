// SPDX-License-Identifier: Apache-2.0
// What the host code of a library asks about the chip, answered with the numbers of the simulated chip.
// `vinci cc --tiling` compiles this file with the user's copy of the library, whose headers have the classes.
#include <cstdarg>
#include <cstdio>

#include "platform/soc_spec.h"
#ifndef VINCI_LIBRARY_PLATFORM_H // host programs of operators have read this already
#include "tiling/platform/platform_ascendc.h"
#endif

// Of libvinci_acl: a number of the chip by its name ("ub.size"); -1 when there is no such number.
extern "C" int64_t vinci_acl_number(const char *name);

// Messages of the library: errors are printed.
extern "C" {
int32_t CheckLogLevel(int32_t, int32_t level) { return level >= 3; }
void DlogRecord(int32_t, int32_t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
}
}

namespace platform_ascendc {

PlatformAscendC *PlatformAscendCManager::platformInfo = nullptr;
std::mutex PlatformAscendCManager::platformInitMtx;

PlatformAscendC *PlatformAscendCManager::PlatformAscendCManagerInit(const char *) {
  static PlatformAscendC chip(nullptr);
  platformInfo = &chip;
  return platformInfo;
}

uint32_t PlatformAscendC::GetCoreNumAic() const { return (uint32_t)vinci_acl_number("device.cube_cores"); }
uint32_t PlatformAscendC::GetCoreNumAiv() const { return (uint32_t)vinci_acl_number("device.vector_cores"); }
uint32_t PlatformAscendC::GetCoreNum() const { return GetCoreNumAiv(); }
// Vector cores beside coupled cores.
uint32_t PlatformAscendC::GetCoreNumVector() const { return 0; }
// The host code of an operator is compiled for the kind of chip.
#ifdef VINCI_LIBRARY_REGISTERS
SocVersion PlatformAscendC::GetSocVersion() const { return SocVersion::ASCEND950; }
NpuArch PlatformAscendC::GetCurNpuArch() const { return NpuArch::DAV_3510; }
uint32_t PlatformAscendC::GetVecRegLen() const { return 256; }
#else
SocVersion PlatformAscendC::GetSocVersion() const { return SocVersion::ASCEND910B; }
NpuArch PlatformAscendC::GetCurNpuArch() const { return NpuArch::DAV_2201; }
uint32_t PlatformAscendC::GetVecRegLen() const { return 0; }
#endif

// Blocks of a mixed kernel: an AIC with its AIV each.
uint32_t PlatformAscendC::CalcTschNumBlocks(uint32_t slices, uint32_t cubes, uint32_t vectors) const {
  uint32_t ratio = cubes > 0 && vectors >= cubes ? vectors / cubes : 1;
  return (slices + ratio - 1) / ratio;
}
uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t slices, uint32_t cubes, uint32_t vectors) const {
  return CalcTschNumBlocks(slices, cubes, vectors);
}

// Of the documentation: 16 MiB for the library on the 910B, 1 MiB for groups.
uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const { return 16u << 20; }
uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const { return 1u << 20; }
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return 1u << 20; }

void PlatformAscendC::ReserveLocalMemory(ReservedSize size) {
  reservedMemSize_ = size == ReservedSize::RESERVED_SIZE_8K    ? 8u << 10
                     : size == ReservedSize::RESERVED_SIZE_16K ? 16u << 10
                                                               : 32u << 10;
}

// As the platform files say it: without what vector functions keep for their stack.
extern "C" int64_t vinci_platform_ub() {
  bool functions = vinci_acl_number("vf.physical") > 0;
  return vinci_acl_number("ub.size") - (functions ? vinci_acl_number("ub.reserved") : 0);
}

// The library keeps the last 256 bytes of UB and L1 for its messages.
void PlatformAscendC::GetCoreMemSize(const CoreMemType &type, uint64_t &size) const {
  static const struct {
    CoreMemType type;
    const char *name;
    uint64_t kept;
  } memories[] = {{CoreMemType::L0_A, "l0a.size", 0}, {CoreMemType::L0_B, "l0b.size", 0},
                  {CoreMemType::L0_C, "l0c.size", 0}, {CoreMemType::L1, "l1.size", 256},
                  {CoreMemType::L2, "l2.size", 0},    {CoreMemType::UB, "ub.size", 256},
                  {CoreMemType::HBM, "hbm.size", 0},  {CoreMemType::FB, "fb.size", 0},
                  {CoreMemType::BT, "bt.size", 0}};
  for (const auto &memory : memories)
    if (memory.type == type)
      size = (uint64_t)(type == CoreMemType::UB ? vinci_platform_ub() - reservedMemSize_
                                                : vinci_acl_number(memory.name)) -
             memory.kept;
}

// Bytes per cycle.
void PlatformAscendC::GetCoreMemBw(const CoreMemType &type, uint64_t &rate) const {
  int64_t clock = vinci_acl_number("clock.core");
  rate = (uint64_t)(vinci_acl_number(type == CoreMemType::HBM ? "hbm.bandwidth" : "l2.bandwidth") / clock);
}

} // namespace platform_ascendc
