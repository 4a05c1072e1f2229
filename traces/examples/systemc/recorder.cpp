// SPDX-License-Identifier: Apache-2.0
//
// A recorder between a chip and its memory: it passes everything on and writes a row for each
// request. It gives no direct pointers, so that nothing goes past.
#include <fstream>
#include <iostream>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <vinci_systemc.h>

#include "ram.hpp"

struct Recorder : sc_core::sc_module {
  tlm_utils::simple_target_socket<Recorder> in;
  tlm_utils::simple_initiator_socket<Recorder> out;
  uint64_t rows = 0;

  Recorder(sc_core::sc_module_name name, const char *path)
      : sc_module(name), in("in"), out("out"), file(path) {
    in.register_b_transport(this, &Recorder::transport);
    in.register_transport_dbg(this, &Recorder::debug);
    file << "ps,device,core,access,address,bytes,latency_ps\n";
  }

private:
  void transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
    const sc_core::sc_time begin = sc_core::sc_time_stamp() + delay;
    const uint64_t address = payload.get_address(); // a bus may change that
    out->b_transport(payload, delay);
    const vinci::origin *from = payload.get_extension<vinci::origin>();
    file << begin.value() << ',' << (from ? from->device : "") << ',' << (from ? from->core : 0)
         << ',' << (payload.is_write() ? "write" : "read") << ',' << address << ','
         << payload.get_data_length() << ',' << (sc_core::sc_time_stamp() + delay - begin).value()
         << '\n';
    rows++;
  }
  unsigned debug(tlm::tlm_generic_payload &payload) { return out->transport_dbg(payload); }

  std::ofstream file;
};

int sc_main(int, char **) {
  vinci::config how;
  how.values = true;
  vinci::device npu("npu", "Ascend910B4", how);
  Ram ram("ram", 1 << 20, 400, 150);
  Recorder recorder("recorder", "requests.csv");
  npu.memory.bind(recorder.in);
  recorder.out.bind(ram.target);
  npu.start("softmax", {"shape=64x256", "dtype=fp16"});
  sc_core::sc_start();
  npu.verify();
  std::cout << recorder.rows << " requests in requests.csv" << std::endl;
  return 0;
}
