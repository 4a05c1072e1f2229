// SPDX-License-Identifier: Apache-2.0
//
// A bus that is not ours: SimpleBusLT of the examples of SystemC (Debian: libsystemc-doc), with a
// host and a 910B4 as initiators, a memory and the registers of the 910B4 as targets. The bus gives
// each target 256 MiB: the memory at 0, the registers at 0x10000000.
//
//     g++ -isystem /usr/share/doc/libsystemc/examples/tlm/common/include/models ...
#include <cstdlib>
#include <iostream>
#include <vector>

#include <SimpleBusLT.h>

#include "driver.hpp"
#include "ram.hpp"

struct Host : Driver {
  SC_HAS_PROCESS(Host);
  vinci::device &npu;
  bool good = false;

  Host(sc_core::sc_module_name name, vinci::device &npu) : Driver(name, 0x10000000), npu(npu) {
    SC_THREAD(work);
    set_stack_size(1 << 20);
  }
  void work() {
    enum { COUNT = 1024, BYTES = COUNT * sizeof(int32_t) };
    enum : uint64_t { X = 0x10000, Y = 0x20000 };
    const uint32_t kernel = npu.load("adds", {"shape=1024", "dtype=int32", "alpha=7"});
    std::vector<int32_t> x(COUNT), y(COUNT);
    for (int i = 0; i < COUNT; i++)
      x[i] = 1000 * i;
    access(true, X, x.data(), BYTES); // straight into the memory behind the bus
    set(vinci::reg::INT_ENABLE, vinci::reg::DONE | vinci::reg::ERROR);
    set(vinci::reg::KERNEL, kernel);
    set_address(npu.argument(kernel, "x"), X);
    set_address(npu.argument(kernel, "y"), Y);
    set(vinci::reg::DOORBELL, 1);
    wait_for_interrupt();
    npu.verify();
    access(false, Y, y.data(), BYTES);
    good = true;
    for (int i = 0; i < COUNT; i++)
      good &= y[i] == x[i] + 7;
    std::cout << get(vinci::reg::CYCLES, 8) << " cycles, values are " << (good ? "right" : "wrong")
              << std::endl;
  }
};

int sc_main(int, char **) {
  vinci::config how;
  how.values = true;
  how.window = 0x08000000; // device memory behind the registers, within the bus's 256 MiB
  vinci::device npu("npu", "Ascend910B4", how);
  Ram ram("ram", 16 << 20, 400, 150);
  SimpleBusLT<2, 2> bus("bus");
  Host host("host", npu);
  sc_core::sc_signal<bool> interrupt;
  host.bus.bind(bus.target_socket[0]);
  npu.memory.bind(bus.target_socket[1]);
  bus.initiator_socket[0].bind(ram.target);
  bus.initiator_socket[1].bind(npu.host);
  npu.interrupt.bind(interrupt);
  host.interrupt.bind(interrupt);
  sc_core::sc_start();
  return host.good ? EXIT_SUCCESS : EXIT_FAILURE;
}
