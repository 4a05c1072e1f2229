// SPDX-License-Identifier: Apache-2.0
// What host code asks about the chip, answered with the numbers of the simulated chip. The classes are those of the
// user's headers where these are there, as host functions of the headers know them by that definition.
#ifndef VINCI_LIBRARY_PLATFORM_H
#define VINCI_LIBRARY_PLATFORM_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "platform/soc_spec.h"

// A number of the chip by its name ("ub.size"); -1 when there is no such number.
extern "C" int64_t vinci_acl_number(const char *name);
// Bytes of UB as the platform files of CANN have them (vinci/cce/library/platform.cpp).
extern "C" int64_t vinci_platform_ub();

namespace fe {

class OptionalInfos;

// Texts about the chip, by label and key.
class PlatFormInfos {
public:
  bool GetPlatformRes(const std::string &label, const std::string &key, std::string &value);
  bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value) {
    return GetPlatformRes(label, key, value);
  }
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumByType(const std::string &type);
  void SetCoreNumByCoreType(const std::string &) {}
  template <typename... T> void SetPlatformRes(T &&...) {}
  bool Init() { return true; }
  template <typename kind> void GetLocalMemSize(kind memory, uint64_t &size) { MemorySize((int)memory, size); }
  template <typename kind> void GetLocalMemBw(kind, uint64_t &rate) { rate = 0; }

private:
  void MemorySize(int memory, uint64_t &size);
};

// What rules of shapes ask: the name of the chip.
struct OptionalInfo {
  std::string soc_version = "Ascend910B";
};
struct PlatformInfo {
  struct {
    std::string short_soc_version = "Ascend910B";
  } str_info;
  struct {
    uint32_t ai_core_cnt = 0;
  } soc_info;
};
class PlatformInfoManager {
public:
  static PlatformInfoManager &Instance() {
    static PlatformInfoManager manager;
    return manager;
  }
  uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo &info, OptionalInfo &) {
    info.soc_info.ai_core_cnt = PlatFormInfos().GetCoreNum();
    return 0;
  }
};

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

} // namespace fe

#if __has_include("tiling/platform/platform_ascendc.h")
#include "tiling/platform/platform_ascendc.h"
#else
namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };
enum class SocVersion { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND950, RESERVED_VERSION = 99999 };
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
public:
  explicit PlatformAscendC(fe::PlatFormInfos *) {}
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumAic() const;
  uint32_t GetCoreNumAiv() const;
  uint32_t GetCoreNumVector() const;
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cubes, uint32_t vectors) const;
  uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t cubes, uint32_t vectors) const;
  uint32_t GetLibApiWorkSpaceSize() const;
  uint32_t GetResCubeGroupWorkSpaceSize() const;
  uint32_t GetResGroupBarrierWorkSpaceSize() const;
  void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const;
  void GetCoreMemBw(const CoreMemType &type, uint64_t &rate) const;
  void ReserveLocalMemory(ReservedSize size);
  SocVersion GetSocVersion() const;
  NpuArch GetCurNpuArch() const;
  uint32_t GetVecRegLen() const;

private:
  uint32_t reservedMemSize_ = 0;
};

class PlatformAscendCManager {
public:
  static PlatformAscendC *GetInstance(const char * = nullptr) { return PlatformAscendCManagerInit(nullptr); }

private:
  static PlatformAscendC *platformInfo;
  static std::mutex platformInitMtx;
  static PlatformAscendC *PlatformAscendCManagerInit(const char *);
};

} // namespace platform_ascendc
#endif

#endif
