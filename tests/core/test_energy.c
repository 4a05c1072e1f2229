/* SPDX-License-Identifier: Apache-2.0 */
/* The account of energy: counts of small programs by hand, prices in closed form, and what must
 * hold of every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/chip/mem.h"
#include "core/result/result_energy.h"
#include "tests/support/runs.h"

#define AIC "stream,core=AIC\n"

static vinci_soc *chip(const char *name) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  return soc;
}

static void set(vinci_soc *soc, const char *assignment) {
  struct vinci_diag diag = {0};
  if (vinci_soc_set(soc, assignment, &diag) != VINCI_OK)
    fail_msg("%s: %s", assignment, diag.text);
}

static vinci_soc *counting(const char *name) {
  vinci_soc *soc = chip(name);
  set(soc, "energy=on");
  return soc;
}

static struct energy_counts counts_of(const vinci_soc *soc, const char *text,
                                      enum vinci_memory memory) {
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  struct run run = runs_with(soc, text, &options);
  struct energy_counts counts;
  assert_int_equal(run.status, VINCI_OK);
  assert_true(energy_counts_of(run.result, &counts));
  vinci_result_free(run.result);
  return counts;
}

/* 32 x 64 by 64 x 48 of fp16: 2 x 4 x 3 tiles of 16 x 16 x 16, a cycle each. */
static void a_product_counts_tiles(void **state) {
  (void)state;
  vinci_soc *soc = counting("Ascend910B4");
  struct energy_counts counts =
      counts_of(soc, HEAD(1) AIC "mad,c=0,a=0,b=0,m=32,k=64,n=48,type=fp16\n", VINCI_MEMORY_FLAT);
  assert_int_equal(counts.of[ENERGY_MAC_FP16], 32 * 64 * 48);
  assert_int_equal(counts.of[ENERGY_MAC_BF16], 0);
  assert_int_equal(counts.of[ENERGY_CUBE_CYCLE], 24);
  assert_int_equal(counts.of[ENERGY_L0A], 24 * 512);
  assert_int_equal(counts.of[ENERGY_L0B], 24 * 512);
  assert_int_equal(counts.of[ENERGY_L0C], 24 * 2 * 1024);
  assert_int_equal(counts.of[ENERGY_WIRE], 0);
  assert_int_equal(counts.of[ENERGY_DRAM_READ], 0);
  assert_int_equal(energy_macs(&counts), 32 * 64 * 48);
  /* Of fp32 a tile is 16 x 8 x 16 in two cycles; of int8 16 x 32 x 16, in a cycle. */
  counts =
      counts_of(soc, HEAD(1) AIC "mad,c=0,a=0,b=0,m=16,k=64,n=16,type=fp32\n", VINCI_MEMORY_FLAT);
  assert_int_equal(counts.of[ENERGY_MAC_FP32], 16 * 64 * 16);
  assert_int_equal(counts.of[ENERGY_CUBE_CYCLE], 16);
  assert_int_equal(counts.of[ENERGY_L0A], 8 * 512);
  counts =
      counts_of(soc, HEAD(1) AIC "mad,c=0,a=0,b=0,m=16,k=64,n=16,type=int8\n", VINCI_MEMORY_FLAT);
  assert_int_equal(counts.of[ENERGY_MAC_INT8], 16 * 64 * 16);
  assert_int_equal(counts.of[ENERGY_CUBE_CYCLE], 2);
  vinci_soc_free(soc);
}

#define COPY_ADD_COPY                                                                              \
  HEAD(1)                                                                                          \
  TENSORS AIV "copy_gm_to_ubuf,dst=8192,src=x,len_burst=128\nset_flag,src=MTE2,dst=V,id=0\n"       \
              "wait_flag,src=MTE2,dst=V,id=0\n" VADD(                                              \
                  10) "set_flag,src=V,dst=MTE3,id=0\n"                                             \
                      "wait_flag,src=V,dst=MTE3,id=0\ncopy_ubuf_to_gm,dst=y,src=0,len_burst=64\n"

/* 4096 bytes in, 1280 sums of fp16, 2048 bytes out. */
static void a_sum_counts_lanes_and_bytes(void **state) {
  (void)state;
  vinci_soc *soc = counting("Ascend910B4");
  for (unsigned memory = 0; memory < 2; memory++) {
    struct energy_counts counts = counts_of(soc, COPY_ADD_COPY, (enum vinci_memory)memory);
    assert_int_equal(counts.of[ENERGY_LANE_FP16], 1280);
    assert_int_equal(counts.of[ENERGY_UB], 4096 + 3 * 2 * 1280 + 2048);
    assert_int_equal(counts.of[ENERGY_WIRE], 4096 + 2048);
    assert_int_equal(counts.of[ENERGY_DRAM_READ], 4096);
    /* Read, filled and written. */
    assert_int_equal(counts.of[ENERGY_L2_BYTE], 2 * 4096 + 2048);
    assert_int_equal(energy_macs(&counts), 0);
    if (memory == VINCI_MEMORY_FLAT) {
      assert_int_equal(counts.of[ENERGY_HOP_BYTE], (4096 + 2048) * 5 / 2);
      assert_int_equal(counts.of[ENERGY_DRAM_ACTIVATE], 4096 / 256);
    } else {
      /* Each byte that crosses a link needs a flit of 256 bytes at most. */
      assert_true(counts.of[ENERGY_HOP_BYTE] >= 4096 + 2048);
      assert_in_range(counts.of[ENERGY_DRAM_ACTIVATE], 1, 4096 / 32);
    }
  }
  vinci_soc_free(soc);
}

/* 20 AIC and 40 AIV, 32 pseudo-channels, for a millisecond; a refresh each 3.9 us. */
static void time_alone_counts_powers(void **state) {
  (void)state;
  vinci_soc *soc = counting("Ascend910B4");
  struct energy_counts counts = {0};
  const uint64_t ms = UINT64_C(1000000000);
  energy_count_time(soc, ms, &counts);
  assert_int_equal(counts.of[ENERGY_CHIP], ms);
  assert_int_equal(counts.of[ENERGY_CUBE_IDLE], 20 * ms);
  assert_int_equal(counts.of[ENERGY_VECTOR_IDLE], 40 * ms);
  assert_int_equal(counts.of[ENERGY_CHANNEL], 32 * ms);
  uint64_t interval = (uint64_t)(soc->memory->refi_cycles * soc->memory->tck_ps);
  assert_int_equal(counts.of[ENERGY_DRAM_REFRESH], 32 * ms / interval);
  assert_int_equal(counts.of[ENERGY_INSTRUCTION], 0);
  /* 52.7 W for a millisecond are 52.7 mJ; 20 x 0.6 + 40 x 0.3 W are 24 mJ. */
  struct vinci_energy idle = energy_part(soc->energy, &counts, ENERGY_PART_IDLE);
  assert_int_equal(idle.pj, UINT64_C(24000000000));
  assert_int_equal(energy_mw(idle.pj, ms), 24000);
  struct energy_sum rest = energy_of(soc->energy, &counts, ENERGY_CHIP);
  assert_true(rest.fj == (uint128)UINT64_C(52700000000000));
  vinci_soc_free(soc);
}

/* Idle 910B3 of 88.8 to 97.5 W; the dies of idle 910C of 81.3 to 93.2 W. */
static void idle_chips_take_the_published_watts(void **state) {
  (void)state;
  static const struct {
    const char *chip;
    uint64_t low_mw, high_mw;
    bool calibrated;
  } cards[] = {{"Ascend910B3", 88800, 97500, true}, {"Ascend910_9392", 81300, 93200, false}};
  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
    vinci_soc *soc = counting(cards[i].chip);
    struct energy_counts counts = {0};
    const uint64_t second = UINT64_C(1000000000000);
    energy_count_time(soc, second, &counts);
    struct vinci_energy energy = energy_total(soc->energy, &counts);
    if (cards[i].calibrated)
      assert_in_range(energy_mw(energy.pj, second), cards[i].low_mw, cards[i].high_mw);
    assert_true(energy_mw(energy.low_pj, second) <= cards[i].low_mw);
    assert_true(energy_mw(energy.high_pj, second) >= cards[i].high_mw);
    vinci_soc_free(soc);
  }
}

static struct vinci_energy energy_of_run(const vinci_soc *soc, const char *request,
                                         uint64_t *total_ps) {
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = VINCI_MEMORY_FLAT};
  struct vinci_diag diag = {0};
  vinci_trace *trace = runs_compile(soc, request);
  vinci_result *result = NULL;
  struct vinci_energy energy, sum = {0};
  struct vinci_energy_part part;
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_OK);
  assert_true(vinci_result_energy(result, &energy));
  assert_true(energy.low_pj <= energy.pj && energy.pj <= energy.high_pj);
  for (size_t i = 0; vinci_result_energy_part(result, i, &part); i++) {
    assert_true(part.energy.low_pj <= part.energy.pj && part.energy.pj <= part.energy.high_pj);
    energy_join(&sum, part.energy);
  }
  assert_int_equal(sum.pj, energy.pj);
  assert_int_equal(sum.low_pj, energy.low_pj);
  assert_int_equal(sum.high_pj, energy.high_pj);
  if (total_ps)
    *total_ps = result->total_ps;
  vinci_result_free(result);
  vinci_trace_free(trace);
  return energy;
}

/* Parts add up; the whole is more than what time alone takes; more bytes take more. */
static void properties_hold_of_operators(void **state) {
  (void)state;
  static const char *const requests[] = {
      "matmul m=256 k=512 n=256 dtype=fp16", "matmul m=256 k=512 n=256 dtype=int8",
      "add shape=512x1024", "softmax shape=128x1024", "layer_norm shape=64x1024"};
  vinci_soc *soc = counting("Ascend910B4");
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    uint64_t total_ps;
    struct energy_counts time = {0};
    struct vinci_energy energy = energy_of_run(soc, requests[i], &total_ps);
    energy_count_time(soc, total_ps, &time);
    assert_true(energy.pj > energy_total(soc->energy, &time).pj);
  }
  assert_true(energy_of_run(soc, "add shape=512x2048", NULL).pj >
              energy_of_run(soc, "add shape=512x1024", NULL).pj);
  vinci_soc_free(soc);
}

/* Twice the price, twice the part; with all others 0 the whole is count times price. */
static void overrides_scale(void **state) {
  (void)state;
  static const char request[] = "matmul m=256 k=512 n=256 dtype=fp16";
  vinci_soc *soc = counting("Ascend910B4");
  struct vinci_energy usual = energy_of_run(soc, request, NULL);
  int64_t price = soc->energy->value[ENERGY_MAC_FP16];
  char assignment[64];
  snprintf(assignment, sizeof assignment, "energy.mac.fp16=%lldfJ", (long long)(2 * price));
  set(soc, assignment);
  uint64_t macs = UINT64_C(256) * 512 * 256;
  assert_int_equal(energy_of_run(soc, request, NULL).pj - usual.pj,
                   (macs * (uint64_t)price + 500) / 1000);
  for (size_t i = 0; i < ENERGY_COUNT; i++) {
    snprintf(assignment, sizeof assignment, "energy.%s=0%s", energy_param(i)->key,
             energy_is_power((enum energy_number)i) ? "W" : "fJ");
    set(soc, assignment);
  }
  assert_int_equal(energy_of_run(soc, request, NULL).high_pj, 0);
  set(soc, "energy.mac.fp16=3pJ");
  struct vinci_energy alone = energy_of_run(soc, request, NULL);
  assert_int_equal(alone.pj, 3 * macs);
  assert_int_equal(alone.low_pj, 3 * macs); /* what is set has no range */
  assert_int_equal(alone.high_pj, 3 * macs);
  vinci_soc_free(soc);
}

/* Two kernels of a trace are as much work as one and then the other. */
static void work_of_parts_adds_up(void **state) {
  (void)state;
#define KERNEL(name) "kernel,name=" name ",arch=dav-c220,blocks=2\n"
  static const char first[] = "trace,version=1\n" KERNEL("a") AIV VADD(7);
  static const char second[] = "trace,version=1\n" KERNEL("b") AIV VADD(9);
  static const char both[] = "trace,version=1\n" KERNEL("a") AIV VADD(7) KERNEL("b") AIV VADD(9);
  vinci_soc *soc = counting("Ascend910B4");
  struct energy_counts sum = counts_of(soc, first, VINCI_MEMORY_FLAT);
  struct energy_counts more = counts_of(soc, second, VINCI_MEMORY_FLAT);
  struct energy_counts whole = counts_of(soc, both, VINCI_MEMORY_FLAT);
  energy_add(&sum, &more);
  for (unsigned i = 0; i < ENERGY_COUNT; i++)
    if (!energy_is_power((enum energy_number)i))
      assert_int_equal(sum.of[i], whole.of[i]);
  assert_int_equal(whole.of[ENERGY_LANE_FP16], 2 * (7 + 9) * 128);
  vinci_soc_free(soc);
}

/* Without being asked nothing is loaded, and a run has no account. */
static void nobody_asked(void **state) {
  (void)state;
  vinci_soc *soc = chip("Ascend910B4");
  struct vinci_energy energy = {1, 1, 1};
  struct vinci_energy_part part;
  struct run run = runs_with(soc, HEAD(1) AIV VADD(10), NULL);
  uint64_t digest = soc_digest(soc);
  assert_false(vinci_result_energy(run.result, &energy));
  assert_int_equal(energy.pj, 0);
  assert_false(vinci_result_energy_part(run.result, 0, &part));
  set(soc, "energy=on");
  assert_int_equal(soc_digest(soc), digest); /* the same results */
  set(soc, "energy.mac.fp16=1pJ");
  assert_true(soc_digest(soc) != digest);
  set(soc, "energy=off");
  assert_null(soc->energy);
  vinci_result_free(run.result);
  vinci_soc_free(soc);
}

static void refused(vinci_soc *soc, const char *assignment, const char *text, const char *hint) {
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_soc_set(soc, assignment, &diag), VINCI_E_USAGE);
  if (!strstr(diag.text, text) || !strstr(diag.hint, hint))
    fail_msg("%s: %s (%s)", assignment, diag.text, diag.hint);
}

static void errors_say_what_to_write(void **state) {
  (void)state;
  vinci_soc *soc = chip("Ascend910B4");
  refused(soc, "energy=maybe", "energy is 'on' or 'off', not 'maybe'", "");
  refused(soc, "energy.mac.fp17=1pJ", "unknown energy 'mac.fp17'",
          "did you mean 'energy.mac.fp16'?");
  refused(soc, "energy.mac.fp16=1J", "unknown unit 'J'", "energy of one event");
  refused(soc, "energy.static.chip=1pJ", "unknown unit 'pJ'", "power, suffixes mW W");
  refused(soc, "energy.flat.row=0B", "flat.row: 0B is outside 1B to 64KiB", "");
  set(soc, "energy.mac.fp16=1pJ");
  refused(soc, "energy.name=davinci_7nm", "another energy would undo the numbers energy.*",
          "set energy.name=davinci_7nm first");
  vinci_soc_free(soc);
  soc = chip("Ascend310P3");
  refused(
      soc, "energy=on",
      "Ascend310P3: no energies are known of this chip (none are published of 910A, 310P and 950)",
      "write a file energy/");
  refused(soc, "energy.name=davinci_7mn", "unknown energy description 'davinci_7mn'",
          "did you mean 'davinci_7nm'?");
  set(soc, "energy.name=davinci_7nm");
  assert_non_null(soc->energy);
  vinci_soc_free(soc);
}

/* Every number of the shipped description has a range around it, and a source. */
static void every_energy_has_a_range_and_a_source(void **state) {
  (void)state;
  vinci_soc *soc = counting("Ascend910B1");
  const struct energy_spec *spec = soc->energy;
  for (size_t i = 0; i < ENERGY_NUMBERS; i++) {
    assert_true(spec->low[i] <= spec->value[i] && spec->value[i] <= spec->high[i]);
    assert_true(spec->low[i] < spec->high[i]);
    assert_true(*spec->provenance[i].source != '\0' && *spec->provenance[i].note != '\0');
    assert_int_equal(energy_find(energy_param(i)->key), i);
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_product_counts_tiles),
      cmocka_unit_test(a_sum_counts_lanes_and_bytes),
      cmocka_unit_test(time_alone_counts_powers),
      cmocka_unit_test(idle_chips_take_the_published_watts),
      cmocka_unit_test(properties_hold_of_operators),
      cmocka_unit_test(overrides_scale),
      cmocka_unit_test(work_of_parts_adds_up),
      cmocka_unit_test(nobody_asked),
      cmocka_unit_test(errors_say_what_to_write),
      cmocka_unit_test(every_energy_has_a_range_and_a_source),
  };
  return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
