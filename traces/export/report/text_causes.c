/* SPDX-License-Identifier: Apache-2.0 */
/* The report: what busy cycles were spent on, and which number of the chip would help. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/sheet.h"
#include "core/result/levers.h"
#include "traces/export/report/text.h"

enum { CAUSE_ROWS = 8 /* of a table */, STATE_INDENT = 10 };

static const uint64_t tera = UINT64_C(1000000000000);

enum vinci_status text_find_causes(const struct vinci_result *result, struct text_causes *causes,
                                   struct vinci_diag *diag) {
  enum vinci_status status = critical_find(result, &causes->path, diag);
  causes->count = 0;
  if (status == VINCI_OK)
    causes->count = critical_turns(result, &causes->path, causes->turns);
  return status;
}

/* ---- the line behind the bound -------------------------------------------------------------- */

/* Of copies the path: "GM->L1 copies: "; of others nothing. */
static const char *path_prefix(const struct critical_turn *turn, char *text, size_t size) {
  *text = '\0';
  if (cause_row(turn->cause)->unit == CAUSE_OF_COPY && turn->member < PATH_COUNT)
    snprintf(text, size, "%s: ", path_name((enum path)turn->member));
  return text;
}

static const char *percent(const struct vinci_result *result, int64_t cycles,
                           struct decimal *text) {
  uint64_t size = cycles < 0 ? -(uint64_t)cycles : (uint64_t)cycles;
  *text = decimal_ratio((uint128)size * 100, result->total_cycles, 1);
  return text->text;
}

/* "(measured; 4.3 % with the tiling that is then chosen)": where the promise comes from. */
static void describe_origin(const struct vinci_result *result, const struct critical_turn *turn,
                            char *text, size_t size) {
  struct decimal anew;
  if (!turn->measured)
    snprintf(text, size, "(estimate; --savings=all measures)");
  else if (!turn->lowered_anew || turn->anew_saved_cycles == turn->saved_cycles)
    snprintf(text, size, "(measured)");
  else
    snprintf(text, size, "(measured; with the tiling that is then chosen the run takes %s %% %s)",
             percent(result, turn->anew_saved_cycles, &anew),
             turn->anew_saved_cycles < 0 ? "more" : "less");
}

static void describe_gain(const struct vinci_result *result, const struct critical_turn *turn,
                          char *text, size_t size) {
  char origin[192];
  struct decimal saved;
  *text = '\0';
  if (turn->param == soc_param_count() || (turn->saved_cycles <= 0 && !turn->measured))
    return;
  describe_origin(result, turn, origin, sizeof origin);
  if (turn->saved_cycles <= 0)
    snprintf(text, size, "; %s %s saves nothing %s", soc_param(turn->param)->key,
             critical_turn_word(turn), origin);
  else
    snprintf(text, size, "; %s %s is expected to save %s %% of the run %s",
             soc_param(turn->param)->key, critical_turn_word(turn),
             percent(result, turn->saved_cycles, &saved), origin);
}

/* What bounds the run then, where a replay has shown it; and the longest cause, when it is another.
 */
static void describe_next(const struct vinci_result *result, const struct text_causes *causes,
                          const struct critical_turn *best, char *text, size_t size) {
  const struct critical_turn *longest = &causes->turns[0];
  char path[32];
  struct decimal saved;
  size_t used = 0;
  *text = '\0';
  if (best->next_permille > 0 && best->saved_cycles > 0)
    used = (size_t)snprintf(text, size, " Then pipe %s bounds next, busy %s %% of the time.",
                            pipe_name(best->next_pipe),
                            decimal_ratio(best->next_permille, 10, 1).text);
  if (longest->cycles <= best->cycles || longest->param == soc_param_count())
    return;
  snprintf(text + used, size - used,
           " More cycles of the path, %s %%, are %s%s, but %s %s %s %s %% alone: others take over.",
           decimal_ratio((uint128)longest->cycles * 100, result->total_cycles, 1).text,
           path_prefix(longest, path, sizeof path), cause_row(longest->cause)->key,
           soc_param(longest->param)->key, critical_turn_word(longest),
           longest->saved_cycles < 0 ? "costs" : "saves",
           percent(result, longest->saved_cycles, &saved));
}

/* What kernels can do, the largest saving first. */
static void text_levers(const struct vinci_result *result, const struct text_causes *causes,
                        FILE *out) {
  struct lever levers[LEVERS_MAX];
  size_t count = levers_find(result, &causes->path, levers);
  char line[LEVER_TEXT_BYTES + LEVER_CHANGE_BYTES + 224];
  for (size_t i = 0; i < count; i++) {
    const struct lever *lever = &levers[i];
    snprintf(line, sizeof line, "%s, the run %s %s %% less (%s%s%s).", lever->text,
             *lever->change ? "takes" : "is expected to take",
             decimal_ratio((uint128)lever->saved_cycles * 100, result->total_cycles, 1).text,
             lever->origin, *lever->change ? ": " : "", lever->change);
    fputs("Kernel    ", out);
    text_wrapped(lever_key(lever->kind), line, out);
  }
}

/* What the instructions of the critical path have found: caches, L2, their own pipe. */
static void text_state(const struct vinci_result *result, const struct critical_path *path,
                       FILE *out) {
  const struct critical_state state = critical_state(result, path);
  const struct {
    uint64_t cycles;
    const char *text;
  } rows[] = {{state.code_cycles, "wait for code that the cache does not hold"},
              {state.cold_cycles, "fetch what L2 has not held before"},
              {state.refetch_cycles, "fetch what L2 has dropped"},
              {state.scalar_cycles, "are scalar work and accesses"},
              {state.dependent_cycles,
               "are waits of the vector unit for the instruction before (pipe_barrier)"}};
  char line[512];
  size_t used = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].cycles * 1000 >= result->total_cycles * CRITICAL_LEAST_PERMILLE)
      used += (size_t)snprintf(
          line + used, sizeof line - used, "%s%s %% %s", used ? ", " : "",
          decimal_ratio((uint128)rows[i].cycles * 100, result->total_cycles, 1).text, rows[i].text);
  if (used == 0)
    return;
  fputs("State     ", out);
  sheet_words(out, line, STATE_INDENT, STATE_INDENT);
  fputc('\n', out);
}

void text_cause(const struct vinci_result *result, const struct text_causes *causes, FILE *out) {
  if (causes->count == 0 || result->total_cycles == 0)
    return;
  const struct critical_turn *turn = critical_best(causes->turns, causes->count);
  char line[1024], gain[320], next[384], path[32];
  describe_gain(result, turn, gain, sizeof gain);
  describe_next(result, causes, turn, next, sizeof next);
  snprintf(line, sizeof line, "%s %% of the run, on the critical path, are cycles that %s%s.%s",
           decimal_ratio((uint128)turn->cycles * 100, result->total_cycles, 1).text,
           cause_row(turn->cause)->text, gain, next);
  fputs("Cause     ", out);
  snprintf(gain, sizeof gain, "%s%s", path_prefix(turn, path, sizeof path),
           cause_row(turn->cause)->key);
  text_wrapped(gain, line, out);
  text_state(result, &causes->path, out);
  text_levers(result, causes, out);
}

/* ---- the critical path ---------------------------------------------------------------------- */

static const struct sheet_column turn_columns[] = {
    {.title = "share"},
    {.title = "cycles", .rank = 1},
    {.title = "cause", .left = true},
    {.title = "number to turn, change (about: estimated)", .left = true, .fit = SHEET_BREAK},
    {.title = "cycles that ...", .left = true, .fit = SHEET_BREAK, .rank = 2},
};

/* Cycles of the path that no number of the chip turns. */
static void print_rest(const struct vinci_result *result, uint64_t cycles, const char *text,
                       struct sheet *sheet) {
  if (cycles * 1000 < result->total_cycles * CRITICAL_LEAST_PERMILLE)
    return;
  text_percent(sheet, cycles, result->total_cycles);
  sheet_cell(sheet, "%" PRIu64, cycles);
  sheet_cell(sheet, "-");
  sheet_text(sheet, text);
  sheet_text(sheet, "");
}

static void print_turn(const struct vinci_result *result, const struct critical_turn *turn,
                       struct sheet *sheet) {
  char path[32], gain[160] = "";
  struct decimal saved;
  if (turn->cycles * 1000 < result->total_cycles * CRITICAL_LEAST_PERMILLE)
    return;
  if (turn->param < soc_param_count())
    snprintf(gain, sizeof gain, "%s %s: %s%s%s %%", soc_param(turn->param)->key,
             critical_turn_word(turn), turn->measured ? "" : "about ",
             turn->saved_cycles < 0   ? "+"
             : turn->saved_cycles > 0 ? "-"
                                      : "",
             percent(result, turn->saved_cycles, &saved));
  text_percent(sheet, turn->cycles, result->total_cycles);
  sheet_cell(sheet, "%" PRIu64, turn->cycles);
  sheet_cell(sheet, "%s%s", path_prefix(turn, path, sizeof path), cause_row(turn->cause)->key);
  sheet_text(sheet, gain);
  sheet_text(sheet, cause_row(turn->cause)->text);
}

/* What saves most first, then what is longest. */
static int compare_turns(const void *left, const void *right) {
  const struct critical_turn *a = left, *b = right;
  if (a->saved_cycles != b->saved_cycles)
    return a->saved_cycles > b->saved_cycles ? -1 : 1;
  if (a->cycles != b->cycles)
    return a->cycles > b->cycles ? -1 : 1;
  return a->cause != b->cause ? (int)a->cause - (int)b->cause : (int)a->member - (int)b->member;
}

static void print_turns(const struct vinci_result *result, const struct text_causes *causes,
                        struct sheet *sheet) {
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  size_t count = causes->count < CAUSE_ROWS ? causes->count : CAUSE_ROWS;
  memcpy(turns, causes->turns, count * sizeof *turns);
  qsort(turns, count, sizeof *turns, compare_turns);
  for (size_t i = 0; i < count; i++)
    print_turn(result, &turns[i], sheet);
}

static void print_path(const struct vinci_result *result, const struct text_causes *causes,
                       FILE *out) {
  const struct critical_path *path = &causes->path;
  struct sheet sheet;
  char name[48];
  result_core_name(&result->cores[path->core], name, sizeof name);
  sheet_line(
      out,
      "\nCritical path of %s, the core that ends last: each cycle of the run once, by cause; "
      "what saves most first\n",
      name);
  SHEET_BEGIN(&sheet, out, turn_columns, 2, "report.json");
  while (sheet_pass(&sheet)) {
    print_turns(result, causes, &sheet);
    print_rest(result, path->rest[CRITICAL_LAUNCH], "launch of the kernel, dispatch of the block",
               &sheet);
    print_rest(result, path->code_cycles, "waits for code", &sheet);
    print_rest(result, path->scalar_cycles, "scalar work of the trace", &sheet);
    print_rest(result, path->hidden_cycles, "behind instructions of the same pipe", &sheet);
    print_rest(result, path->rest[CRITICAL_IDLE], "between instructions: issue, flags, other cores",
               &sheet);
    print_rest(result, path->rest[CRITICAL_END], "from the last instruction to the end", &sheet);
  }
}

/* ---- pipes ---------------------------------------------------------------------------------- */

/* The cause with the most cycles that has not been told. */
static enum cause next_cause(const struct pipe_counters *sum, const bool told[CAUSE_COUNT]) {
  unsigned found = CAUSE_COUNT;
  for (unsigned i = 0; i < CAUSE_COUNT; i++)
    if (!told[i] && sum->cause_cycles[i] * 1000 >= sum->busy_cycles * CRITICAL_LEAST_PERMILLE &&
        sum->cause_cycles[i] > 0 &&
        (found == CAUSE_COUNT || sum->cause_cycles[i] > sum->cause_cycles[found]))
      found = i;
  return (enum cause)found;
}

static void print_pipe(const struct vinci_result *result, enum core_kind kind, enum pipe pipe,
                       FILE *out) {
  struct pipe_counters sum;
  bool told[CAUSE_COUNT] = {false};
  uint64_t total;
  enum cause cause;
  result_sum_kind(result, kind, pipe, &sum, &total);
  if (sum.busy_cycles == 0)
    return;
  fprintf(out, "  %-4s %-5s", core_kind_name(kind), pipe_name(pipe));
  const char *separator = "";
  while ((cause = next_cause(&sum, told)) != CAUSE_COUNT) {
    told[cause] = true;
    fprintf(out, "%s %s %s %%", separator, cause_row(cause)->key,
            decimal_ratio((uint128)sum.cause_cycles[cause] * 100, sum.busy_cycles, 1).text);
    separator = ",";
  }
  fputc('\n', out);
}

void text_causes(const struct vinci_result *result, const struct text_causes *causes, FILE *out) {
  struct sheet_lines lines;
  bool any = false;
  for (uint32_t i = 0; i < result->core_count; i++)
    any |= result->cores[i].blocks_run > 0;
  if (!any)
    return;
  if (causes->count > 0)
    print_path(result, causes, out);
  fputs("\nWhat busy cycles were spent on (vinci run --counters explains the words)\n", out);
  FILE *words = sheet_lines_begin(&lines, out);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      print_pipe(result, (enum core_kind)kind, (enum pipe)pipe, words);
  sheet_lines_end(&lines);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* The type that took most of the cycles of a unit; DTYPE_COUNT: none did. */
static enum dtype main_type(const struct work_counters *work) {
  unsigned found = DTYPE_COUNT;
  for (unsigned i = 0; i < DTYPE_COUNT; i++)
    if (work->busy_cycles[i] > 0 &&
        (found == DTYPE_COUNT || work->busy_cycles[i] > work->busy_cycles[found]))
      found = i;
  return (enum dtype)found;
}

/* Operations in thousandths that one unit can do in a cycle; a multiply-accumulate counts as 2. */
static uint64_t peak_milli(const struct vinci_soc *soc, enum pipe pipe, enum dtype type) {
  if (pipe == PIPE_V)
    return (uint64_t)soc->vector_bytes * BITS_PER_BYTE / dtype_bits(type) * MILLI;
  uint64_t cycles = (uint64_t)soc_cube_mcycles(soc, type);
  uint64_t depth = (uint64_t)soc->cube_k_bytes * BITS_PER_BYTE / dtype_bits(type);
  return cycles == 0
             ? 0
             : 2 * (uint64_t)soc->cube_m * (uint64_t)soc->cube_n * depth * MILLI * MILLI / cycles;
}

bool text_find_unit(const struct vinci_result *result, enum pipe pipe, struct text_unit *unit) {
  struct core_result sum = {0};
  uint64_t hz = 0;
  *unit = (struct text_unit){0};
  for (uint32_t i = 0; i < result->core_count; i++) {
    const struct core_result *core = &result->cores[i];
    if (!core_has_pipe(core->kind, pipe))
      continue;
    counters_add_core(&sum, core);
    unit->units++;
    hz = core->hz;
  }
  unit->type = main_type(pipe == PIPE_M ? &sum.cube : &sum.vector);
  uint64_t milli = unit->type < DTYPE_COUNT ? peak_milli(result->soc, pipe, unit->type) : 0;
  unit->operations = sum.pipe[pipe].operations * (pipe == PIPE_M ? 2 : 1);
  unit->peak = (uint128)milli * unit->units * hz / MILLI;
  return milli > 0 && unit->operations > 0;
}

static void print_unit(const struct vinci_result *result, enum pipe pipe, FILE *out) {
  struct text_unit unit;
  if (!text_find_unit(result, pipe, &unit))
    return;
  sheet_line(
      out, "Compute   %s: %s TOP/s, %s %% of the %s TOP/s peak of all %" PRIu64 " units in %s%s\n",
      pipe == PIPE_M ? "cube" : "vector",
      decimal_rate(unit.operations, result->total_ps, tera, 3).text,
      decimal_ratio((uint128)unit.operations * 100 * PS_PER_SECOND / result->total_ps, unit.peak, 1)
          .text,
      decimal_ratio(unit.peak, tera, 1).text, unit.units, dtype_name(unit.type),
      pipe == PIPE_M ? "; a multiply-accumulate counts as 2" : "; lanes at work");
}

void text_compute(const struct vinci_result *result, FILE *out) {
  if (result->total_ps == 0)
    return;
  print_unit(result, PIPE_M, out);
  print_unit(result, PIPE_V, out);
}
