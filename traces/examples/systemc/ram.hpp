// SPDX-License-Identifier: Apache-2.0
//
// A memory for the example platforms: one channel of a rate, first come first served, and a latency
// behind that. It holds bytes, and lets others reach them directly (DMI) or without time (debug).
#ifndef RAM_HPP
#define RAM_HPP

#include <algorithm>
#include <cstring>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>

struct Ram : sc_core::sc_module {
  tlm_utils::multi_passthrough_target_socket<Ram> target; // any number of initiators

  Ram(sc_core::sc_module_name name, uint64_t size, double bytes_per_ns, double latency_ns)
      : sc_module(name), target("target"), bytes(size), bytes_per_ns(bytes_per_ns),
        latency(latency_ns, sc_core::SC_NS) {
    target.register_b_transport(this, &Ram::transport);
    target.register_transport_dbg(this, &Ram::debug);
    target.register_get_direct_mem_ptr(this, &Ram::direct);
  }

  uint64_t read = 0, written = 0;
  std::vector<unsigned char> bytes;

private:
  bool move(tlm::tlm_generic_payload &payload) {
    const uint64_t at = payload.get_address(), length = payload.get_data_length();
    if (length > bytes.size() || at > bytes.size() - length)
      return false;
    if (payload.is_write())
      std::memcpy(&bytes[at], payload.get_data_ptr(), length);
    else
      std::memcpy(payload.get_data_ptr(), &bytes[at], length);
    return true;
  }

  void transport(int, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
    if (!move(payload)) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
    free = std::max(free, now) +
           sc_core::sc_time(payload.get_data_length() / bytes_per_ns, sc_core::SC_NS);
    delay = free + latency - sc_core::sc_time_stamp();
    (payload.is_write() ? written : read) += payload.get_data_length();
    payload.set_dmi_allowed(true);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(int, tlm::tlm_generic_payload &payload) {
    return move(payload) ? payload.get_data_length() : 0;
  }
  bool direct(int, tlm::tlm_generic_payload &, tlm::tlm_dmi &given) {
    given.set_dmi_ptr(bytes.data());
    given.set_start_address(0);
    given.set_end_address(bytes.size() - 1);
    given.allow_read_write();
    return true;
  }

  const double bytes_per_ns;
  const sc_core::sc_time latency;
  sc_core::sc_time free; // when the channel is through with what has come
};

#endif
