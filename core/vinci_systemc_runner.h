// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: runs of a device (vinci_systemc.h), one at a time.
#ifndef VINCI_SYSTEMC_RUNNER_H
#define VINCI_SYSTEMC_RUNNER_H

#include "vinci_systemc_base.h"
#include "vinci_systemc_memory.h"
#include "vinci_systemc_requests.h"
#include "vinci_tables.h"

namespace vinci {

class runner : public sc_core::sc_module, protected loader {
protected:
  const config config_;

private:
  requests requests_;

public:
  tlm_utils::simple_initiator_socket_optional<requests> &memory;
  sc_core::sc_event finished; // a run has ended

  // Begins an operator with its arguments, or a trace from a file. Returns at once; `finished`
  // tells the end. One run at a time.
  void start(const std::string &op, const std::vector<std::string> &args,
             const struct vinci_run_options *options = nullptr) {
    be_idle();
    own_trace_ = compile(op, args);
    begin_own(options);
  }
  void start_trace(const std::string &path, const struct vinci_run_options *options = nullptr) {
    be_idle();
    own_trace_ = load_file(path);
    begin_own(options);
  }

  bool busy() const { return guest_ != nullptr || waits_; }
  // Of the last run that has ended; nullptr before, and when the run failed.
  const vinci_result *result() const { return result_; }
  uint64_t cycles() const { return result_ ? vinci_result_total_cycles(result_) : 0; }
  sc_core::sc_time duration() const { return duration_; }
  // Of the last run: throws what kept it from its end.
  void verify() const {
    if (status_ != VINCI_OK)
      throw error(status_, text_);
  }
  runner(const runner &) = delete;

protected:
  runner(sc_core::sc_module_name name, const std::string &chip, const config &how)
      : sc_module(name), loader(chip, how.sets), config_(how),
        requests_("memory", config_, this->name()), memory(requests_.socket), backdoor_(memory) {
    requests_.fill = [this](uint64_t address, unsigned char *data, uint64_t bytes) {
      if (config_.values)
        image_.fill(address, data, bytes, move_);
    };
    requests_.answer = [this](uint64_t id, const sc_core::sc_time &delay) {
      vinci_guest_answer(guest_, id, now_ps() + delay.value());
      kick_.notify(sc_core::SC_ZERO_TIME);
    };
    requests_.invalidated = [this](uint64_t start, uint64_t end) {
      backdoor_.forget();
      invalidated(start, end);
    };
    spawn_method([this] { step(); }, kick_, "step");
  }
  ~runner() override {
    abandon();
    vinci_trace_free(own_trace_);
  }

  // The platform goes, perhaps before the run is over.
  void abandon() {
    if (guest_)
      (void)close(false);
    keep(nullptr);
  }

  // The run has ended; what the device has to do next, at or after the present time.
  virtual void ended() {}
  virtual sc_core::sc_time next_launch() const { return sc_core::sc_max_time(); }
  virtual void launch() {}
  // Direct pointers to a range of device memory hold no longer.
  virtual void invalidated(uint64_t, uint64_t) {}

  // Throws what keeps the run from its beginning.
  void begin(const vinci_trace *trace, const std::vector<uint64_t> &addresses,
             const struct vinci_run_options *options) {
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
      throw error(VINCI_E_USAGE, "the SystemC time resolution is not 1 ps");
    requests_.failed = false;
    addresses_ = addresses;
    hosted_ = {};
    hosted_.struct_size = sizeof hosted_;
    hosted_.context = this;
    hosted_.addresses = addresses_.data();
    hosted_.behind_l2 = config_.whose == memory_of::platform_behind_l2;
    if (config_.whose != memory_of::chip)
      hosted_.request = [](void *context, const struct vinci_guest_request *request) {
        static_cast<runner *>(context)->requests_.send(*request);
      };
    if (config_.values) {
      const enum vinci_status status = image_.run(soc_, trace, addresses_, move_, &diag_);
      if (status == VINCI_E_IO)
        throw error(asked_.beyond() ? VINCI_E_USAGE : status, not_moved());
      check(status);
    }
    hosted_.state = config_.keeps ? state() : nullptr;
    check(vinci_guest_open(soc_, trace, options, &hosted_, &guest_, &diag_));
    base_ = sc_core::sc_time_stamp();
    kick_.notify(sc_core::SC_ZERO_TIME);
  }

  // The same for a run that nobody waits for: what is wrong becomes its end.
  void try_to_begin(const vinci_trace *trace, const std::vector<uint64_t> &addresses,
                    const struct vinci_run_options *options) {
    try {
      begin(trace, addresses, options);
    } catch (const error &wrong) {
      status_ = wrong.status();
      text_ = wrong.what();
      finished.notify(sc_core::SC_ZERO_TIME);
      ended();
      kick_.notify(sc_core::SC_ZERO_TIME);
    }
  }

  // Device memory without time, by addresses of the device.
  bool move(bool write, uint64_t address, unsigned char *data, uint64_t bytes) {
    if (!asked_.lies_in(gm_bytes_, address, bytes))
      return false;
    if (config_.whose != memory_of::chip)
      return backdoor_.move(write, config_.base + address, data, bytes);
    unsigned char *own = store_.open(gm_bytes_);
    if (own)
      std::memcpy(write ? own + address : data, write ? data : own + address, bytes);
    return own != nullptr;
  }

  store store_;
  sc_core::sc_event kick_;
  sc_core::sc_time duration_;
  enum vinci_status status_ = VINCI_OK; // of the last run, with its text
  std::string text_;

private:
  std::string not_moved() const { return std::string(name()) + ": " + asked_.why(gm_bytes_); }
  void be_idle() {
    if (busy() || next_launch() != sc_core::sc_max_time())
      throw error(VINCI_E_USAGE, std::string(name()) + " is busy: wait for the event 'finished'");
    vinci_trace_free(own_trace_);
    own_trace_ = nullptr;
    keep(nullptr);
  }

  // Before the simulation begins, sockets of the platform need not lead to memory yet.
  void begin_own(const struct vinci_run_options *options) {
    waits_ = config_.values && !sc_core::sc_is_running();
    if (!waits_) {
      begin(own_trace_, own_addresses(own_trace_), options);
      return;
    }
    waits_with_ = options ? *options : vinci_run_options{};
    waits_with_.struct_size = options ? options->struct_size : sizeof waits_with_;
    kick_.notify(sc_core::SC_ZERO_TIME);
  }

  void keep(vinci_result *result) {
    vinci_result_free(result_);
    result_ = result;
  }
  // Ends the run; its result stays, or is of no interest.
  enum vinci_status close(bool wanted) {
    vinci_result *result = nullptr;
    struct vinci_guest *guest = guest_;
    guest_ = nullptr;
    const enum vinci_status status = vinci_guest_close(guest, &result);
    wanted ? keep(result) : vinci_result_free(result);
    return status;
  }

  uint64_t now_ps() const { return (sc_core::sc_time_stamp() - base_).value(); }

  // Fires what is due and sleeps until the next event, answer or launch.
  void step() {
    if (waits_) {
      waits_ = false;
      try_to_begin(own_trace_, own_addresses(own_trace_), &waits_with_);
      return;
    }
    if (guest_) {
      vinci_guest_run(guest_, now_ps());
      if (!vinci_guest_over(guest_)) {
        const uint64_t next = vinci_guest_next_ps(guest_);
        if (next != UINT64_MAX)
          sc_core::next_trigger(sc_core::sc_time::from_value(next - now_ps()), kick_);
        return;
      }
      end();
    }
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (next_launch() <= now)
      launch();
    else if (next_launch() != sc_core::sc_max_time())
      sc_core::next_trigger(next_launch() - now, kick_);
  }

  void end() {
    duration_ = sc_core::sc_time_stamp() - base_;
    status_ = close(true);
    text_ = diag_.text;
    diag_ = {};
    if (status_ == VINCI_OK && requests_.failed) {
      status_ = VINCI_E_IO;
      text_ = std::string(name()) + ": a target answered a request with an error";
    }
    if (config_.values && !image_.save(move_) && status_ == VINCI_OK) {
      status_ = VINCI_E_IO;
      text_ = not_moved();
    }
    image_.close();
    finished.notify(sc_core::SC_ZERO_TIME);
    ended();
  }

  const image::move_function move_ = [this](bool write, uint64_t address, unsigned char *data,
                                            uint64_t bytes) {
    return move(write, address, data, bytes);
  };
  backdoor<tlm_utils::simple_initiator_socket_optional<requests>> backdoor_;
  image image_;
  asked_range asked_;                // of the last move
  vinci_trace *own_trace_ = nullptr; // of start()
  bool waits_ = false;               // for the simulation to begin
  struct vinci_run_options waits_with_ = {};
  vinci_guest *guest_ = nullptr;
  vinci_result *result_ = nullptr;
  struct vinci_guest_memory hosted_ = {};
  std::vector<uint64_t> addresses_;
  sc_core::sc_time base_;
};

} // namespace vinci

#endif
