/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of what a core waits for at the start of a kernel: code, and the first read from GM.
 * Expected cycles are worked out by hand from the numbers of the fixture; vadd takes 23 + 4 per
 * repeat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/runs.h"

static uint64_t code_waits(struct run run) {
  uint64_t cycles = 0;
  assert_int_equal(run.status, VINCI_OK);
  for (uint32_t i = 0; i < run.result->core_count; i++)
    cycles += run.result->cores[i].pipe[PIPE_S].stall_cycles[STALL_CODE];
  vinci_result_free(run.result);
  return cycles;
}

/* Two lines of 50 cycles alone; in the fixture each other core adds 25 cycles. */
#define CODE "code_fetch,bytes=128,line_cycles=50\n"
static void cores_that_fetch_the_same_code_wait_longer(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  assert_int_equal(runs_cycles(soc, HEAD(1) AIV CODE VADD(10)), FIXTURE_LAUNCH + 100 + 23 + 40);
  vinci_soc_free(soc);
  assert_int_equal(code_waits(runs_text(HEAD(1) AIV CODE)), 100);
  assert_int_equal(code_waits(runs_text(HEAD(3) AIV CODE)), 3 * 150);
}

#define TRACE "trace,version=1\n"
#define KERNEL(name, blocks) "kernel,name=" name ",arch=dav-c220,blocks=" blocks "\n" AIV
enum { ALL = 100 + 39 * 25 }; /* the wait of each of 40 cores */

static void a_core_keeps_the_code_of_its_kernel(void **state) {
  (void)state;
  /* 100 blocks on the 40 cores: 39 others. */
  assert_int_equal(code_waits(runs_text(HEAD(100) AIV CODE)), 40 * ALL);
  /* Two rows: two parts of the code. */
  assert_int_equal(code_waits(runs_text(HEAD(1) AIV CODE CODE)), 200);
  assert_int_equal(code_waits(runs_text(TRACE KERNEL("a", "40") CODE KERNEL("a", "40") CODE)),
                   40 * ALL);
  assert_int_equal(code_waits(runs_text(TRACE KERNEL("a", "40") CODE KERNEL("b", "40") CODE)),
                   2 * 40 * ALL);
  /* Other code of the same kernel, for one block. */
  assert_int_equal(code_waits(runs_text(TRACE KERNEL("a", "40") CODE KERNEL("a", "1") CODE)),
                   40 * ALL + 100);
}

/* A kernel on one core runs on the next core each time, and finds code when all have been there. */
static void kernels_go_round_the_cores(void **state) {
  (void)state;
#define K "kernel,name=a,arch=dav-c220,blocks=20\n" AIV CODE
  assert_int_equal(code_waits(runs_text(TRACE K K K)), 40 * (100 + 19 * 25));
#undef K
#define K KERNEL("a", "1") CODE
  assert_int_equal(code_waits(runs_text(TRACE K K K)), 3 * 100);
#undef K
}

/* 32 lines: two kernels of 16 fit, and one of 17 throws a line out of the one before. */
static void old_lines_make_room(void **state) {
  (void)state;
#define A KERNEL("a", "40") "code_fetch,bytes=1024,line_cycles=50\n"
#define B(bytes) KERNEL("b", "40") "code_fetch,bytes=" bytes ",line_cycles=50\n"
  uint64_t others = (uint64_t)40 * 39 * 25, lines = 40 * 50;
  assert_int_equal(code_waits(runs_text(TRACE A B("1024") A)), 2 * others + 32 * lines);
  /* 1 line of 16: a sixteenth of the wait for other cores. */
  assert_int_equal(code_waits(runs_text(TRACE A B("1025") A)),
                   2 * others + 40 * (39 * 25 / 16) + 34 * lines);
  /* Code that is larger than the cache is never there. */
  assert_int_equal(code_waits(runs_text(TRACE B("2112") B("2112"))), 2 * others + 66 * lines);
#undef A
#undef B
}

/* What was there at the start, as the caller says; arguments then come at the same time: 7 cycles
 * for each other core. */
static void code_may_be_there_at_the_start(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct vinci_run_options options = {.struct_size = sizeof options, .code_found_ppm = 1000000};
  struct run run = runs_with(soc, HEAD(3) AIV CODE, &options);
  assert_int_equal(run.status, VINCI_OK);
  for (uint32_t i = 0; i < run.result->core_count; i++) {
    const struct core_result *core = &run.result->cores[i];
    assert_int_equal(core->pipe[PIPE_S].cause_cycles[CAUSE_SCALAR_WORK],
                     core->blocks_run ? 2 * 7 : 0);
    assert_int_equal(core->code_lines, core->blocks_run ? 2 : 0);
    assert_int_equal(core->code_missing_lines, 0);
  }
  assert_int_equal(code_waits(run), 0);
  options.code_found_ppm = 500000;
  assert_int_equal(code_waits(runs_with(soc, HEAD(3) AIV CODE, &options)), 3 * (50 + 2 * 25 / 2));
  /* Not what has no room. */
  options.code_found_ppm = 1000000;
  const char *large = HEAD(1) AIV "code_fetch,bytes=2112,line_cycles=50\n";
  assert_int_equal(code_waits(runs_with(soc, large, &options)), 33 * 50);
  vinci_soc_free(soc);
}

/* Each line of L2, 8 lines of code here, comes from device memory once: for all cores of a launch,
 * and not for a launch of the same kernel on other cores. */
static void code_may_come_from_device_memory(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  struct vinci_run_options options = {.struct_size = sizeof options};
  soc->l2_miss_cycles = 8 * 30;
  soc->l2_line_bytes = 8 * soc->code_line_bytes;
  uint64_t near = code_waits(runs_with(soc, HEAD(3) AIV CODE, &options));
  uint64_t again =
      code_waits(runs_with(soc, TRACE KERNEL("a", "1") CODE KERNEL("a", "1") CODE, &options));
  options.code_found_ppm = VINCI_CODE_DEVICE;
  assert_int_equal(code_waits(runs_with(soc, HEAD(3) AIV CODE, &options)), near + 3 * 2 * 30);
  assert_int_equal(
      code_waits(runs_with(soc, TRACE KERNEL("a", "1") CODE KERNEL("a", "1") CODE, &options)),
      again + 2 * 30);
  assert_int_equal(
      code_waits(runs_with(soc, TRACE KERNEL("a", "1") CODE KERNEL("b", "1") CODE, &options)),
      again + 2 * 2 * 30);
  vinci_soc_free(soc);
}

/* A kernel that does not say how much code it has: its first read waits for others all the same,
 * unless all code is there. */
static void reads_of_kernels_without_rows_follow_the_code(void **state) {
  (void)state;
  vinci_soc *soc = fixture_soc();
  const char *text = HEAD(3) TENSORS AIV "copy_gm_to_ubuf,dst=0,src=x,len_burst=1\n";
  uint64_t busy_cycles[2] = {0};
  for (int warm = 0; warm < 2; warm++) {
    struct vinci_run_options options = {.struct_size = sizeof options,
                                        .code_found_ppm = warm ? VINCI_CODE_WARM : 0};
    soc->first_read_cycles = 37;
    struct run run = runs_with(soc, text, &options);
    assert_int_equal(run.status, VINCI_OK);
    for (uint32_t i = 0; i < run.result->core_count; i++)
      busy_cycles[warm] += run.result->cores[i].pipe[PIPE_MTE2].busy_cycles;
    vinci_result_free(run.result);
  }
  assert_int_equal(busy_cycles[0] - busy_cycles[1], 3 * 2 * 37);
  vinci_soc_free(soc);
}

/* Misses for each access, of which the scalar unit makes one in 2.5 cycles. */
static void miss_rates_follow_from_lines_and_scalar_cycles(void **state) {
  (void)state;
  struct run run = runs_text(HEAD(1) AIV CODE "scalar,cycles=100\n");
  assert_int_equal(run.status, VINCI_OK);
  assert_int_equal(result_code_miss_ppm(run.result, CORE_AIV), 2 * 1000000 / 40);
  assert_int_equal(result_code_miss_ppm(run.result, CORE_AIC), 0);
  vinci_result_free(run.result);
}

/* Cycles by which MTE2 is busier with a wait of 37 cycles for each other core. */
static uint64_t first_read_waits(const char *text) {
  uint64_t busy_cycles[2] = {0};
  for (int waits = 0; waits < 2; waits++) {
    vinci_soc *soc = fixture_soc();
    soc->first_read_cycles = waits ? 37 : 0;
    struct run run = runs_with(soc, text, NULL);
    assert_int_equal(run.status, VINCI_OK);
    for (uint32_t i = 0; i < run.result->core_count; i++)
      busy_cycles[waits] += run.result->cores[i].pipe[PIPE_MTE2].busy_cycles;
    vinci_result_free(run.result);
    vinci_soc_free(soc);
  }
  return busy_cycles[1] - busy_cycles[0];
}

static void first_reads_wait_for_those_of_other_cores(void **state) {
  (void)state;
#define READ "copy_gm_to_ubuf,dst=0,src=x,len_burst=1\n"
#define WRITE "copy_ubuf_to_gm,dst=y,src=0,len_burst=1\n"
  assert_int_equal(first_read_waits(HEAD(1) TENSORS AIV READ), 0);
  assert_int_equal(first_read_waits(HEAD(3) TENSORS AIV READ READ), 3 * 2 * 37);
  /* A core that takes a second block of the kernel has read before. */
  assert_int_equal(first_read_waits(HEAD(80) TENSORS AIV READ), 40 * 39 * 37);
  assert_int_equal(first_read_waits(HEAD(3) TENSORS AIV WRITE), 0);
#undef READ
#undef WRITE
}

/* Cycles by which MTE2 is busier when the first bytes that L2 lacks are 500 cycles away. */
static uint64_t first_miss_waits(const char *text, enum vinci_memory memory) {
  uint64_t busy_cycles[2] = {0};
  for (int waits = 0; waits < 2; waits++) {
    vinci_soc *soc;
    struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
    assert_int_equal(vinci_soc_load("Ascend910B4", NULL, &soc, NULL), VINCI_OK);
    soc->l2_miss_cycles = waits ? 500 : 0;
    vinci_trace *trace = runs_parse(text, soc);
    vinci_result *result = NULL;
    assert_int_equal(vinci_run(soc, trace, &options, &result, NULL), VINCI_OK);
    for (uint32_t i = 0; i < result->core_count; i++)
      busy_cycles[waits] += result->cores[i].pipe[PIPE_MTE2].busy_cycles;
    vinci_result_free(result);
    vinci_trace_free(trace);
    vinci_soc_free(soc);
  }
  return busy_cycles[1] - busy_cycles[0];
}

/* Waits of 500 cycles; what is behind a wait may meet another edge of the clock of device memory.
 */
static void assert_waits(uint64_t cycles, uint64_t count) {
  uint64_t edges = count > 0 ? 2 : 0;
  assert_in_range(cycles, 500 * count - edges, 500 * count + edges);
}

static void first_bytes_come_from_afar(void **state) {
  (void)state;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_CYCLE, VINCI_MEMORY_FLAT};
#define READ(address) "copy_gm_to_ubuf,dst=0,src=x+" #address ",len_burst=64\n"
#define BARRIER "pipe_barrier,pipe=MTE2\n"
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++) {
    enum vinci_memory memory = memories[i];
    assert_waits(first_miss_waits(HEAD(1) TENSORS AIV READ(0), memory), 1);
    /* L2 holds the same bytes by then. */
    assert_waits(first_miss_waits(HEAD(1) TENSORS AIV READ(0) BARRIER READ(0), memory), 1);
    /* Once in a kernel, also behind a hit; on each core. */
    assert_waits(first_miss_waits(HEAD(1) TENSORS AIV READ(0) READ(8192), memory), 1);
    assert_waits(first_miss_waits(HEAD(3) TENSORS AIV READ(2048 * blk), memory), 3);
    assert_waits(first_miss_waits(HEAD(1) TENSORS AIV READ(0) "kernel,name=b,arch=dav-c220,"
                                                              "blocks=1\n" TENSORS AIV READ(8192),
                                  memory),
                 2);
    /* The second kernel finds what the first has read. */
    assert_waits(first_miss_waits(HEAD(1) TENSORS AIV READ(0) "kernel,name=b,arch=dav-c220,"
                                                              "blocks=1\n" TENSORS AIV READ(0),
                                  memory),
                 1);
    assert_waits(
        first_miss_waits(HEAD(1) TENSORS AIV "copy_ubuf_to_gm,dst=y,src=0,len_burst=1\n", memory),
        0);
  }
#undef READ
#undef BARRIER
}

/* 32 blocks on the 30 cores of the Ascend910B take twice what 30 or 24 take, but for the dispatch:
 * kernels of this chip show that. */
static void blocks_beyond_the_cores_are_a_second_wave(void **state) {
  (void)state;
#define WAVE(blocks)                                                                               \
  TRACE "kernel,name=k,arch=dav-c100,blocks=" blocks "\nstream,core=AICORE\n"                      \
        "loop,i,1000\n" VADD(250) "endloop\n"
  vinci_soc *soc;
  assert_int_equal(vinci_soc_load("Ascend910B", NULL, &soc, NULL), VINCI_OK);
  uint64_t few = runs_cycles(soc, WAVE("24")), all = runs_cycles(soc, WAVE("30"));
  uint64_t more = runs_cycles(soc, WAVE("32")), wave = 1000 * 500;
  uint64_t spread = 31 * (uint64_t)soc->launch_block_ps * (uint64_t)soc->core_hz / 1000000000000;
  assert_in_range(all - few, 0, spread);
  assert_in_range(more, all - spread + wave, all + spread + wave);
  vinci_soc_free(soc);
#undef WAVE
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cores_that_fetch_the_same_code_wait_longer),
      cmocka_unit_test(a_core_keeps_the_code_of_its_kernel),
      cmocka_unit_test(kernels_go_round_the_cores),
      cmocka_unit_test(old_lines_make_room),
      cmocka_unit_test(code_may_be_there_at_the_start),
      cmocka_unit_test(code_may_come_from_device_memory),
      cmocka_unit_test(reads_of_kernels_without_rows_follow_the_code),
      cmocka_unit_test(miss_rates_follow_from_lines_and_scalar_cycles),
      cmocka_unit_test(first_reads_wait_for_those_of_other_cores),
      cmocka_unit_test(first_bytes_come_from_afar),
      cmocka_unit_test(blocks_beyond_the_cores_are_a_second_wave),
  };
  return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
