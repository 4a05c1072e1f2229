// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: device memory with values (vinci_systemc.h). Timing never asks here.
#ifndef VINCI_SYSTEMC_MEMORY_H
#define VINCI_SYSTEMC_MEMORY_H

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include <sys/mman.h>

#include "vinci_systemc_base.h"

namespace vinci {

// Bytes of a device that has its own memory: zeros at first; the system hands out touched pages.
class store {
public:
  ~store() {
    if (bytes_)
      munmap(bytes_, size_);
  }
  // nullptr: too many for the system.
  unsigned char *open(uint64_t size) {
    if (bytes_)
      return bytes_;
    void *room = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bytes_ = room == MAP_FAILED ? nullptr : static_cast<unsigned char *>(room);
    size_ = size;
    return bytes_;
  }

private:
  unsigned char *bytes_ = nullptr;
  uint64_t size_ = 0;
};

// What a move of bytes of device memory asks for.
class asked_range {
public:
  bool lies_in(uint64_t size, uint64_t address, uint64_t bytes) {
    address_ = address;
    bytes_ = bytes;
    return !(beyond_ = bytes > size || address > size - bytes);
  }
  bool beyond() const { return beyond_; }
  // Why it was not moved.
  std::string why(uint64_t size) const {
    char text[256];
    const unsigned long long bytes = bytes_, address = address_, all = size;
    if (beyond_)
      std::snprintf(text, sizeof text,
                    "a tensor of %llu bytes at address 0x%llx ends beyond the %llu bytes of device "
                    "memory",
                    bytes, address, all);
    else
      std::snprintf(text, sizeof text,
                    "memory answers neither get_direct_mem_ptr nor transport_dbg for %llu bytes at "
                    "address 0x%llx, which runs with values need: is there memory, and as much?",
                    bytes, address);
    return text;
  }

private:
  uint64_t address_ = 0, bytes_ = 0;
  bool beyond_ = false;
};

// Memory of the platform, without time: by direct pointers where the targets give these, otherwise
// by debug transport.
template <typename SOCKET> class backdoor {
public:
  explicit backdoor(SOCKET &socket) : socket_(socket) {}
  void forget() { known_ = false; }
  // False: somebody on the way moves no bytes without time.
  bool move(bool write, uint64_t address, unsigned char *data, uint64_t bytes) {
    while (bytes > 0) {
      uint64_t step = direct(write, address, data, bytes);
      if (step == 0)
        step = debug(write, address, data, std::min<uint64_t>(bytes, 1 << 20));
      if (step == 0)
        return false;
      address += step;
      data += step;
      bytes -= step;
    }
    return true;
  }

private:
  uint64_t direct(bool write, uint64_t address, unsigned char *data, uint64_t bytes) {
    if (!holds(write, address)) {
      tlm::tlm_generic_payload asked;
      asked.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
      asked.set_address(address);
      given_.init();
      known_ = socket_->get_direct_mem_ptr(asked, given_);
    }
    if (!holds(write, address))
      return 0;
    const uint64_t left = given_.get_end_address() - address;
    const uint64_t step = bytes - 1 > left ? left + 1 : bytes;
    unsigned char *there = given_.get_dmi_ptr() + (address - given_.get_start_address());
    std::memcpy(write ? there : data, write ? data : there, step);
    return step;
  }
  bool holds(bool write, uint64_t address) const {
    return known_ && given_.get_dmi_ptr() && address >= given_.get_start_address() &&
           address <= given_.get_end_address() &&
           (write ? given_.is_write_allowed() : given_.is_read_allowed());
  }
  uint64_t debug(bool write, uint64_t address, unsigned char *data, uint64_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    return socket_->transport_dbg(payload);
  }

  SOCKET &socket_;
  tlm::tlm_dmi given_;
  bool known_ = false;
};

// What a run leaves in the tensors of its trace.
class image {
public:
  // Moves bytes of device memory; false: it cannot.
  using move_function =
      std::function<bool(bool write, uint64_t address, unsigned char *data, uint64_t bytes)>;

  ~image() { close(); }

  // Executes a trace on what memory holds now. Addresses are those of all declarations.
  enum vinci_status run(const vinci_soc *soc, const vinci_trace *trace,
                        const std::vector<uint64_t> &addresses, const move_function &move,
                        struct vinci_diag *diag) {
    close();
    enum vinci_status status = vinci_values_create(soc, trace, &values_, diag);
    if (status != VINCI_OK)
      return status;
    struct vinci_tensor tensor;
    for (size_t i = 0; i < vinci_values_count(values_); i++)
      if (vinci_values_tensor(values_, i, &tensor) && tensor.bytes > 0) {
        unsigned char *data = static_cast<unsigned char *>(tensor.data);
        if (!move(false, addresses[i], data, tensor.bytes))
          return VINCI_E_IO;
        if (!tensor.input || tensor.output)
          written_.push_back({addresses[i], tensor.bytes, data});
      }
    vinci_values_zero(values_); // inputs are given: the loop above has done that
    return vinci_values_run(values_, nullptr, nullptr, diag);
  }
  // Brings memory into the state after the run.
  bool save(const move_function &move) {
    for (const part &one : written_)
      if (!move(true, one.address, one.data, one.bytes))
        return false;
    return true;
  }
  // What a write to a range carries: of tensors the state after the run, beside them what is there.
  void fill(uint64_t address, unsigned char *data, uint64_t bytes,
            const move_function &move) const {
    const uint64_t end = address + bytes;
    bool whole = false;
    for (const part &one : written_)
      whole |= one.address <= address && end <= one.address + one.bytes;
    if (!whole)
      (void)move(false, address, data, bytes); // zeros otherwise
    for (const part &one : written_) {
      const uint64_t from = std::max(address, one.address);
      const uint64_t to = std::min(end, one.address + one.bytes);
      if (from < to)
        std::memcpy(data + (from - address), one.data + (from - one.address), to - from);
    }
  }
  void close() {
    written_.clear();
    vinci_values_free(values_);
    values_ = nullptr;
  }

private:
  struct part {
    uint64_t address, bytes;
    unsigned char *data;
  };
  vinci_values *values_ = nullptr;
  std::vector<part> written_; // tensors that kernels may write
};

} // namespace vinci

#endif
