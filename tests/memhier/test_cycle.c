/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cycle-level memory system on whole runs: bytes, L2, identities, monotony. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/chip/noc_config.h"
#include "core/result/result.h"

#define SEED UINT64_C(0xCAC4E)

static vinci_soc *load(const char *name, const char *set) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load(name, NULL, &soc, &diag) != VINCI_OK ||
      (set && vinci_soc_set(soc, set, &diag) != VINCI_OK))
    fail_msg("%s", diag.text);
  return soc;
}

static vinci_result *run_on(const vinci_soc *soc, const char *text,
                            const struct vinci_run_options *options) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  if (vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, options, &result, &diag) != VINCI_OK)
    fail_msg("line %lu: %s", diag.line, diag.text);
  vinci_trace_free(trace);
  return result;
}

static vinci_result *run_with(const vinci_soc *soc, const char *text,
                              const struct vinci_run_options *options) {
  struct vinci_run_options cycle = {.struct_size = sizeof cycle};
  if (options)
    cycle = *options;
  cycle.memory = VINCI_MEMORY_CYCLE;
  return run_on(soc, text, &cycle);
}

static vinci_result *run(const vinci_soc *soc, const char *text) {
  return run_with(soc, text, NULL);
}

/*
 * Summed over distances at which the cores start. In what order requests of equal streams meet in
 * DRAM depends on them, and with the order a time by some 3 %, up or down: no property of a
 * setting.
 */
static uint64_t cycles_on(vinci_soc *soc, const char *text) {
  static const char *const starts[] = {"launch.per_block=0ns", "launch.per_block=11ns",
                                       "launch.per_block=23ns", "launch.per_block=53ns",
                                       "launch.per_block=101ns"};
  uint64_t cycles = 0;
  for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
    assert_int_equal(vinci_soc_set(soc, starts[i], NULL), VINCI_OK);
    vinci_result *result = run(soc, text);
    cycles += result->total_cycles;
    vinci_result_free(result);
  }
  return cycles;
}

static uint64_t cycles_with(const char *set, const char *text) {
  vinci_soc *soc = load("Ascend910B4", set);
  uint64_t cycles = cycles_on(soc, text);
  vinci_soc_free(soc);
  return cycles;
}

/* `blocks` cores read (or write) `kibibytes` each, in copies of 16 KiB. */
static char *keyed_stream_text(unsigned blocks, unsigned kibibytes, unsigned passes, bool write,
                               const char *keys) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  unsigned copies = kibibytes / 16;
  fprintf(out,
          "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=%u\n"
          "tensor,name=x,dtype=fp16,shape=%u,io=inout%s\nstream,core=AIV\nloop,p,%u\nloop,i,%u\n",
          blocks, blocks * kibibytes * 512, keys, passes, copies);
  fprintf(out,
          write ? "copy_ubuf_to_gm,src=0,dst=x+(blk*%u+i)*16384,len_burst=512\n"
                : "copy_gm_to_ubuf,dst=0,src=x+(blk*%u+i)*16384,len_burst=512\n",
          copies);
  fputs("endloop\nendloop\n", out);
  fclose(out);
  return text;
}

static char *stream_text(unsigned blocks, unsigned kibibytes, unsigned passes, bool write) {
  return keyed_stream_text(blocks, kibibytes, passes, write, "");
}

/* Reading s bytes p times: what fits in L2 is fetched once, a stream larger than it each time. */
static void working_set_against_l2_follows_the_closed_form(void **state) {
  (void)state;
  enum { BLOCKS = 8, PASSES = 3 };
  static const unsigned sizes[] = {256, 512, 3072, 6144};
  vinci_soc *soc = load("Ascend910B4", "l2.size=12MiB");
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned kibibytes = sizes[i];
    char *text = stream_text(BLOCKS, kibibytes, PASSES, false);
    vinci_result *result = run(soc, text);
    uint64_t bytes = (uint64_t)BLOCKS * kibibytes * 1024;
    bool fits = bytes <= (uint64_t)soc->l2_bytes;
    assert_int_equal(result->gm_read_bytes, bytes * PASSES);
    assert_int_equal(result->hbm.read_bytes, fits ? bytes : bytes * PASSES);
    assert_int_equal(result->l2.read_misses * L2_GRANULE_BYTES, result->hbm.read_bytes);
    vinci_result_free(result);
    free(text);
  }
  vinci_soc_free(soc);
}

/* Of s bytes written, all but what L2 holds have been written back. */
static void written_bytes_leave_when_l2_is_full(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", "l2.size=12MiB");
  char *text = stream_text(8, 4096, 1, true);
  vinci_result *result = run(soc, text);
  uint64_t bytes = UINT64_C(8) * 4096 * 1024;
  assert_int_equal(result->gm_write_bytes, bytes);
  assert_int_equal(result->hbm.write_bytes, bytes - (uint64_t)soc->l2_bytes);
  vinci_result_free(result);
  free(text);
  vinci_soc_free(soc);
}

static void l2_of_the_cores_adds_up(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", NULL);
  char *text = stream_text(4, 64, 2, false);
  vinci_result *result = run(soc, text);
  struct l2_counters sum = {0};
  for (uint32_t i = 0; i < result->core_count; i++) {
    sum.read_hits += result->cores[i].l2.read_hits;
    sum.read_misses += result->cores[i].l2.read_misses;
  }
  assert_int_equal(sum.read_hits, result->l2.read_hits);
  assert_int_equal(sum.read_misses, result->l2.read_misses);
  assert_true(sum.read_hits > 0);
  vinci_result_free(result);
  free(text);
  vinci_soc_free(soc);
}

static void check_device_bytes(enum vinci_memory memory, const char *text, uint64_t read,
                               uint64_t write) {
  vinci_soc *soc = load("Ascend910B4", NULL);
  struct vinci_run_options options = {.struct_size = sizeof options, .memory = memory};
  vinci_result *result = run_on(soc, text, &options);
  assert_int_equal(result->hbm.read_bytes, read);
  assert_int_equal(result->hbm.write_bytes, write);
  vinci_result_free(result);
  vinci_soc_free(soc);
}

/* What takes no room in L2 goes to device memory each time, in both models. */
static void a_disabled_tensor_passes_l2(void **state) {
  (void)state;
  static const enum vinci_memory memories[] = {VINCI_MEMORY_CYCLE, VINCI_MEMORY_FLAT};
  enum { BYTES = 4 * 64 * 1024 };
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++) {
    for (unsigned write = 0; write < 2; write++) {
      char *plain = keyed_stream_text(4, 64, 2, write, ",cache=normal");
      char *disabled = keyed_stream_text(4, 64, 2, write, ",cache=disable");
      check_device_bytes(memories[i], plain, write ? 0 : BYTES, 0);
      check_device_bytes(memories[i], disabled, write ? 0 : 2 * BYTES, write ? 2 * BYTES : 0);
      free(plain);
      free(disabled);
    }
  }
}

/* The mode is the tensor's: by name or, through a variable, by address. What an earlier
 * kernel has left in L2 is used. */
static void the_mode_is_that_of_the_tensor(void **state) {
  (void)state;
  static const char kernel[] = "kernel,name=k,arch=dav-c220,blocks=1\n"
                               "tensor,name=x,dtype=fp16,shape=8192,io=in%s\n"
                               "tensor,name=y,dtype=fp16,shape=8192,io=in,cache=disable\n"
                               "stream,core=AIV\n%s";
  static const char both[] = "loop,i,3\nlet,a,x+i/8\nlet,b,y+i/8\n"
                             "copy_gm_to_ubuf,dst=0,src=a,len_burst=512\n"
                             "copy_gm_to_ubuf,dst=0,src=b,len_burst=512\nendloop\n";
  static const char named[] = "copy_gm_to_ubuf,dst=0,src=x,len_burst=512\n";
  char text[2048], first[512], second[512];
  snprintf(first, sizeof first, kernel, "", both);
  snprintf(second, sizeof second, kernel, ",cache=disable", named);
  snprintf(text, sizeof text, "trace,version=1\n%s%s", first, second);
  check_device_bytes(VINCI_MEMORY_CYCLE, text, 4 * 16384, 0);
  check_device_bytes(VINCI_MEMORY_FLAT, text, 4 * 16384, 0);
}

/* A stream written once through an L2 it does not fit in loads every channel, and both
 * networks; a run knows no channels or links it does not model. */
static void loads_of_channels_and_links_are_told(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", "l2.size=2MiB");
  char *text = stream_text(16, 512, 1, true);
  vinci_result *result = run(soc, text);
  assert_int_equal(result->channel_count, soc->hbm_channels);
  uint64_t written = 0, most = 0, used[NOC_WAYS] = {0};
  for (uint32_t i = 0; i < result->channel_count; i++) {
    assert_true(result->channels[i].write_bytes > 0);
    written += result->channels[i].write_bytes;
  }
  assert_int_equal(written, result->hbm.write_bytes);
  assert_int_equal(result->link_count, NOC_WAYS * soc->topology->link_count);
  for (uint32_t i = 0; i < result->link_count; i++) {
    most = max_u64(most, result->links[i].utilization_ppm);
    used[result->links[i].way] += result->links[i].utilization_ppm;
  }
  assert_int_equal(most, result->noc_max_link_ppm);
  assert_true(used[NOC_REQUESTS] > used[NOC_ANSWERS] && used[NOC_ANSWERS] > 0);
  vinci_result_free(result);
  free(text);
  vinci_soc_free(soc);
}

static uint64_t random_next(uint64_t *seed) {
  uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  return x ^ x >> 27;
}

static char *random_program(uint64_t *seed) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  fprintf(out,
          "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=%u\n"
          "tensor,name=x,dtype=fp16,shape=4194304,io=inout\nstream,core=AIV\nloop,i,20\n",
          (unsigned)(random_next(seed) % 40) + 1);
  for (unsigned n = (unsigned)(random_next(seed) % 6) + 1; n > 0; n--) {
    unsigned size = (unsigned)(random_next(seed) % 120) + 1;
    unsigned gap = (unsigned)(random_next(seed) % 20);
    fprintf(out,
            random_next(seed) % 2
                ? "copy_gm_to_ubuf,dst=0,src=x+blk*65536+i*%u,n_burst=3,len_burst=%u,src_gap=%u\n"
                : "copy_ubuf_to_gm,src=0,dst=x+blk*65536+i*%u,n_burst=3,len_burst=%u,dst_gap=%u\n",
            size * 32, size, gap);
  }
  fputs("endloop\n", out);
  fclose(out);
  return text;
}

/* vinci_run checks the identities of every run. */
static void results_do_not_depend_on_part_order(void **state) {
  (void)state;
  uint64_t seed = SEED;
  vinci_soc *soc = load("Ascend910B4", NULL);
  for (unsigned i = 0; i < 10; i++) {
    char *text = random_program(&seed);
    struct vinci_run_options options = {.struct_size = sizeof options};
    vinci_result *plain = run_with(soc, text, &options);
    options.part_order_seed = i + 1;
    vinci_result *shuffled = run_with(soc, text, &options);
    assert_int_equal(plain->total_ps, shuffled->total_ps);
    assert_memory_equal(&plain->l2, &shuffled->l2, sizeof plain->l2);
    assert_memory_equal(&plain->hbm, &shuffled->hbm, sizeof plain->hbm);
    assert_memory_equal(plain->cores, shuffled->cores, plain->core_count * sizeof *plain->cores);
    vinci_result_free(plain);
    vinci_result_free(shuffled);
    free(text);
  }
  vinci_soc_free(soc);
}

static void the_flit_level_agrees_at_low_load(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", NULL);
  char *text = stream_text(2, 256, 2, false);
  struct vinci_run_options options = {.struct_size = sizeof options};
  vinci_result *packet = run_with(soc, text, &options);
  options.network = VINCI_NETWORK_FLIT;
  vinci_result *flit = run_with(soc, text, &options);
  assert_int_equal(packet->gm_read_bytes, flit->gm_read_bytes);
  assert_in_range(flit->total_cycles, packet->total_cycles * 95 / 100,
                  packet->total_cycles * 110 / 100);
  vinci_result_free(packet);
  vinci_result_free(flit);
  free(text);
  vinci_soc_free(soc);
}

/* More of a resource is not slower, beyond 1 % for who goes first; half of it not faster. */
static void more_of_a_resource_is_never_slower(void **state) {
  (void)state;
  static const char *const more[] = {"hbm.bandwidth_scale=2", "l2.bandwidth=8TB/s",
                                     "l2.size=192MiB", "transfer.window_cycles=208",
                                     "noc.clock=4GHz"};
  static const char *const less[] = {"hbm.bandwidth_scale=0.5", "l2.bandwidth=2TB/s",
                                     "transfer.window_cycles=52", "noc.clock=1GHz"};
  char *text = stream_text(20, 512, 2, false);
  uint64_t base = cycles_with(NULL, text);
  for (unsigned i = 0; i < sizeof more / sizeof *more; i++)
    if (cycles_with(more[i], text) * 100 > base * 101)
      fail_msg("%s is slower", more[i]);
  for (unsigned i = 0; i < sizeof less / sizeof *less; i++)
    if (cycles_with(less[i], text) * 101 < base * 100)
      fail_msg("%s is faster", less[i]);
  vinci_soc *soc = load("Ascend910B4", "hbm.channels=64");
  assert_int_equal(vinci_soc_set(soc, "hbm.bandwidth=1.6TB/s", NULL), VINCI_OK);
  assert_true(cycles_on(soc, text) * 100 <= base * 101);
  vinci_soc_free(soc);
  free(text);
}

/* Cycles that the stores of 40 cores take, each of 4 KiB, while the cores read 20 MiB. */
static uint64_t store_cycles(const vinci_soc *soc, enum vinci_l2 start, enum vinci_memory memory) {
  static const char text[] =
      "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=40\n"
      "tensor,name=x,dtype=fp16,shape=10485760,io=in\n"
      "tensor,name=y,dtype=fp16,shape=2621440,io=out\nstream,core=AIV\nloop,i,32\n"
      "copy_gm_to_ubuf,dst=0,src=x+(blk*32+i)*16384,len_burst=512\n"
      "copy_ubuf_to_gm,src=32768,dst=y+(blk*32+i)*4096,len_burst=128\nendloop\n";
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = memory, .l2_start = start};
  vinci_result *result = run_on(soc, text, &options);
  uint64_t cycles = 0;
  for (uint32_t core = 0; core < result->core_count; core++)
    cycles += result->cores[core].pipe[PIPE_MTE3].busy_cycles;
  vinci_result_free(result);
  return cycles;
}

/* What the reads find in L2 decides how long the stores take, though no store needs device memory.
 */
static void stores_wait_behind_misses(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", NULL);
  static const enum vinci_memory memories[] = {VINCI_MEMORY_FLAT, VINCI_MEMORY_CYCLE};
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++) {
    uint64_t hits = store_cycles(soc, VINCI_L2_WARM, memories[i]);
    uint64_t misses = store_cycles(soc, VINCI_L2_EMPTY, memories[i]);
    if (misses * 2 < hits * 3)
      fail_msg("memory %u: stores take %llu cycles beside misses, %llu beside hits", i,
               (unsigned long long)misses, (unsigned long long)hits);
  }
  vinci_soc_free(soc);
}

static struct l2_counters l2_with(const vinci_soc *soc, const char *text, enum vinci_l2 start,
                                  enum vinci_memory memory) {
  struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = memory, .l2_start = start};
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  if (vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag) != VINCI_OK ||
      vinci_run(soc, trace, &options, &result, &diag) != VINCI_OK)
    fail_msg("line %lu: %s", diag.line, diag.text);
  struct l2_counters counters = result->l2;
  vinci_result_free(result);
  vinci_trace_free(trace);
  return counters;
}

/* 2 MiB of a tensor that is read and written: 16384 granules. */
static void l2_starts_as_asked(void **state) {
  (void)state;
  enum { GRANULES = 16384 };
  static const enum vinci_memory memories[] = {VINCI_MEMORY_FLAT, VINCI_MEMORY_CYCLE};
  vinci_soc *soc = load("Ascend910B4", NULL), *small = load("Ascend910B4", "l2.size=1MiB");
  char *text = stream_text(8, 256, 1, false);
  for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++) {
    struct l2_counters empty = l2_with(soc, text, VINCI_L2_EMPTY, memories[i]);
    assert_int_equal(empty.read_misses, GRANULES);
    assert_int_equal(empty.writebacks, 0);
    struct l2_counters warm = l2_with(soc, text, VINCI_L2_WARM, memories[i]);
    assert_int_equal(warm.read_hits, GRANULES);
    assert_int_equal(warm.read_misses + warm.writebacks, 0);
    struct l2_counters streaming = l2_with(soc, text, VINCI_L2_STREAMING, memories[i]);
    assert_int_equal(streaming.read_misses, GRANULES);
    assert_int_equal(streaming.writebacks, GRANULES);
    struct l2_counters dirty = l2_with(soc, text, VINCI_L2_DIRTY, memories[i]);
    assert_int_equal(dirty.read_misses, GRANULES);
    assert_int_equal(dirty.writebacks, GRANULES);
    struct l2_counters used = l2_with(soc, text, VINCI_L2_USED, memories[i]);
    assert_int_equal(used.read_hits, GRANULES);
    assert_int_equal(used.writebacks, 0);
    struct l2_counters too_large = l2_with(small, text, VINCI_L2_USED, memories[i]);
    assert_int_equal(too_large.read_misses, GRANULES);
    struct l2_counters too_small = l2_with(small, text, VINCI_L2_WARM, memories[i]);
    assert_int_equal(too_small.read_misses, GRANULES);
  }
  free(text);
  vinci_soc_free(soc);
  vinci_soc_free(small);
}

static void an_unknown_state_of_l2_is_refused(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", NULL);
  struct vinci_run_options options = {.struct_size = sizeof options, .l2_start = (enum vinci_l2)5};
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  char *text = stream_text(1, 16, 1, false);
  assert_int_equal(vinci_trace_parse("t", text, strlen(text), soc, &trace, &diag), VINCI_OK);
  assert_int_equal(vinci_run(soc, trace, &options, &result, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "l2_start of the run options is 5, not 0 to 4");
  free(text);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

static void an_uneven_memory_is_refused(void **state) {
  (void)state;
  vinci_soc *soc = load("Ascend910B4", NULL);
  struct vinci_diag diag = {0};
  assert_int_equal(vinci_soc_set(soc, "hbm.channels=33", &diag), VINCI_OK);
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  char *text = stream_text(1, 16, 1, false);
  assert_int_equal(vinci_trace_parse("t", text, strlen(text), soc, &trace, &diag), VINCI_OK);
  assert_int_equal(vinci_run(soc, trace, NULL, &result, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "Ascend910B4: hbm.channels: must be a multiple of l2.slices");
  assert_null(result);
  free(text);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(working_set_against_l2_follows_the_closed_form),
      cmocka_unit_test(written_bytes_leave_when_l2_is_full),
      cmocka_unit_test(l2_of_the_cores_adds_up),
      cmocka_unit_test(a_disabled_tensor_passes_l2),
      cmocka_unit_test(the_mode_is_that_of_the_tensor),
      cmocka_unit_test(loads_of_channels_and_links_are_told),
      cmocka_unit_test(results_do_not_depend_on_part_order),
      cmocka_unit_test(the_flit_level_agrees_at_low_load),
      cmocka_unit_test(more_of_a_resource_is_never_slower),
      cmocka_unit_test(stores_wait_behind_misses),
      cmocka_unit_test(l2_starts_as_asked),
      cmocka_unit_test(an_unknown_state_of_l2_is_refused),
      cmocka_unit_test(an_uneven_memory_is_refused),
  };
  return cmocka_run_group_tests_name("cycle", tests, NULL, NULL);
}
