// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: how requests of a device go to its socket `memory`
// (vinci_systemc.h).
#ifndef VINCI_SYSTEMC_REQUESTS_H
#define VINCI_SYSTEMC_REQUESTS_H

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "vinci_systemc_base.h"

namespace vinci {

// Requests without the knowledge of runs: each is sent, and its answer is told.
class requests : tlm::tlm_mm_interface {
public:
  // Tells what a write carries.
  using fill_function = std::function<void(uint64_t address, unsigned char *data, uint64_t bytes)>;
  // A request has its answer after a delay.
  using answer_function = std::function<void(uint64_t id, const sc_core::sc_time &delay)>;

  tlm_utils::simple_initiator_socket_optional<requests> socket;
  fill_function fill;
  answer_function answer;
  std::function<void(uint64_t start, uint64_t end)> invalidated; // direct pointers of a range
  bool failed = false; // a target has answered with an error

  // In the constructor of a module.
  requests(const char *name, const config &how, const std::string &device)
      : socket(name), how_(how), device_(device) {
    socket.register_invalidate_direct_mem_ptr(this, &requests::invalidate);
    if (how.how == transport::nonblocking) {
      socket.register_nb_transport_bw(this, &requests::backward);
      spawn_method([this] { pump(); }, pump_, "request");
      return;
    }
    for (unsigned i = 0; i < (how.channels ? how.channels : 1); i++) {
      channels_.emplace_back(new channel);
      channel &one = *channels_.back();
      sc_core::sc_spawn([this, &one] { carry(one); }, sc_core::sc_gen_unique_name("channel"));
    }
  }
  requests(const requests &) = delete;

  // At the time of the request. Goes out now, or when there is room.
  void send(const struct vinci_guest_request &request) {
    waiting_.push_back(request);
    if (how_.how == transport::nonblocking) {
      pump_.notify(sc_core::SC_ZERO_TIME);
      return;
    }
    for (auto &one : channels_)
      if (!one->taken) {
        one->taken = take(one->request);
        one->work.notify();
        return;
      }
  }

private:
  // A payload with its bytes, and whose it is.
  struct transaction : tlm::tlm_generic_payload {
    std::vector<unsigned char> bytes;
    origin from;
    uint64_t id = 0;
    transaction() { set_extension(&from); }
    ~transaction() override { clear_extension(&from); }
  };
  struct ending {
    transaction *sent;
    bool tell;
  };
  struct channel {
    sc_core::sc_event work;
    transaction sent;
    struct vinci_guest_request request = {};
    bool taken = false;
  };

  bool take(struct vinci_guest_request &request) {
    if (waiting_.empty())
      return false;
    request = waiting_.front();
    waiting_.pop_front();
    return true;
  }

  void prepare(transaction &sent, const struct vinci_guest_request &request) {
    const unsigned bytes = static_cast<unsigned>(request.bytes);
    sent.bytes.assign(bytes, 0);
    if (request.write)
      fill(request.address, sent.bytes.data(), bytes);
    sent.id = request.id;
    sent.from.device = device_.c_str();
    sent.from.core = request.core;
    sent.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    sent.set_address(how_.base + request.address);
    sent.set_data_ptr(sent.bytes.data());
    sent.set_data_length(bytes);
    sent.set_streaming_width(bytes);
    sent.set_byte_enable_ptr(nullptr);
    sent.set_dmi_allowed(false);
    sent.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }

  void invalidate(sc_dt::uint64 start, sc_dt::uint64 end) { invalidated(start, end); }

  // Blocking: one request after the other.
  void carry(channel &one) {
    for (;;) {
      while (!one.taken)
        sc_core::wait(one.work);
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      const uint64_t id = one.request.id;
      prepare(one.sent, one.request);
      socket->b_transport(one.sent, delay);
      failed |= one.sent.is_response_error();
      one.taken = take(one.request);
      answer(id, delay);
    }
  }

  // ---- non-blocking: four phases, one request at a time between BEGIN_REQ and END_REQ ----

  void free(tlm::tlm_generic_payload *payload) override {
    spare_.push_back(static_cast<transaction *>(payload));
  }

  transaction &spare() {
    if (spare_.empty()) {
      pool_.emplace_back(new transaction);
      pool_.back()->set_mm(this);
      spare_.push_back(pool_.back().get());
    }
    transaction &sent = *spare_.back();
    spare_.pop_back();
    sent.acquire();
    return sent;
  }

  void pump() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    while (!ends_.empty() && ends_.begin()->first <= now)
      end();
    struct vinci_guest_request request;
    while (!requesting_ && now >= free_at_ && take(request))
      begin(request);
    sc_core::sc_time next = sc_core::sc_max_time();
    if (!requesting_ && !waiting_.empty())
      next = free_at_;
    if (!ends_.empty())
      next = std::min(next, ends_.begin()->first);
    if (next != sc_core::sc_max_time())
      sc_core::next_trigger(next - now, pump_);
  }

  void begin(const struct vinci_guest_request &request) {
    transaction &sent = spare();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    prepare(sent, request);
    requesting_ = &sent;
    const tlm::tlm_sync_enum status = socket->nb_transport_fw(sent, phase, delay);
    if (status == tlm::TLM_ACCEPTED || (status == tlm::TLM_UPDATED && !ends_request(phase)))
      return;
    request_ends(sent, delay);
    if (status == tlm::TLM_COMPLETED)
      response(sent, delay, false);
    else if (phase == tlm::BEGIN_RESP)
      response(sent, delay, true);
  }

  // BEGIN_RESP says so too; phases beyond the base protocol do not.
  static bool ends_request(const tlm::tlm_phase &phase) {
    return phase == tlm::END_REQ || phase == tlm::BEGIN_RESP;
  }

  // The target takes the next request after a delay.
  void request_ends(const transaction &sent, const sc_core::sc_time &delay) {
    if (requesting_ != &sent)
      return;
    requesting_ = nullptr;
    free_at_ = sc_core::sc_time_stamp() + delay;
  }

  // The answer is there after a delay; the phase END_RESP follows, unless it has been told.
  void response(transaction &sent, const sc_core::sc_time &delay, bool tell_end) {
    failed |= sent.is_response_error();
    ends_.emplace(sc_core::sc_time_stamp() + delay, ending{&sent, tell_end});
    answer(sent.id, delay);
  }

  void end() {
    const ending one = ends_.begin()->second;
    ends_.erase(ends_.begin());
    if (one.tell) {
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_fw(*one.sent, phase, delay);
    }
    one.sent->release();
  }

  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                              sc_core::sc_time &delay) {
    transaction &sent = static_cast<transaction &>(payload);
    pump_.notify(sc_core::SC_ZERO_TIME);
    if (ends_request(phase))
      request_ends(sent, delay);
    if (phase != tlm::BEGIN_RESP)
      return tlm::TLM_ACCEPTED;
    response(sent, delay, false);
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }

  const config &how_;
  const std::string device_;
  std::deque<struct vinci_guest_request> waiting_;
  std::vector<std::unique_ptr<channel>> channels_;
  sc_core::sc_event pump_;
  std::vector<std::unique_ptr<transaction>> pool_;
  std::vector<transaction *> spare_;
  std::multimap<sc_core::sc_time, ending> ends_; // of responses
  transaction *requesting_ = nullptr;            // between BEGIN_REQ and END_REQ
  sc_core::sc_time free_at_;                     // when the next may begin
};

} // namespace vinci

#endif
