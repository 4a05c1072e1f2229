/* SPDX-License-Identifier: Apache-2.0 */
/* Results built by hand, for the tests of results and their writers. Include after cmocka.h. */
#ifndef VINCI_TESTS_SUPPORT_RESULTS_H
#define VINCI_TESTS_SUPPORT_RESULTS_H

#include "core/isa/isa.h"
#include "traces/export/export.h"

enum { RUN_CYCLES = 16500, RUN_HZ = 1650000000 }; /* 10 us */

static inline struct pipe_counters counters(uint64_t busy, uint64_t wait, uint64_t instructions) {
  return (struct pipe_counters){.busy_cycles = busy,
                                .stall_cycles[STALL_WAIT_FLAG] = wait,
                                .idle_cycles = RUN_CYCLES - busy - wait,
                                .instructions = instructions,
                                .cause_cycles[CAUSE_UNFINISHED] = busy};
}

static inline struct vinci_result *new_result(uint32_t cores) {
  struct vinci_result *result = result_create();
  assert_non_null(result);
  result->soc = calloc(1, sizeof *result->soc);
  assert_non_null(result->soc);
  snprintf(result->soc->name, sizeof result->soc->name, "AscendTest");
  result->soc->arch = ARCH_C220;
  result->soc->core_hz = RUN_HZ;
  result->soc->vector_hz = RUN_HZ;
  result->soc->l2_bytes_per_second = INT64_C(4000000000000);
  result->soc->path[PATH_GM_UB].peak_bytes_per_second = INT64_C(200000000000);
  result->soc->provenance[0] =
      (struct soc_provenance){.given = true, .confidence = CONFIDENCE_ASSUMED};
  result->soc->provenance[1] =
      (struct soc_provenance){.given = true, .confidence = CONFIDENCE_DOCUMENTED};
  result->trace_path = arena_strdup(&result->arena, "some/where/add.csv");
  result->config_digest = 0xabc;
  result->input_digest = UINT64_C(0xfedcba9876543210);
  result->total_ps = UINT64_C(10000000);
  result->total_cycles = RUN_CYCLES;
  result->kernel_count = 1;
  result->kernels = ARENA_NEW(&result->arena, struct kernel_result);
  *result->kernels = (struct kernel_result){.name = "add_custom",
                                            .blocks = cores,
                                            .start_ps = 2000000,
                                            .end_ps = 9500000,
                                            .kind = CORE_AIV,
                                            .places = cores};
  result->hbm_peak_bytes_per_second = UINT64_C(800000000000);
  result->core_count = cores;
  result->cores = ARENA_ARRAY(&result->arena, struct core_result, cores);
  return result;
}

static inline void idle_core(struct core_result *core, enum core_kind kind, uint32_t cluster,
                             uint32_t member) {
  *core = (struct core_result){
      .kind = kind, .cluster = cluster, .member = member, .hz = RUN_HZ, .total_cycles = RUN_CYCLES};
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (core_has_pipe(kind, (enum pipe)pipe))
      core->pipe[pipe].idle_cycles = RUN_CYCLES;
}

static inline void vector_core(struct core_result *core, uint32_t cluster, uint32_t member,
                               uint32_t block) {
  idle_core(core, CORE_AIV, cluster, member);
  core->active_cycles = 13200;
  core->blocks_run = 1;
  core->first_block = block;
  core->pipe[PIPE_S] = counters(1000, 200, 64);
  core->pipe[PIPE_V] = counters(9900, 3300, 16);
  core->pipe[PIPE_V].operations = 32768;
  core->pipe[PIPE_MTE2] = counters(6600, 1650, 32);
  core->pipe[PIPE_MTE3] = counters(3300, 0, 16);
  core->vector.busy_cycles[DTYPE_FP16] = 7500;
  core->vector.busy_cycles[DTYPE_FP32] = 2500;
  core->vector.instructions[DTYPE_FP16] = 12;
  core->vector.instructions[DTYPE_FP32] = 4;
  core->path_bytes[PATH_GM_UB] = 1 << 20;
  core->path_instructions[PATH_GM_UB] = 32;
  core->path_bytes[PATH_UB_GM] = 1 << 19;
  core->path_instructions[PATH_UB_GM] = 16;
}

/* Two vector cores with a block each, the second started first, and one without work. */
static inline struct vinci_result *vector_result(void) {
  struct vinci_result *result = new_result(3);
  result->kernels->blocks = 2;
  vector_core(&result->cores[0], 0, 0, 1);
  vector_core(&result->cores[1], 0, 1, 0);
  idle_core(&result->cores[2], CORE_AIV, 1, 0);
  result->gm_read_bytes = 2 << 20;
  result->gm_write_bytes = 2 << 19;
  result->l2 = (struct l2_counters){
      .read_hits = 4096, .read_misses = 12288, .write_hits = 8192, .writebacks = 100};
  result->hbm = (struct hbm_totals){.read_bytes = 12288 * 128, .write_bytes = 12800};
  uint64_t *traffic = result->traffic.bytes[3];
  traffic[TRAFFIC_HBM_READ] = result->hbm.read_bytes;
  traffic[TRAFFIC_HBM_WRITE] = result->hbm.write_bytes;
  traffic[TRAFFIC_L2_HIT] = (4096 + 8192) * 128;
  traffic[TRAFFIC_L2_MISS] = 12288 * 128;
  traffic[TRAFFIC_NETWORK_READ] = result->gm_read_bytes;
  traffic[TRAFFIC_NETWORK_WRITE] = result->gm_write_bytes;
  result->noc_max_link_ppm = 123400;
  result->channel_count = result->link_count = 2;
  result->channels = ARENA_ARRAY(&result->arena, struct hbm_totals, 2);
  result->channels[1] = result->hbm;
  result->links = ARENA_ARRAY(&result->arena, struct link_load, 2);
  result->links[0] = (struct link_load){.way = NOC_REQUESTS, .from = 2, .to = 3};
  result->links[1] =
      (struct link_load){.way = NOC_ANSWERS, .from = 3, .to = 2, .utilization_ppm = 123400};
  result->executed_instructions = 256;
  result->cpu_seconds = 0.25;
  result->peak_rss_bytes = 1 << 24;
  return result;
}

/* A cube core and its two vector cores of one mixed block. */
static inline struct vinci_result *mixed_result(void) {
  struct vinci_result *result = new_result(3);
  result->kernels->blocks = 1;
  result->kernels->mixed = true;
  result->kernels->kind = CORE_AIC;
  result->kernels->vectors_per_cube = 2;
  vector_core(&result->cores[1], 0, 0, 0);
  vector_core(&result->cores[2], 0, 1, 0);
  struct core_result *cube = &result->cores[0];
  idle_core(cube, CORE_AIC, 0, 0);
  cube->active_cycles = 14850;
  cube->blocks_run = 1;
  cube->pipe[PIPE_M] = counters(14025, 100, 10);
  cube->pipe[PIPE_M].operations = 4096 * 1000;
  cube->cube.busy_cycles[DTYPE_FP16] = 300;
  cube->cube.busy_cycles[DTYPE_INT8] = 100;
  cube->cube.instructions[DTYPE_FP16] = 8;
  cube->cube.instructions[DTYPE_INT8] = 2;
  cube->pipe[PIPE_FIX] = counters(1650, 0, 4);
  cube->path_bytes[PATH_L0C_GM] = 1 << 15;
  return result;
}

static inline void add_event(struct vinci_result *result, uint32_t core, enum isa_op op,
                             enum pipe pipe, uint64_t start, uint64_t end, enum pipe other,
                             uint8_t id) {
  result->events[result->event_count++] = (struct result_event){.start_cycle = start,
                                                                .end_cycle = end,
                                                                .core = core,
                                                                .line = 10,
                                                                .op = (uint16_t)op,
                                                                .pipe = (uint8_t)pipe,
                                                                .id = id,
                                                                .other = (uint8_t)other,
                                                                .path = PATH_GM_UB,
                                                                .bytes = 64};
}

/*
 * In order of completion: two copies that overlap, the second ending first; their flag,
 * set while a third copy streams; the wait for that flag; an add; an unmatched set.
 */
static inline struct vinci_result *timeline_result(void) {
  struct vinci_result *result = vector_result();
  result->events = calloc(32, sizeof *result->events);
  assert_non_null(result->events);
  add_event(result, 0, OP_COPY_GM_TO_UBUF, PIPE_MTE2, 120, 180, PIPE_S, 0);
  add_event(result, 0, OP_COPY_GM_TO_UBUF, PIPE_MTE2, 100, 200, PIPE_S, 0);
  add_event(result, 0, OP_SET_FLAG, PIPE_MTE2, 130, 200, PIPE_V, 3);
  add_event(result, 0, OP_WAIT_FLAG, PIPE_V, 50, 210, PIPE_MTE2, 3);
  add_event(result, 0, OP_COPY_GM_TO_UBUF, PIPE_MTE2, 140, 260, PIPE_S, 0);
  add_event(result, 0, OP_VADD, PIPE_V, 210, 240, PIPE_S, 0);
  add_event(result, 0, OP_SET_FLAG, PIPE_MTE2, 300, 300, PIPE_V, 3);
  add_event(result, 0, OP_WAIT_FLAG, PIPE_V, 230, 305, PIPE_MTE2, 3);
  add_event(result, 0, OP_SET_FLAG, PIPE_V, 305, 305, PIPE_MTE2, 1);
  add_event(result, 1, OP_VADD, PIPE_V, 90, 95, PIPE_S, 0);
  return result;
}

typedef enum vinci_status (*writer)(const struct vinci_result *, FILE *, struct vinci_diag *);

static inline char *written(const struct vinci_result *result, writer write) {
  char *text = NULL;
  size_t size;
  struct vinci_diag diag = {0};
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  assert_int_equal(write(result, out, &diag), VINCI_OK);
  assert_int_equal(fclose(out), 0);
  return text;
}

#endif
