/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of whole runs over random programs: identities, independence of the order
 * of parts, monotony in resources, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <cmocka.h>

#include "core/result/critical.h"
#include "tests/support/runs.h"

#define SEED UINT64_C(0xC0DE)

static uint64_t random_next(uint64_t *seed) {
  uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  return x ^ x >> 27;
}

/* A random program without flags: any order of copies, vector work, barriers, scalar work. */
static char *random_program(uint64_t *seed) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  fprintf(out, HEAD(3) TENSORS AIV "loop,i,%u\n", (unsigned)(random_next(seed) % 5 + 1));
  for (unsigned n = (unsigned)(random_next(seed) % 20) + 1; n > 0; n--) {
    unsigned size = (unsigned)(random_next(seed) % 200) + 1;
    switch (random_next(seed) % 6) {
    case 0:
      fprintf(out, "copy_gm_to_ubuf,dst=0,src=x+blk*8192+i*%u,len_burst=%u\n", size * 32, size);
      break;
    case 1:
      fprintf(out, "copy_ubuf_to_gm,dst=y+blk*65536+i*%u,src=0,len_burst=%u\n", size * 32, size);
      break;
    case 2:
      fprintf(out, "copy_gm_to_ubuf_align_b8,dst=0,src=x+i*%u,len_burst=%u\n", size, size);
      break;
    case 3:
      fprintf(out, "pipe_barrier,pipe=%s\n", size % 2 ? "V" : "ALL");
      break;
    case 4:
      fprintf(out, "scalar,cycles=%u\n", size);
      break;
    default:
      fprintf(out, "vadd,dst=0,src0=65536,src1=131072,repeat=%u,type=fp32\n", size % 100);
      break;
    }
  }
  fputs("endloop\n", out);
  fclose(out);
  return text;
}

/* Everything but the host's figures, which come last. */
static char *summary_of(const vinci_soc *soc, const char *text, uint64_t part_order_seed) {
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .part_order_seed = part_order_seed};
  struct run run = runs_with(soc, text, &options);
  if (run.status != VINCI_OK)
    fail_msg("%s in\n%s", run.diag.text, text);
  char *json = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&json, &length);
  assert_int_equal(vinci_result_write_json(run.result, out, NULL), VINCI_OK);
  fclose(out);
  vinci_result_free(run.result);
  char *host = strstr(json, "\"host\"");
  assert_non_null(host);
  *host = '\0';
  return json;
}

/* vinci_run itself checks busy + stalls + idle = total and bytes out = bytes in. */
static void results_do_not_depend_on_part_order(void **state) {
  (void)state;
  uint64_t seed = SEED;
  vinci_soc *soc = fixture_soc();
  for (unsigned i = 0; i < 100; i++) {
    char *text = random_program(&seed);
    char *plain = summary_of(soc, text, 0);
    char *shuffled = summary_of(soc, text, i + 1);
    assert_string_equal(plain, shuffled);
    free(plain);
    free(shuffled);
    free(text);
  }
  vinci_soc_free(soc);
}

/* Each cycle of a run is on the critical path once: of an instruction, or of none. */
static void the_critical_path_adds_up(void **state) {
  (void)state;
  uint64_t seed = SEED + 2;
  vinci_soc *soc = fixture_soc();
  for (unsigned i = 0; i < 50; i++) {
    struct vinci_run_options options = {.struct_size = sizeof options, .max_events = 100000};
    struct vinci_diag diag = {0};
    struct critical_path path;
    char *text = random_program(&seed);
    struct run run = runs_with(soc, text, &options);
    assert_int_equal(run.status, VINCI_OK);
    assert_int_equal(critical_find(run.result, &path, &diag), VINCI_OK);
    uint64_t sum = 0;
    for (unsigned rest = 0; rest < CRITICAL_RESTS; rest++)
      sum += path.rest[rest];
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      for (unsigned op = 0; op < OP_COUNT; op++)
        sum += path.part[pipe][op].cycles;
    assert_int_equal(sum, vinci_result_total_cycles(run.result));
    assert_true(path.rest[CRITICAL_LAUNCH] >= FIXTURE_LAUNCH);
    vinci_result_free(run.result);
    free(text);
  }
  vinci_soc_free(soc);
}

static void more_of_a_resource_is_never_slower(void **state) {
  (void)state;
  uint64_t seed = SEED + 1;
  for (unsigned i = 0; i < 100; i++) {
    char *text = random_program(&seed);
    vinci_soc *soc = fixture_soc();
    uint64_t base = runs_cycles(soc, text);
    soc->hbm_bandwidth_scale *= 2;
    uint64_t faster_memory = runs_cycles(soc, text);
    soc->l2_bytes_per_second *= 2;
    soc->path[PATH_GM_UB].mbytes_per_cycle *= 2;
    soc->path[PATH_GM_UB].hbm_mbytes_per_cycle *= 2;
    uint64_t wider_path = runs_cycles(soc, text);
    soc->queue_v = soc->queue_mte2 = soc->queue_mte3 = 64;
    uint64_t deeper_queues = runs_cycles(soc, text);
    /* A resource may shift who goes first: 1 % for such anomalies. */
    assert_true(faster_memory * 100 <= base * 101);
    assert_true(wider_path * 100 <= faster_memory * 101);
    assert_true(deeper_queues * 100 <= wider_path * 101);
    vinci_soc_free(soc);
    free(text);
  }
}

static void a_loop_equals_its_unrolled_form(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  fputs(HEAD(2) TENSORS AIV, out);
  for (unsigned i = 0; i < 20; i++)
    fprintf(out, "copy_gm_to_ubuf,dst=0,src=x+%u,len_burst=%u\n" VADD(3), i * 4096, i + 1);
  fclose(out);
  assert_int_equal(runs_cycles(soc, text),
                   runs_cycles(soc, HEAD(2) TENSORS AIV
                               "loop,i,20\ncopy_gm_to_ubuf,dst=0,src=x+i*4096,len_burst=i+1\n" VADD(
                                   3) "endloop\n"));
  free(text);
  vinci_soc_free(soc);
}

/* Resident KiB that are no pages of files, which the kernel takes and gives back as it likes; 0
 * where the kernel does not tell. */
static unsigned long resident_kib(void) {
  char line[128];
  unsigned long resident = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "RssAnon: %lu", &resident) == 1)
      break;
  if (status)
    fclose(status);
  return resident;
}

static void a_thousand_simulations_leave_no_trace(void **state) {
  (void)state;
  enum { WARM_UP = 100, RUNS = 1000, KIB_ALLOWED = 256 };
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* pages of 2 MiB would hide or feign growth */
  vinci_soc *soc = fixture_soc();
  unsigned long before = 0;
  for (unsigned i = 0; i < RUNS; i++) {
    if (i == WARM_UP)
      before = resident_kib();
    assert_int_equal(runs_cycles(soc, HEAD(1) AIV VADD(10)), FIXTURE_LAUNCH + 23 + 40);
  }
#ifndef __SANITIZE_ADDRESS__ /* its quarantine keeps what was freed */
  assert_true(resident_kib() <= before + KIB_ALLOWED);
#endif
  assert_true(before > 0);
  vinci_soc_free(soc);
}

/* Fails the first, second, third ... chunk the run asks for, until it needs no more. */
static void fail_each_chunk(const vinci_soc *soc, const vinci_trace *trace,
                            enum vinci_memory memory) {
  unsigned failures = 0;
  for (size_t chunk = 1;; chunk++) {
    struct vinci_diag diag = {0};
    vinci_result *result = NULL;
    arena_fail_after(chunk);
    struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
    enum vinci_status status = vinci_run(soc, trace, &options, &result, &diag);
    arena_fail_after(0);
    if (status == VINCI_OK) {
      vinci_result_free(result);
      break;
    }
    assert_int_equal(status, VINCI_E_NOMEM);
    assert_null(result);
    failures++;
  }
  assert_true(failures > 3);
}

/* Of a small chip; then of L2, network and device memory of a whole chip. */
static void shortage_of_memory_is_a_status(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc(), *whole = NULL;
  vinci_trace *trace = runs_parse(HEAD(1) TENSORS AIV VADD(10), soc);
  fail_each_chunk(soc, trace, VINCI_MEMORY_FLAT);
  vinci_trace_free(trace);
  assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &whole, NULL), VINCI_OK);
  trace = runs_parse(HEAD(1) TENSORS AIV VADD(10), whole);
  fail_each_chunk(whole, trace, VINCI_MEMORY_FLAT);
  fail_each_chunk(whole, trace, VINCI_MEMORY_CYCLE);
  vinci_trace_free(trace);
  vinci_soc_free(whole);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_do_not_depend_on_part_order),
      cmocka_unit_test(the_critical_path_adds_up),
      cmocka_unit_test(more_of_a_resource_is_never_slower),
      cmocka_unit_test(a_loop_equals_its_unrolled_form),
      cmocka_unit_test(a_thousand_simulations_leave_no_trace),
      cmocka_unit_test(shortage_of_memory_is_a_status),
  };
  return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
