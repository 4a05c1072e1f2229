/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of the vendor-compatible tables, in the vendor's order. The names are the
 * interface of `msprof op` (msopprof performance data, and its metric headers): one set
 * for the split cores of A2 and A3, one for the 950 family, one for coupled cores.
 * A column without a cell function holds what the model does not know.
 */
#include "traces/export/tables/csv.h"

#define BIT(id) (1u << PATH_##id)
#define TYPE(id) (1u << DTYPE_##id)

#define INTO_L1 (BIT(GM_L1) | BIT(UB_L1) | BIT(L0C_L1))
#define OUT_OF_L1 (MTE1_PATHS | BIT(L1_BT) | BIT(L1_FB) | BIT(L1_UB) | BIT(L1_GM))
#define OUT_OF_GM (BIT(GM_L1) | BIT(GM_UB) | BIT(GM_L0A) | BIT(GM_L0B))
#define INTO_GM (BIT(L1_GM) | BIT(UB_GM) | BIT(L0C_GM))
#define OUT_OF_L0C (BIT(L0C_GM) | BIT(L0C_L1))
#define MTE1_PATHS (BIT(L1_L0A) | BIT(L1_L0B) | BIT(L1_L0A_MX) | BIT(L1_L0B_MX))
#define AIC_MTE2_PATHS (BIT(GM_L1) | BIT(GM_L0A) | BIT(GM_L0B))

#define CUBE_FLOAT (TYPE(FP16) | TYPE(BF16) | TYPE(FP32) | TYPE(HF32))
#define CUBE_INTEGER (TYPE(INT8) | TYPE(INT4))
#define VECTOR_INT32 (TYPE(INT32) | TYPE(UINT32))
#define VECTOR_INT16 (TYPE(INT16) | TYPE(UINT16))
#define EVERY_TYPE ((1u << DTYPE_COUNT) - 1)
#define VECTOR_MISC (EVERY_TYPE & ~(TYPE(FP32) | TYPE(FP16) | VECTOR_INT32 | VECTOR_INT16))

/* clang-format off */
#define BLOCK_COLUMNS                                                               \
  {"block_id",                            cell_block,             SIDE_ANY, 0, 0},   \
  {"sub_block_id",                        cell_sub_block,         SIDE_ANY, 0, 0}
#define TIME_COLUMNS(p, side)                                                       \
  {p "_time(us)",                         cell_time,              side, 0, 0},       \
  {p "_total_cycles",                     cell_cycles,            side, 0, 0}
#define UNKNOWN(name, side)                                                         \
  {name,                                  NULL,                   side, 0, 0}
#define PIPE_COLUMNS(p, unit, side, pipe)                                           \
  {p "_" unit "_time(us)",                cell_pipe_time,         side, pipe, 0},    \
  {p "_" unit "_ratio",                   cell_pipe_ratio,        side, pipe, 0}
#define ACTIVE_COLUMN(p, unit, side, pipe, paths)                                   \
  {p "_" unit "_active_bw(GB/s)",         cell_active_bandwidth,  side, pipe, paths}
#define COUNT_COLUMNS(p, unit, side, pipe)                                          \
  {p "_" unit "_instructions",            cell_pipe_instructions, side, pipe, 0},    \
  {p "_" unit "_ratio",                   cell_pipe_ratio,        side, pipe, 0}
#define RATE_COLUMN(name, side, paths)                                              \
  {name "_bw(GB/s)",                      cell_bandwidth,         side, 0, paths}
#define DATA_COLUMNS(name, tail, side, path)                                        \
  {name "_datas(KB)" tail,                cell_kilobytes,         side, 0, path},    \
  {name "_bw_usage_rate(%)" tail,         cell_usage,             side, 0, path}
#define CUBE_COLUMN(name, set)                                                      \
  {"aic_cube_" name "_ratio",             cell_cube_ratio,        SIDE_AIC, 0, set}
#define VECTOR_COLUMN(p, name, side, set)                                           \
  {p "_vec_" name "_ratio",               cell_vector_ratio,      side, 0, set}
#define CUBE_COUNT_COLUMN(name, set)                                                \
  {"aic_cube_" name "_instr_number",      cell_cube_instructions, SIDE_AIC, 0, set}

static const struct csv_column pipe_c220[] = {
    BLOCK_COLUMNS,
    TIME_COLUMNS("aic", SIDE_AIC),
    PIPE_COLUMNS("aic", "cube", SIDE_AIC, PIPE_M),
    PIPE_COLUMNS("aic", "mte1", SIDE_AIC, PIPE_MTE1),
    PIPE_COLUMNS("aic", "mte2", SIDE_AIC, PIPE_MTE2),
    PIPE_COLUMNS("aic", "mte3", SIDE_AIC, PIPE_MTE3),
    ACTIVE_COLUMN("aic", "mte3", SIDE_AIC, PIPE_MTE3, BIT(L1_GM)),
    PIPE_COLUMNS("aic", "fixpipe", SIDE_AIC, PIPE_FIX),
    ACTIVE_COLUMN("aic", "fixpipe", SIDE_AIC, PIPE_FIX, OUT_OF_L0C),
    UNKNOWN("aic_icache_miss_rate", SIDE_AIC),
    PIPE_COLUMNS("aic", "scalar", SIDE_AIC, PIPE_S),
    UNKNOWN("aic_scalar_single_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_dual_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_mte1_stall_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_mte2_stall_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_mte3_stall_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_cube_stall_time(us)", SIDE_AIC),
    UNKNOWN("aic_scalar_wait_ib_time(us)", SIDE_AIC),
    {"aic_scalar_wait_time(us)", cell_scalar_wait, SIDE_AIC, 0, 0},
    TIME_COLUMNS("aiv", SIDE_AIV),
    PIPE_COLUMNS("aiv", "vec", SIDE_AIV, PIPE_V),
    PIPE_COLUMNS("aiv", "mte2", SIDE_AIV, PIPE_MTE2),
    ACTIVE_COLUMN("aiv", "mte2", SIDE_AIV, PIPE_MTE2, BIT(GM_UB)),
    PIPE_COLUMNS("aiv", "mte3", SIDE_AIV, PIPE_MTE3),
    ACTIVE_COLUMN("aiv", "mte3", SIDE_AIV, PIPE_MTE3, BIT(UB_GM)),
    UNKNOWN("aiv_icache_miss_rate", SIDE_AIV),
    PIPE_COLUMNS("aiv", "scalar", SIDE_AIV, PIPE_S),
    UNKNOWN("aiv_scalar_single_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_dual_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_mte2_stall_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_mte3_stall_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_stall_by_ub_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_vector_stall_time(us)", SIDE_AIV),
    UNKNOWN("aiv_scalar_wait_ib_time(us)", SIDE_AIV),
    {"aiv_scalar_wait_time(us)", cell_scalar_wait, SIDE_AIV, 0, 0},
};

static const struct csv_column pipe_c310[] = {
    BLOCK_COLUMNS,
    TIME_COLUMNS("aic", SIDE_AIC),
    PIPE_COLUMNS("aic", "cube", SIDE_AIC, PIPE_M),
    PIPE_COLUMNS("aic", "scalar", SIDE_AIC, PIPE_S),
    PIPE_COLUMNS("aic", "mte1", SIDE_AIC, PIPE_MTE1),
    ACTIVE_COLUMN("aic", "mte1", SIDE_AIC, PIPE_MTE1, MTE1_PATHS),
    PIPE_COLUMNS("aic", "mte2", SIDE_AIC, PIPE_MTE2),
    ACTIVE_COLUMN("aic", "mte2", SIDE_AIC, PIPE_MTE2, AIC_MTE2_PATHS),
    PIPE_COLUMNS("aic", "mte3", SIDE_AIC, PIPE_MTE3),
    ACTIVE_COLUMN("aic", "mte3", SIDE_AIC, PIPE_MTE3, BIT(L1_GM)),
    PIPE_COLUMNS("aic", "fixpipe", SIDE_AIC, PIPE_FIX),
    ACTIVE_COLUMN("aic", "fixpipe", SIDE_AIC, PIPE_FIX, OUT_OF_L0C | BIT(L0C_UB)),
    UNKNOWN("aic_icache_miss_rate", SIDE_AIC),
    TIME_COLUMNS("aiv", SIDE_AIV),
    PIPE_COLUMNS("aiv", "vec", SIDE_AIV, PIPE_V),
    PIPE_COLUMNS("aiv", "scalar", SIDE_AIV, PIPE_S),
    PIPE_COLUMNS("aiv", "mte2", SIDE_AIV, PIPE_MTE2),
    ACTIVE_COLUMN("aiv", "mte2", SIDE_AIV, PIPE_MTE2, BIT(GM_UB)),
    PIPE_COLUMNS("aiv", "mte3", SIDE_AIV, PIPE_MTE3),
    ACTIVE_COLUMN("aiv", "mte3", SIDE_AIV, PIPE_MTE3, BIT(UB_GM)),
    UNKNOWN("aiv_icache_miss_rate", SIDE_AIV),
};

static const struct csv_column pipe_coupled[] = {
    TIME_COLUMNS("aic", SIDE_AIC),
    PIPE_COLUMNS("aic", "cube", SIDE_AIC, PIPE_M),
    PIPE_COLUMNS("aic", "scalar", SIDE_AIC, PIPE_S),
    PIPE_COLUMNS("aic", "mte1", SIDE_AIC, PIPE_MTE1),
    PIPE_COLUMNS("aic", "mte2", SIDE_AIC, PIPE_MTE2),
    PIPE_COLUMNS("aic", "mte3", SIDE_AIC, PIPE_MTE3),
    UNKNOWN("aic_icache_miss_rate", SIDE_AIC),
    PIPE_COLUMNS("aic", "vec", SIDE_AIC, PIPE_V),
};

/* The columns that the A2, A3 and the 950 tables of Memory.csv begin with. */
#define SPLIT_MEMORY_COLUMNS                                                        \
    BLOCK_COLUMNS,                                                                  \
    TIME_COLUMNS("aic", SIDE_AIC),                                                  \
    RATE_COLUMN("aic_l1_read", SIDE_AIC, OUT_OF_L1),                                \
    RATE_COLUMN("aic_l1_write", SIDE_AIC, INTO_L1),                                 \
    RATE_COLUMN("aic_main_mem_read", SIDE_AIC, OUT_OF_GM),                          \
    RATE_COLUMN("aic_main_mem_write", SIDE_AIC, INTO_GM),                           \
    COUNT_COLUMNS("aic", "mte1", SIDE_AIC, PIPE_MTE1),                              \
    COUNT_COLUMNS("aic", "mte2", SIDE_AIC, PIPE_MTE2),                              \
    COUNT_COLUMNS("aic", "mte3", SIDE_AIC, PIPE_MTE3),                              \
    TIME_COLUMNS("aiv", SIDE_AIV),                                                  \
    RATE_COLUMN("aiv_ub_to_gm", SIDE_AIV, BIT(UB_GM)),                              \
    RATE_COLUMN("aiv_gm_to_ub", SIDE_AIV, BIT(GM_UB)),                              \
    RATE_COLUMN("aiv_main_mem_read", SIDE_AIV, OUT_OF_GM),                          \
    RATE_COLUMN("aiv_main_mem_write", SIDE_AIV, INTO_GM),                           \
    COUNT_COLUMNS("aiv", "mte2", SIDE_AIV, PIPE_MTE2),                              \
    COUNT_COLUMNS("aiv", "mte3", SIDE_AIV, PIPE_MTE3),                              \
    {"read_main_memory_datas(KB)", cell_kilobytes, SIDE_ANY, 0, OUT_OF_GM},         \
    {"write_main_memory_datas(KB)", cell_kilobytes, SIDE_ANY, 0, INTO_GM},          \
    DATA_COLUMNS("GM_to_L1", "", SIDE_AIC, BIT(GM_L1))

#define SPLIT_MEMORY_TAIL                                                           \
    DATA_COLUMNS("L0C_to_L1", "", SIDE_AIC, BIT(L0C_L1)),                           \
    DATA_COLUMNS("L0C_to_GM", "", SIDE_AIC, BIT(L0C_GM)),                           \
    DATA_COLUMNS("GM_to_UB", "", SIDE_AIV, BIT(GM_UB)),                             \
    DATA_COLUMNS("UB_to_GM", "", SIDE_AIV, BIT(UB_GM))

static const struct csv_column memory_c220[] = {
    SPLIT_MEMORY_COLUMNS,
    DATA_COLUMNS("L1_to_GM", "(estimate)", SIDE_AIC, BIT(L1_GM)),
    SPLIT_MEMORY_TAIL,
};

static const struct csv_column memory_c310[] = {
    SPLIT_MEMORY_COLUMNS,
    SPLIT_MEMORY_TAIL,
};

static const struct csv_column memory_coupled[] = {
    TIME_COLUMNS("aic", SIDE_AIC),
    RATE_COLUMN("aic_l1_read", SIDE_AIC, OUT_OF_L1),
    RATE_COLUMN("aic_l1_write", SIDE_AIC, INTO_L1),
    RATE_COLUMN("aic_ub_to_gm", SIDE_AIC, BIT(UB_GM)),
    RATE_COLUMN("aic_gm_to_ub", SIDE_AIC, BIT(GM_UB)),
    RATE_COLUMN("aic_main_mem_read", SIDE_AIC, OUT_OF_GM),
    RATE_COLUMN("aic_main_mem_write", SIDE_AIC, INTO_GM),
    COUNT_COLUMNS("aic", "mte1", SIDE_AIC, PIPE_MTE1),
    COUNT_COLUMNS("aic", "mte2", SIDE_AIC, PIPE_MTE2),
    COUNT_COLUMNS("aic", "mte3", SIDE_AIC, PIPE_MTE3),
};

static const struct csv_column arithmetic_c220[] = {
    BLOCK_COLUMNS,
    TIME_COLUMNS("aic", SIDE_AIC),
    {"aic_cube_ratio", cell_pipe_ratio, SIDE_AIC, PIPE_M, 0},
    CUBE_COLUMN("fp16", CUBE_FLOAT),
    CUBE_COLUMN("int8", CUBE_INTEGER),
    {"aic_cube_fops", cell_cube_operations, SIDE_AIC, 0, 0},
    CUBE_COUNT_COLUMN("total", EVERY_TYPE),
    CUBE_COUNT_COLUMN("fp", CUBE_FLOAT),
    CUBE_COUNT_COLUMN("int", CUBE_INTEGER),
    TIME_COLUMNS("aiv", SIDE_AIV),
    {"aiv_vec_ratio", cell_pipe_ratio, SIDE_AIV, PIPE_V, 0},
    VECTOR_COLUMN("aiv", "fp32", SIDE_AIV, TYPE(FP32)),
    VECTOR_COLUMN("aiv", "fp16", SIDE_AIV, TYPE(FP16)),
    VECTOR_COLUMN("aiv", "int32", SIDE_AIV, VECTOR_INT32),
    VECTOR_COLUMN("aiv", "int16", SIDE_AIV, VECTOR_INT16),
    VECTOR_COLUMN("aiv", "misc", SIDE_AIV, VECTOR_MISC),
    {"aiv_vec_fops", cell_vector_operations, SIDE_AIV, 0, 0},
};

static const struct csv_column arithmetic_c310[] = {
    BLOCK_COLUMNS,
    TIME_COLUMNS("aic", SIDE_AIC),
    {"aic_cube_ratio", cell_pipe_ratio, SIDE_AIC, PIPE_M, 0},
    CUBE_COLUMN("fp", CUBE_FLOAT),
    CUBE_COLUMN("int", CUBE_INTEGER),
    CUBE_COUNT_COLUMN("total", EVERY_TYPE),
    CUBE_COUNT_COLUMN("fp", CUBE_FLOAT),
    CUBE_COUNT_COLUMN("int", CUBE_INTEGER),
    TIME_COLUMNS("aiv", SIDE_AIV),
    {"aiv_vec_ratio", cell_pipe_ratio, SIDE_AIV, PIPE_V, 0},
    UNKNOWN("aiv_vec_vf_ratio", SIDE_AIV),
    UNKNOWN("aiv_vec_sfu_ratio", SIDE_AIV),
    UNKNOWN("aiv_vec_simt_vf_ratio", SIDE_AIV),
};

static const struct csv_column arithmetic_coupled[] = {
    TIME_COLUMNS("aic", SIDE_AIC),
    {"aic_cube_ratio", cell_pipe_ratio, SIDE_AIC, PIPE_M, 0},
    CUBE_COLUMN("fp16", CUBE_FLOAT),
    CUBE_COLUMN("int8", CUBE_INTEGER),
    {"aic_cube_fops", cell_cube_operations, SIDE_AIC, 0, 0},
    CUBE_COUNT_COLUMN("total", EVERY_TYPE),
    {"aic_vec_ratio", cell_pipe_ratio, SIDE_AIC, PIPE_V, 0},
    VECTOR_COLUMN("aic", "fp32", SIDE_AIC, TYPE(FP32)),
    VECTOR_COLUMN("aic", "fp16", SIDE_AIC, TYPE(FP16)),
    VECTOR_COLUMN("aic", "int32", SIDE_AIC, VECTOR_INT32),
    VECTOR_COLUMN("aic", "int16", SIDE_AIC, VECTOR_INT16),
    VECTOR_COLUMN("aic", "misc", SIDE_AIC, VECTOR_MISC),
    {"aic_vec_fops", cell_vector_operations, SIDE_AIC, 0, 0},
};

/*
 * L2. The vendor counts reads by channel, r0 and r1; the model knows none of them, and
 * puts every read in r0. Its cache allocates on every miss, so that all misses are counted.
 */
#define L2_COLUMNS(p, side)                                                         \
    TIME_COLUMNS(p, side),                                                          \
    {p "_write_cache_hit", cell_l2_hits, side, 0, L2_WRITES},                       \
    {p "_write_cache_miss_allocate", cell_l2_misses, side, 0, L2_WRITES},           \
    {p "_r0_read_cache_hit", cell_l2_hits, side, 0, L2_READS},                      \
    {p "_r0_read_cache_miss_allocate", cell_l2_misses, side, 0, L2_READS},          \
    UNKNOWN(p "_r1_read_cache_hit", side),                                          \
    UNKNOWN(p "_r1_read_cache_miss_allocate", side),                                \
    {p "_write_hit_rate(%)", cell_l2_hit_rate, side, 0, L2_WRITES},                 \
    {p "_read_hit_rate(%)", cell_l2_hit_rate, side, 0, L2_READS},                   \
    {p "_total_hit_rate(%)", cell_l2_hit_rate, side, 0, L2_ALL}

static const struct csv_column l2_c220[] = {
    BLOCK_COLUMNS,
    L2_COLUMNS("aic", SIDE_AIC),
    L2_COLUMNS("aiv", SIDE_AIV),
};

/* Which half of L2 is close to a core is not modelled, nor are evictions counted per core. */
#define L2_HALVES(p, way, side, accesses)                                           \
    UNKNOWN(p "_" way "_close_hit", side),                                          \
    UNKNOWN(p "_" way "_close_miss", side),                                         \
    UNKNOWN(p "_" way "_close_victim", side),                                       \
    UNKNOWN(p "_" way "_far_hit", side),                                            \
    UNKNOWN(p "_" way "_far_miss", side),                                           \
    UNKNOWN(p "_" way "_far_victim", side),                                         \
    {p "_" way "_hit_rate(%)", cell_l2_hit_rate, side, 0, accesses}

static const struct csv_column l2_c310[] = {
    BLOCK_COLUMNS,
    TIME_COLUMNS("aic", SIDE_AIC),
    L2_HALVES("aic", "read", SIDE_AIC, L2_READS),
    L2_HALVES("aic", "write", SIDE_AIC, L2_WRITES),
    TIME_COLUMNS("aiv", SIDE_AIV),
    L2_HALVES("aiv", "read", SIDE_AIV, L2_READS),
    L2_HALVES("aiv", "write", SIDE_AIV, L2_WRITES),
};

static const struct csv_column l2_coupled[] = {
    {"aic_l2_cache_hit_rate(%)", cell_l2_hit_rate, SIDE_AIC, 0, L2_ALL},
};

/* What the cube reads of L0 and accumulates in L0C is not counted in bytes. */
#define L0_COLUMNS                                                                  \
    TIME_COLUMNS("aic", SIDE_AIC),                                                  \
    UNKNOWN("aic_l0a_read_bw(GB/s)", SIDE_AIC),                                     \
    RATE_COLUMN("aic_l0a_write", SIDE_AIC, BIT(L1_L0A) | BIT(GM_L0A)),              \
    UNKNOWN("aic_l0b_read_bw(GB/s)", SIDE_AIC),                                     \
    RATE_COLUMN("aic_l0b_write", SIDE_AIC, BIT(L1_L0B) | BIT(GM_L0B)),              \
    UNKNOWN("aic_l0c_read_bw_cube(GB/s)", SIDE_AIC),                                \
    UNKNOWN("aic_l0c_write_bw_cube(GB/s)", SIDE_AIC)

static const struct csv_column l0_split[] = {
    BLOCK_COLUMNS,
    L0_COLUMNS,
    TIME_COLUMNS("aiv", SIDE_AIV),
};

static const struct csv_column l0_coupled[] = {
    L0_COLUMNS,
    RATE_COLUMN("aic_l0c_read", SIDE_AIC, BIT(L0C_UB)),
    UNKNOWN("aic_l0c_write_bw(GB/s)", SIDE_AIC),
};

/* Bytes of vector and scalar instructions in UB are not counted. */
#define UB_COLUMNS                                                                  \
    BLOCK_COLUMNS,                                                                  \
    TIME_COLUMNS("aic", SIDE_AIC),                                                  \
    TIME_COLUMNS("aiv", SIDE_AIV),                                                  \
    UNKNOWN("aiv_ub_read_bw_vector(GB/s)", SIDE_AIV),                               \
    UNKNOWN("aiv_ub_write_bw_vector(GB/s)", SIDE_AIV)

static const struct csv_column ub_c220[] = {
    UB_COLUMNS,
    UNKNOWN("aiv_ub_read_bw_scalar(GB/s)", SIDE_AIV),
    UNKNOWN("aiv_ub_write_bw_scalar(GB/s)", SIDE_AIV),
};

static const struct csv_column ub_c310[] = {
    UB_COLUMNS,
    {"aiv_ub_read_bw_gm(GB/s)", cell_bandwidth, SIDE_AIV, 0, BIT(UB_GM)},
    {"aiv_ub_write_bw_gm(GB/s)", cell_bandwidth, SIDE_AIV, 0, BIT(GM_UB)},
};

static const struct csv_column ub_coupled[] = {
    TIME_COLUMNS("aic", SIDE_AIC),
    UNKNOWN("aic_ub_read_bw_vector(GB/s)", SIDE_AIC),
    UNKNOWN("aic_ub_write_bw_vector(GB/s)", SIDE_AIC),
    UNKNOWN("aic_ub_read_bw_scalar(GB/s)", SIDE_AIC),
    UNKNOWN("aic_ub_write_bw_scalar(GB/s)", SIDE_AIC),
};

#define WAIT_COLUMN(p, unit, side, pipe)                                            \
  {p "_" unit "_wait_ratio",              cell_wait_ratio,        side, pipe, 0}
#define AIC_WAIT_COLUMNS                                                            \
    BLOCK_COLUMNS,                                                                  \
    TIME_COLUMNS("aic", SIDE_AIC),                                                  \
    WAIT_COLUMN("aic", "cube", SIDE_AIC, PIPE_M),                                   \
    WAIT_COLUMN("aic", "mte1", SIDE_AIC, PIPE_MTE1),                                \
    WAIT_COLUMN("aic", "mte2", SIDE_AIC, PIPE_MTE2),                                \
    WAIT_COLUMN("aic", "mte3", SIDE_AIC, PIPE_MTE3)
#define AIV_WAIT_COLUMNS                                                            \
    WAIT_COLUMN("aiv", "vec", SIDE_AIV, PIPE_V),                                    \
    WAIT_COLUMN("aiv", "mte2", SIDE_AIV, PIPE_MTE2),                                \
    WAIT_COLUMN("aiv", "mte3", SIDE_AIV, PIPE_MTE3)

/* The total is of the two kinds that are modelled: of units and of transfers none are. */
#define CONFLICT_COLUMNS(p, side)                                                   \
    {p "_vec_total_cflt_ratio", cell_conflict_ratio, side, 0, UB_ALL},              \
    {p "_vec_bankgroup_cflt_ratio", cell_conflict_ratio, side, 0, UB_BANKGROUP},    \
    {p "_vec_bank_cflt_ratio", cell_conflict_ratio, side, 0, UB_BANK},              \
    UNKNOWN(p "_vec_resc_cflt_ratio", side),                                        \
    UNKNOWN(p "_vec_mte_cflt_ratio", side)

static const struct csv_column conflict_c220[] = {
    AIC_WAIT_COLUMNS,
    TIME_COLUMNS("aiv", SIDE_AIV),
    CONFLICT_COLUMNS("aiv", SIDE_AIV),
    AIV_WAIT_COLUMNS,
};

static const struct csv_column conflict_c310[] = {
    AIC_WAIT_COLUMNS,
    TIME_COLUMNS("aiv", SIDE_AIV),
    UNKNOWN("aiv_vec_stu_cflt_ratio", SIDE_AIV),
    UNKNOWN("aiv_vec_ldu_cflt_ratio", SIDE_AIV),
    UNKNOWN("aiv_vec_sfu_cflt_ratio", SIDE_AIV),
    AIV_WAIT_COLUMNS,
};

static const struct csv_column conflict_coupled[] = {
    TIME_COLUMNS("aic", SIDE_AIC),
    WAIT_COLUMN("aic", "cube", SIDE_AIC, PIPE_M),
    WAIT_COLUMN("aic", "vec", SIDE_AIC, PIPE_V),
    WAIT_COLUMN("aic", "mte1", SIDE_AIC, PIPE_MTE1),
    WAIT_COLUMN("aic", "mte2", SIDE_AIC, PIPE_MTE2),
    WAIT_COLUMN("aic", "mte3", SIDE_AIC, PIPE_MTE3),
    CONFLICT_COLUMNS("aic", SIDE_AIC),
};

#define TABLE(columns) {columns, sizeof columns / sizeof *columns}
/* clang-format on */

struct csv_table csv_table(enum csv_kind kind, enum arch arch) {
  static const struct csv_table c220[CSV_KIND_COUNT] = {
      TABLE(pipe_c220), TABLE(memory_c220), TABLE(arithmetic_c220), TABLE(l2_c220),
      TABLE(l0_split),  TABLE(ub_c220),     TABLE(conflict_c220)};
  static const struct csv_table c310[CSV_KIND_COUNT] = {
      TABLE(pipe_c310), TABLE(memory_c310), TABLE(arithmetic_c310), TABLE(l2_c310),
      TABLE(l0_split),  TABLE(ub_c310),     TABLE(conflict_c310)};
  static const struct csv_table coupled[CSV_KIND_COUNT] = {
      TABLE(pipe_coupled), TABLE(memory_coupled), TABLE(arithmetic_coupled), TABLE(l2_coupled),
      TABLE(l0_coupled),   TABLE(ub_coupled),     TABLE(conflict_coupled)};
  switch (arch) {
  case ARCH_C220:
    return c220[kind];
  case ARCH_C310:
    return c310[kind];
  default:
    return coupled[kind];
  }
}
