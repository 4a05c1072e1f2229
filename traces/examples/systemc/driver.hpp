// SPDX-License-Identifier: Apache-2.0
//
// What the hosts of the example platforms share: words and blocks over a bus, a device's registers
// and its interrupt. Call from an SC_THREAD.
#ifndef DRIVER_HPP
#define DRIVER_HPP

#include <cstdint>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include <vinci_systemc.h>

struct Driver : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Driver> bus;
  sc_core::sc_in<bool> interrupt;

  // Where the registers of the device are.
  Driver(sc_core::sc_module_name name, uint64_t registers)
      : sc_module(name), bus("bus"), interrupt("interrupt"), registers(registers) {}

  void access(bool write, uint64_t address, void *data, unsigned bytes) {
    tlm::tlm_generic_payload payload;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char *>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    bus->b_transport(payload, delay);
    if (payload.is_response_error())
      SC_REPORT_FATAL(name(), payload.get_response_string().c_str());
    wait(delay);
  }
  void set(uint64_t offset, uint32_t value) {
    access(true, registers + offset, &value, sizeof value);
  }
  void set_address(uint64_t offset, uint64_t value) {
    access(true, registers + offset, &value, sizeof value);
  }
  uint64_t get(uint64_t offset, unsigned bytes = 4) {
    uint64_t value = 0;
    access(false, registers + offset, &value, bytes);
    return value;
  }
  // Waits for the interrupt and takes it away; one may stand for several launches.
  void wait_for_interrupt() {
    while (!interrupt.read())
      wait(interrupt.posedge_event());
    set(vinci::reg::INT_STATUS, vinci::reg::DONE | vinci::reg::ERROR);
    wait(interrupt.negedge_event());
  }

private:
  const uint64_t registers;
};

#endif
