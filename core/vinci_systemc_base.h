// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: errors, choices and registers of a device (vinci_systemc.h).
#ifndef VINCI_SYSTEMC_BASE_H
#define VINCI_SYSTEMC_BASE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "vinci_guest.h"
#include "vinci_tables.h"

namespace vinci {

// What went wrong: the text with its place and hint, and the status of the C library.
class error : public std::runtime_error {
public:
  error(enum vinci_status status, const std::string &text)
      : std::runtime_error(text), status_(status) {}
  enum vinci_status status() const { return status_; }

private:
  enum vinci_status status_;
};

// Whose memory lies behind the cores: the platform's alone; the platform's behind the chip's own L2
// and network; or the chip's device memory too.
enum class memory_of { platform, platform_behind_l2, chip };

// How requests go to the platform.
enum class transport { blocking, nonblocking };

struct config {
  memory_of whose = memory_of::platform;
  std::vector<std::string> sets; // numbers of the chip that differ, "l2.size=64MiB"
  bool keeps = false;            // L2 and instruction caches keep what a run has left
  bool values = false;           // kernels compute: device memory holds their results
  transport how = transport::blocking;
  unsigned channels = 64;       // blocking: processes for targets that wait
  uint64_t base = 0;            // of device memory, in the address map behind `memory`
  uint64_t window = 1ULL << 32; // of device memory, in the address map of `host`
};

// Registers of a device, by their offset behind `host`: 32 bits, or 64 where a size is given.
namespace reg {
enum : uint64_t {
  ID = 0x00,          // read: MAGIC
  STATUS = 0x04,      // read: BUSY, FAILED, FULL
  KERNELS = 0x08,     // read: how many are loaded
  KERNEL = 0x0c,      // which of them; sets ARGUMENT to the addresses of its trace
  DOORBELL = 0x10,    // write: launches KERNEL with ARGUMENT; an error when FULL
  ENDED = 0x14,       // read: launches that have ended
  INT_STATUS = 0x18,  // read: DONE, ERROR; write: takes away the bits that are 1
  INT_ENABLE = 0x1c,  // which of these raise the interrupt
  CODE = 0x20,        // read: enum vinci_status of the last launch
  ARGUMENTS = 0x24,   // read: how many tensors KERNEL has
  CYCLES = 0x28,      // read, 64 bits: of the last launch
  PICOSECONDS = 0x30, // read, 64 bits: of the last launch
  MEMORY = 0x38,      // read, 64 bits: bytes of device memory
  ARGUMENT = 0x400,   // 64 bits each: addresses of the tensors of KERNEL in device memory
  END = 0x1000
};
enum : uint32_t { MAGIC = 0x434e4956 }; // "VINC"
enum : uint32_t { BUSY = 1, FAILED = 2, FULL = 4 };
enum : uint32_t { DONE = 1, ERROR = 2 };
enum : unsigned { QUEUE = 16, ARGUMENTS_MAX = (END - ARGUMENT) / 8 };
} // namespace reg

// An extension of the payloads of a device: who asks.
struct origin : tlm::tlm_extension<origin> {
  const char *device = "";
  uint32_t core = 0; // an index of the result's cores
  tlm_extension_base *clone() const override { return new origin(*this); }
  void copy_from(const tlm_extension_base &other) override {
    *this = static_cast<const origin &>(other);
  }
};

// A process of the module under construction that an event starts.
template <typename BODY>
void spawn_method(BODY body, const sc_core::sc_event &event, const char *what) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&event);
  sc_core::sc_spawn(body, sc_core::sc_gen_unique_name(what), &options);
}

// A chip, and traces for that chip.
class loader {
protected:
  loader(const std::string &chip, const std::vector<std::string> &sets) {
    check(vinci_soc_load(chip.c_str(), nullptr, &own_.soc, &diag_));
    soc_ = own_.soc;
    struct vinci_soc_number number;
    for (const std::string &set : sets)
      check(vinci_soc_set(soc_, set.c_str(), &diag_));
    for (size_t i = 0; vinci_soc_number(soc_, i, &number); i++)
      if (std::string(number.key) == "hbm.size")
        gm_bytes_ = static_cast<uint64_t>(number.value);
  }
  loader(const loader &) = delete;

  void check(enum vinci_status status) {
    if (status == VINCI_OK)
      return;
    std::string text = diag_.text;
    if (*diag_.hint)
      text += std::string(" (") + diag_.hint + ")";
    diag_ = {};
    throw error(status, text);
  }

  vinci_trace *compile(const std::string &op, const std::vector<std::string> &args) {
    std::vector<const char *> words;
    vinci_trace *trace = nullptr;
    for (const std::string &arg : args)
      words.push_back(arg.c_str());
    check(vinci_compile(soc_, op.c_str(), words.data(), words.size(), &trace, &diag_));
    return trace;
  }
  vinci_trace *load_file(const std::string &path) {
    vinci_trace *trace = nullptr;
    check(vinci_trace_load(path.c_str(), soc_, &trace, &diag_));
    return trace;
  }
  static std::vector<uint64_t> own_addresses(const vinci_trace *trace) {
    std::vector<uint64_t> addresses;
    struct vinci_guest_tensor tensor;
    while (vinci_guest_tensor(trace, addresses.size(), &tensor))
      addresses.push_back(tensor.address);
    return addresses;
  }

  // What L2 and instruction caches hold.
  vinci_guest_state *state() {
    if (!own_.state)
      check(vinci_guest_state_create(soc_, &own_.state, &diag_));
    return own_.state;
  }

  vinci_soc *soc_ = nullptr;
  struct vinci_diag diag_ = {};
  uint64_t gm_bytes_ = 0; // of device memory

private:
  struct owner {
    vinci_soc *soc = nullptr;
    vinci_guest_state *state = nullptr;
    ~owner() {
      vinci_guest_state_free(state);
      vinci_soc_free(soc);
    }
  } own_;
};

} // namespace vinci

#endif
