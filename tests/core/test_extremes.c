/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chips and traces that nobody would build, but that the readers accept: numbers drawn over the
 * whole of what is allowed, amounts of work beyond what time can count. A run may be refused,
 * hang or reach a limit; it never aborts, and its counters add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/chip/mem.h"
#include "core/result/critical.h"
#include "core/sim/engine.h"
#include "tests/support/runs.h"

enum { CASES = 400, MANY = 30, TEXT_MAX = 8192 };

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static uint64_t random_below(uint64_t *state, uint64_t limit) { return random_next(state) % limit; }

/* Small and large ones alike: as many of each length in bits. */
static uint64_t random_of_any_size(uint64_t *state, unsigned bits) {
  return random_next(state) >> (64 - 1 - random_below(state, bits));
}

/* ---- chips ------------------------------------------------------------------------- */

static vinci_soc *load(const char *name) {
  vinci_soc *soc = NULL;
  struct vinci_diag diag = {0};
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

/* An end of the range, or anything between. */
static int64_t random_value(uint64_t *state, const struct soc_param *param) {
  switch (random_below(state, 4)) {
  case 0:
    return param->minimum;
  case 1:
    return param->maximum;
  default: {
    uint64_t range = (uint64_t)(param->maximum - param->minimum);
    uint64_t value = random_of_any_size(state, 63);
    return param->minimum + (int64_t)(range == 0 ? 0 : value % range);
  }
  }
}

/* Numbers of the host, and of what lies between two kernels in a queue, have none. */
static bool has_part_in_run(const char *key) {
  return strncmp(key, "host.", strlen("host.")) != 0 && strcmp(key, "launch.gap") != 0 &&
         strcmp(key, "launch.mixed_gap") != 0;
}

/* Changes a few numbers; some would need too much memory of the host or take too long to build. */
static void distort(vinci_soc *soc, uint64_t *state) {
  static const char *const kept[] = {"device.", "noc.columns", "noc.rows", "l2.slices",
                                     "l2.line", "l2.size",     "queue.",   "hbm.channels"};
  struct soc_provenance provenance = {.source = "test", .note = "", .overridden = true};
  for (uint64_t changes = 1 + random_below(state, 12); changes > 0; changes--) {
    size_t index;
    do
      index = random_below(state, soc_param_count());
    while (!has_part_in_run(soc_param(index)->key));
    bool keep = false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
      keep = keep || strncmp(soc_param(index)->key, kept[i], strlen(kept[i])) == 0;
    int64_t value = random_value(state, soc_param(index));
    if (!keep)
      assert_int_equal(soc_store(soc, index, value, provenance, NULL), VINCI_OK);
  }
  static const char *const clocks[] = {"clock.core=1MHz", "clock.vector=1MHz", "clock.core=100GHz",
                                       "hbm.bandwidth=1MB/s", "l2.bandwidth=1MB/s"};
  if (random_below(state, 2) == 0)
    assert_int_equal(
        vinci_soc_set(soc, clocks[random_below(state, sizeof clocks / sizeof *clocks)], NULL),
        VINCI_OK);
}

/* ---- traces ------------------------------------------------------------------------- */

struct text {
  char text[TEXT_MAX];
  size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text->length += (size_t)vsnprintf(text->text + text->length, sizeof text->text - text->length,
                                    format, arguments);
  va_end(arguments);
  assert_true(text->length < sizeof text->text);
}

static void add_row(struct text *text, uint64_t *state) {
  static const char *const pipes[] = {"MTE2", "V", "MTE3", "S"};
  const char *from = pipes[random_below(state, 4)], *to = pipes[random_below(state, 4)];
  unsigned id = (unsigned)random_below(state, 4), bursts = (unsigned)random_below(state, 2);
  switch (random_below(state, 8)) {
  case 0:
  case 1:
    add(text, "scalar,cycles=%llu\n",
        (unsigned long long)random_of_any_size(state, 30) % 1000000000 + 1);
    break;
  case 2:
    add(text, "copy_gm_to_ubuf,dst=0,src=x+blk*4096,n_burst=%u,len_burst=%u\n", bursts + 1,
        1 + (unsigned)random_below(state, 512));
    break;
  case 3:
    add(text, "copy_ubuf_to_gm,dst=y+blk*8192,src=8192,len_burst=%u\n",
        1 + (unsigned)random_below(state, 512));
    break;
  case 4:
    add(text, "vadd,dst=0,src0=8192,src1=16384,repeat=%u,type=fp16\n",
        1 + (unsigned)random_below(state, 60));
    break;
  case 5:
    add(text, "pipe_barrier,pipe=ALL\n");
    break;
  default:
    if (strcmp(from, to) != 0)
      add(text, "set_flag,src=%s,dst=%s,id=%u\n", from, to, id);
    if (strcmp(from, to) != 0 && random_below(state, 8) != 0)
      add(text, "wait_flag,src=%s,dst=%s,id=%u\n", from, to, id);
  }
}

/* Up to two loops; those with work for pipes turn a few times, since each turn takes the host's
 * time. */
static void write_trace(struct text *text, uint64_t *state) {
  text->length = 0;
  add(text, "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=%u\n" TENSORS "stream,core=AIV\n",
      1 + (unsigned)random_below(state, 60));
  if (random_below(state, 2) == 0)
    add(text, "loop,i,%llu\nscalar,cycles=%u\nendloop\n",
        (unsigned long long)random_of_any_size(state, 40) + 1,
        1000000000 >> (unsigned)random_below(state, 4));
  add(text, "loop,j,%u\n", 1 + (unsigned)random_below(state, 20));
  for (uint64_t rows = 1 + random_below(state, 12); rows > 0; rows--)
    add_row(text, state);
  add(text, "endloop\n");
}

/* ---- runs ---------------------------------------------------------------------------- */

enum { LOOKS_MAX = 2000 };

/* Some chips make a run long for the host: it may end early, which is a limit too. */
static bool look(void *context, uint64_t cycles, unsigned done_permille) {
  (void)cycles;
  assert_true(done_permille <= 1000);
  return ++*(unsigned *)context < LOOKS_MAX;
}

/* What is made of a result: the path through it has as many cycles as the run. */
static void use_result(const vinci_result *result) {
  static struct critical_path path;
  struct vinci_diag diag = {0};
  if (critical_find(result, &path, &diag) != VINCI_OK)
    _exit(vinci_status_exit_code(diag.status));
  uint64_t sum = 0;
  for (unsigned rest = 0; rest < CRITICAL_RESTS; rest++)
    sum += path.rest[rest];
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    for (unsigned op = 0; op < OP_COUNT; op++)
      sum += path.part[pipe][op].cycles;
  FILE *null = fopen("/dev/null", "w");
  bool written = null && vinci_result_write_json(result, null, &diag) == VINCI_OK &&
                 vinci_result_write_text(result, null, &diag) == VINCI_OK && fclose(null) == 0;
  if (sum != result->total_cycles || !written)
    _exit(vinci_status_exit_code(VINCI_E_INTERNAL));
}

/* One case, in a process of its own, since it might abort; the exit code of the program. */
static void run_case(vinci_soc *soc, const struct text *text, unsigned model) {
  unsigned looks = 0;
  struct vinci_run_options options = {
      .struct_size = sizeof options,
      .max_events = 100,
      .progress = look,
      .progress_context = &looks,
      .memory = model == 0 ? VINCI_MEMORY_FLAT : VINCI_MEMORY_CYCLE,
      .network = model == 2 ? VINCI_NETWORK_FLIT : VINCI_NETWORK_PACKET,
  };
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  alarm(600);
  enum vinci_status status =
      vinci_trace_parse("t.csv", text->text, text->length, soc, &trace, &diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, &options, &result, &diag);
  if (vinci_status_exit_code(status) == 8)
    fprintf(stderr, "%s\n", diag.text);
  if (result)
    use_result(result);
  vinci_result_free(result);
  vinci_trace_free(trace);
  _exit(vinci_status_exit_code(status));
}

static void print_case(const vinci_soc *soc, const struct text *text, unsigned model) {
  print_error("memory model %u with", model);
  for (size_t i = 0; i < soc_param_count(); i++)
    if (soc->provenance[i].overridden)
      print_error(" %s=%lld (as held)", soc_param(i)->key, (long long)soc_get(soc, i));
  print_error("\n%s", text->text);
}

/* Returns how the case ended: 0 done, 2 refused, 3 input, 6 hangs, 7 limit. */
static int exit_code_of(vinci_soc *soc, const struct text *text, unsigned model) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    run_case(soc, text, model);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (code != 0 && code != 2 && code != 3 && code != 6 && code != 7) {
    print_case(soc, text, model);
    fail_msg("ended with %d", code);
  }
  return code;
}

static void absurd_runs_end_honestly(void **state) {
  (void)state;
  unsigned ended[8] = {0};
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
    struct text text;
    vinci_soc *soc = load(seed % 2 ? "Ascend910B4" : "Ascend910B1");
    distort(soc, &random);
    write_trace(&text, &random);
    ended[exit_code_of(soc, &text, (unsigned)(seed % 3))]++;
    vinci_soc_free(soc);
  }
  print_message("# %u done, %u refused, %u input, %u hang, %u limit\n", ended[0], ended[2],
                ended[3], ended[6], ended[7]);
  /* The cases are worth the name only when many of each kind come to an end. */
  assert_true(ended[0] >= MANY && ended[7] >= MANY);
}

/* ---- single ends ---------------------------------------------------------------------- */

#define ENDLESS                                                                                    \
  HEAD(2)                                                                                          \
  TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=32\n"                                         \
              "loop,i,40000000\nscalar,cycles=1000000000\nendloop\n"                               \
              "copy_gm_to_ubuf,dst=0,src=x,len_burst=32\n"

static void the_end_of_time_is_a_limit(void **state) {
  (void)state;
  static const char *const clocks[] = {"clock.vector=1MHz", "clock.vector=100GHz"};
  for (unsigned i = 0; i < 4; i++) {
    vinci_soc *soc = load("Ascend910B4");
    struct vinci_diag diag = {0};
    assert_int_equal(vinci_soc_set(soc, clocks[i / 2], &diag), VINCI_OK);
    vinci_trace *trace = runs_parse(ENDLESS, soc);
    struct vinci_run_options options = {.struct_size = sizeof options, .max_events = 1000};
    options.memory = i % 2 ? VINCI_MEMORY_CYCLE : VINCI_MEMORY_FLAT;
    vinci_result *result = NULL;
    assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_LIMIT);
    assert_string_equal(diag.text, "the simulated time reached its limit of 36028.797 s (2^55 ps); "
                                   "results are partial");
    assert_string_equal(diag.hint, "no kernel takes hours: look for a loop count or a number of "
                                   "cycles that is far too large, or a clock that is far too slow");
    assert_true(result->partial && result->total_ps == ENGINE_END_PS);
    for (uint64_t e = 0; e < result->event_count; e++)
      assert_true(result->events[e].end_cycle <= result->cores[0].total_cycles);
    vinci_result_free(result);
    vinci_trace_free(trace);
    vinci_soc_free(soc);
  }
}

/* A limit of cycles beyond the end of time must not hide that a program hangs. */
static void a_hang_stays_a_hang(void **state) {
  (void)state;
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .max_cycles = UINT64_C(1) << 47};
  struct run run =
      runs_with(fixture_shared, HEAD(1) AIV "wait_flag,src=MTE2,dst=V,id=0\n", &options);
  assert_int_equal(run.status, VINCI_E_DEADLOCK);
  vinci_result_free(run.result);
}

static void a_channel_has_a_clock_that_can_be_counted(void **state) {
  (void)state;
  static const char *const bad[][5] = {
      {"hbm.bandwidth=1MB/s", "hbm.bandwidth_scale=0.001", "hbm.pin_share=1", "hbm.channels=1024",
       "Ascend910B4: a channel of device memory would have a clock of 0 Hz, allowed is 1 to "
       "100000000000000"},
      {"hbm.bandwidth=1000TB/s", "hbm.bandwidth_scale=1000", "hbm.pin_share=1", "l2.slices=1",
       "Ascend910B4: a channel of device memory would have a clock of 1953125000000000 Hz, allowed "
       "is 1 to 100000000000000"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vinci_soc *soc = load("Ascend910B4");
    struct vinci_diag diag = {0};
    for (unsigned k = 0; k < 4; k++)
      assert_int_equal(vinci_soc_set(soc, bad[i][k], &diag), VINCI_OK);
    assert_int_equal(soc_validate(soc, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, bad[i][4]);
    vinci_soc_free(soc);
  }
}

/* Where the parts of lines lie does not change how many bytes a copy reads from device memory. */
static void lines_have_parts_of_each_size(void **state) {
  (void)state;
  for (unsigned line = 128; line <= 4096; line *= 2) {
    for (unsigned part = line; part >= 128 && part >= line / 4; part /= 2) {
      char line_set[64], part_set[64];
      vinci_soc *soc = load("Ascend910B4");
      struct vinci_diag diag = {0};
      struct vinci_run_options options = {.struct_size = sizeof options,
                                          .memory = VINCI_MEMORY_CYCLE};
      snprintf(line_set, sizeof line_set, "l2.line=%u", line);
      snprintf(part_set, sizeof part_set, "hbm.interleave=%u", part);
      assert_int_equal(vinci_soc_set(soc, line_set, &diag), VINCI_OK);
      assert_int_equal(vinci_soc_set(soc, part_set, &diag), VINCI_OK);
      struct run run = runs_with(
          soc, HEAD(1) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=2048\n", &options);
      assert_int_equal(run.status, VINCI_OK);
      assert_int_equal(run.result->hbm.read_bytes, 65536);
      vinci_result_free(run.result);
      vinci_soc_free(soc);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(absurd_runs_end_honestly),
      cmocka_unit_test(the_end_of_time_is_a_limit),
      cmocka_unit_test(a_hang_stays_a_hang),
      cmocka_unit_test(a_channel_has_a_clock_that_can_be_counted),
      cmocka_unit_test(lines_have_parts_of_each_size),
  };
  return cmocka_run_group_tests_name("extremes", tests, fixture_set_up, fixture_tear_down);
}
