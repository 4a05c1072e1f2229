/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SoCs built in code. Their numbers are like those of real parts but claim nothing. All
 * latencies are different primes, and all paths and classes differ, so that a model that takes
 * a number in place of another one shows.
 */
#include "tests/support/fixture.h"

#include <stdlib.h>
#include <string.h>

static void set_cores(struct vinci_soc *soc) {
  soc->core_hz = soc->vector_hz = 1000000000;
  soc->queue_v = soc->queue_m = soc->queue_mte1 = 32;
  soc->queue_mte2 = soc->queue_mte3 = soc->queue_fix = 32;
  soc->scalar_issue_cycles = FIXTURE_ISSUE;
  soc->flag_cycles = FIXTURE_FLAG;
  soc->barrier_cycles = FIXTURE_BARRIER;
  soc->cube_m = soc->cube_n = 16;
  soc->cube_k_bytes = 32;
  soc->cube_fp16_mcycles = soc->cube_int8_mcycles = 1000;
  soc->cube_issue_mcycles = 2000;
  soc->cube_startup_mcycles = 19000;
  soc->vector_bytes = 256;
  soc->ub_reserved_bytes = 8448;
  soc->kernel_core_bytes = 4099;
}

static void set_memory(struct vinci_soc *soc) {
  soc->launch_base_ps = FIXTURE_LAUNCH * 1000;
  soc->launch_block_ps = FIXTURE_BLOCK * 1000;
  soc->nd2nz_line_mcycles = 5300;
  soc->nd2nz_line_bytes = 512;
  soc->split_mbytes_per_cycle = 37000;
  soc->launch_cluster_ps = FIXTURE_CLUSTER * 1000;
  soc->l2_bytes = INT64_C(64) << 20;
  soc->l2_bytes_per_second = INT64_C(4000000000000);
  soc->window_cycles = 199;
  soc->l2_hit_cycles = 53;
  soc->noc_columns = soc->noc_rows = 4;
  soc->noc_flit_bytes = 128;
  soc->noc_hz = 1000000000;
  soc->noc_routing_cycles = 1;
  soc->noc_link_cycles = 2;
  soc->noc_credit_cycles = 5;
  soc->noc_vcs = 4;
  soc->noc_vc_flits = 8;
  soc->l2_slices = 8;
  soc->l2_line_bytes = 512;
  soc->l2_ways = 16;
  soc->hbm_channels = 16;
  soc->hbm_interleave_bytes = 256;
  soc->hbm_bytes = INT64_C(32) << 30;
  soc->hbm_bytes_per_second = INT64_C(1000000000000);
  soc->hbm_bandwidth_scale = 1000000;
  soc->hbm_pin_share = 1000000;
  soc->hbm_mixed_efficiency = 900000;
}

/* In cycles and bytes per cycle. On the chip nothing passes HBM, and nothing overlaps. */
static const struct {
  int rate, startup, hbm_rate, minimum, overlap_issue;
} path_numbers[PATH_COUNT] = {
    [PATH_GM_L1] = {131, 127, 59, 173, 31},  [PATH_GM_UB] = {109, 103, 53, 137, 37},
    [PATH_GM_L0A] = {137, 139, 61, 179, 41}, [PATH_GM_L0B] = {113, 151, 47, 181, 43},
    [PATH_L1_L0A] = {241, 23, 0, 29, 0},     [PATH_L1_L0B] = {127, 67, 0, 71, 0},
    [PATH_L1_BT] = {79, 73, 0, 83, 0},       [PATH_L1_FB] = {89, 97, 0, 101, 0},
    [PATH_L1_UB] = {151, 61, 0, 79, 0},      [PATH_L1_GM] = {103, 163, 0, 193, 47},
    [PATH_UB_GM] = {83, 157, 0, 191, 29},    [PATH_UB_L1] = {101, 59, 0, 89, 0},
    [PATH_UB_UB] = {167, 11, 0, 17, 0},      [PATH_L0C_GM] = {107, 113, 0, 116, 53},
    [PATH_L0C_L1] = {139, 107, 0, 109, 0},   [PATH_L0C_UB] = {149, 131, 0, 197, 0},
};

static void set_costs(struct vinci_soc *soc) {
  for (unsigned i = 0; i < VECTOR_CLASS_COUNT; i++)
    soc->vector_class[i] = (struct vector_class_cost){.startup_mcycles = 1000 * (20 + i),
                                                      .per_repeat_mcycles = 1000 * (1 + i),
                                                      .minimum_mcycles = 1000 * (5 + 2 * i)};
  for (unsigned i = 0; i < PATH_COUNT; i++)
    soc->path[i] =
        (struct path_cost){.mbytes_per_cycle = 1000 * path_numbers[i].rate,
                           .startup_mcycles = 1000 * path_numbers[i].startup,
                           .hbm_mbytes_per_cycle = 1000 * path_numbers[i].hbm_rate,
                           .minimum_mcycles = 1000 * path_numbers[i].minimum,
                           .overlap_issue_mcycles = 1000 * path_numbers[i].overlap_issue};
}

/* What a kernel's cores do before they work; distinct, and more for code of more kinds. */
static void set_kernels(struct vinci_soc *soc) {
  soc->code_line_bytes = 64;
  soc->code_cube_bytes = 48 * 64;
  soc->code_vector_bytes = 32 * 64;
  soc->code_access_mcycles = 2500;
  soc->code_first_cycles = 25;
  soc->code_arguments_cycles = 7;
  for (unsigned i = 0; i < KERNEL_CODE_COUNT; i++)
    soc->kernel[i] = (struct kernel_start){.issue_cycles = 3 + i,
                                           .head_cycles = 1009 + 503 * i,
                                           .code_bytes = 128 + 64 * i,
                                           .line_cycles = 51 + 9 * i};
}

static struct vinci_soc *make(const char *name, enum arch arch) {
  struct vinci_soc *soc = calloc(1, sizeof *soc);
  if (!soc)
    return NULL;
  strncpy(soc->name, name, sizeof soc->name - 1);
  soc->base = "";
  soc->description = "made for tests";
  soc->arch = arch;
  soc->l0a_bytes = soc->l0b_bytes = 64 << 10;
  set_cores(soc);
  set_memory(soc);
  set_costs(soc);
  set_kernels(soc);
  return soc;
}

vinci_soc *fixture_soc(void) {
  struct vinci_soc *soc = make("fixture220", ARCH_C220);
  if (!soc)
    return NULL;
  soc->cube_cores = 20;
  soc->vector_cores = 40;
  soc->l1_bytes = 512 << 10;
  soc->l0c_bytes = 128 << 10;
  soc->ub_bytes = 192 << 10;
  soc->bt_bytes = 1 << 10;
  soc->fb_bytes = 7 << 10;
  soc->flag_ids = 8;
  soc->host_write_rate = soc->host_read_rate = soc->copy_rate = 1000000000;
  soc->host_launch_call_ps = 5300000;
  soc->host_operator_ps = 97000000;
  soc->launch_gap_ps = 31000;
  soc->launch_mixed_gap_ps = 1013000;
  soc->cross_core_ids = 16;
  soc->cross_core_sets_max = 15;
  soc->cross_core_cycles = FIXTURE_CROSS;
  soc->cube_bf16_mcycles = soc->cube_int4_mcycles = 1000;
  soc->cube_fp32_mcycles = 2000;
  soc->path[PATH_L1_UB] = (struct path_cost){0};
  soc->path[PATH_UB_L1] = (struct path_cost){0};
  soc->path[PATH_L0C_UB] = (struct path_cost){0};
  return soc;
}

vinci_soc *fixture_soc_coupled(void) {
  struct vinci_soc *soc = make("fixture100", ARCH_C100);
  if (!soc)
    return NULL;
  soc->cube_cores = 32;
  soc->l1_bytes = 1 << 20;
  soc->l0c_bytes = 256 << 10;
  soc->ub_bytes = 256 << 10;
  soc->flag_ids = 4;
  soc->path[PATH_L1_BT] = (struct path_cost){0};
  soc->path[PATH_L1_FB] = (struct path_cost){0};
  soc->path[PATH_L0C_GM] = (struct path_cost){0};
  soc->path[PATH_L0C_L1] = (struct path_cost){0};
  return soc;
}

vinci_soc *fixture_shared;

int fixture_set_up(void **state) {
  (void)state;
  fixture_shared = fixture_soc();
  return fixture_shared ? 0 : -1;
}

int fixture_tear_down(void **state) {
  (void)state;
  vinci_soc_free(fixture_shared);
  return 0;
}
