/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people: what ran, what limits it, where the time of each pipe went,
 * what moved where, and how far the numbers can be trusted. Written for a reader who
 * does not know the tool.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/result/events.h"
#include "traces/export/export.h"
#include "traces/export/report/expected.h"
#include "traces/export/report/text.h"

enum { ROWS_SHOWN = 8 }; /* of cores and kernels; one more is shown rather than "1 more" */

static const uint64_t giga = UINT64_C(1000000000); /* bandwidths here are decimal */

void text_percent(FILE *out, int width, uint64_t part, uint64_t whole) {
  struct decimal percent = decimal_ratio((uint128)part * 100, whole, 1);
  fprintf(out, "%*s %%", width - 2, percent.text);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* Bytes with the largest unit that keeps the number above 1: "320.0 MiB". */
static struct decimal human_bytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  unsigned unit = 0;
  while (unit < 6 && bytes >> (10 * (unit + 1)) > 0)
    unit++;
  struct decimal number = decimal_ratio(bytes, (uint128)1 << (10 * unit), unit ? 1 : 0);
  struct decimal text;
  snprintf(text.text, sizeof text.text, "%.40s %s", number.text, units[unit]);
  return text;
}

/* ---- head -------------------------------------------------------------------- */

static void print_active(const struct vinci_result *result, FILE *out) {
  const char *separator = "";
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    unsigned present = 0;
    for (uint32_t i = 0; i < result->core_count; i++)
      present += result->cores[i].kind == kind;
    if (present == 0)
      continue;
    fprintf(out, "%s%u of %u %s cores", separator,
            result_active_cores(result, (enum core_kind)kind), present,
            core_kind_name((enum core_kind)kind));
    separator = ", ";
  }
}

/* The table of kernels shows more of a long list, summary.json all. */
enum { NAMES_SHOWN = 4 };

static void print_names(const struct vinci_result *result, FILE *out) {
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    if (i == NAMES_SHOWN && result->kernel_count > NAMES_SHOWN + 1) {
      fprintf(out, " and %" PRIu32 " more", result->kernel_count - i);
      return;
    }
    fprintf(out, "%s%s", i ? "+" : "", result->kernels[i].name);
  }
}

static void print_kernels(const struct vinci_result *result, FILE *out) {
  if (result->kernel_count < 2)
    return;
  fprintf(out, "\nKernels, in order\n  %-32s %8s %14s %14s %14s\n", "name", "blocks", "start us",
          "last block us", "duration us");
  for (uint32_t i = 0; i < result->kernel_count; i++) {
    const struct kernel_result *kernel = &result->kernels[i];
    if (i == ROWS_SHOWN && result->kernel_count > ROWS_SHOWN + 1) {
      fprintf(out, "  ... %" PRIu32 " more\n", result->kernel_count - i);
      return;
    }
    fprintf(out, "  %-32s %8" PRIu32 " %14s %14s %14s\n", kernel->name, kernel->blocks,
            decimal_ratio(kernel->start_ps, 1000000, 3).text,
            decimal_ratio(kernel->last_block_ps, 1000000, 3).text,
            decimal_ratio(kernel->end_ps - kernel->start_ps, 1000000, 3).text);
  }
}

/* How the blocks of the only kernel came to their cores; the table of kernels has those of several.
 */
static void print_dispatch(const struct vinci_result *result, FILE *out) {
  const struct kernel_result *kernel = &result->kernels[0];
  if (result->kernel_count != 1 || kernel->first_block_ps == 0)
    return;
  const char *place = kernel->mixed ? "cluster" : "core";
  fprintf(out, "Dispatch  %" PRIu32 " block%s for %" PRIu32 " %ss, ", kernel->blocks,
          plural(kernel->blocks), kernel->places, place);
  if (kernel->blocks > kernel->places)
    fprintf(out, "each %s that is free takes the next; ", place);
  else if (kernel->blocks < kernel->places)
    fprintf(out, "too few for %" PRIu32 " of them; ", kernel->places - kernel->blocks);
  else
    fprintf(out, "a %s for each; ", place);
  fprintf(out, "first at %s us, last at %s us\n",
          decimal_ratio(kernel->first_block_ps, 1000000, 3).text,
          decimal_ratio(kernel->last_block_ps, 1000000, 3).text);
}

/* Waits for code, and scalar work that the trace states, of the cores that had some: the start of a
 * kernel. */
static void print_start(const struct vinci_result *result, FILE *out) {
  uint64_t work = 0, code = 0, cores = 0, lines = 0, missing = 0;
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    uint64_t waits = core->pipe[PIPE_S].stall_cycles[STALL_CODE];
    work += core->scalar_work_cycles;
    code += waits;
    cores += core->scalar_work_cycles + waits > 0;
    lines += core->code_lines;
    missing += core->code_missing_lines;
  }
  if (cores == 0)
    return;
  fprintf(out,
          "Start     %" PRIu64 " cycles of a core wait for code, %" PRIu64 " are scalar rows: ",
          code / cores, work / cores);
  fprintf(out, "%s %% of the run (kernel.* of the chip)\n",
          decimal_ratio((code + work) * 100, cores * result->total_cycles, 1).text);
  if (lines > 0)
    fprintf(out,
            "          of %" PRIu64 " lines of code that a core needed, %" PRIu64
            " were not in its instruction cache\n",
            lines / cores, missing / cores);
}

/* How far the duration may be off, by what measured rows of the same class have shown. */
static void print_expected(const struct vinci_result *result, FILE *out) {
  struct expected_error error =
      expected_error(result->soc, result->op, result->op_dtype, result->total_ps);
  if (error.rows > 0)
    fprintf(
        out,
        "Expected  error of the duration: median %s %%, 9 of 10 within %s %% (%u measured rows, "
        "%s)\n",
        decimal_ratio(error.median_permille, 10, 1).text,
        decimal_ratio(error.p90_permille, 10, 1).text, error.rows, error.class);
  if (*error.outside)
    fprintf(out, "%s not calibrated: %s\n", error.rows > 0 ? "         " : "Expected ",
            error.outside);
}

void text_wrapped(const char *label, const char *text, FILE *out) {
  enum { INDENT = 10, LINE_END = 96 };
  int column = INDENT + fprintf(out, "%s:", label);
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column + 1 + length > LINE_END)
      column = fprintf(out, "\n%*s", INDENT, "") - 1;
    else
      column += fprintf(out, " ");
    column += fprintf(out, "%.*s", length, text);
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

static void print_head(const struct vinci_result *result, const struct text_causes *causes,
                       FILE *out) {
  char reason[512];
  enum bound bound = result_bound_explain(result, reason, sizeof reason);
  uint64_t blocks = result_blocks(result);
  print_names(result, out);
  fprintf(out, " on %s: %" PRIu64 " block%s, %s us, %" PRIu64 " cycles, %s bound%s\n",
          result->soc->name, blocks, plural(blocks),
          decimal_ratio(result->total_ps, 1000000, 3).text, result->total_cycles,
          bound == BOUND_NONE ? "not" : bound_name(bound), result->partial ? ", PARTIAL" : "");
  fprintf(out, "\nDuration  %s us from launch to last completion, launch overhead included\n",
          decimal_ratio(result->total_ps, 1000000, 3).text);
  if (result->repeat > 1)
    fprintf(out, "          of the last of %" PRIu32 " launches in a row on one chip\n",
            result->repeat);
  print_expected(result, out);
  fprintf(out, "Cycles    %" PRIu64 " at %s MHz core clock\n", result->total_cycles,
          decimal_ratio((uint128)result->soc->core_hz, 1000000, 0).text);
  fputs("Work ran  on ", out);
  print_active(result, out);
  fputc('\n', out);
  print_dispatch(result, out);
  print_start(result, out);
  fputs("Bound     ", out);
  text_wrapped(bound_name(bound), reason, out);
  text_cause(result, causes, out);
  text_compute(result, out);
  print_kernels(result, out);
}

/* ---- pipes ------------------------------------------------------------------- */

static const char *const pipe_texts[] = {
#define X(id, lane, text) text,
    PIPE_LIST(X)
#undef X
};

/* The next column of the table of pipes. */
static const struct counter *next_column(const struct counter *row) {
  do
    row = counter_next(row, GROUP_PIPE);
  while (row && !*row->report);
  return row;
}

static int column_width(const struct counter *row) {
  int width = (int)strlen(row->report) + 1;
  return width > 9 ? width : 9;
}

static void print_pipe_header(FILE *out) {
  const struct counter *row = NULL;
  fprintf(out, "  %-5s", "pipe");
  while ((row = next_column(row)))
    fprintf(out, " %*s", column_width(row), row->report);
  fputs("  what it does\n", out);
}

/* Cycles as shares of the total. */
static void print_pipe(enum pipe pipe, const struct pipe_counters *sum, uint64_t total, FILE *out) {
  const struct counter *row = NULL;
  fprintf(out, "  %-5s", pipe_name(pipe));
  while ((row = next_column(row))) {
    uint64_t value = counter_value(row, sum);
    fputc(' ', out);
    if (row->unit == UNIT_CYCLE)
      text_percent(out, column_width(row), value, total);
    else
      fprintf(out, "%*" PRIu64, column_width(row), value);
  }
  fprintf(out, "  %s\n", pipe_texts[pipe]);
}

static void print_kind_pipes(const struct vinci_result *result, enum core_kind kind, FILE *out) {
  unsigned active = result_active_cores(result, kind);
  if (active == 0)
    return;
  fprintf(out, "\nWhere the time went, summed over the %u %s core%s with work\n", active,
          core_kind_name(kind), plural(active));
  print_pipe_header(out);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct pipe_counters sum;
    uint64_t total;
    result_sum_kind(result, kind, (enum pipe)pipe, &sum, &total);
    if (core_has_pipe(kind, (enum pipe)pipe))
      print_pipe((enum pipe)pipe, &sum, total, out);
  }
}

static void print_pipes(const struct vinci_result *result, FILE *out) {
  const struct counter *row = NULL;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    print_kind_pipes(result, (enum core_kind)kind, out);
  fputc('\n', out);
  while ((row = next_column(row)))
    if (row->unit == UNIT_CYCLE)
      fprintf(out, "  %-13s %s\n", row->report, row->text);
}

/* ---- cores ------------------------------------------------------------------- */

static void print_core_row(const struct core_result *core, FILE *out) {
  char name[48];
  result_core_name(core, name, sizeof name);
  fprintf(out, "  %-18s %6" PRIu32 "  ", name, core->blocks_run);
  text_percent(out, 7, core->active_cycles, core->total_cycles);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    fputc(' ', out);
    if (core_has_pipe(core->kind, (enum pipe)pipe))
      text_percent(out, 7, core->pipe[pipe].busy_cycles, core->total_cycles);
    else
      fprintf(out, "%7s", "-");
  }
  fputc('\n', out);
}

static const struct core_result *next_active(const struct vinci_result *result, uint32_t *index) {
  while (*index < result->core_count) {
    const struct core_result *core = &result->cores[(*index)++];
    if (core->blocks_run > 0)
      return core;
  }
  return NULL;
}

/* One line for the cores that are not shown: the range of their active time. */
static void print_other_cores(const struct vinci_result *result, uint32_t index, unsigned count,
                              FILE *out) {
  uint64_t low = UINT64_MAX, high = 0;
  const struct core_result *core;
  while ((core = next_active(result, &index))) {
    uint64_t ppm = result_share_ppm(core->active_cycles, core->total_cycles);
    low = ppm < low ? ppm : low;
    high = ppm > high ? ppm : high;
  }
  fprintf(out, "  ... %u more, active %s to %s %% of the time\n", count,
          decimal_ratio(low, 10000, 1).text, decimal_ratio(high, 10000, 1).text);
}

/* Counters are of cores: what a core did for each of its blocks is not known. */
static void print_sum_note(const struct vinci_result *result, FILE *out) {
  for (uint32_t i = 0; i < result->core_count; i++) {
    if (result->cores[i].blocks_run < 2)
      continue;
    fputs("  The blocks of a core are summed, here and in the CSV tables, whose block_id is the "
          "first of them.\n",
          out);
    return;
  }
}

static void print_cores(const struct vinci_result *result, FILE *out) {
  unsigned active = 0, shown = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    active += result_active_cores(result, (enum core_kind)kind);
  if (active == 0)
    return;
  fprintf(out,
          "\nCores with work: share of the run with a block, and busy share of each pipe\n"
          "  %-18s %6s  %7s",
          "core", "blocks", "active");
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    fprintf(out, " %7s", pipe_name((enum pipe)pipe));
  fputc('\n', out);
  uint32_t index = 0;
  const struct core_result *core;
  while ((shown < ROWS_SHOWN || active == ROWS_SHOWN + 1) && (core = next_active(result, &index))) {
    print_core_row(core, out);
    shown++;
  }
  if (shown < active)
    print_other_cores(result, index, active - shown, out);
  print_sum_note(result, out);
}

/* ---- bytes ------------------------------------------------------------------- */

static void print_path(const struct vinci_result *result, enum path path, FILE *out) {
  uint64_t bytes = result_path_bytes(result, path), instructions = 0, users = 0;
  for (uint32_t i = 0; i < result->core_count; i++) {
    instructions += result->cores[i].path_instructions[path];
    users += result->cores[i].path_bytes[path] > 0;
  }
  if (bytes == 0 && instructions == 0)
    return;
  fprintf(out, "  %-9s %13s %16" PRIu64 " %13" PRIu64 " %10s", path_name(path),
          human_bytes(bytes).text, bytes, instructions,
          decimal_rate(bytes, result->total_ps, giga, 1).text);
  int64_t peak = result->soc->path[path].peak_bytes_per_second;
  if (peak > 0)
    fprintf(
        out, " %8s %%",
        decimal_exact((result_bandwidth_ppm(result, bytes, (uint64_t)peak * users) + 500) / 1000, 1)
            .text);
  else
    fprintf(out, " %10s", "-");
  fputc('\n', out);
}

static void print_paths(const struct vinci_result *result, FILE *out) {
  bool any = false;
  for (unsigned path = 0; path < PATH_COUNT; path++)
    any |= result_path_bytes(result, (enum path)path) > 0;
  if (!any)
    return;
  fputs("\nBytes moved by all cores, and the bandwidth that is over the whole run (1 GB = 10^9 "
        "bytes)\n",
        out);
  fprintf(out, "  %-9s %13s %16s %13s %10s %10s\n", "path", "", "bytes", "instructions", "GB/s",
          "of peak");
  for (unsigned path = 0; path < PATH_COUNT; path++)
    print_path(result, (enum path)path, out);
}

static void print_hits(FILE *out, const char *what, struct hits all) {
  fprintf(out, "%" PRIu64 " %s", all.hits + all.misses, what);
  if (all.hits + all.misses > 0)
    fprintf(out, " (%s %% hits)",
            decimal_ratio((uint128)all.hits * 100, all.hits + all.misses, 1).text);
}

static struct decimal phrase_number(const struct counter *row, uint64_t value) {
  struct decimal text;
  if (row->unit == UNIT_BYTE)
    return human_bytes(value);
  if (row->unit != UNIT_PPM)
    return counter_decimal(row, value);
  snprintf(text.text, sizeof text.text, "%.40s %%", decimal_ratio(value, 10000, 1).text);
  return text;
}

/* The phrases of a group, of counters of bytes or of all others. */
static void print_phrases(enum counter_group group, const void *part, bool bytes,
                          const char *separator, FILE *out) {
  const struct counter *row = NULL;
  while ((row = counter_next(row, group))) {
    int before = (int)strcspn(row->report, "#");
    if (!row->report[before] || (row->unit == UNIT_BYTE) != bytes)
      continue;
    fprintf(out, "%s%.*s%s%s", separator, before, row->report,
            phrase_number(row, counter_value(row, part)).text, row->report + before + 1);
    separator = ", ";
  }
}

static void print_l2(const struct l2_counters *l2, FILE *out) {
  fputs("\nL2        ", out);
  print_hits(out, "reads", l2_hits(l2, L2_READS));
  fputs(", ", out);
  print_hits(out, "writes", l2_hits(l2, L2_WRITES));
  print_phrases(GROUP_L2, l2, false, ", ", out);
  fprintf(out, ", in units of %d bytes\n", L2_GRANULE_BYTES);
}

static void print_hbm(const struct vinci_result *result, FILE *out) {
  struct hits rows = hbm_row_hits(&result->hbm);
  fputs("HBM       ", out);
  print_phrases(GROUP_HBM, &result->hbm, true, "", out);
  fprintf(out, ": %s GB/s", decimal_rate(hbm_bytes(&result->hbm), result->total_ps, giga, 1).text);
  if (result->hbm_peak_bytes_per_second > 0)
    fprintf(out, ", %s %% of the %s GB/s peak",
            decimal_ratio(result_hbm_ppm(result), 10000, 1).text,
            decimal_ratio(result->hbm_peak_bytes_per_second, giga, 1).text);
  if (rows.hits + rows.misses > 0)
    fprintf(out, ", %s %% row hits",
            decimal_ratio((uint128)rows.hits * 100, (uint128)rows.hits + rows.misses, 1).text);
  print_phrases(GROUP_HBM, &result->hbm, false, ", ", out);
  fputc('\n', out);
}

static void print_memories(const struct vinci_result *result, FILE *out) {
  if (result_l2_bytes(result) == 0 && hbm_bytes(&result->hbm) == 0)
    return;
  print_l2(&result->l2, out);
  print_hbm(result, out);
  fputs("Network   ", out);
  print_phrases(GROUP_RUN, result, false, "", out);
  fputc('\n', out);
}

/* ---- how far to trust it -------------------------------------------------------- */

static void print_provenance(const struct vinci_soc *soc, FILE *out) {
  size_t given = 0, assumed = 0;
  for (size_t i = 0; i < soc_param_count(); i++) {
    const struct soc_provenance *provenance = &soc->provenance[i];
    given += provenance->given;
    assumed += provenance->given && provenance->confidence == CONFIDENCE_ASSUMED &&
               !provenance->overridden;
    if (provenance->overridden) {
      char value[64];
      soc_format_value(soc_get(soc, i), soc_param(i)->kind, value, sizeof value);
      fprintf(out, "Changed   %s = %s\n", soc_param(i)->key, value);
    }
  }
  fprintf(out,
          "Hardware  %zu of %zu numbers of %s are assumed, not published or measured "
          "(vinci soc show %s)\n",
          assumed, given, soc->name, soc->name);
}

static void print_notices(const struct vinci_result *result, FILE *out) {
  if (result->partial)
    fprintf(out, "\nPARTIAL   %s; all numbers are up to that point\n",
            result->partial_reason ? result->partial_reason : "the run was stopped early");
  if (result->events_dropped > 0)
    fprintf(out,
            "\nTimeline  holds %" PRIu64 " instructions, the first of each core; %" PRIu64
            " later ones are not in it (--timeline-events)\n",
            event_total(result), result->events_dropped);
  if (result->waits_left_out)
    fputs("\nWaits     scalar code waits for other cores through memory (dcci); the time of these "
          "waits is left out\n",
          out);
  if (result->scalar_uncounted)
    fputs("\nScalar    accesses of scalar code to memory were not counted (compiled without that); "
          "they have no time and no bytes of their own\n",
          out);
  else if (result->scalar_accesses > 0)
    fprintf(out,
            "\nScalar    %" PRIu64 " accesses of scalar code to memory: each has the time of an "
            "instruction; the data cache, L2 and their bytes are not simulated\n",
            result->scalar_accesses);
  if (result->noc_past_model)
    fputs("\nNetwork   the busiest link is loaded past 60 %, where the packet level is optimistic; "
          "use --network=flit\n",
          out);
  fputc('\n', out);
  print_provenance(result->soc, out);
}

enum vinci_status vinci_result_write_text(const vinci_result *result, FILE *out,
                                          struct vinci_diag *diag) {
  struct text_causes causes;
  enum vinci_status status = text_find_causes(result, &causes, diag);
  if (status != VINCI_OK)
    return status;
  print_head(result, &causes, out);
  print_pipes(result, out);
  text_causes(result, &causes, out);
  print_cores(result, out);
  print_paths(result, out);
  print_memories(result, out);
  print_notices(result, out);
  status = export_hotspots_text(result, out, diag);
  return status == VINCI_OK ? export_flush(out, "the report", diag) : status;
}
