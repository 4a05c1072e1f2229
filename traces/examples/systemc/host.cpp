// SPDX-License-Identifier: Apache-2.0
//
// A host drives a 910B4 as its driver would: by registers, device memory and an interrupt. It
// launches z = x + y and w = relu(z), one behind the other, and compares w with its own arithmetic.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "driver.hpp"
#include "ram.hpp"

struct Host : Driver {
  SC_HAS_PROCESS(Host);
  vinci::device &npu; // for what a loader does before the driver comes
  bool good = false;

  Host(sc_core::sc_module_name name, vinci::device &npu) : Driver(name, 0), npu(npu) {
    SC_THREAD(work);
    set_stack_size(1 << 20); // operators are lowered on this stack
  }

  void work() {
    enum { COUNT = 4096, BYTES = COUNT * sizeof(float) };
    enum : uint64_t { X = 0x100000, Y = 0x200000, Z = 0x300000, W = 0x400000 };
    const uint64_t gm = 1ULL << 32; // device memory, seen from the host
    const uint32_t add = npu.load("add", {"shape=4096", "dtype=fp32"});
    const uint32_t relu = npu.load("relu", {"shape=4096", "dtype=fp32"});

    std::vector<float> x(COUNT), y(COUNT), w(COUNT);
    for (int i = 0; i < COUNT; i++) {
      x[i] = 0.25f * static_cast<float>(i % 100);
      y[i] = -12.0f;
    }
    access(true, gm + X, x.data(), BYTES);
    access(true, gm + Y, y.data(), BYTES);

    set(vinci::reg::INT_ENABLE, vinci::reg::DONE | vinci::reg::ERROR);
    set(vinci::reg::KERNEL, add);
    set_address(npu.argument(add, "x"), X);
    set_address(npu.argument(add, "x1"), Y);
    set_address(npu.argument(add, "y"), Z);
    set(vinci::reg::DOORBELL, 1);
    set(vinci::reg::KERNEL, relu);
    set_address(npu.argument(relu, "x"), Z);
    set_address(npu.argument(relu, "y"), W);
    set(vinci::reg::DOORBELL, 1); // queues behind the first

    while (get(vinci::reg::ENDED) < 2) {
      wait_for_interrupt();
      std::cout << "launch " << get(vinci::reg::ENDED) << " ends at " << sc_core::sc_time_stamp()
                << ", " << get(vinci::reg::CYCLES, 8) << " cycles" << std::endl;
    }
    npu.verify();
    access(false, gm + W, w.data(), BYTES);
    good = true;
    for (int i = 0; i < COUNT; i++)
      good &= w[i] == std::max(0.0f, x[i] + y[i]);
    std::cout << (good ? "values are right" : "values are wrong") << std::endl;
  }
};

int sc_main(int, char **) {
  vinci::config how;
  how.values = true;
  vinci::device npu("npu", "Ascend910B4", how);
  Ram ram("ram", 16 << 20, 400, 150);
  Host host("host", npu);
  sc_core::sc_signal<bool> interrupt;
  npu.memory.bind(ram.target);
  host.bus.bind(npu.host);
  npu.interrupt.bind(interrupt);
  host.interrupt.bind(interrupt);
  sc_core::sc_start();
  return host.good ? EXIT_SUCCESS : EXIT_FAILURE;
}
