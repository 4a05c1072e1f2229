/* SPDX-License-Identifier: Apache-2.0 */
/* op_summary.csv: the columns of the vendor's profilers, then what vinci adds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/clock.h"
#include "studies/ops/ops.h"
#include "traces/export/export.h"

static void put_text(FILE *out, const char *text) {
  cell_write(out, text);
  fputc(',', out);
}

static void put_us(FILE *out, const struct ops_outcome *outcome, uint64_t ps) {
  if (outcome->end == OPS_OK)
    fputs(decimal_ratio(ps, PS_PER_SECOND / 1000000, 3).text, out);
  else
    fputs("N/A", out);
  fputc(',', out);
}

static void put_ratio(FILE *out, const struct ops_outcome *outcome, uint64_t part, uint64_t whole) {
  if (outcome->end == OPS_OK && whole > 0)
    fputs(decimal_ratio(part, whole, 3).text, out);
  else
    fputs("N/A", out);
  fputc(',', out);
}

static void put_measured(FILE *out, uint64_t ps) {
  if (ps > 0)
    fputs(decimal_ratio(ps, PS_PER_SECOND / 1000000, 3).text, out);
  fputc(',', out);
}

/* (simulated - measured) / measured, signed. */
static void put_error(FILE *out, const struct ops_outcome *outcome, uint64_t simulated,
                      uint64_t measured, char end) {
  if (outcome->end == OPS_OK && measured > 0 && simulated > 0) {
    bool less = simulated < measured;
    fprintf(out, "%s%s", less ? "-" : "",
            decimal_ratio(less ? measured - simulated : simulated - measured, measured, 4).text);
  }
  fputc(end, out);
}

static const enum pipe table_pipes[] = {PIPE_M,    PIPE_V,    PIPE_S,  PIPE_MTE1,
                                        PIPE_MTE2, PIPE_MTE3, PIPE_FIX};
static const char *const table_names[] = {"mac",  "vec",  "scalar", "mte1",
                                          "mte2", "mte3", "fixpipe"};
enum { CUBE_PPM_OF_PERCENT = 10000, PPM = 1000000 };
enum { TABLE_PIPES = sizeof table_pipes / sizeof *table_pipes };

void ops_put_header(FILE *out, const struct ops_request *request) {
  fputs("Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types,"
        "Input Formats,Output Shapes,Output Data Types,Output Formats,aicore_time(us)",
        out);
  for (unsigned i = 0; i < TABLE_PIPES; i++)
    fprintf(out, ",%s_time(us),%s_ratio", table_names[i], table_names[i]);
  fputs(",memory_bound,cube_utilization(%),status,sim_duration_us,sim_mac_us,sim_vec_us,sim_mte2_"
        "us,sim_start_us,"
        "measured_duration_us,"
        "duration_error,measured_mac_us,mac_error,soc,lowered,l2_start,l2_owed_bytes,"
        "expected_rows,expected_median,expected_p90,not_calibrated,sim_gm_bytes,sim_bound,weight,"
        "sim_aic_icache_miss_rate,sim_aiv_icache_miss_rate,measured_aic_icache_miss_rate,"
        "measured_aiv_icache_miss_rate,code_start",
        out);
  if (request->sequence)
    fputs(",sim_began_at_us,l2_input_bytes,l2_found_bytes,l2_overwritten_bytes,l2_from", out);
  if (request->interval)
    fputs(",sim_duration_low_us,sim_duration_high_us", out);
  if (request->library)
    fputs(",program", out);
  fputc('\n', out);
}

/* How far the duration may be off. The class is a pointer of another process: not used here. */
static void put_expected(FILE *out, const struct ops_outcome *outcome) {
  const struct expected_error *expected = &outcome->expected;
  if (outcome->end == OPS_OK) {
    fprintf(out, "%u,%s,", expected->rows, decimal_ratio(expected->median_permille, 1000, 3).text);
    fprintf(out, "%s,", decimal_ratio(expected->p90_permille, 1000, 3).text);
    cell_write(out, expected->outside);
  } else {
    fputs("N/A,N/A,N/A,N/A", out);
  }
}

static void put_rate(FILE *out, bool known, uint64_t ppm) {
  fprintf(out, ",%s", known ? decimal_ratio(ppm, PPM, 3).text : "");
}

/* Of the instruction caches: simulated and measured, of cores with a cube and of vector cores. */
static void put_misses(FILE *out, const struct call_row *row, const struct ops_outcome *outcome) {
  const struct call_times *times = &outcome->times;
  bool ok = outcome->end == OPS_OK;
  put_rate(out, ok, max_u64(times->code_miss_ppm[CORE_AIC], times->code_miss_ppm[CORE_AICORE]));
  put_rate(out, ok, times->code_miss_ppm[CORE_AIV]);
  put_rate(out, row->code_measured[CORE_AIC], row->code_miss_ppm[CORE_AIC]);
  put_rate(out, row->code_measured[CORE_AIV], row->code_miss_ppm[CORE_AIV]);
}

/* What instruction caches held at the start. */
static void put_code(FILE *out, const struct ops_outcome *outcome,
                     const struct ops_request *request) {
  if (outcome->end != OPS_OK)
    fputs(",N/A", out);
  else if (request->sequence || request->repeat > 1)
    fputs(request->sequence ? ",sequence" : ",repeat", out);
  else if (outcome->code_found_ppm == VINCI_CODE_DEVICE)
    fputs(",device", out);
  else if (outcome->code_found_ppm == 0 || outcome->code_found_ppm == PPM)
    fprintf(out, ",%s", outcome->code_found_ppm == 0 ? "cold" : "warm");
  else
    fprintf(out, ",%s", decimal_ratio(outcome->code_found_ppm, PPM, 3).text);
}

/* Also of rows that were not simulated. */
static void put_sequence(FILE *out, const struct ops_outcome *outcome) {
  fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
          decimal_ratio(outcome->start_ps, PS_PER_SECOND / 1000000, 3).text,
          outcome->l2_input_bytes, outcome->l2_found_bytes, outcome->l2_overwritten_bytes);
  cell_write(out, outcome->l2_from);
}

static void put_interval(FILE *out, const struct ops_outcome *outcome) {
  const uint64_t ends[] = {outcome->low_ps, outcome->high_ps};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    fprintf(out, ",%s",
            outcome->end == OPS_OK ? decimal_ratio(ends[i], PS_PER_SECOND / 1000000, 3).text
                                   : "N/A");
}

void ops_put_row(FILE *out, const struct call_row *row, const struct ops_outcome *outcome,
                 const struct ops_request *request) {
  static const enum call_column texts[] = {CALL_IN_SHAPES,  CALL_IN_TYPES,  CALL_IN_FORMATS,
                                           CALL_OUT_SHAPES, CALL_OUT_TYPES, CALL_OUT_FORMATS};
  const struct call_times *times = &outcome->times;
  put_text(out, *row->cell[CALL_NAME] ? row->cell[CALL_NAME] : row->cell[CALL_TYPE]);
  put_text(out, row->cell[CALL_TYPE]);
  put_text(out, row->cell[CALL_CORE]);
  put_us(out, outcome, times->duration_ps);
  if (outcome->end == OPS_OK)
    fprintf(out, "%u", times->blocks);
  fputc(',', out);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    put_text(out, row->cell[texts[i]]);
  put_us(out, outcome, times->core_ps);
  for (unsigned i = 0; i < TABLE_PIPES; i++) {
    put_us(out, outcome, times->pipe_ps[table_pipes[i]]);
    put_ratio(out, outcome, times->pipe_ps[table_pipes[i]], times->core_ps);
  }
  /* the vendor's: above 1, loads take longer than computing */
  put_ratio(out, outcome, times->pipe_ps[PIPE_MTE2],
            max_u64(times->pipe_ps[PIPE_M], times->pipe_ps[PIPE_V]));
  put_ratio(out, outcome, times->cube_ppm, CUBE_PPM_OF_PERCENT);
  put_text(out, outcome->status);
  put_us(out, outcome, times->duration_ps);
  put_us(out, outcome, times->pipe_ps[PIPE_M]);
  put_us(out, outcome, times->pipe_ps[PIPE_V]);
  put_us(out, outcome, times->pipe_ps[PIPE_MTE2]);
  put_us(out, outcome, times->start_ps);
  put_measured(out, row->measured_ps);
  put_error(out, outcome, times->duration_ps, row->measured_ps, ',');
  put_measured(out, row->measured_mac_ps);
  put_error(out, outcome, times->pipe_ps[PIPE_M], row->measured_mac_ps, ',');
  put_text(out, outcome->soc);
  put_text(out, outcome->args);
  if (outcome->end != OPS_OK)
    fputs("N/A,N/A,", out);
  else if (request->sequence)
    fputs("sequence,0,", out);
  else if (request->repeat > 1)
    fputs("repeat,0,", out);
  else
    fprintf(out, "%s,%" PRIu64 ",", result_l2_name(outcome->l2_start), outcome->l2_owed_bytes);
  put_expected(out, outcome);
  if (outcome->end == OPS_OK)
    fprintf(out, ",%" PRIu64 ",%s", times->gm_bytes, bound_name(times->bound));
  else
    fputs(",N/A,N/A", out);
  fprintf(out, ",%" PRIu64, row->weight);
  put_misses(out, row, outcome);
  put_code(out, outcome, request);
  if (request->sequence)
    put_sequence(out, outcome);
  if (request->interval)
    put_interval(out, outcome);
  if (request->library) {
    fputc(',', out);
    cell_write(out, outcome->program);
  }
  fputc('\n', out);
}
