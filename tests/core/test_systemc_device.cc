// SPDX-License-Identifier: Apache-2.0
//
// A chip as a module of a SystemC platform (core/vinci_systemc.h): against runs of the library with
// the same numbers, beside other models, with targets that wait or fail. Each case is a process of
// its own, since the kernel is one for the process. Linked to libvinci alone.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/vinci_systemc.h"
#include "tests/core/systemc_cases.h"

namespace {

using sc_core::sc_time;

// One channel of a rate, with a latency behind it; 0: no limit.
struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory> target;
  enum Manner { DELAYS, WAITS, FAILS };
  Memory(sc_core::sc_module_name name, double bytes_per_second, Manner manner = DELAYS,
         sc_time latency = sc_time(200, sc_core::SC_NS))
      : sc_module(name), target("target"), rate(bytes_per_second), manner(manner),
        latency(latency) {
    target.register_b_transport(this, &Memory::transport);
  }
  void transport(tlm::tlm_generic_payload &payload, sc_time &delay) {
    const sc_time now = sc_core::sc_time_stamp() + delay;
    const double ps = rate > 0 ? payload.get_data_length() / rate * 1e12 : 0;
    free = std::max(free, now) + sc_time(ps, sc_core::SC_PS);
    (payload.is_write() ? written : read) += payload.get_data_length();
    if (manner == WAITS)
      wait(free + latency - now);
    else
      delay += free + latency - now;
    payload.set_response_status(manner == FAILS ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                : tlm::TLM_OK_RESPONSE);
  }
  const double rate;
  const Manner manner;
  const sc_time latency;
  sc_time free;
  uint64_t read = 0, written = 0;
};

const std::vector<std::string> relu_args = {"shape=16x256x1024", "dtype=fp16", "blocks=40"};
const uint64_t relu_bytes = UINT64_C(16) * 256 * 1024 * 2;

// Cycles of an operator in the library's own models.
uint64_t alone(const std::string &op, const std::vector<std::string> &args,
               const std::vector<const char *> &sets, enum vinci_memory memory,
               enum vinci_l2 l2_start = VINCI_L2_EMPTY) {
  struct vinci_diag diag = {};
  vinci_soc *soc = nullptr;
  vinci_trace *trace = nullptr;
  vinci_result *result = nullptr;
  std::vector<const char *> words;
  for (const std::string &arg : args)
    words.push_back(arg.c_str());
  struct vinci_run_options options = {};
  options.struct_size = sizeof options;
  options.memory = memory;
  options.l2_start = l2_start;
  enum vinci_status status = vinci_soc_load("Ascend910B4", nullptr, &soc, &diag);
  for (const char *set : sets)
    if (status == VINCI_OK)
      status = vinci_soc_set(soc, set, &diag);
  if (status == VINCI_OK)
    status = vinci_compile(soc, op.c_str(), words.data(), words.size(), &trace, &diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &options, &result, &diag);
  const uint64_t cycles = result ? vinci_result_total_cycles(result) : 0;
  if (status != VINCI_OK)
    std::printf("# status %d: %s\n", status, diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return cycles;
}

void expect_near(uint64_t found, uint64_t expected, double share, const char *what) {
  const double apart = expected ? double(found) / double(expected) - 1 : 1;
  if (apart > share || apart < -share)
    std::printf("# %s: %lu cycles, expected %lu\n", what, found, expected);
  expect(apart <= share && apart >= -share, what);
}

// Engines alone set the time: as in the flat model when L2 holds all and has no limit.
void at_once() {
  Memory memory("memory", 0, Memory::DELAYS, sc_core::SC_ZERO_TIME);
  vinci::device npu("npu", "Ascend910B4");
  npu.memory.bind(memory.target);
  const std::vector<const char *> sets = {"l2.bandwidth=100TB/s"};
  npu.start("relu", relu_args);
  sc_core::sc_start();
  npu.verify();
  expect(memory.read == relu_bytes && memory.written == relu_bytes, "all bytes come by");
  expect(npu.cycles() == alone("relu", relu_args, sets, VINCI_MEMORY_FLAT, VINCI_L2_WARM),
         "relu takes as long as with an L2 that holds all");
  const std::vector<std::string> product = {"m=256", "k=512", "n=384", "dtype=fp16"};
  npu.start("matmul", product);
  sc_core::sc_start();
  npu.verify();
  expect_near(npu.cycles(), alone("matmul", product, sets, VINCI_MEMORY_FLAT, VINCI_L2_WARM), 0.01,
              "a product takes as long as with an L2 that holds all");
}

// The flat model's device memory: 800 GB/s by 1.024 at the pins, of which refresh takes 350 of 3900
// ns (scripts/mem/hbm2e_3200.lua).
void at_a_rate() {
  Memory memory("memory", 800e9 * 1.024 * (1 - 350.0 / 3900.0));
  vinci::device npu("npu", "Ascend910B4");
  npu.memory.bind(memory.target);
  npu.start("relu", relu_args);
  sc_core::sc_start();
  npu.verify();
  const std::vector<const char *> sets = {"l2.size=0", "hbm.mixed_efficiency=1",
                                          "l2.miss_cycles=0"};
  expect_near(npu.cycles(), alone("relu", relu_args, sets, VINCI_MEMORY_FLAT), 0.03,
              "relu takes as long as with the flat model's memory of that rate");
}

// Without a limit of the rate, an engine moves what is under way in the time of an answer.
void at_a_latency() {
  Memory near("near", 0, Memory::DELAYS, sc_time(2, sc_core::SC_US));
  Memory far("far", 0, Memory::DELAYS, sc_time(4, sc_core::SC_US));
  vinci::device first("first", "Ascend910B4"), second("second", "Ascend910B4");
  first.memory.bind(near.target);
  second.memory.bind(far.target);
  first.start("relu", relu_args);
  second.start("relu", relu_args);
  sc_core::sc_start();
  const double longer = second.duration() / first.duration();
  if (longer < 1.8 || longer > 2)
    std::printf("# %.2f times as long\n", longer);
  expect(longer > 1.8 && longer < 2, "twice the latency nearly doubles the time");
}

struct Ticker : sc_core::sc_module {
  SC_HAS_PROCESS(Ticker);
  explicit Ticker(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(tick); }
  void tick() {
    for (; ticks < 50000; ticks++)
      wait(777, sc_core::SC_PS);
  }
  unsigned ticks = 0;
};

uint64_t cycles_with(Memory::Manner manner, unsigned channels, bool ticks) {
  return in_process([=] {
    Memory memory("memory", 500e9, manner);
    vinci::device npu("npu", "Ascend910B4", vinci::memory_of::platform, {}, channels);
    npu.memory.bind(memory.target);
    std::unique_ptr<Ticker> ticker(ticks ? new Ticker("ticker") : nullptr);
    npu.start("relu", {"shape=64x1024", "dtype=fp16"});
    sc_core::sc_start();
    return npu.cycles();
  });
}

void beside_others() {
  const uint64_t cycles = cycles_with(Memory::DELAYS, 64, false);
  expect(cycles > 0, "a run");
  expect(cycles_with(Memory::DELAYS, 64, true) == cycles, "nobody else in the kernel matters");
  expect(cycles_with(Memory::DELAYS, 1, false) == cycles,
         "with delays one channel does what many do");
  expect(cycles_with(Memory::WAITS, 4096, false) == cycles, "a target may wait instead");
  expect(cycles_with(Memory::WAITS, 2, false) > cycles, "few channels hold a waiting target up");
}

// Two chips behind one memory, one of which starts later.
struct Host : sc_core::sc_module {
  SC_HAS_PROCESS(Host);
  Host(sc_core::sc_module_name name, vinci::device &first, vinci::device &second)
      : sc_module(name), first(first), second(second) {
    SC_THREAD(work);
    set_stack_size(1 << 20);
  }
  void work() {
    first.start("relu", relu_args);
    wait(first.finished);
    single = first.duration();
    wait(5, sc_core::SC_US);
    first.start("relu", relu_args);
    second.start("relu", relu_args);
    try {
      second.start("relu", relu_args);
    } catch (const vinci::error &error) {
      refused = error.what();
    }
    wait(first.finished & second.finished);
    both = std::max(first.duration(), second.duration());
  }
  vinci::device &first, &second;
  sc_time single, both;
  std::string refused;
};

void two_chips() {
  const double rate = 400e9;
  Memory memory("memory", rate);
  Memory own("own", rate);
  vinci::device first("first", "Ascend910B4"), second("second", "910b4");
  first.memory.bind(memory.target);
  second.memory.bind(own.target);
  Host host("host", first, second);
  sc_core::sc_start();
  expect(host.refused == "second is busy: wait for the event 'finished'", "one run at a time");
  expect(host.both == host.single, "chips with a memory each do not meet");
  expect(first.cycles() == second.cycles(), "equal chips take as long");
  expect(memory.read == 2 * relu_bytes && own.read == relu_bytes, "each run brings its bytes");
}

// Ports of one memory for two chips.
struct Shared : sc_core::sc_module {
  tlm_utils::simple_target_socket<Shared> one, two;
  Shared(sc_core::sc_module_name name, double rate)
      : sc_module(name), one("one"), two("two"), memory("memory", rate) {
    one.register_b_transport(this, &Shared::transport);
    two.register_b_transport(this, &Shared::transport);
    out.bind(memory.target);
  }
  void transport(tlm::tlm_generic_payload &payload, sc_time &delay) {
    memory.transport(payload, delay);
  }
  tlm_utils::simple_initiator_socket<Shared> out;
  Memory memory;
};

void behind_one_memory() {
  Shared shared("shared", 400e9);
  vinci::device first("first", "Ascend910B4"), second("second", "Ascend910B4");
  first.memory.bind(shared.one);
  second.memory.bind(shared.two);
  first.start("relu", relu_args);
  sc_core::sc_start();
  const sc_time single = first.duration();
  first.start("relu", relu_args);
  second.start("relu", relu_args);
  sc_core::sc_start();
  const double slower = std::max(first.duration(), second.duration()) / single;
  if (slower < 1.7 || slower > 2.1)
    std::printf("# %.2f times as long\n", slower);
  // The memory binds: 33.6 MB at 400 GB/s are 84 of some 87 us, launches and starts overlap.
  expect(slower > 1.7 && slower < 2.1, "two chips at one memory take twice as long");
  expect(shared.memory.read == 3 * relu_bytes, "all bytes come by");
}

void own_memory() {
  vinci::device npu("npu", "Ascend910B4", vinci::memory_of::chip, {"l2.size=48MiB"});
  npu.start("softmax", {"shape=32x512"});
  sc_core::sc_start();
  npu.verify();
  expect(npu.cycles() == alone("softmax", {"shape=32x512"}, {"l2.size=48MiB"}, VINCI_MEMORY_CYCLE),
         "a chip with its own memory takes as long as in the program");
}

void errors() {
  std::string text;
  try {
    vinci::device npu("none", "Ascend910X1");
  } catch (const vinci::error &error) {
    text = error.what();
  }
  expect(text.find("unknown SoC 'Ascend910X1' (did you mean") == 0, "an unknown chip");
  Memory memory("memory", 400e9, Memory::FAILS);
  vinci::device npu("npu", "Ascend910B4");
  npu.memory.bind(memory.target);
  text.clear();
  try {
    npu.start("relu", {"shpe=64"});
  } catch (const vinci::error &error) {
    text = error.what();
  }
  expect(text.find("shpe") != std::string::npos, "a wrong argument");
  npu.start("relu", {"shape=64x64"});
  sc_core::sc_start();
  text.clear();
  try {
    npu.verify();
  } catch (const vinci::error &error) {
    text = error.what();
  }
  expect(text == "npu: a target answered a request with an error", "an error of the target");
}

const Case cases[] = {
    {"a memory without limits leaves the engines' own time", at_once},
    {"a memory of a rate does what the flat model does at that rate", at_a_rate},
    {"a latency holds up as many bytes as are under way", at_a_latency},
    {"the run depends on the answers alone", beside_others},
    {"two chips with a memory each", two_chips},
    {"two chips behind one memory", behind_one_memory},
    {"a chip with its own memory", own_memory},
    {"errors are thrown", errors},
};

} // namespace

extern "C" __attribute__((visibility("default"))) int sc_main(int, char **) { return run_chosen(); }

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }
