/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor-compatible tables of a result folder: PipeUtilization, Memory, MemoryL0,
 * MemoryUB, L2Cache, ArithmeticUtilization and ResourceConflictRatio (one line per core
 * that ran a block, as the vendor's profiler has one per block and sub-block) and
 * OpBasicInfo (one line per kernel, counted in blocks). Chips with coupled cores have one line for
 * all of them, times being the average, as the vendor does.
 */
#include "traces/export/tables/csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cells.h"
#include "core/base/clock.h"
#include "core/result/result_counters.h"

static bool is_coupled(const struct vinci_result *result) {
  return arch_is_coupled(result->soc->arch);
}

/* ---- lines ------------------------------------------------------------------ */

static int compare_u32(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

/* By block, cube before vectors, then by sub-block. */
static int compare_cores(const void *left, const void *right) {
  const struct core_result *a = *(const struct core_result *const *)left;
  const struct core_result *b = *(const struct core_result *const *)right;
  int order = compare_u32(a->first_block, b->first_block);
  order = order ? order : compare_u32(a->kind, b->kind);
  order = order ? order : compare_u32(a->cluster, b->cluster);
  return order ? order : compare_u32(a->member, b->member);
}

static const struct core_result **active_cores(const struct vinci_result *result, size_t *count) {
  const struct core_result **cores = malloc((result->core_count + 1) * sizeof *cores);
  *count = 0;
  if (!cores)
    return NULL;
  for (uint32_t i = 0; i < result->core_count; i++)
    if (result->cores[i].blocks_run > 0)
      cores[(*count)++] = &result->cores[i];
  qsort(cores, *count, sizeof *cores, compare_cores);
  return cores;
}

/* cores: how many are summed in `core`, so that times are averages. */
static struct csv_row make_row(const struct vinci_result *result, const struct core_result *core,
                               uint64_t cores) {
  struct csv_row row = {.result = result,
                        .core = core,
                        .vector = core->kind == CORE_AIV,
                        .mixed = export_is_mixed(result),
                        .cores = cores,
                        .total_cycles = core->active_cycles};
  row.time_ps =
      row.mixed
          ? result->total_ps
          : (uint64_t)((uint128)core->active_cycles * PS_PER_SECOND / ((uint128)core->hz * cores));
  return row;
}

/* ---- files ------------------------------------------------------------------ */

static void write_header(struct csv_table table, FILE *out) {
  for (size_t i = 0; i < table.count; i++)
    fprintf(out, "%s%s", i ? "," : "", table.columns[i].name);
  fputc('\n', out);
}

static void write_row(struct csv_table table, const struct csv_row *row, FILE *out) {
  enum csv_side side = row->vector ? SIDE_AIV : SIDE_AIC;
  for (size_t i = 0; i < table.count; i++) {
    const struct csv_column *column = &table.columns[i];
    struct decimal cell = {""};
    if (column->side != SIDE_ANY && column->side != side)
      cell = (struct decimal){"NA"};
    else if (column->cell)
      cell = column->cell(row, column);
    fprintf(out, "%s%s", i ? "," : "", cell.text);
  }
  fputc('\n', out);
}

static void write_coupled(const struct vinci_result *result, struct csv_table table,
                          const struct core_result *const *cores, size_t count, FILE *out) {
  struct core_result sum = {.kind = CORE_AICORE, .hz = cores[0]->hz};
  for (size_t i = 0; i < count; i++)
    counters_add_core(&sum, cores[i]);
  struct csv_row row = make_row(result, &sum, count);
  write_row(table, &row, out);
}

static enum vinci_status write_table(const struct vinci_result *result, enum csv_kind kind,
                                     FILE *out, struct vinci_diag *diag) {
  struct csv_table table = csv_table(kind, result->soc->arch);
  size_t count;
  const struct core_result **cores = active_cores(result, &count);
  if (!cores)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  write_header(table, out);
  if (is_coupled(result)) {
    if (count > 0)
      write_coupled(result, table, cores, count, out);
  } else {
    for (size_t i = 0; i < count; i++) {
      struct csv_row row = make_row(result, cores[i], 1);
      write_row(table, &row, out);
    }
  }
  free(cores);
  return VINCI_OK;
}

enum vinci_status export_pipe_csv(const struct vinci_result *result, FILE *out,
                                  struct vinci_diag *diag) {
  return write_table(result, CSV_PIPE, out, diag);
}

enum vinci_status export_memory_csv(const struct vinci_result *result, FILE *out,
                                    struct vinci_diag *diag) {
  return write_table(result, CSV_MEMORY, out, diag);
}

enum vinci_status export_arithmetic_csv(const struct vinci_result *result, FILE *out,
                                        struct vinci_diag *diag) {
  return write_table(result, CSV_ARITHMETIC, out, diag);
}

enum vinci_status export_l2_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag) {
  return write_table(result, CSV_L2, out, diag);
}

enum vinci_status export_l0_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag) {
  return write_table(result, CSV_L0, out, diag);
}

enum vinci_status export_ub_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag) {
  return write_table(result, CSV_UB, out, diag);
}

enum vinci_status export_conflict_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag) {
  return write_table(result, CSV_CONFLICT, out, diag);
}

/* ---- OpBasicInfo -------------------------------------------------------------- */

/* The vendor's names of operator types. */
static const char *operator_type(const struct vinci_result *result,
                                 const struct kernel_result *kernel) {
  if (is_coupled(result))
    return "AiCore";
  if (kernel->mixed)
    return "mix";
  return kernel->kind == CORE_AIC ? "cube" : "vector";
}

static void write_kernel(const struct vinci_result *result, const struct kernel_result *kernel,
                         FILE *out) {
  bool alone = result->kernel_count == 1; /* then launch and end belong to the kernel */
  uint64_t duration_ps = alone ? result->total_ps : kernel->end_ps - kernel->start_ps;
  const char *type = operator_type(result, kernel);
  bool vector = kernel->kind == CORE_AIV;
  uint64_t hz = (uint64_t)(vector ? result->soc->vector_hz : result->soc->core_hz);
  cell_write(out, kernel->name);
  fprintf(out, ",%s,%s,%" PRIu32, type, decimal_ratio(duration_ps, 1000000, 6).text,
          kernel->blocks);
  if (!is_coupled(result)) {
    if (kernel->mixed) /* the AIV of all blocks, however few cores they ran on */
      fprintf(out, ",%" PRIu64, (uint64_t)kernel->blocks * kernel->vectors_per_cube);
    else
      fputs(",NA", out);
  }
  /* no device and no process ran it: those two fields stay empty */
  fprintf(out, ",,,%" PRIu64 ",%" PRIu64 "\n", hz / 1000000, hz / 1000000);
}

enum vinci_status export_basic_csv(const struct vinci_result *result, FILE *out,
                                   struct vinci_diag *diag) {
  (void)diag;
  fprintf(out,
          "Op Name,Op Type,Task Duration(us),Block Dim,%sDevice Id,Pid,Current Freq,"
          "Rated Freq\n",
          is_coupled(result) ? "" : "Mix Block Dim,");
  for (uint32_t i = 0; i < result->kernel_count; i++)
    write_kernel(result, &result->kernels[i], out);
  return VINCI_OK;
}
