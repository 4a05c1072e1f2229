// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: the table of kernels, launches that queue, and registers of a device
// (vinci_systemc.h).
#ifndef VINCI_SYSTEMC_LAUNCHES_H
#define VINCI_SYSTEMC_LAUNCHES_H

#include <deque>

#include "vinci_systemc_runner.h"

namespace vinci {

class launches : public runner {
public:
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  // Puts an operator, or a trace from a file, into the table of kernels: its number there.
  uint32_t load(const std::string &op, const std::vector<std::string> &args) {
    return keep(compile(op, args));
  }
  uint32_t load_trace(const std::string &path) { return keep(load_file(path)); }
  // Offset of the register with the address of a tensor, while a kernel is chosen.
  uint64_t argument(uint32_t number, const std::string &tensor) const {
    const kernel &of = kernels_.at(number);
    std::string known;
    for (size_t i = 0; i < of.names.size(); i++) {
      if (of.names[i] == tensor)
        return reg::ARGUMENT + 8 * i;
      known += (i > 0 ? ", " : "") + of.names[i];
    }
    throw error(VINCI_E_USAGE,
                "kernel " + std::to_string(number) + " has no tensor " + tensor + ", but " + known);
  }

protected:
  launches(sc_core::sc_module_name name, const std::string &chip, const config &how)
      : runner(name, chip, how), interrupt("interrupt") {
    spawn_method([this] { raise(); }, line_, "raise");
  }
  ~launches() override {
    abandon();
    for (const kernel &one : kernels_)
      vinci_trace_free(one.trace);
  }

  // 32 bits of a register.
  uint32_t read_register(uint64_t offset) const {
    if (offset >= reg::ARGUMENT) {
      const size_t index = (offset - reg::ARGUMENT) / 8;
      return index < arguments_.size() ? half(arguments_[index], offset) : 0;
    }
    switch (offset) {
    case reg::ID:
      return reg::MAGIC;
    case reg::STATUS:
      return (busy() || !queue_.empty() ? reg::BUSY : 0u) | (status_ ? reg::FAILED : 0u) |
             (queue_.size() >= reg::QUEUE ? reg::FULL : 0u);
    case reg::KERNELS:
      return static_cast<uint32_t>(kernels_.size());
    case reg::KERNEL:
      return chosen_;
    case reg::ENDED:
      return ended_;
    case reg::INT_STATUS:
      return pending_;
    case reg::INT_ENABLE:
      return enabled_;
    case reg::CODE:
      return status_;
    case reg::ARGUMENTS:
      return static_cast<uint32_t>(arguments_.size());
    case reg::CYCLES:
    case reg::CYCLES + 4:
      return half(cycles(), offset);
    case reg::PICOSECONDS:
    case reg::PICOSECONDS + 4:
      return half(duration_.value(), offset);
    case reg::MEMORY:
    case reg::MEMORY + 4:
      return half(gm_bytes_, offset);
    default:
      return 0;
    }
  }

  // False: what was written makes no sense now.
  bool write_register(uint64_t offset, uint32_t value, const sc_core::sc_time &delay) {
    if (offset >= reg::ARGUMENT)
      return set_argument((offset - reg::ARGUMENT) / 8, value, offset);
    switch (offset) {
    case reg::KERNEL:
      return choose(value);
    case reg::DOORBELL:
      if (kernels_.empty() || queue_.size() >= reg::QUEUE)
        return false;
      queue_.push_back({chosen_, arguments_, sc_core::sc_time_stamp() + delay});
      kick_.notify(sc_core::SC_ZERO_TIME);
      return true;
    case reg::INT_STATUS:
      pending_ &= ~value;
      break;
    case reg::INT_ENABLE:
      enabled_ = value;
      break;
    default:
      return false;
    }
    line_.notify(delay);
    return true;
  }

private:
  static uint32_t half(uint64_t value, uint64_t offset) {
    return static_cast<uint32_t>(offset % 8 ? value >> 32 : value);
  }
  bool set_argument(size_t index, uint32_t value, uint64_t offset) {
    if (index >= arguments_.size())
      return false;
    const unsigned shift = offset % 8 ? 32 : 0;
    uint64_t &argument = arguments_[index];
    argument = (argument & ~(uint64_t{UINT32_MAX} << shift)) | uint64_t{value} << shift;
    return true;
  }
  bool choose(uint32_t number) {
    if (number >= kernels_.size())
      return false;
    chosen_ = number;
    arguments_ = kernels_[number].addresses;
    return true;
  }

  struct kernel {
    vinci_trace *trace;
    std::vector<std::string> names; // of its tensors, each memory once
    std::vector<uint64_t> addresses;
    std::vector<size_t> tensor_of; // by declaration: the place in names
  };
  struct launch_of {
    uint32_t kernel;
    std::vector<uint64_t> addresses;
    sc_core::sc_time at;
  };

  uint32_t keep(vinci_trace *trace) {
    kernel one = {trace, {}, {}, {}};
    struct vinci_guest_tensor tensor;
    for (size_t i = 0; vinci_guest_tensor(trace, i, &tensor); i++) {
      one.tensor_of.push_back(tensor.first < i ? one.tensor_of[tensor.first] : one.names.size());
      if (tensor.first == i) {
        one.names.push_back(tensor.name);
        one.addresses.push_back(tensor.address);
      }
    }
    kernels_.push_back(one);
    if (kernels_.size() == 1)
      choose(0);
    return static_cast<uint32_t>(kernels_.size() - 1);
  }

  // ---- launches -----------------------------------------------------------------------------

  sc_core::sc_time next_launch() const override {
    return queue_.empty() ? sc_core::sc_max_time() : queue_.front().at;
  }

  void launch() override {
    const launch_of next = queue_.front();
    const kernel &of = kernels_[next.kernel];
    std::vector<uint64_t> addresses;
    for (const size_t place : of.tensor_of)
      addresses.push_back(next.addresses[place]);
    queue_.pop_front();
    try_to_begin(of.trace, addresses, nullptr);
  }

  void ended() override {
    ended_++;
    pending_ |= status_ == VINCI_OK ? reg::DONE : reg::ERROR;
    line_.notify(sc_core::SC_ZERO_TIME);
  }

  void raise() {
    if (interrupt.size() > 0)
      interrupt->write((pending_ & enabled_) != 0);
  }

  std::vector<kernel> kernels_;
  std::deque<launch_of> queue_;
  uint32_t chosen_ = 0;
  std::vector<uint64_t> arguments_;
  uint32_t ended_ = 0, pending_ = 0, enabled_ = 0;
  sc_core::sc_event line_; // the interrupt may change
};

} // namespace vinci

#endif
