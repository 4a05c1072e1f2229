// SPDX-License-Identifier: Apache-2.0
//
// The engine inside the SystemC kernel: the only C++ and the only SystemC here.
//
// SystemC owns time. One SystemC process, made at the first run and kept, stands
// for the whole engine: it wakes at the next event's time and lets the engine run
// ahead up to the time at which any other SystemC process could act, so that an
// engine alone in the kernel runs at its own speed and one beside other models
// never passes them. SystemC's time cannot go back: every run starts at the
// kernel's current time, and the engine's time counts from there. SystemC's time ends
// too, at 2^64 ps: where nobody else could tell, it does not follow a run that would take
// it to its last half, so that it serves any number of runs.
#include <cstdlib>
#include <exception>

#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>

#include "core/base/diag.h"
#include "core/sim/engine.h"

// libsystemc refers to a user's sc_main. A program that links this library may define
// its own sc_main, which then replaces this weak definition.
extern "C" __attribute__((weak, visibility("default"))) int sc_main(int, char **) { return 0; }

namespace {

// State of the one hosting process. The SystemC kernel itself is a process-wide
// singleton, so its guest has to be one as well.
struct Host {
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
    engine_run_until(host->guest, horizon);
    const uint64_t now = guest_now_ps();
    // When the engine ran ahead, SystemC follows to where it stopped.
    uint64_t wake = engine_next_ps(host->guest);
    const bool done = wake == UINT64_MAX;
    if (done)
      wake = engine_now_ps(host->guest);
    const bool unseen = horizon == UINT64_MAX && wake > now && !has_time_for(wake - now);
    if (done && (wake <= now || unseen)) {
      host->guest = nullptr;
      sc_core::sc_pause(); // others may have more to do, the run has not
      return;
    }
    sc_core::next_trigger(sc_core::sc_time::from_value(wake > now ? wake - now : 0));
  } catch (...) {
    host->failure = std::current_exception();
    host->guest = nullptr;
  }
}

void create_host() {
  // The kernel greets on stderr unless told not to; a library does not print.
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  host = new Host;
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&host->start);
  sc_core::sc_spawn(host_process, "vinci_engine", &options);
}

} // namespace

extern "C" enum vinci_status engine_run_in_systemc(struct engine *engine, struct vinci_diag *diag) {
  try {
    if (!host)
      create_host();
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
      return diag_error(diag, VINCI_E_USAGE, "the SystemC time resolution is not 1 ps");
    host->base = sc_core::sc_time_stamp();
    host->guest = engine;
    host->failure = nullptr;
    host->start.notify(sc_core::SC_ZERO_TIME);
    while (host->guest)
      sc_core::sc_start();
    if (host->failure)
      std::rethrow_exception(host->failure);
    return VINCI_OK;
  } catch (const std::exception &error) {
    return diag_error(diag, VINCI_E_INTERNAL, "SystemC: %s", error.what());
  } catch (...) {
    return diag_error(diag, VINCI_E_INTERNAL, "SystemC: unknown exception");
  }
}
