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

#include "core/base/sheet.h"
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

/* "45 s", "12 min", "3.5 h" */
static int put_seconds(char *text, size_t size, double seconds) {
  static const double minute = 60, hour = 3600;
  if (seconds < 2 * minute)
    return snprintf(text, size, "%.0f s", seconds);
  if (seconds < 2 * hour)
    return snprintf(text, size, "%.0f min", seconds / minute);
  return snprintf(text, size, "%.1f h", seconds / hour);
}

const char *monitor_time(double elapsed, double left, char text[MONITOR_TIME_BYTES]) {
  int used = put_seconds(text, MONITOR_TIME_BYTES, elapsed);
  used += snprintf(text + used, MONITOR_TIME_BYTES - (size_t)used, " elapsed");
  if (left >= 0) {
    used += snprintf(text + used, MONITOR_TIME_BYTES - (size_t)used, ", ");
    used += put_seconds(text + used, MONITOR_TIME_BYTES - (size_t)used, left);
    snprintf(text + used, MONITOR_TIME_BYTES - (size_t)used, " left");
  }
  return text;
}

static void show(struct monitor *monitor, double left, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Not at once, and not too often; in one line of the terminal, where a long name loses its front.
 */
static void show(struct monitor *monitor, double left, const char *format, ...) {
  static const double first_seconds = 1.0, period_seconds = 0.2;
  enum { TEXT_BYTES = 160 };
  char text[TEXT_BYTES], time[MONITOR_TIME_BYTES];
  double now = now_seconds();
  if (!monitor->terminal || now - monitor->start_seconds <= first_seconds ||
      now - monitor->shown_seconds <= period_seconds)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  monitor_time(now - monitor->start_seconds, left, time);
  size_t taken = strlen(text) + strlen(time) + strlen(": , ") + 1, length = strlen(monitor->what);
  size_t width = sheet_width(stderr), room = width > taken ? width - taken : 0;
  const char *name = monitor->what + (length > room ? length - room : 0);
  fprintf(stderr, "\r\033[K%s%s%s, %s ", name, *name ? ": " : "", text, time);
  fflush(stderr);
  monitor->shown = true;
  monitor->shown_seconds = now;
}

/* The time that what is left of a phase takes at the pace since the phase began; negative at its
 * ends.
 */
static double left_of(struct monitor *monitor, const char *phase, double done, double all) {
  double now = now_seconds();
  if (!monitor->phase || strcmp(monitor->phase, phase) != 0) {
    monitor->phase = phase;
    monitor->phase_seconds = now;
  }
  return done > 0 && done < all ? (now - monitor->phase_seconds) * (all - done) / done : -1;
}

/* Done so far, and the time that what is left takes at the same pace. */
static void show_share(struct monitor *monitor, const char *phase, unsigned done_permille,
                       uint64_t count, const char *unit) {
  static const unsigned whole = 1000;
  show(monitor, left_of(monitor, phase, done_permille, whole),
       "%s%u.%u %% of the instructions, %" PRIu64 " %s", phase, done_permille / 10,
       done_permille % 10, count, unit);
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
  double left = here > 0 ? ((double)count->all - done) * seconds / here : -1;
  show(monitor, left, "%.1f of %zu operators", done, count->all);
  return monitor_goes_on(monitor);
}

bool monitor_phase(struct monitor *monitor, const char *phase, size_t done, size_t all,
                   const char *found) {
  show(monitor, left_of(monitor, phase, (double)done, (double)all), "%zu of %zu %s%s", done, all,
       phase, found);
  return monitor_goes_on(monitor);
}

void monitor_clear(struct monitor *monitor) {
  if (monitor->shown)
    fputs("\r\033[K", stderr);
  monitor->shown = false;
}
