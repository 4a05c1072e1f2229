/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping a run early and showing how far it is. Wall-clock time steers only what is shown and
 * when to give up, never a result.
 */
#ifndef VINCI_CLI_SUPPORT_MONITOR_H
#define VINCI_CLI_SUPPORT_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct monitor {
  const char *what; /* name shown */
  double start_seconds;
  double shown_seconds;
  double phase_seconds; /* when what `phase` names began */
  const char *phase;
  double limit_seconds; /* 0: none */
  bool terminal;
  bool shown;
  bool timed_out;
};

/* limit_minutes 0: no limit. */
void monitor_start(struct monitor *monitor, const char *what, uint64_t limit_minutes, bool quiet);
/* For the progress of vinci_run, vinci_check and vinci_values_run; the context is the monitor. */
bool monitor_progress(void *context, uint64_t cycles, unsigned done_permille);
bool monitor_check_progress(void *context, uint64_t instructions, unsigned done_permille);
bool monitor_values_progress(void *context, uint64_t instructions, unsigned done_permille);
/* Operators of a list: how many are done, with the parts of those that are under way; an earlier
 * run did `before` of them. */
struct monitor_count {
  uint64_t done_permille;
  size_t before;
  size_t all;
};
bool monitor_items(struct monitor *monitor, const struct monitor_count *count);
/* What is done of a phase, "3 of 20 splits looked at", and what is found so far; "" for nothing. */
bool monitor_phase(struct monitor *monitor, const char *phase, size_t done, size_t all,
                   const char *found);
/* "12 s elapsed, 30 s left", the words of all lines of progress; left negative: not known. */
enum { MONITOR_TIME_BYTES = 64 };
const char *monitor_time(double elapsed, double left, char text[MONITOR_TIME_BYTES]);
/* Whether neither the user nor the limit asks for an end; and what does. */
bool monitor_goes_on(struct monitor *monitor);
const char *monitor_reason(void);
/* Wipes the line of progress. */
void monitor_clear(struct monitor *monitor);

/* From here on Ctrl-C and SIGTERM end the run with partial results. */
void monitor_catch_interrupt(void);
bool monitor_interrupted(void);
/*
 * Between the two, the first signal or the end of the monitor's time ends the program at once with
 * the exit code of a limit, after "error: interrupted before WHAT BEFORE" (or what says that the
 * time is over) on stderr and `closing` on stdout. Around whatever reads or fills and would not
 * notice.
 */
void monitor_begin_reading(const struct monitor *monitor, const char *what, const char *before,
                           const char *closing);
void monitor_end_reading(void);

#endif
