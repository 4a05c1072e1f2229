// SPDX-License-Identifier: Apache-2.0
//
// Two 910B4 behind one memory: how much does one slow the other down, and why? First one of them
// works alone, then both do the same at the same time.
#include <algorithm>
#include <iostream>

#include <vinci_systemc.h>

#include "ram.hpp"

struct Host : sc_core::sc_module {
  SC_HAS_PROCESS(Host);
  vinci::device &first, &second;
  const Ram &ram;
  Host(sc_core::sc_module_name name, vinci::device &first, vinci::device &second, const Ram &ram)
      : sc_module(name), first(first), second(second), ram(ram) {
    SC_THREAD(work);
    set_stack_size(1 << 20);
  }
  // Prints how long, and how much of that time the channel of the memory was busy.
  void tell(const char *who, const sc_core::sc_time &took, uint64_t bytes) {
    const double us = took.to_seconds() * 1e6, busy = static_cast<double>(bytes) / 400e3;
    std::cout << who << ": " << us << " us, the memory is busy for " << busy << " of them"
              << std::endl;
  }
  void work() {
    const std::vector<std::string> few = {"shape=4x256x1024", "dtype=fp16", "blocks=2"};
    const std::vector<std::string> all = {"shape=4x256x1024", "dtype=fp16", "blocks=40"};
    for (const auto &args : {few, all}) {
      const uint64_t before = ram.read + ram.written;
      first.start("relu", args);
      wait(first.finished);
      const uint64_t alone = ram.read + ram.written;
      tell((args[2] + ", alone").c_str(), first.duration(), alone - before);
      first.start("relu", args);
      second.start("relu", args);
      wait(first.finished & second.finished);
      tell((args[2] + ", both").c_str(), std::max(first.duration(), second.duration()),
           ram.read + ram.written - alone);
    }
  }
};

int sc_main(int, char **) {
  vinci::config how;
  vinci::device first("first", "Ascend910B4", how);
  how.base = 16 << 20; // its own half of the memory
  vinci::device second("second", "Ascend910B4", how);
  Ram ram("ram", 32 << 20, 400, 150);
  first.memory.bind(ram.target);
  second.memory.bind(ram.target);
  Host host("host", first, second, ram);
  sc_core::sc_start();
  return 0;
}
