// SPDX-License-Identifier: Apache-2.0
//
// Requests of a device by nb_transport (core/vinci_systemc.h): four phases, with targets of each
// manner that the base protocol allows. A target whose answers come at the times of one that is
// called by b_transport gives the same cycles; one that accepts slowly holds the requests back.
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/vinci_systemc.h"
#include "tests/core/systemc_cases.h"

#include <tlm_utils/peq_with_cb_and_phase.h>

namespace {

using sc_core::sc_time;

const std::vector<std::string> relu_args = {"shape=8x256x1024", "dtype=fp16", "blocks=40"};
constexpr uint64_t relu_bytes = UINT64_C(8) * 256 * 1024 * 2;
constexpr double RATE = 400e9;

// One channel of a rate with a latency behind it, in several manners of the protocol.
struct Target : sc_core::sc_module {
  enum Manner {
    BLOCKING,  // b_transport with a delay
    FOUR,      // END_REQ returned at once, BEGIN_RESP by the backward path
    BACKWARD,  // END_REQ by the backward path, after `accept`
    EARLY,     // END_REQ returned ahead of its time, `accept`
    NO_END,    // BEGIN_RESP without END_REQ, by the backward path
    RESPONSE,  // BEGIN_RESP returned ahead of its time
    COMPLETED, // the response returned ahead of its time
  };
  tlm_utils::simple_target_socket<Target> target;
  Target(sc_core::sc_module_name name, Manner manner, sc_time accept = sc_core::SC_ZERO_TIME)
      : sc_module(name), target("target"), manner(manner), accept(accept),
        queue(this, &Target::phase_at) {
    if (manner == BLOCKING)
      target.register_b_transport(this, &Target::blocking);
    else
      target.register_nb_transport_fw(this, &Target::forward);
  }
  // When the answer to a request that comes now is there, from now.
  sc_time serve(tlm::tlm_generic_payload &payload) {
    const sc_time now = sc_core::sc_time_stamp();
    free = std::max(free, now) + sc_time(payload.get_data_length() / RATE * 1e12, sc_core::SC_PS);
    (payload.is_write() ? written : read) += payload.get_data_length();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return free + sc_time(200, sc_core::SC_NS) - now;
  }
  void blocking(tlm::tlm_generic_payload &payload, sc_time &delay) { delay += serve(payload); }

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                             sc_time &delay) {
    if (phase == tlm::END_RESP) {
      ended(payload);
      return tlm::TLM_COMPLETED;
    }
    expect(phase == tlm::BEGIN_REQ && delay == sc_core::SC_ZERO_TIME, "a request begins");
    expect(!requesting && sc_core::sc_time_stamp() >= accepts_at,
           "one request at a time is between BEGIN_REQ and END_REQ");
    expect(payload.has_mm(), "payloads are counted");
    payload.acquire();
    under_way++;
    const sc_time answer = serve(payload);
    if (manner == COMPLETED || manner == RESPONSE)
      delay = answer;
    if (manner == COMPLETED) {
      ended(payload);
      return tlm::TLM_COMPLETED;
    }
    if (manner == RESPONSE) {
      phase = tlm::BEGIN_RESP;
      accepts_at = sc_core::sc_time_stamp() + delay;
      return tlm::TLM_UPDATED;
    }
    queue.notify(payload, tlm::BEGIN_RESP, answer);
    requesting = manner == BACKWARD || manner == NO_END ? &payload : nullptr;
    if (manner == BACKWARD)
      queue.notify(payload, tlm::END_REQ, accept);
    if (requesting)
      return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    delay = manner == EARLY ? accept : sc_core::SC_ZERO_TIME;
    accepts_at = sc_core::sc_time_stamp() + delay;
    return tlm::TLM_UPDATED;
  }
  void phase_at(tlm::tlm_generic_payload &payload, const tlm::tlm_phase &what) {
    tlm::tlm_phase phase = what;
    sc_time delay = sc_core::SC_ZERO_TIME;
    if (requesting == &payload)
      requesting = nullptr;
    const tlm::tlm_sync_enum status = target->nb_transport_bw(payload, phase, delay);
    if (what != tlm::BEGIN_RESP)
      return;
    expect(status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP),
           "the device takes each response");
    ended(payload);
  }
  void ended(tlm::tlm_generic_payload &payload) {
    under_way--;
    payload.release();
  }
  const Manner manner;
  const sc_time accept;
  tlm_utils::peq_with_cb_and_phase<Target> queue;
  sc_time free, accepts_at;
  tlm::tlm_generic_payload *requesting = nullptr;
  uint64_t read = 0, written = 0, under_way = 0;
};

uint64_t cycles_of(Target::Manner manner, vinci::transport how, sc_time accept) {
  return in_process([&]() -> uint64_t {
    vinci::config choices;
    choices.how = how;
    Target memory("memory", manner, accept);
    vinci::device npu("npu", "Ascend910B4", choices);
    npu.memory.bind(memory.target);
    npu.start("relu", relu_args);
    sc_core::sc_start();
    npu.verify();
    expect(memory.read == relu_bytes && memory.written == relu_bytes, "all bytes come by");
    expect(memory.under_way == 0, "each request has its four phases");
    return wrong ? 0 : npu.cycles();
  });
}

uint64_t blocking_cycles() {
  const uint64_t cycles =
      cycles_of(Target::BLOCKING, vinci::transport::blocking, sc_core::SC_ZERO_TIME);
  expect(cycles > 0, "a run by b_transport");
  return cycles;
}

void same(Target::Manner manner) {
  const uint64_t cycles = blocking_cycles();
  const uint64_t found = cycles_of(manner, vinci::transport::nonblocking, sc_core::SC_ZERO_TIME);
  if (found != cycles)
    std::printf("# %lu cycles, by b_transport %lu\n", found, cycles);
  expect(found == cycles, "the same times, the same cycles");
}
void four() { same(Target::FOUR); }
void backward() { same(Target::BACKWARD); }
void early() { same(Target::EARLY); }

// Each request takes the time in which the target accepts the next.
void held_back(Target::Manner manner) {
  const sc_time accept(4, sc_core::SC_NS);
  const uint64_t cycles = cycles_of(manner, vinci::transport::nonblocking, accept);
  const double us = static_cast<double>(cycles) / 1650; // of the 910B4
  const double least = 2 * relu_bytes / 512 * 4e-3;
  if (us < least || us > 1.1 * least)
    std::printf("# %.1f us, requests take %.1f us\n", us, least);
  expect(us >= least && us < 1.1 * least, "END_REQ holds requests back");
}
void slow_backward() { held_back(Target::BACKWARD); }
void slow_early() { held_back(Target::EARLY); }

// Targets that answer before they take the next request: one at a time. So does SystemC's socket
// for targets that have b_transport alone.
void one_at_a_time() {
  const uint64_t cycles[] = {
      cycles_of(Target::NO_END, vinci::transport::nonblocking, sc_core::SC_ZERO_TIME),
      cycles_of(Target::RESPONSE, vinci::transport::nonblocking, sc_core::SC_ZERO_TIME),
      cycles_of(Target::COMPLETED, vinci::transport::nonblocking, sc_core::SC_ZERO_TIME),
      cycles_of(Target::BLOCKING, vinci::transport::nonblocking, sc_core::SC_ZERO_TIME)};
  expect(cycles[0] > 0 && cycles[0] == cycles[1] && cycles[0] == cycles[2] &&
             cycles[0] == cycles[3],
         "one manner to say so is as good as another");
  expect(cycles[0] > 10 * blocking_cycles(), "one request after the other");
}

// A device of each manner in one platform: neither knows of the other.
void beside() {
  const uint64_t cycles = blocking_cycles();
  expect(in_process([&]() -> uint64_t {
           vinci::config how;
           how.how = vinci::transport::nonblocking;
           Target one("one", Target::FOUR), two("two", Target::BLOCKING);
           vinci::device first("first", "Ascend910B4", how), second("second", "Ascend910B4");
           first.memory.bind(one.target);
           second.memory.bind(two.target);
           first.start("relu", relu_args);
           second.start("relu", relu_args);
           sc_core::sc_start();
           return first.cycles() == second.cycles() ? first.cycles() : 0;
         }) == cycles,
         "both take as long as alone");
}

const Case cases[] = {
    {"four phases take as long as b_transport", four},
    {"END_REQ by the backward path", backward},
    {"END_REQ ahead of its time", early},
    {"a target that accepts slowly holds requests back", slow_backward},
    {"the same where it says so ahead", slow_early},
    {"responses without END_REQ", one_at_a_time},
    {"both manners in one platform", beside},
};

} // namespace

extern "C" __attribute__((visibility("default"))) int sc_main(int, char **) { return run_chosen(); }

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }
