/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the cells of the vendor-compatible tables are computed. Units follow the vendor:
 * GB is 2^30 and KB 2^10 bytes, six decimals; ratios are shares of the core's cycles
 * with a block, or of the whole task for mixed kernels (msopprof, pmu_calculate).
 */
#include <inttypes.h>

#include "core/base/clock.h"
#include "traces/export/tables/csv.h"

enum { CSV_DECIMALS = 6 };
static const uint64_t vendor_kb = UINT64_C(1) << 10;
static const uint64_t vendor_gb = UINT64_C(1) << 30;

static struct decimal whole_number(uint64_t value) { return decimal_exact(value, 0); }

static struct decimal not_available(void) { return (struct decimal){"NA"}; }

/* Cycles, an average over the row's cores, in microseconds. */
static struct decimal microseconds(const struct csv_row *row, uint64_t cycles) {
  return decimal_ratio((uint128)cycles * 1000000, (uint128)row->core->hz * row->cores,
                       CSV_DECIMALS);
}

/* Cycles as a share of what ratios are taken over. */
static struct decimal ratio(const struct csv_row *row, uint128 numerator, uint128 denominator) {
  if (row->mixed)
    return decimal_ratio(numerator * PS_PER_SECOND,
                         denominator * row->time_ps * row->core->hz * row->cores, CSV_DECIMALS);
  return decimal_ratio(numerator, denominator * row->total_cycles, CSV_DECIMALS);
}

static uint64_t path_set_bytes(const struct csv_row *row, uint32_t set) {
  uint64_t bytes = 0;
  for (unsigned path = 0; path < PATH_COUNT; path++)
    if (set >> path & 1)
      bytes += row->core->path_bytes[path];
  return bytes;
}

struct decimal cell_block(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return whole_number(row->core->first_block);
}

/* Vector kernels: every core is a block of its own, so each is vector0. */
struct decimal cell_sub_block(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  struct decimal cell;
  snprintf(cell.text, sizeof cell.text, "%s%" PRIu32, row->vector ? "vector" : "cube",
           row->mixed && row->vector ? row->core->member : 0);
  return cell;
}

struct decimal cell_time(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return microseconds(row, row->total_cycles);
}

struct decimal cell_cycles(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return whole_number(row->total_cycles);
}

static uint64_t profiled_cycles(const struct csv_row *row, const struct csv_column *column) {
  return result_profiled_cycles(&row->core->pipe[column->pipe], column->pipe);
}

struct decimal cell_pipe_time(const struct csv_row *row, const struct csv_column *column) {
  return microseconds(row, profiled_cycles(row, column));
}

struct decimal cell_pipe_ratio(const struct csv_row *row, const struct csv_column *column) {
  return ratio(row, profiled_cycles(row, column), 1);
}

/* Transfers alone: flags and barriers pass through the same queue but are not the pipe's. */
struct decimal cell_pipe_instructions(const struct csv_row *row, const struct csv_column *column) {
  uint64_t count = 0;
  for (unsigned path = 0; path < PATH_COUNT; path++)
    if (path_pipe((enum path)path) == column->pipe)
      count += row->core->path_instructions[path];
  return whole_number(count);
}

struct decimal cell_scalar_wait(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return microseconds(row, row->core->pipe[PIPE_S].stall_cycles[STALL_WAIT_FLAG]);
}

/* In the time of the pipe; the vendor writes NA when there is none. */
struct decimal cell_active_bandwidth(const struct csv_row *row, const struct csv_column *column) {
  uint64_t busy = profiled_cycles(row, column);
  if (busy == 0)
    return not_available();
  return decimal_ratio((uint128)path_set_bytes(row, column->set) * row->core->hz,
                       (uint128)busy * vendor_gb, CSV_DECIMALS);
}

struct decimal cell_bandwidth(const struct csv_row *row, const struct csv_column *column) {
  return decimal_rate(path_set_bytes(row, column->set), row->time_ps, vendor_gb, CSV_DECIMALS);
}

struct decimal cell_kilobytes(const struct csv_row *row, const struct csv_column *column) {
  return decimal_ratio(path_set_bytes(row, column->set), vendor_kb, CSV_DECIMALS);
}

/* Share of the path's nominal peak, one path per column; the vendor caps it at 100. */
struct decimal cell_usage(const struct csv_row *row, const struct csv_column *column) {
  unsigned path = 0;
  while (!(column->set >> path & 1))
    path++;
  uint128 peak = (uint128)row->result->soc->path[path].peak_bytes_per_second * row->time_ps;
  uint128 percent = (uint128)row->core->path_bytes[path] * PS_PER_SECOND * 100;
  if (peak == 0)
    return (struct decimal){""};
  if (percent > peak * 100)
    percent = peak * 100;
  return decimal_ratio(percent, peak, CSV_DECIMALS);
}

/* Busy cycles of a unit belong to the types in proportion to the issue cycles of each. */
static struct decimal type_ratio(const struct csv_row *row, const struct work_counters *work,
                                 enum pipe pipe, uint32_t set) {
  uint64_t all = 0, chosen = 0;
  for (unsigned type = 0; type < DTYPE_COUNT; type++) {
    all += work->busy_cycles[type];
    if (set >> type & 1)
      chosen += work->busy_cycles[type];
  }
  if (all == 0)
    return decimal_ratio(0, 1, CSV_DECIMALS);
  return ratio(row, (uint128)row->core->pipe[pipe].busy_cycles * chosen, all);
}

struct decimal cell_cube_ratio(const struct csv_row *row, const struct csv_column *column) {
  return type_ratio(row, &row->core->cube, PIPE_M, column->set);
}

struct decimal cell_vector_ratio(const struct csv_row *row, const struct csv_column *column) {
  return type_ratio(row, &row->core->vector, PIPE_V, column->set);
}

struct decimal cell_cube_instructions(const struct csv_row *row, const struct csv_column *column) {
  uint64_t count = 0;
  for (unsigned type = 0; type < DTYPE_COUNT; type++)
    if (column->set >> type & 1)
      count += row->core->cube.instructions[type];
  return whole_number(count);
}

/* A multiply-accumulate is two operations in the vendor's count (8192 per 16x16x16 tile). */
struct decimal cell_cube_operations(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return whole_number(2 * row->core->pipe[PIPE_M].operations);
}

struct decimal cell_vector_operations(const struct csv_row *row, const struct csv_column *column) {
  (void)column;
  return whole_number(row->core->pipe[PIPE_V].operations);
}

/* ---- L2 ---------------------------------------------------------------------- */

static bool any_access(const struct l2_counters *l2) {
  struct hits all = l2_hits(l2, L2_ALL);
  return all.hits + all.misses > 0;
}

/* A memory model may count accesses of the chip but not whose they were. */
static bool knows_l2_of_cores(const struct vinci_result *result) {
  bool known = !any_access(&result->l2);
  for (uint32_t i = 0; i < result->core_count; i++)
    known |= any_access(&result->cores[i].l2);
  return known;
}

struct decimal cell_l2_hits(const struct csv_row *row, const struct csv_column *column) {
  if (!knows_l2_of_cores(row->result))
    return (struct decimal){""};
  return whole_number(l2_hits(&row->core->l2, column->set).hits);
}

struct decimal cell_l2_misses(const struct csv_row *row, const struct csv_column *column) {
  if (!knows_l2_of_cores(row->result))
    return (struct decimal){""};
  return whole_number(l2_hits(&row->core->l2, column->set).misses);
}

/* In percent; of no access it is 0, as in the vendor's files. */
struct decimal cell_l2_hit_rate(const struct csv_row *row, const struct csv_column *column) {
  if (!knows_l2_of_cores(row->result))
    return (struct decimal){""};
  struct hits l2 = l2_hits(&row->core->l2, column->set);
  return decimal_ratio((uint128)l2.hits * 100, (uint128)l2.hits + l2.misses, CSV_DECIMALS);
}

/* ---- conflicts ----------------------------------------------------------------- */

/* Blocked by another pipe: by a flag, as that is how pipes of a core wait for each other. */
struct decimal cell_wait_ratio(const struct csv_row *row, const struct csv_column *column) {
  return ratio(row, row->core->pipe[column->pipe].stall_cycles[STALL_WAIT_FLAG], 1);
}

/* Of a chip whose UB map is not known, nothing is known about its conflicts. */
struct decimal cell_conflict_ratio(const struct csv_row *row, const struct csv_column *column) {
  if (row->result->soc->ub_bank_groups == 0)
    return (struct decimal){""};
  uint64_t cycles = column->set & UB_BANKGROUP ? row->core->vector_bankgroup_cycles : 0;
  cycles += column->set & UB_BANK ? row->core->vector_bank_cycles : 0;
  return ratio(row, cycles, 1);
}
