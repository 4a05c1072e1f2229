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
#include "traces/export/report/energy.h"
#include "traces/export/report/text.h"

enum { ROWS_SHOWN = 8 }; /* of cores and kernels; one more is shown rather than "1 more" */

static const uint64_t giga = UINT64_C(1000000000); /* bandwidths here are decimal */

void text_percent(struct sheet *sheet, uint64_t part, uint64_t whole) {
  sheet_cell(sheet, "%s %%", decimal_ratio((uint128)part * 100, whole, 1).text);
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

static const struct sheet_column kernel_columns[] = {
    {.title = "name", .left = true, .fit = SHEET_SHORTEN},
    {.title = "blocks", .rank = 2},
    {.title = "start us"},
    {.title = "last block us", .rank = 1},
    {.title = "duration us"},
};

static void print_kernels(const struct vinci_result *result, FILE *out) {
  struct sheet sheet;
  if (result->kernel_count < 2)
    return;
  uint32_t shown = result->kernel_count > ROWS_SHOWN + 1 ? ROWS_SHOWN : result->kernel_count;
  fputs("\nKernels, in order\n", out);
  SHEET_BEGIN(&sheet, out, kernel_columns, 2, "summary.json");
  while (sheet_pass(&sheet)) {
    for (uint32_t i = 0; i < shown; i++) {
      const struct kernel_result *kernel = &result->kernels[i];
      sheet_text(&sheet, kernel->name);
      sheet_cell(&sheet, "%" PRIu32, kernel->blocks);
      sheet_text(&sheet, decimal_ratio(kernel->start_ps, 1000000, 3).text);
      sheet_text(&sheet, decimal_ratio(kernel->last_block_ps, 1000000, 3).text);
      sheet_text(&sheet, decimal_ratio(kernel->end_ps - kernel->start_ps, 1000000, 3).text);
    }
    if (shown < result->kernel_count)
      sheet_between(&sheet, "  ... %" PRIu32 " more\n", result->kernel_count - shown);
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

void text_wrapped(const char *label, const char *text, FILE *out) {
  enum { INDENT = 10 };
  unsigned column = INDENT + (unsigned)fprintf(out, "%s: ", label);
  sheet_words(out, text, column, INDENT);
  fputc('\n', out);
}

/* What ran, how long, on what. */
static void print_times(const struct vinci_result *result, enum bound bound, FILE *out) {
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
  text_exactness(result, out);
  fprintf(out, "Cycles    %" PRIu64 " at %s MHz core clock\n", result->total_cycles,
          decimal_ratio((uint128)result->soc->core_hz, 1000000, 0).text);
  fputs("Work ran  on ", out);
  print_active(result, out);
  fputc('\n', out);
  print_dispatch(result, out);
  print_start(result, out);
}

static void print_head(const struct vinci_result *result, const struct text_causes *causes,
                       FILE *out) {
  struct sheet_lines lines;
  char reason[512];
  enum bound bound = result_bound_explain(result, reason, sizeof reason);
  print_times(result, bound, sheet_lines_begin(&lines, out));
  sheet_lines_end(&lines);
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

/* Which columns of the table of pipes make room first; of waits of some pipe the shortest. */
enum { PIPE_COLUMNS_MAX = 24, RANK_COUNT = 30, RANK_TEXT, RANK_NOTHING };

/* The pipes of one kind of core. */
struct kind_pipes {
  struct pipe_counters of[PIPE_COUNT];
  uint64_t total_cycles[PIPE_COUNT];
};

static uint64_t sum_of_pipes(const struct kind_pipes *pipes, const struct counter *row) {
  uint64_t sum = 0;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    sum += counter_value(row, &pipes->of[pipe]);
  return sum;
}

static unsigned pipe_rank(const struct kind_pipes *pipes, const struct counter *row) {
  const struct counter *other = NULL;
  uint64_t sum = sum_of_pipes(pipes, row);
  unsigned longer = 0;
  while ((other = next_column(other)))
    longer += other->unit == UNIT_CYCLE && sum_of_pipes(pipes, other) > sum;
  return row->unit != UNIT_CYCLE ? RANK_COUNT : sum == 0 ? RANK_NOTHING : longer;
}

static unsigned pipe_columns(const struct kind_pipes *pipes,
                             struct sheet_column columns[PIPE_COLUMNS_MAX]) {
  const struct counter *row = NULL;
  unsigned count = 0;
  columns[count++] = (struct sheet_column){.title = "pipe", .left = true};
  while ((row = next_column(row)) && count + 1 < PIPE_COLUMNS_MAX)
    columns[count++] = (struct sheet_column){.title = row->report, .rank = pipe_rank(pipes, row)};
  columns[count++] = (struct sheet_column){
      .title = "what it does", .left = true, .fit = SHEET_BREAK, .rank = RANK_TEXT};
  return count;
}

/* Cycles as shares of the total. */
static void print_pipe(enum pipe pipe, const struct pipe_counters *sum, uint64_t total,
                       struct sheet *sheet) {
  const struct counter *row = NULL;
  sheet_text(sheet, pipe_name(pipe));
  while ((row = next_column(row))) {
    uint64_t value = counter_value(row, sum);
    if (row->unit == UNIT_CYCLE)
      text_percent(sheet, value, total);
    else
      sheet_cell(sheet, "%" PRIu64, value);
  }
  sheet_text(sheet, pipe_texts[pipe]);
}

static void print_kind_pipes(const struct vinci_result *result, enum core_kind kind, FILE *out) {
  struct sheet_column columns[PIPE_COLUMNS_MAX];
  struct kind_pipes pipes;
  struct sheet sheet;
  unsigned active = result_active_cores(result, kind);
  if (active == 0)
    return;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    result_sum_kind(result, kind, (enum pipe)pipe, &pipes.of[pipe], &pipes.total_cycles[pipe]);
  fprintf(out, "\nWhere the time went, summed over the %u %s core%s with work\n", active,
          core_kind_name(kind), plural(active));
  sheet_begin(&sheet, out, columns, pipe_columns(&pipes, columns), 2, "summary.json");
  while (sheet_pass(&sheet))
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      if (core_has_pipe(kind, (enum pipe)pipe))
        print_pipe((enum pipe)pipe, &pipes.of[pipe], pipes.total_cycles[pipe], &sheet);
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

static void print_core_row(const struct core_result *core, struct sheet *sheet) {
  char name[48];
  result_core_name(core, name, sizeof name);
  sheet_text(sheet, name);
  sheet_cell(sheet, "%" PRIu32, core->blocks_run);
  text_percent(sheet, core->active_cycles, core->total_cycles);
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (core_has_pipe(core->kind, (enum pipe)pipe))
      text_percent(sheet, core->pipe[pipe].busy_cycles, core->total_cycles);
    else
      sheet_cell(sheet, "-");
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
                              struct sheet *sheet) {
  uint64_t low = UINT64_MAX, high = 0;
  const struct core_result *core;
  while ((core = next_active(result, &index))) {
    uint64_t ppm = result_share_ppm(core->active_cycles, core->total_cycles);
    low = ppm < low ? ppm : low;
    high = ppm > high ? ppm : high;
  }
  sheet_between(sheet, "  ... %u more, active %s to %s %% of the time\n", count,
                decimal_ratio(low, 10000, 1).text, decimal_ratio(high, 10000, 1).text);
}

/* Counters are of cores: what a core did for each of its blocks is not known. */
static void print_sum_note(const struct vinci_result *result, FILE *out) {
  for (uint32_t i = 0; i < result->core_count; i++) {
    if (result->cores[i].blocks_run < 2)
      continue;
    sheet_line(out, "  The blocks of a core are summed, here and in the CSV tables, whose block_id "
                    "is the first of them.\n");
    return;
  }
}

enum { CORE_COLUMNS = 3 + PIPE_COUNT };

/* A pipe that no core has used is the first to make room. */
static void core_columns(const struct vinci_result *result,
                         struct sheet_column columns[CORE_COLUMNS]) {
  columns[0] = (struct sheet_column){.title = "core", .left = true};
  columns[1] = (struct sheet_column){.title = "blocks", .rank = 1};
  columns[2] = (struct sheet_column){.title = "active"};
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    uint64_t busy = 0;
    for (uint32_t i = 0; i < result->core_count; i++)
      busy += result->cores[i].pipe[pipe].busy_cycles;
    columns[CORE_COLUMNS - PIPE_COUNT + pipe] =
        (struct sheet_column){.title = pipe_name((enum pipe)pipe), .rank = busy == 0 ? 2 : 0};
  }
}

static void print_cores(const struct vinci_result *result, FILE *out) {
  struct sheet_column columns[CORE_COLUMNS];
  struct sheet sheet;
  unsigned active = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    active += result_active_cores(result, (enum core_kind)kind);
  if (active == 0)
    return;
  fputs("\nCores with work: share of the run with a block, and busy share of each pipe\n", out);
  core_columns(result, columns);
  SHEET_BEGIN(&sheet, out, columns, 2, "summary.json");
  while (sheet_pass(&sheet)) {
    const struct core_result *core;
    uint32_t index = 0;
    unsigned shown = 0;
    while ((shown < ROWS_SHOWN || active == ROWS_SHOWN + 1) &&
           (core = next_active(result, &index))) {
      print_core_row(core, &sheet);
      shown++;
    }
    if (shown < active)
      print_other_cores(result, index, active - shown, &sheet);
  }
  print_sum_note(result, out);
}

/* ---- bytes ------------------------------------------------------------------- */

static const struct sheet_column path_columns[] = {
    {.title = "path", .left = true},      {.title = ""},     {.title = "bytes", .rank = 2},
    {.title = "instructions", .rank = 1}, {.title = "GB/s"}, {.title = "of peak"},
};

static void print_path(const struct vinci_result *result, enum path path, struct sheet *sheet) {
  uint64_t bytes = result_path_bytes(result, path), instructions = 0, users = 0;
  for (uint32_t i = 0; i < result->core_count; i++) {
    instructions += result->cores[i].path_instructions[path];
    users += result->cores[i].path_bytes[path] > 0;
  }
  if (bytes == 0 && instructions == 0)
    return;
  sheet_text(sheet, path_name(path));
  sheet_text(sheet, human_bytes(bytes).text);
  sheet_cell(sheet, "%" PRIu64, bytes);
  sheet_cell(sheet, "%" PRIu64, instructions);
  sheet_text(sheet, decimal_rate(bytes, result->total_ps, giga, 1).text);
  int64_t peak = result->soc->path[path].peak_bytes_per_second;
  if (peak <= 0) {
    sheet_cell(sheet, "-");
    return;
  }
  uint64_t ppm = result_bandwidth_ppm(result, bytes, (uint64_t)peak * users);
  sheet_cell(sheet, "%s %%", decimal_exact((ppm + 500) / 1000, 1).text);
}

static void print_paths(const struct vinci_result *result, FILE *out) {
  struct sheet sheet;
  bool any = false;
  for (unsigned path = 0; path < PATH_COUNT; path++)
    any |= result_path_bytes(result, (enum path)path) > 0;
  if (!any)
    return;
  sheet_line(out,
             "\nBytes moved by all cores, and the bandwidth that is over the whole run (1 GB = "
             "10^9 bytes)\n");
  SHEET_BEGIN(&sheet, out, path_columns, 2, "summary.json");
  while (sheet_pass(&sheet))
    for (unsigned path = 0; path < PATH_COUNT; path++)
      print_path(result, (enum path)path, &sheet);
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
  struct sheet_lines lines;
  enum vinci_status status = text_find_causes(result, &causes, diag);
  if (status != VINCI_OK)
    return status;
  print_head(result, &causes, out);
  print_pipes(result, out);
  text_causes(result, &causes, out);
  print_cores(result, out);
  print_paths(result, out);
  FILE *rest = sheet_lines_begin(&lines, out);
  print_memories(result, rest);
  struct energy_counts energy;
  if (energy_counts_of(result, &energy))
    energy_print(result->soc->energy, &energy, result->total_ps, rest);
  print_notices(result, rest);
  sheet_lines_end(&lines);
  status = export_hotspots_text(result, out, diag);
  return status == VINCI_OK ? export_flush(out, "the report", diag) : status;
}
