// SPDX-License-Identifier: Apache-2.0
//
// The engine inside the SystemC kernel: the only C++ and the only SystemC here. It is a module that
// engine_host.c loads when somebody asks for that kernel.
//
// SystemC owns time. One SystemC process, made at the first run and kept, stands
// for the whole engine: it wakes at the next event's time and lets the engine run
// ahead up to the time at which any other SystemC process could act, so that an
// engine alone in the kernel runs at its own speed and one beside other models
// never passes them. SystemC's time cannot go back: every run starts at the
// kernel's current time, and the engine's time counts from there. SystemC's time ends
// too, at 2^64 ps: where nobody else could tell, it does not follow a run that would take
// it to its last half, so that it serves any number of runs.
//
// The kernel is one for the process and knows no threads. So the first thread of the process has
// the kernel, unless that is under way already (a run inside a SystemC process, or from the
// progress function of a run) or has ended. Any other run goes by itself: the same events in the
// same order, at one instant of SystemC's time.
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>

#include "core/sim/engine_host.h"

// libsystemc refers to a user's sc_main; a process that has none finds this.
extern "C" __attribute__((weak, visibility("default"))) int sc_main(int, char **) { return 0; }

namespace {

// State of the one hosting process. The SystemC kernel itself is a process-wide
// singleton, so its guest has to be one as well.
struct Host {
  explicit Host(const struct engine_host_calls *calls) : calls(calls) {}
  const struct engine_host_calls *calls;
  struct engine *guest = nullptr;
  sc_core::sc_time base;
  sc_core::sc_event start;
  std::exception_ptr failure;
};

Host *host;

uint64_t guest_now_ps() { return (sc_core::sc_time_stamp() - host->base).value(); }

// The last time before anybody else in the kernel can act, in the guest's time.
uint64_t horizon_ps() {
  const uint64_t now = guest_now_ps();
  if (sc_core::sc_pending_activity_at_current_time())
    return now;
  const uint64_t quiet = sc_core::sc_time_to_pending_activity().value();
  // Without other processes the kernel tells the time up to its own end.
  const bool alone = quiet >= UINT64_MAX - sc_core::sc_time_stamp().value();
  return alone || quiet > UINT64_MAX - now ? UINT64_MAX : now + quiet - 1;
}

// Whether SystemC's time has room for a run that goes on for so long.
bool has_time_for(uint64_t ahead_ps) {
  const uint64_t spent = sc_core::sc_time_stamp().value();
  return spent < UINT64_MAX / 2 && ahead_ps < UINT64_MAX / 2 - spent;
}

void host_process() {
  if (!host->guest)
    return;
  try {
    const uint64_t horizon = horizon_ps();
    host->calls->run_until(host->guest, horizon);
    const uint64_t now = guest_now_ps();
    // When the engine ran ahead, SystemC follows to where it stopped.
    uint64_t wake = host->calls->next_ps(host->guest);
    const bool done = wake == UINT64_MAX;
    if (done)
      wake = host->calls->now_ps(host->guest);
    const bool unseen = horizon == UINT64_MAX && wake > now && !has_time_for(wake - now);
    if (done && (wake <= now || unseen)) {
      host->guest = nullptr;
      sc_core::sc_pause(); // others may have more to do, the run has not
      return;
    }
    // A run that others have cut short leaves a wake-up behind, which must not delay the next run.
    sc_core::next_trigger(sc_core::sc_time::from_value(wake > now ? wake - now : 0), host->start);
  } catch (...) {
    host->failure = std::current_exception();
    host->guest = nullptr;
  }
}

void create_host(const struct engine_host_calls *calls) {
  // The kernel greets on stderr unless told not to; a library does not print.
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  // When memory is short there is no host, rather than one without a process.
  std::unique_ptr<Host> made(new Host(calls));
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&made->start);
  sc_core::sc_spawn(host_process, "vinci_engine", &options);
  host = made.release();
}

// Whether sc_start() may be called here and now.
bool kernel_is_free() {
  const sc_core::sc_status status = sc_core::sc_get_status();
  if (sc_core::sc_get_curr_simcontext()->sim_status() != sc_core::SC_SIM_OK)
    return false; // a process of somebody has failed: the kernel executes no more
  // While a module is constructed, the kernel must not start.
  return status == sc_core::SC_PAUSED ||
         (status == sc_core::SC_ELABORATION && !sc_core::sc_get_current_object());
}

// Takes the guest out of the kernel however a run ends: the engine is gone afterwards.
struct Visit {
  explicit Visit(struct engine *engine) {
    host->base = sc_core::sc_time_stamp();
    host->guest = engine;
    host->failure = nullptr;
    host->start.notify(sc_core::SC_ZERO_TIME);
  }
  ~Visit() { host->guest = nullptr; }
  Visit(const Visit &) = delete;
  Visit &operator=(const Visit &) = delete;
};

void run_in_kernel(struct engine *engine) {
  const Visit visit(engine);
  // A kernel that a failed run has left without anything to do would start for ever.
  bool active = true;
  while (host->guest && active && kernel_is_free()) {
    sc_core::sc_start();
    active = sc_core::sc_pending_activity();
  }
  if (host->failure)
    std::rethrow_exception(host->failure);
  if (host->guest) // somebody has ended the SystemC simulation by sc_stop(), not this run
    host->calls->run_until(engine, UINT64_MAX);
}

} // namespace

extern "C" __attribute__((visibility("default"))) enum vinci_status
vinci_systemc_host_run(const struct engine_host_calls *calls, struct engine *engine,
                       struct vinci_diag *diag) {
  try {
    if (!kernel_is_free()) {
      calls->run_until(engine, UINT64_MAX);
      return VINCI_OK;
    }
    if (!host)
      create_host(calls);
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
      return calls->error(diag, VINCI_E_USAGE, "the SystemC time resolution is not 1 ps");
    run_in_kernel(engine);
    return VINCI_OK;
  } catch (const std::bad_alloc &) {
    return calls->error(diag, VINCI_E_NOMEM, "out of memory in SystemC");
  } catch (const std::exception &error) {
    return calls->error(diag, VINCI_E_INTERNAL, "SystemC: %s", error.what());
  } catch (...) {
    return calls->error(diag, VINCI_E_INTERNAL, "SystemC: unknown exception");
  }
}
