// SPDX-License-Identifier: Apache-2.0
//
// A device whose L2 and network are the chip's and whose memory behind L2 is the platform's
// (core/vinci_systemc.h): times beside those of the library's own memories, and write-backs with
// values.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/vinci_systemc.h"
#include "tests/core/systemc_cases.h"

namespace {

using sc_core::sc_time;

// The flat model's device memory: 800 GB/s by 1.024 at the pins, of which refresh takes 350 of 3900
// ns (scripts/mem/hbm2e_3200.lua). What an access takes beyond a hit of L2 is in no table of the
// flat model as such; 80 ns lie between the bare commands and what measured copies imply.
constexpr double RATE = 800e9 * 1.024 * (1 - 350.0 / 3900.0);

struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory> target;
  Memory(sc_core::sc_module_name name, bool waits)
      : sc_module(name), target("target"), latency(80, sc_core::SC_NS), waits(waits) {
    target.register_b_transport(this, &Memory::transport);
    target.register_transport_dbg(this, &Memory::debug);
  }
  void transport(tlm::tlm_generic_payload &payload, sc_time &delay) {
    const sc_time now = sc_core::sc_time_stamp() + delay;
    const unsigned length = payload.get_data_length();
    free = std::max(free, now) + sc_time(length / RATE * 1e12, sc_core::SC_PS);
    (payload.is_write() ? written : read) += length;
    if (payload.get_address() + length <= bytes.size())
      move(payload);
    if (payload.is_write())
      writes.push_back({payload.get_address(), length});
    if (waits)
      wait(free + latency - now);
    else
      delay += free + latency - now;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload &payload) {
    if (payload.is_write())
      expect(brought(payload), "what was written back is what the run has left");
    move(payload);
    return payload.get_data_length();
  }
  void move(tlm::tlm_generic_payload &payload) {
    unsigned char *there = &bytes.at(payload.get_address());
    std::memcpy(payload.is_write() ? there : payload.get_data_ptr(),
                payload.is_write() ? payload.get_data_ptr() : there, payload.get_data_length());
  }
  // Whether bytes that timed writes have brought are those that a write without time brings.
  bool brought(const tlm::tlm_generic_payload &payload) {
    const uint64_t first = payload.get_address(), end = first + payload.get_data_length();
    for (const auto &one : writes)
      for (uint64_t at = std::max(one.address, first); at < std::min(one.address + one.bytes, end);
           at++) {
        compared++;
        if (bytes[at] != payload.get_data_ptr()[at - first])
          return false;
      }
    return true;
  }
  struct range {
    uint64_t address, bytes;
  };
  const sc_time latency;
  const bool waits;
  sc_time free;
  uint64_t read = 0, written = 0, compared = 0;
  std::vector<unsigned char> bytes; // with values
  std::vector<range> writes;
};

struct Operator {
  const char *name;
  std::vector<std::string> args;
  double bound; // of the distance from the flat model
};
const Operator operators[] = {
    {"relu", {"shape=16x256x1024", "dtype=fp16"}, 0.05},
    {"relu", {"shape=128x256x1024", "dtype=fp16"}, 0.05},
    {"add", {"shape=64x256x1024"}, 0.05},
    {"add", {"shape=256x1024"}, 0.05},
    {"softmax", {"shape=4096x4096"}, 0.05},
    {"matmul", {"m=1024", "k=1024", "n=1024"}, 0.05},
    {"matmul", {"m=16", "k=4096", "n=4096"}, 0.05},
    {"matmul", {"m=256", "k=8192", "n=4096"}, 0.1},
};

uint64_t in_library(const Operator &one, enum vinci_memory memory) {
  struct vinci_diag diag = {};
  vinci_soc *soc = nullptr;
  vinci_trace *trace = nullptr;
  vinci_result *result = nullptr;
  std::vector<const char *> words;
  for (const std::string &arg : one.args)
    words.push_back(arg.c_str());
  struct vinci_run_options options = {};
  options.struct_size = sizeof options;
  options.memory = memory;
  bool good = vinci_soc_load("Ascend910B4", nullptr, &soc, &diag) == VINCI_OK &&
              vinci_soc_set(soc, "hbm.mixed_efficiency=1", &diag) == VINCI_OK &&
              vinci_compile(soc, one.name, words.data(), words.size(), &trace, &diag) == VINCI_OK &&
              vinci_run(soc, trace, &options, &result, &diag) == VINCI_OK;
  expect(good, diag.text);
  const uint64_t cycles = result ? vinci_result_total_cycles(result) : 0;
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return cycles;
}

vinci::config behind() {
  vinci::config how;
  how.whose = vinci::memory_of::platform_behind_l2;
  return how;
}

uint64_t behind_l2(const Operator &one, vinci::config how, bool waits) {
  return in_process([&]() -> uint64_t {
    Memory memory("memory", waits);
    how.channels = waits ? 20000 : 1;
    vinci::device npu("npu", "Ascend910B4", how);
    npu.memory.bind(memory.target);
    npu.start(one.name, one.args);
    sc_core::sc_start();
    npu.verify();
    return npu.cycles();
  });
}

void as_flat_memory() {
  std::printf("# cycles behind L2, beside flat and cycle memory of the chip\n");
  for (const Operator &one : operators) {
    const uint64_t found = behind_l2(one, behind(), false);
    const uint64_t flat = in_process([&] { return in_library(one, VINCI_MEMORY_FLAT); });
    const uint64_t cycle = in_process([&] { return in_library(one, VINCI_MEMORY_CYCLE); });
    std::string text = one.name;
    for (const std::string &arg : one.args)
      text += " " + arg;
    const double apart = double(found) / double(flat) - 1;
    std::printf("# %-36s %7lu, flat %7lu (%+.1f %%), cycle %7lu (%+.1f %%)\n", text.c_str(), found,
                flat, 100 * apart, cycle, 100 * (double(found) / double(cycle) - 1));
    expect(std::abs(apart) <= one.bound, "times are near those of flat memory");
  }
}

// The times of answers alone count.
void manners() {
  const Operator one = {"relu", {"shape=4x256x1024", "dtype=fp16"}, 0};
  vinci::config how = behind();
  how.sets = {"l2.size=1MiB"};
  const uint64_t cycles = behind_l2(one, how, false);
  expect(cycles > 0, "a run");
  expect(behind_l2(one, how, true) == cycles, "a target may wait instead of delaying");
}

// L2 of 1 MiB: most of y is written back while the kernel runs.
void values() {
  vinci::config how = behind();
  how.sets = {"l2.size=1MiB"};
  how.values = true;
  Memory memory("memory", false);
  enum { COUNT = 300 * 1001 };
  memory.bytes.resize(4 << 20, 0xaa);
  std::vector<float> x(COUNT);
  for (int i = 0; i < COUNT; i++)
    x[i] = static_cast<float>(i % 1000) - 500;
  std::memcpy(&memory.bytes[0x1000], x.data(), COUNT * sizeof(float));
  vinci::device npu("npu", "Ascend910B4", how);
  npu.memory.bind(memory.target);
  npu.start("relu", {"shape=300x1001", "dtype=fp32"});
  sc_core::sc_start();
  npu.verify();
  expect(memory.written > 300000 && memory.compared > 300000, "L2 writes back");
  const uint64_t y = (0x1000 + COUNT * sizeof(float) + 511) / 512 * 512;
  for (int i = 0; i < COUNT; i++) {
    float found;
    std::memcpy(&found, &memory.bytes[y + i * sizeof found], sizeof found);
    expect(found == std::max(0.0f, x[i]), "values are right");
  }
  expect(memory.bytes[y + COUNT * sizeof(float)] == 0xaa, "bytes behind a tensor stay");
}

// The second launch finds in L2 what the first has read.
void keeps() {
  for (const bool keeps : {false, true}) {
    const uint64_t bytes = in_process([&]() -> uint64_t {
      vinci::config how = behind();
      how.keeps = keeps;
      Memory memory("memory", false);
      vinci::device npu("npu", "Ascend910B4", how);
      npu.memory.bind(memory.target);
      for (int i = 0; i < 2; i++) {
        npu.start("relu", {"shape=1024x1024", "dtype=fp16"});
        sc_core::sc_start();
        npu.verify();
      }
      return memory.read;
    });
    expect(bytes == (keeps ? 2 << 20 : 4 << 20), "bytes that L2 lacked");
  }
}

const Case cases[] = {
    {"times agree with those of flat memory", as_flat_memory},
    {"delays and waits are the same", manners},
    {"write-backs carry values", values},
    {"a chip keeps what earlier runs have left, if asked", keeps},
};

} // namespace

extern "C" __attribute__((visibility("default"))) int sc_main(int, char **) { return run_chosen(); }

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }
