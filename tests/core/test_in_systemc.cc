// SPDX-License-Identifier: Apache-2.0
//
// Simulations among other models of one SystemC kernel: in its processes, beside them, after
// them. Each case is a process of its own, since the kernel is one for the process and does not
// come back after sc_stop() or an error. Linked to libvinci alone.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <systemc>
#include <unistd.h>

#include "core/vinci.h"

namespace {

const char *wrong; // the first thing that is not as expected; nullptr: none

void expect(bool holds, const char *what) {
  if (!holds && !wrong)
    wrong = what;
}

// Cycles of a run; 0 and a status when the run fails.
uint64_t simulate(vinci_status *status = nullptr) {
  const char *const args[] = {"shape=32x512"};
  struct vinci_diag diag = {};
  vinci_soc *soc = nullptr;
  vinci_trace *trace = nullptr;
  vinci_result *result = nullptr;
  vinci_status end = vinci_soc_load("Ascend910B4", nullptr, &soc, &diag);
  if (end == VINCI_OK)
    end = vinci_compile(soc, "softmax", args, 1, &trace, &diag);
  if (end == VINCI_OK)
    end = vinci_run(soc, trace, nullptr, &result, &diag);
  const uint64_t cycles = result ? vinci_result_total_cycles(result) : 0;
  if (status)
    *status = end;
  else if (end != VINCI_OK)
    std::printf("# status %d: %s\n", end, diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return cycles;
}

// Another model: it ticks, and does something at a tick.
struct Model : sc_core::sc_module {
  SC_HAS_PROCESS(Model);
  enum Deed { TICK, RUN, STOP, THROW };
  Model(sc_core::sc_module_name name, Deed deed, int at) : sc_module(name), deed(deed), at(at) {
    SC_THREAD(tick);
    set_stack_size(1 << 20);
  }
  void tick() {
    for (; ticks < 100; ticks++) {
      wait(1, sc_core::SC_US);
      if (ticks == at)
        act();
    }
  }
  void act() {
    const sc_core::sc_time before = sc_core::sc_time_stamp();
    if (deed == RUN)
      cycles = simulate();
    if (deed == STOP)
      sc_core::sc_stop();
    if (deed == THROW)
      throw std::runtime_error("a model fails");
    expect(sc_core::sc_time_stamp() == before, "SystemC's time stands still");
  }
  Deed deed;
  int at, ticks = 0;
  uint64_t cycles = 0;
};

uint64_t alone; // cycles of a run in a process without other models

void in_a_process() {
  Model model("model", Model::RUN, 2);
  sc_core::sc_start(5500, sc_core::SC_NS);
  expect(model.cycles == alone, "a run inside an SC_THREAD");
  const sc_core::sc_time before = sc_core::sc_time_stamp();
  const int ticks = model.ticks;
  expect(simulate() == alone, "a run of sc_main afterwards");
  expect(sc_core::sc_time_stamp() > before && model.ticks > ticks,
         "which the model goes along with");
  sc_core::sc_start(200, sc_core::SC_US);
  expect(model.ticks == 100, "the model goes on");
}

struct Builder : sc_core::sc_module {
  explicit Builder(sc_core::sc_module_name name) : sc_module(name) { cycles = simulate(); }
  uint64_t cycles;
};

void in_a_constructor() {
  Builder builder("builder");
  Model model("model", Model::TICK, 0); // still possible: the kernel has not started
  expect(builder.cycles == alone, "a run inside a constructor");
  sc_core::sc_start(200, sc_core::SC_US);
  expect(model.ticks == 100, "the model ticks");
}

// A run that takes longer than the models' first ticks, from sc_main.
void after_stop() {
  Model model("model", Model::STOP, 1);
  expect(simulate() == alone, "a run during which a model calls sc_stop()");
  expect(model.ticks < 5, "the model has stopped SystemC");
  expect(simulate() == alone, "a run after sc_stop()");
}

void after_an_error() {
  Model model("model", Model::THROW, 1);
  vinci_status status = VINCI_OK;
  simulate(&status);
  expect(status == VINCI_E_INTERNAL, "an error of another model is told");
  expect(simulate() == alone, "a run after another model's error");
}

struct Case {
  const char *name;
  void (*run)();
} const cases[] = {
    {"a run inside a process takes no time, and one afterwards does", in_a_process},
    {"a run inside a module's constructor", in_a_constructor},
    {"a model ends the SystemC simulation", after_stop},
    {"a model throws an exception", after_an_error},
};

const Case *chosen;

} // namespace

extern "C" __attribute__((visibility("default"))) int sc_main(int, char **) {
  chosen->run();
  if (wrong)
    std::printf("# not so: %s\n", wrong);
  std::fflush(nullptr);
  _exit(wrong ? 1 : 0);
}

int main(int argc, char **argv) {
  int number = 0;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  std::printf("1..%d\n", static_cast<int>(sizeof cases / sizeof *cases));
  std::fflush(nullptr);
  // In a child without the first thread's kernel, so that no case has used the kernel before.
  int ends[2];
  if (pipe(ends) != 0)
    return 1;
  if (fork() == 0) {
    alone = simulate();
    _exit(write(ends[1], &alone, sizeof alone) == sizeof alone ? 0 : 1);
  }
  if (read(ends[0], &alone, sizeof alone) != sizeof alone || alone == 0)
    return 1;
  for (const Case &one : cases) {
    int ended = 0;
    const pid_t child = fork();
    if (child == 0) {
      chosen = &one;
      _exit(sc_core::sc_elab_and_sim(argc, argv));
    }
    const bool good = child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
    std::printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, one.name);
    std::fflush(nullptr);
  }
  while (wait(nullptr) > 0)
    ;
  return 0;
}
