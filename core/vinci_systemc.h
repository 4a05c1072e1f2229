// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: a chip as an sc_module with a TLM-2.0 socket.
//
//     vinci::device npu("npu", "Ascend910B4");        // its cores; memory is the platform's
//     npu.memory.bind(bus.target);
//     npu.start("matmul", {"m=512", "k=512", "n=512"});
//     wait(npu.finished);                              // in an SC_THREAD
//     std::cout << npu.duration() << " " << npu.cycles() << " cycles\n";
//
// Each request of an engine of a core is one generic payload: its address and length are those of
// the trace's tensors, at most a line of L2. Sent by b_transport at the time of the request. A
// target tells its time by the delay argument, which holds up nobody else, or waits, which occupies
// one of `channels` processes; further requests queue. Payloads carry no values: data points to
// zeros, and what a read brings is not looked at. With memory_of::chip the chip has
// its own L2, network and device memory, and the socket may stay unbound.
//
// Several devices live in one platform. What one does depends on its answers alone. SystemC's time
// resolution has to be 1 ps. Errors are thrown as vinci::error. Link with libvinci and SystemC.
#ifndef VINCI_SYSTEMC_H
#define VINCI_SYSTEMC_H

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "vinci_guest.h"

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

// Whose memory lies behind the cores.
enum class memory_of { platform, chip };

class device : public sc_core::sc_module {
public:
  tlm_utils::simple_initiator_socket_optional<device> memory;
  sc_core::sc_event finished; // a run has ended

  // chip: a name of `vinci soc list`, or the file of a chip. sets: numbers of the chip that differ,
  // "l2.size=64MiB".
  device(sc_core::sc_module_name name, const std::string &chip,
         memory_of whose = memory_of::platform, std::initializer_list<const char *> sets = {},
         unsigned channels = 64)
      : sc_module(name), memory("memory"), whose_(whose), channels_(channels ? channels : 1) {
    check(vinci_soc_load(chip.c_str(), nullptr, &soc_, &diag_));
    for (const char *set : sets)
      check(vinci_soc_set(soc_, set, &diag_));
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&kick_);
    sc_core::sc_spawn([this] { step(); }, sc_core::sc_gen_unique_name("step"), &options);
    for (unsigned i = 0; i < channels_.size(); i++)
      sc_core::sc_spawn([this, i] { carry(channels_[i]); }, sc_core::sc_gen_unique_name("channel"));
  }
  ~device() override {
    vinci_result_free(result_);
    if (guest_) // the platform goes before the run is over
      (void)vinci_guest_close(guest_, &result_);
    vinci_trace_free(trace_);
    vinci_soc_free(soc_);
  }
  device(const device &) = delete;

  // Begins an operator with its arguments, or a trace from a file. Returns at once; `finished`
  // tells the end. One run at a time.
  void start(const std::string &op, const std::vector<std::string> &args,
             const struct vinci_run_options *options = nullptr) {
    std::vector<const char *> words;
    for (const std::string &arg : args)
      words.push_back(arg.c_str());
    be_idle();
    check(vinci_compile(soc_, op.c_str(), words.data(), words.size(), &trace_, &diag_));
    begin(options);
  }
  void start_trace(const std::string &path, const struct vinci_run_options *options = nullptr) {
    be_idle();
    check(vinci_trace_load(path.c_str(), soc_, &trace_, &diag_));
    begin(options);
  }

  bool busy() const { return guest_ != nullptr; }
  // Of the last run that has ended; nullptr before, and when the run failed.
  const vinci_result *result() const { return result_; }
  uint64_t cycles() const { return result_ ? vinci_result_total_cycles(result_) : 0; }
  sc_core::sc_time duration() const { return duration_; }
  // Of the last run: throws what kept it from its end.
  void verify() const {
    if (status_ != VINCI_OK)
      throw error(status_, text_);
  }

private:
  struct channel {
    sc_core::sc_event work;
    std::vector<unsigned char> bytes;
    struct vinci_guest_request request = {};
    bool taken = false;
  };

  void check(enum vinci_status status) {
    if (status == VINCI_OK)
      return;
    std::string text = diag_.text;
    if (*diag_.hint)
      text += std::string(" (") + diag_.hint + ")";
    throw error(status, text);
  }

  void be_idle() {
    if (guest_)
      throw error(VINCI_E_USAGE, std::string(name()) + " is busy: wait for the event 'finished'");
    vinci_result_free(result_);
    vinci_trace_free(trace_);
    result_ = nullptr;
    trace_ = nullptr;
    diag_ = {};
  }

  void begin(const struct vinci_run_options *options) {
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
      throw error(VINCI_E_USAGE, "the SystemC time resolution is not 1 ps");
    hosted_ = {};
    hosted_.struct_size = sizeof hosted_;
    hosted_.context = this;
    hosted_.request = [](void *context, const struct vinci_guest_request *request) {
      static_cast<device *>(context)->take(*request);
    };
    failed_ = false;
    check(vinci_guest_open(soc_, trace_, options,
                           whose_ == memory_of::platform ? &hosted_ : nullptr, &guest_, &diag_));
    base_ = sc_core::sc_time_stamp();
    kick_.notify(sc_core::SC_ZERO_TIME);
  }

  uint64_t now_ps() const { return (sc_core::sc_time_stamp() - base_).value(); }

  // Fires what is due and sleeps until the next event or answer.
  void step() {
    if (!guest_)
      return;
    vinci_guest_run(guest_, now_ps());
    const uint64_t next = vinci_guest_next_ps(guest_);
    if (vinci_guest_over(guest_))
      end();
    else if (next != UINT64_MAX)
      sc_core::next_trigger(sc_core::sc_time::from_value(next - now_ps()), kick_);
  }

  void end() {
    duration_ = sc_core::sc_time_stamp() - base_;
    struct vinci_guest *guest = guest_;
    guest_ = nullptr;
    status_ = vinci_guest_close(guest, &result_);
    text_ = diag_.text;
    if (status_ == VINCI_OK && failed_) {
      status_ = VINCI_E_IO;
      text_ = std::string(name()) + ": a target answered a request with an error";
    }
    finished.notify(sc_core::SC_ZERO_TIME);
  }

  void take(const struct vinci_guest_request &request) {
    for (channel &one : channels_)
      if (!one.taken) {
        give(one, request);
        one.work.notify();
        return;
      }
    waiting_.push_back(request);
  }

  static void give(channel &one, const struct vinci_guest_request &request) {
    one.taken = true;
    one.request = request;
  }

  // One request after the other.
  void carry(channel &one) {
    for (;;) {
      while (!one.taken)
        sc_core::wait(one.work);
      const sc_core::sc_time delay = transport(one);
      const bool more = !waiting_.empty();
      const uint64_t id = one.request.id;
      one.taken = false;
      if (more) {
        give(one, waiting_.front());
        waiting_.pop_front();
      }
      vinci_guest_answer(guest_, id, now_ps() + delay.value());
      kick_.notify(sc_core::SC_ZERO_TIME);
    }
  }

  sc_core::sc_time transport(channel &one) {
    tlm::tlm_generic_payload payload;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    one.bytes.assign(one.request.bytes, 0);
    payload.set_command(one.request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(one.request.address);
    payload.set_data_ptr(one.bytes.data());
    payload.set_data_length(static_cast<unsigned>(one.request.bytes));
    payload.set_streaming_width(static_cast<unsigned>(one.request.bytes));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    memory->b_transport(payload, delay);
    failed_ |= payload.is_response_error();
    return delay;
  }

  const memory_of whose_;
  std::deque<channel> channels_;
  std::deque<struct vinci_guest_request> waiting_;
  vinci_soc *soc_ = nullptr;
  vinci_trace *trace_ = nullptr;
  vinci_guest *guest_ = nullptr;
  vinci_result *result_ = nullptr;
  struct vinci_guest_memory hosted_ = {};
  struct vinci_diag diag_ = {};
  enum vinci_status status_ = VINCI_OK;
  std::string text_;
  bool failed_ = false;
  sc_core::sc_event kick_;
  sc_core::sc_time base_, duration_;
};

} // namespace vinci

#endif
