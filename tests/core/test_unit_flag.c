/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit flags: mad and the fixpipe take turns on units of L0C. Cycles are worked out by hand for a
 * chip with short latencies, so that mad and the fixpipe decide: launch 1000, one cycle to issue
 * and for a flag, mad 16 per 16 x 16 x 256 elements, 20 of start-up and issue distance 2; fixpipe
 * 100 + bytes / 100.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/checks.h"
#include "tests/support/orders.h"

#define OUT "tensor,name=c,dtype=fp32,shape=65536,io=out\n"
#define AIC HEAD(1) OUT "stream,core=AIC\n"
/* 16 steps of the cube, on four units from 1024 on: 18 cycles to the next, 36 to the end. */
#define MAD(flag) "mad,c=1024,a=0,b=0,m=32,k=64,n=32,unit_flag=" #flag ",type=fp16\n"
/* 4096 bytes, 40.96 cycles. */
#define FIX_SIZES "src=1024,n=32,m=32,dst_stride=32,src_stride=32,nz2nd=1,type=fp32"
#define FIX(flag) FIX_TO(0, flag)
#define FIX_TO(to, flag) "copy_matrix_cc_to_gm,dst=c+" #to "," FIX_SIZES ",unit_flag=" #flag "\n"
#define FIX_L1(flag) "copy_matrix_cc_to_cbuf,dst=0," FIX_SIZES ",unit_flag=" #flag "\n"

static vinci_soc *short_soc(void) {
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  soc->launch_base_ps = 1000000;
  soc->scalar_issue_cycles = soc->flag_cycles = 1;
  soc->cube_startup_mcycles = 20000;
  static const enum path paths[] = {PATH_L0C_GM, PATH_L0C_L1};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    soc->path[paths[i]] = (struct path_cost){.mbytes_per_cycle = 100000,
                                             .startup_mcycles = 100000,
                                             .minimum_mcycles = 10000,
                                             .overlap_issue_mcycles = 20000};
  }
  return soc;
}

static vinci_soc *shared;

static int set_up(void **state) {
  shared = short_soc();
  return fixture_set_up(state);
}

static int tear_down(void **state) {
  vinci_soc_free(shared);
  return fixture_tear_down(state);
}

static void assert_cycles(const char *text, uint64_t expected) {
  assert_int_equal(runs_cycles(shared, text), expected);
}

/* ---- time ---------------------------------------------------------------------------- */

static void a_fixpipe_follows_unit_by_unit(void **state) {
  (void)state;
  /* Units are handed over at 1023, 1027, 1032 and 1036; the fixpipe comes to them 0, 10, 20 and
   * 30 cycles after its start. */
  assert_cycles(AIC MAD(3) FIX(3), 1023 + 100 + 41);
  assert_cycles(AIC MAD(3) FIX_L1(3), 1023 + 141);
  /* With flags the mad has ended, and the flag takes a cycle. */
  assert_cycles(AIC MAD(0) SET(M, FIX) WAIT(M, FIX) FIX(0), 1037 + 100 + 41);
  /* Without either nothing holds the fixpipe back. */
  assert_cycles(AIC MAD(0) FIX(0), 1001 + 100 + 41);
}

static void a_slow_mad_is_followed_to_its_last_unit(void **state) {
  (void)state;
  vinci_soc *soc = short_soc();
  soc->cube_fp16_mcycles = 30000;
  /* 480 + 2 cycles, complete at 1500: units at 1139, 1259, 1380 and 1500. The last one is read 30
   * cycles after the start, and the end is 100 + a quarter of 40.96 later. */
  assert_int_equal(runs_cycles(soc, AIC MAD(3) FIX(3)), 1500 + 100 + 11);
  vinci_soc_free(soc);
}

static void a_mad_follows_the_fixpipe(void **state) {
  (void)state;
  /* The transfer moves from 1123 to 1164: units are free at 1134, 1144, 1154 and 1164. The mad
   * writes them 0, 4, 9 and 13 cycles after its start at 1151, and hands them over from 1174 on. */
  static const char to_gm[] = AIC MAD(3) FIX(3) MAD(3) FIX(3);
  assert_cycles(to_gm, 1174 + 100 + 41);
  assert_cycles(AIC MAD(3) FIX_L1(3) MAD(3) FIX_L1(3), 1174 + 141);
  struct run run = runs_with(shared, to_gm, NULL);
  assert_int_equal(run.status, VINCI_OK);
  const struct pipe_counters *m = &run.result->cores[0].pipe[PIPE_M];
  const struct pipe_counters *fix = &run.result->cores[0].pipe[PIPE_FIX];
  assert_int_equal(m->busy_cycles, 36 + 36);
  assert_int_equal(m->stall_cycles[STALL_UNIT_FLAG], 1151 - 1036);
  assert_int_equal(fix->busy_cycles, 141 + 141);
  /* It is issued at 1001, and the second one follows the first at 1164. */
  assert_int_equal(fix->stall_cycles[STALL_UNIT_FLAG], (1023 - 1001) + (1174 - 1164));
  assert_int_equal(run.result->cores[0].cube.busy_cycles[DTYPE_FP16], 18 + 18);
  vinci_result_free(run.result);
}

static void a_late_mad_needs_no_turn(void **state) {
  (void)state;
  /* The scalar unit is at 1131 when it has worked: the mad is issued there, and starts at 1151. */
  assert_cycles(AIC MAD(3) FIX(3) "scalar,cycles=129\n" MAD(3), 1151 + 36);
  static const char late[] = AIC MAD(3) FIX(3) "scalar,cycles=150\n" MAD(3) FIX(3);
  /* Issued at 1152: one cycle after the units would have let it start. */
  assert_cycles(late, 1175 + 100 + 41);
}

static void a_mad_on_other_units_does_not_wait(void **state) {
  (void)state;
  /* Units 5 to 8 are nobody's: 1018 + 36, and the second fixpipe follows the first. */
  assert_cycles(AIC MAD(3) FIX(3) "mad,c=5120,a=0,b=0,m=32,k=64,n=32,unit_flag=3,type=fp16\n"
                                  "copy_matrix_cc_to_gm,dst=c+4096,src=5120,n=32,m=32,dst_stride="
                                  "32,src_stride=32,nz2nd=1,type=fp32,unit_flag=3\n",
                1164 + 100 + 41);
}

static void the_kept_flag_keeps_the_side(void **state) {
  (void)state;
  /* The second mad hands over, 18 cycles after the first. */
  assert_cycles(AIC MAD(2) MAD(3) FIX(3), 1041 + 100 + 41);
  /* Two fixpipes read the same result; after the second the units are free. */
  assert_cycles(AIC MAD(3) FIX(2) FIX(3) MAD(3) FIX(3), 1023 + 141 + 141 + 10 + 141);
}

static void flags_of_units_start_anew_with_a_block(void **state) {
  (void)state;
  static const char text[] =
      "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=40\n" OUT "stream,core=AIC\n" MAD(3);
  struct run run = runs_with(shared, text, NULL);
  assert_int_equal(run.status, VINCI_OK);
  vinci_result_free(run.result);
}

/* Rows that the last fractal does not fill, and a width that ends inside a fractal. */
static void sizes_that_end_inside_a_unit_agree(void **state) {
  (void)state;
#define ODD(m_of_fix)                                                                              \
  AIC "loop,i,3\nmad,c=1024,a=0,b=0,m=17,k=64,n=20,unit_flag=3,type=fp16\n"                        \
      "copy_matrix_cc_to_gm,dst=c,src=1024,n=20,m=" #m_of_fix                                      \
      ",dst_stride=32,src_stride=32,nz2nd=1,type=fp32,unit_flag=3\nendloop\n"
  struct run run = runs_with(shared, ODD(17), NULL);
  assert_int_equal(run.status, VINCI_OK);
  vinci_result_free(run.result);
  run = runs_with(shared, ODD(18), NULL);
  assert_int_equal(run.status, VINCI_OK);
  vinci_result_free(run.result);
  run = runs_with(shared, ODD(16), NULL);
  assert_int_equal(run.status, VINCI_E_DEADLOCK); /* the second row of fractals stays unread */
  vinci_result_free(run.result);
}

/* ---- who waits for ever --------------------------------------------------------------- */

static const struct {
  const char *text, *expected;
} hanging[] = {
    {AIC FIX(3), "core0.cubecore0 FIX waits in copy_matrix_cc_to_gm for a mad with unit_flag=3 to "
                 "hand over L0C at 0x400, line 5"},
    {AIC MAD(2) FIX(3), "core0.cubecore0 FIX waits in copy_matrix_cc_to_gm for a mad with "
                        "unit_flag=3 to hand over L0C at 0x400, line 6"},
    {AIC MAD(0) FIX(2), "core0.cubecore0 FIX waits in copy_matrix_cc_to_gm for a mad with "
                        "unit_flag=3 to hand over L0C at 0x400, line 6"},
    {AIC MAD(3) MAD(3), "core0.cubecore0 M waits in mad for a fixpipe with unit_flag=3 to read L0C "
                        "at 0x400, which line 5 handed over, line 6"},
    {AIC MAD(3) FIX(2) MAD(2), "core0.cubecore0 M waits in mad for a fixpipe with unit_flag=3 to "
                               "read L0C at 0x400, which line 5 handed over, line 7"},
    {AIC "mad,c=1024,a=0,b=0,m=16,k=64,n=32,unit_flag=3,type=fp16\n" FIX(3),
     "core0.cubecore0 FIX waits in copy_matrix_cc_to_gm for a mad with unit_flag=3 to hand over "
     "L0C at 0xc00, line 6"},
};

static void what_nobody_hands_over_is_a_hang(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof hanging / sizeof *hanging; i++) {
    struct run run = runs_with(fixture_shared, hanging[i].text, NULL);
    assert_int_equal(run.status, VINCI_E_DEADLOCK);
    if (!strstr(run.diag.text, hanging[i].expected))
      fail_msg("%s\ninstead of %s", run.diag.text, hanging[i].expected);
    vinci_result_free(run.result);
    /* The machine without time says the same. */
    const char *report = report_of(fixture_shared, hanging[i].text, VINCI_CHECK_SYNCCHECK);
    assert_non_null(strstr(report, "ERROR: Deadlock detected"));
    if (!strstr(report, hanging[i].expected))
      fail_msg("%s\ninstead of %s", report, hanging[i].expected);
  }
}

/* ---- the reader ------------------------------------------------------------------------- */

static void expect_refused(const vinci_soc *soc, const char *text, const char *expected) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  assert_int_equal(vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag),
                   VINCI_E_INPUT);
  assert_string_equal(diag.text, expected);
}

static void a_reserved_value_is_refused(void **state) {
  (void)state;
  expect_refused(fixture_shared, AIC MAD(1),
                 "operand \"unit_flag\" of mad is 1, allowed is 0..3, not 1");
  struct run run = runs_with(
      fixture_shared,
      AIC "loop,i,2\nmad,c=0,a=0,b=0,m=32,k=64,n=32,unit_flag=i,type=fp16\nendloop\n", NULL);
  assert_int_equal(run.status, VINCI_E_INPUT);
  assert_string_equal(run.diag.text, "operand \"unit_flag\" of mad is 1, allowed is 0..3, not 1");
  vinci_result_free(run.result);
}

static void coupled_cores_have_no_unit_flag(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc_coupled();
  expect_refused(
      soc, "trace,version=1\nkernel,name=k,arch=dav-c100,blocks=1\nstream,core=AICORE\n" MAD(3),
      "mad has no operand \"unit_flag\" on dav-c100");
  vinci_soc_free(soc);
}

/* ---- checks ------------------------------------------------------------------------------ */

static void both_need_the_flag_to_be_in_order(void **state) {
  (void)state;
#define RACES(text, kind, line) assert_true(finds(text, VINCI_CHECK_RACECHECK, kind, line))
#define ORDERED(text) assert_null(find_with(fixture_shared, text, VINCI_CHECK_RACECHECK))
  ORDERED(AIC MAD(3) FIX(3));
  ORDERED(AIC MAD(3) FIX(2) FIX_TO(4096, 3) BARRIER(M) MAD(2) BARRIER(M) MAD(3) FIX_TO(8192, 3));
  /* The second mad waits for the fixpipe, and that for the first mad. */
  ORDERED(AIC MAD(3) FIX(3) MAD(3) FIX_TO(4096, 3));
  RACES(AIC MAD(2) MAD(3) FIX(3), FINDING_WAW, 6);
  RACES(AIC MAD(0) SET(M, FIX) WAIT(M, FIX) MAD(3) FIX(3), FINDING_WAW, 8);
  RACES(AIC MAD(3) FIX(0), FINDING_RAW, 6);
  RACES(AIC MAD(2) FIX(0), FINDING_RAW, 6);
  RACES(AIC MAD(3) FIX(3) BARRIER(M) MAD(0), FINDING_WAR, 8);
  /* A mad without the flag writes behind the back of what was handed over. */
  RACES(AIC MAD(3) BARRIER(M) MAD(0) FIX(3), FINDING_RAW, 8);
}

/* ---- the same with flags ------------------------------------------------------------------- */

enum { TEXT_BYTES = 4096, RANDOM_KERNELS = 60, ORDERS = 20 };

struct shape {
  unsigned blocks, m, n, k, steps, tiles, buffers;
  bool to_l1;
};

#define PRINT(...) used += (size_t)snprintf(text + used, TEXT_BYTES - used, __VA_ARGS__)

/* A loop over tiles, in each a loop over k. With `unit` mad and the fixpipe are in order by unit
 * flags, else by flags between the pipes. */
static void write_kernel(char *text, const struct shape *shape, bool unit) {
  size_t used = 0;
  PRINT("trace,version=1\nkernel,name=k,arch=dav-c220,blocks=%u\n"
        "tensor,name=c,dtype=fp32,shape=%ux%ux%u,io=out\nstream,core=AIC\n",
        shape->blocks, shape->tiles, shape->m, shape->n);
  for (unsigned i = 0; !unit && i < shape->buffers; i++)
    PRINT("set_flag,src=FIX,dst=M,id=%u\n", i);
  PRINT("loop,i,%u\nlet,at,i%%%u*65536\n", shape->tiles, shape->buffers);
  PRINT("create_ca_matrix,dst=0,blocks=64,value=(15360+i*64)*65537\n"
        "create_cb_matrix,dst=0,blocks=64,value=1006648320\n" SET(MTE1, M) WAIT(MTE1, M));
  if (!unit)
    PRINT("wait_flag,src=FIX,dst=M,id=i%%%u\n", shape->buffers);
  PRINT("loop,j,%u\nmad,c=at,a=0,b=0,m=%u,k=%u,n=%u,init=j==0,type=fp16", shape->steps, shape->m,
        shape->k, shape->n);
  if (unit)
    PRINT(",unit_flag=2+(j==%u)", shape->steps - 1);
  PRINT("\npipe_barrier,pipe=M\nendloop\n" SET(M, MTE1) WAIT(M, MTE1));
  if (!unit)
    PRINT("set_flag,src=M,dst=FIX,id=i%%%u\nwait_flag,src=M,dst=FIX,id=i%%%u\n", shape->buffers,
          shape->buffers);
  PRINT("copy_matrix_cc_to_%s,dst=%s+i*%u,src=at,n=%u,m=%u,dst_stride=%u,src_stride=%u,nz2nd=1,"
        "type=fp32%s\n",
        shape->to_l1 ? "cbuf" : "gm", shape->to_l1 ? "0" : "c",
        shape->to_l1 ? 0 : shape->m * shape->n * 4, shape->n, shape->m, shape->n,
        (shape->m + 15) / 16 * 16, unit ? ",unit_flag=3" : "");
  if (!unit)
    PRINT("set_flag,src=FIX,dst=M,id=i%%%u\n", shape->buffers);
  PRINT("endloop\n");
  for (unsigned i = 0; !unit && i < shape->buffers; i++)
    PRINT("wait_flag,src=FIX,dst=M,id=%u\n", i);
  assert_true(used < TEXT_BYTES);
}

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

static struct shape random_shape(uint64_t *seed) {
  return (struct shape){
      .blocks = 1,
      .m = 1 + (unsigned)(next_random(seed) % 64),
      .n = 8 * (1 + (unsigned)(next_random(seed) % 8)),
      .k = 16 * (1 + (unsigned)(next_random(seed) % 8)),
      .steps = 1 + (unsigned)(next_random(seed) % 3),
      .tiles = 1 + (unsigned)(next_random(seed) % 5),
      .buffers = 1 + (unsigned)(next_random(seed) % 2),
      .to_l1 = next_random(seed) % 4 == 0,
  };
}

static void set_rates(vinci_soc *soc, uint64_t *seed) {
  soc->cube_fp16_mcycles = (int64_t)(500 + next_random(seed) % 20000);
  soc->cube_startup_mcycles = (int64_t)(next_random(seed) % 90000);
  soc->path[PATH_L0C_GM].mbytes_per_cycle = (int64_t)(7000 + next_random(seed) % 200000);
  soc->path[PATH_L0C_GM].hbm_mbytes_per_cycle = soc->path[PATH_L0C_GM].mbytes_per_cycle / 2;
  soc->path[PATH_L0C_GM].startup_mcycles = (int64_t)(next_random(seed) % 300000);
  soc->path[PATH_L0C_L1] = soc->path[PATH_L0C_GM];
  soc->flag_cycles = (int64_t)(next_random(seed) % 30);
}

static void unit_flags_are_never_slower_than_flags(void **state) {
  (void)state;
  uint64_t seed = 5;
  unsigned faster = 0;
  for (unsigned i = 0; i < RANDOM_KERNELS; i++) {
    vinci_soc *soc = fixture_soc();
    struct shape shape = random_shape(&seed);
    char with_units[TEXT_BYTES], with_flags[TEXT_BYTES];
    set_rates(soc, &seed);
    write_kernel(with_units, &shape, true);
    write_kernel(with_flags, &shape, false);
    uint64_t units = runs_cycles(soc, with_units), flags = runs_cycles(soc, with_flags);
    if (units > flags)
      fail_msg("%llu instead of %llu cycles:\n%s", (unsigned long long)units,
               (unsigned long long)flags, with_units);
    faster += units < flags;
    vinci_soc_free(soc);
  }
  assert_true(faster > RANDOM_KERNELS / 2);
}

static void values_are_those_with_flags_in_every_order(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (unsigned i = 0; i < RANDOM_KERNELS / 4; i++) {
    struct shape shape = random_shape(&seed);
    char text[TEXT_BYTES];
    uint64_t bytes;
    shape.to_l1 = false;
    write_kernel(text, &shape, false);
    expect_clean(text);
    vinci_trace *trace = runs_parse(text, fixture_shared);
    uint8_t *expected = orders_run(trace, 0, &bytes);
    vinci_trace_free(trace);
    assert_non_null(expected);
    write_kernel(text, &shape, true);
    expect_clean(text);
    trace = runs_parse(text, fixture_shared);
    if (orders_first_change(trace, ORDERS, expected, bytes) != ORDERS)
      fail_msg("other values in order %u:\n%s", orders_first_change(trace, ORDERS, expected, bytes),
               text);
    vinci_trace_free(trace);
    free(expected);
  }
}

/* vinci_run itself checks busy + stalls + idle = total, and the bytes. */
static void results_do_not_depend_on_part_order(void **state) {
  (void)state;
  uint64_t seed = 17;
  for (unsigned i = 0; i < RANDOM_KERNELS / 4; i++) {
    vinci_soc *soc = fixture_soc();
    struct shape shape = random_shape(&seed);
    char text[TEXT_BYTES];
    set_rates(soc, &seed);
    shape.blocks = 25;
    write_kernel(text, &shape, true);
    struct vinci_run_options options = {.struct_size = sizeof options};
    struct run plain = runs_with(soc, text, &options);
    options.part_order_seed = i + 1;
    struct run shuffled = runs_with(soc, text, &options);
    assert_int_equal(plain.status, VINCI_OK);
    assert_int_equal(shuffled.status, VINCI_OK);
    assert_int_equal(plain.result->total_ps, shuffled.result->total_ps);
    assert_memory_equal(plain.result->cores, shuffled.result->cores,
                        plain.result->core_count * sizeof *plain.result->cores);
    vinci_result_free(plain.result);
    vinci_result_free(shuffled.result);
    vinci_soc_free(soc);
  }
}

/* The fixpipe finds many of its instructions in its queue; they keep their order. */
static void fixpipes_with_the_flag_stay_in_order(void **state) {
  (void)state;
#define LOADS(i) "create_ca_matrix,dst=" #i "*4096,blocks=8,value=(15360+" #i "*64)*65537\n"
#define TILES(of_mad, of_fix, before, after)                                                       \
  AIC LOADS(0) LOADS(1) LOADS(2) LOADS(3) LOADS(4) LOADS(5) LOADS(6)                               \
      LOADS(7) "create_cb_matrix,dst=0,blocks=8,value=1006648320\n" SET(MTE1, M)                   \
          WAIT(MTE1, M) "loop,i,8\n" before                                                        \
                        "mad,c=1024,a=i*4096,b=0,m=32,k=64,n=32,type=fp16" of_mad "\n" after       \
                        "copy_matrix_cc_to_gm,dst=c+i*4096," FIX_SIZES of_fix "\n" before          \
                        "endloop\n"
  uint64_t bytes;
  vinci_trace *trace = runs_parse(
      TILES("", "", "pipe_barrier,pipe=ALL\n", "pipe_barrier,pipe=ALL\n"), fixture_shared);
  uint8_t *expected = orders_run(trace, 0, &bytes);
  vinci_trace_free(trace);
  assert_non_null(expected);
  expect_clean(TILES(",unit_flag=3", ",unit_flag=3", "", ""));
  trace = runs_parse(TILES(",unit_flag=3", ",unit_flag=3", "", ""), fixture_shared);
  assert_int_equal(orders_first_change(trace, ORDERS, expected, bytes), ORDERS);
  vinci_trace_free(trace);
  free(expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fixpipe_follows_unit_by_unit),
      cmocka_unit_test(a_slow_mad_is_followed_to_its_last_unit),
      cmocka_unit_test(a_mad_follows_the_fixpipe),
      cmocka_unit_test(a_late_mad_needs_no_turn),
      cmocka_unit_test(a_mad_on_other_units_does_not_wait),
      cmocka_unit_test(the_kept_flag_keeps_the_side),
      cmocka_unit_test(flags_of_units_start_anew_with_a_block),
      cmocka_unit_test(sizes_that_end_inside_a_unit_agree),
      cmocka_unit_test(what_nobody_hands_over_is_a_hang),
      cmocka_unit_test(a_reserved_value_is_refused),
      cmocka_unit_test(coupled_cores_have_no_unit_flag),
      cmocka_unit_test(both_need_the_flag_to_be_in_order),
      cmocka_unit_test(unit_flags_are_never_slower_than_flags),
      cmocka_unit_test(values_are_those_with_flags_in_every_order),
      cmocka_unit_test(results_do_not_depend_on_part_order),
      cmocka_unit_test(fixpipes_with_the_flag_stay_in_order),
  };
  return cmocka_run_group_tests_name("unit flags", tests, set_up, tear_down);
}
