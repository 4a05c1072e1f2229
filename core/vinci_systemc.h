// SPDX-License-Identifier: Apache-2.0
//
// vinci in a SystemC platform: a chip as an sc_module with TLM-2.0 sockets and an interrupt.
//
//     vinci::device npu("npu", "Ascend910B4");        // its cores; memory is the platform's
//     npu.memory.bind(bus.target);
//     npu.start("matmul", {"m=512", "k=512", "n=512"});
//     wait(npu.finished);                              // in an SC_THREAD
//     std::cout << npu.duration() << " " << npu.cycles() << " cycles\n";
//
// `memory`, an initiator: each request of an engine of a core is one generic payload, at most a
// line of L2, at the time of the request. By b_transport a target tells its time by the delay
// argument, which holds up nobody else, or waits, which occupies one of config.channels processes;
// further requests queue. By nb_transport a request waits for END_REQ of the one before.
// `host`, a target: registers (vinci::reg), and device memory from config.window on. What comes for
// device memory goes on through `memory` where that is the platform's, and takes no time otherwise.
// `interrupt` is high while a bit of INT_STATUS is set that INT_ENABLE has too.
//
// With config.values a run computes when it starts, on what device memory holds then. Each write
// carries what its bytes hold at the end of the run, and all tensors hold that when the run ends.
// Without, writes carry zeros.
//
// Several devices live in one platform. What one does depends on its answers alone. SystemC's time
// resolution has to be 1 ps. Errors are thrown as vinci::error. Link with libvinci and SystemC.
#ifndef VINCI_SYSTEMC_H
#define VINCI_SYSTEMC_H

#include "vinci_systemc_launches.h"

namespace vinci {

// start(), finished, verify(), cycles() and duration() are in vinci_systemc_runner.h, load() and
// the registers in vinci_systemc_launches.h.
class device : public launches {
public:
  tlm_utils::simple_target_socket_optional<device> host;

  // chip: a name of `vinci soc list`, or the file of a chip.
  device(sc_core::sc_module_name name, const std::string &chip, const config &how)
      : launches(name, chip, how), host("host") {
    host.register_b_transport(this, &device::access);
    host.register_transport_dbg(this, &device::debug);
    host.register_get_direct_mem_ptr(this, &device::point);
  }
  device(sc_core::sc_module_name name, const std::string &chip,
         memory_of whose = memory_of::platform, const std::vector<std::string> &sets = {},
         unsigned channels = 64)
      : device(name, chip, plain(whose, sets, channels)) {}

private:
  static config plain(memory_of whose, const std::vector<std::string> &sets, unsigned channels) {
    config how;
    how.whose = whose;
    how.sets = sets;
    how.channels = channels;
    return how;
  }

  // Whether a range lies in device memory, and its address there.
  bool in_memory(const tlm::tlm_generic_payload &payload, uint64_t *address) const {
    const uint64_t bytes = payload.get_data_length();
    *address = payload.get_address() - config_.window;
    return payload.get_address() >= config_.window && bytes <= gm_bytes_ &&
           *address <= gm_bytes_ - bytes;
  }

  // Gives a payload for device memory to the platform's memory, with the address there.
  template <typename CALL> auto pass_on(tlm::tlm_generic_payload &payload, CALL call) {
    const sc_dt::uint64 address = payload.get_address();
    payload.set_address(address - config_.window + config_.base);
    const auto answer = call();
    payload.set_address(address);
    return answer;
  }

  void access(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
    uint64_t address;
    if (!in_memory(payload, &address)) {
      access_registers(payload, delay);
    } else if (config_.whose != memory_of::chip) {
      pass_on(payload, [&] { return memory->b_transport(payload, delay), 0; });
    } else if (plain_bytes(payload)) {
      const bool moved =
          move(payload.is_write(), address, payload.get_data_ptr(), payload.get_data_length());
      payload.set_response_status(moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
  }

  // Whether a payload says nothing beyond bytes in a row; answers it otherwise.
  static bool plain_bytes(tlm::tlm_generic_payload &payload) {
    if (payload.get_byte_enable_ptr())
      payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    else if (payload.get_streaming_width() < payload.get_data_length())
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    else
      return true;
    return false;
  }

  // Words of registers, low addresses first; little-endian, as the host that simulates.
  void access_registers(tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay) {
    const uint64_t offset = payload.get_address(), bytes = payload.get_data_length();
    unsigned char *data = payload.get_data_ptr();
    if (!plain_bytes(payload))
      return;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (offset % 4 || bytes % 4 || bytes == 0 || offset >= reg::END || bytes > reg::END - offset)
      return;
    bool good = true;
    for (uint64_t at = 0; at < bytes; at += 4) {
      uint32_t word = payload.is_read() ? read_register(offset + at) : 0;
      std::memcpy(payload.is_read() ? data + at : reinterpret_cast<unsigned char *>(&word),
                  payload.is_read() ? reinterpret_cast<unsigned char *>(&word) : data + at, 4);
      if (payload.is_write())
        good &= write_register(offset + at, word, delay);
    }
    payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  }

  // Without time; registers can be read.
  unsigned debug(tlm::tlm_generic_payload &payload) {
    uint64_t address;
    const unsigned bytes = payload.get_data_length();
    if (!in_memory(payload, &address)) {
      if (payload.is_write())
        return 0;
      access_registers(payload, sc_core::SC_ZERO_TIME);
      return payload.is_response_ok() ? bytes : 0;
    }
    if (config_.whose != memory_of::chip)
      return pass_on(payload, [&] { return memory->transport_dbg(payload); });
    return move(payload.is_write(), address, payload.get_data_ptr(), bytes) ? bytes : 0;
  }

  bool point(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &given) {
    uint64_t address;
    if (!in_memory(payload, &address))
      return false;
    if (config_.whose != memory_of::chip) {
      const bool direct =
          pass_on(payload, [&] { return memory->get_direct_mem_ptr(payload, given); });
      to_window(given);
      return direct;
    }
    given.set_dmi_ptr(store_.open(gm_bytes_));
    given.set_start_address(config_.window);
    given.set_end_address(config_.window + gm_bytes_ - 1);
    given.allow_read_write();
    return given.get_dmi_ptr() != nullptr;
  }

  // A range behind `memory` as one behind `host`: what of it is device memory.
  uint64_t seen(uint64_t address) const {
    const uint64_t last = gm_bytes_ - 1;
    return config_.window +
           (address < config_.base ? 0 : std::min<uint64_t>(address - config_.base, last));
  }
  void to_window(tlm::tlm_dmi &given) const {
    const uint64_t start = given.get_start_address();
    if (given.get_dmi_ptr() && start < config_.base)
      given.set_dmi_ptr(given.get_dmi_ptr() + (config_.base - start));
    given.set_start_address(seen(start));
    given.set_end_address(seen(given.get_end_address()));
  }
  void invalidated(uint64_t start, uint64_t end) override {
    if (host.size() > 0 && end >= config_.base)
      host->invalidate_direct_mem_ptr(seen(start), seen(end));
  }
};

} // namespace vinci

#endif
