// SPDX-License-Identifier: Apache-2.0
//
// What does a memory cost? Four 910B4 execute the same operator side by side, each behind a memory
// of its own. Their L2 is the chip's, so that the memory takes the place of the chip's DRAM.
#include <iostream>
#include <memory>
#include <vector>

#include <vinci_systemc.h>

#include "ram.hpp"

int sc_main(int, char **) {
  struct Choice {
    double bytes_per_ns, latency_ns;
  };
  const Choice choices[] = {{750, 80}, {750, 400}, {375, 80}, {1500, 80}};
  std::vector<std::unique_ptr<vinci::device>> chips;
  std::vector<std::unique_ptr<Ram>> memories;
  vinci::config how;
  how.whose = vinci::memory_of::platform_behind_l2;
  for (const Choice &one : choices) {
    const std::string number = std::to_string(chips.size());
    chips.emplace_back(new vinci::device(("npu" + number).c_str(), "Ascend910B4", how));
    memories.emplace_back(
        new Ram(("ram" + number).c_str(), 32 << 20, one.bytes_per_ns, one.latency_ns));
    chips.back()->memory.bind(memories.back()->target);
    chips.back()->start("relu", {"shape=8x256x1024", "dtype=fp16"});
  }
  sc_core::sc_start();
  for (size_t i = 0; i < chips.size(); i++) {
    chips[i]->verify();
    std::cout << choices[i].bytes_per_ns << " GB/s, " << choices[i].latency_ns
              << " ns: " << chips[i]->cycles() << " cycles, " << memories[i]->read
              << " bytes read, " << memories[i]->written << " written" << std::endl;
  }
  return 0;
}
