/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping a run early and showing how far it is. */
#include "cli/support/monitor.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/vinci.h"

enum { LAST_WORDS_MAX = 512 };

static const char time_is_over[] = "the time given by --timeout is over";
static volatile sig_atomic_t interrupted;
/* While there is nothing to lose: what to say on stderr, and what closes stdout. */
static volatile sig_atomic_t ends_at_once;
static char last_error[LAST_WORDS_MAX], last_output[LAST_WORDS_MAX], too_late[LAST_WORDS_MAX];

bool monitor_interrupted(void) { return interrupted != 0; }

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Only what a signal handler may do. */
static void say(int file, const char *text) {
  ssize_t written = write(file, text, strlen(text));
  (void)written; /* nobody is left to be told */
}

/*
 * Opening and reading of files may wait for ever (a pipe that nobody writes to), and library
 * functions that fill memory do not ask. As nothing has been computed yet, the program just ends.
 */
void monitor_begin_reading(const struct monitor *monitor, const char *what, const char *before,
                           const char *closing) {
  fflush(stdout);
  snprintf(last_error, sizeof last_error, "error: interrupted before %.400s %s\n", what, before);
  snprintf(too_late, sizeof too_late, "error: %s before %.400s %s\n", time_is_over, what, before);
  snprintf(last_output, sizeof last_output, "%s", closing);
  ends_at_once = 1;
  if (monitor->limit_seconds > 0) {
    double left = monitor->limit_seconds - (now_seconds() - monitor->start_seconds);
    alarm(left > 1 ? (unsigned)left : 1);
  }
  if (interrupted) /* the signal came just before */
    raise(SIGTERM);
}

void monitor_end_reading(void) {
  alarm(0);
  ends_at_once = 0;
}

/*
 * The first Ctrl-C or SIGTERM ends the run with partial results, a second signal more than a second
 * later ends the program. timeout(1) sends two signals in a row that mean one request.
 */
static void on_interrupt(int signal_number) {
  if (ends_at_once) {
    say(STDERR_FILENO, signal_number == SIGALRM ? too_late : last_error);
    say(STDOUT_FILENO, last_output);
    _exit(vinci_status_exit_code(VINCI_E_LIMIT));
  }
  if (signal_number == SIGALRM) /* what was read is there */
    return;
  static const int64_t second_ns = 1000000000;
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t since_ns = (int64_t)(now.tv_sec - first.tv_sec) * second_ns + now.tv_nsec - first.tv_nsec;
  if (interrupted && since_ns > second_ns) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
  if (!interrupted)
    first = now;
  interrupted = 1;
}

void monitor_catch_interrupt(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
}

void monitor_start(struct monitor *monitor, const char *what, uint64_t limit_minutes, bool quiet) {
  *monitor = (struct monitor){.what = what,
                              .start_seconds = now_seconds(),
                              .limit_seconds = 60.0 * (double)limit_minutes,
                              .terminal = !quiet && isatty(STDERR_FILENO)};
}

bool monitor_goes_on(struct monitor *monitor) {
  if (monitor->limit_seconds > 0 && now_seconds() - monitor->start_seconds > monitor->limit_seconds)
    monitor->timed_out = true;
  return !interrupted && !monitor->timed_out;
}

const char *monitor_reason(void) { return interrupted ? "interrupted" : time_is_over; }

static void show(struct monitor *monitor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Not at once, and not too often. */
static void show(struct monitor *monitor, const char *format, ...) {
  static const double first_seconds = 1.0, period_seconds = 0.2;
  double now = now_seconds();
  if (!monitor->terminal || now - monitor->start_seconds <= first_seconds ||
      now - monitor->shown_seconds <= period_seconds)
    return;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "\r\033[K%.60s: ", monitor->what);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, ", %.0f s ", now - monitor->start_seconds);
  fflush(stderr);
  va_end(arguments);
  monitor->shown = true;
  monitor->shown_seconds = now;
}

enum { LEFT_BYTES = 32 };

/* The time that what is left of a phase takes at the pace since the phase began; "" at its ends. */
static void tell_left(struct monitor *monitor, const char *phase, double done, double all,
                      char left[LEFT_BYTES]) {
  double now = now_seconds();
  left[0] = '\0';
  if (!monitor->phase || strcmp(monitor->phase, phase) != 0) {
    monitor->phase = phase;
    monitor->phase_seconds = now;
  }
  if (done > 0 && done < all)
    snprintf(left, LEFT_BYTES, ", %.0f s left",
             (now - monitor->phase_seconds) * (all - done) / done);
}

/* Done so far, and the time that what is left takes at the same pace. */
static void show_share(struct monitor *monitor, const char *phase, unsigned done_permille,
                       uint64_t count, const char *unit) {
  static const unsigned whole = 1000;
  char left[LEFT_BYTES];
  tell_left(monitor, phase, done_permille, whole, left);
  show(monitor, "%s%3u.%u %% of the instructions, %" PRIu64 " %s%s", phase, done_permille / 10,
       done_permille % 10, count, unit, left);
}

bool monitor_progress(void *context, uint64_t cycles, unsigned done_permille) {
  show_share(context, "", done_permille, cycles, "cycles");
  return monitor_goes_on(context);
}

bool monitor_check_progress(void *context, uint64_t instructions, unsigned done_permille) {
  show_share(context, "checks, ", done_permille, instructions, "instructions");
  return monitor_goes_on(context);
}

bool monitor_values_progress(void *context, uint64_t instructions, unsigned done_permille) {
  show_share(context, "values, ", done_permille, instructions, "instructions");
  return monitor_goes_on(context);
}

bool monitor_items(struct monitor *monitor, const struct monitor_count *count) {
  double seconds = now_seconds() - monitor->start_seconds;
  double done = (double)count->done_permille / 1000;
  double here = done - (double)count->before;
  if (here > 0 && seconds > 0)
    show(monitor, "%.1f of %zu operators, %.1f per second, %.0f s left", done, count->all,
         here / seconds, ((double)count->all - done) * seconds / here);
  else
    show(monitor, "%.1f of %zu operators", done, count->all);
  return monitor_goes_on(monitor);
}

bool monitor_phase(struct monitor *monitor, const char *phase, size_t done, size_t all,
                   const char *found) {
  char left[LEFT_BYTES];
  tell_left(monitor, phase, (double)done, (double)all, left);
  show(monitor, "%zu of %zu %s%s%s", done, all, phase, found, left);
  return monitor_goes_on(monitor);
}

void monitor_clear(struct monitor *monitor) {
  if (monitor->shown)
    fputs("\r\033[K", stderr);
  monitor->shown = false;
}
