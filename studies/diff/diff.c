/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of the public interface. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "studies/diff/diff.h"

enum vinci_status diff_no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* The same note of both sides is said once. */
bool diff_note(struct vinci_diff *diff, const char *text) {
  for (size_t i = 0; i < diff->note_count; i++)
    if (strcmp(diff->notes[i], text) == 0)
      return true;
  const char *kept = diff->note_count < DIFF_NOTES_MAX ? arena_strdup(&diff->arena, text) : NULL;
  if (kept)
    diff->notes[diff->note_count++] = kept;
  return kept != NULL;
}

/* ---- what both sides give together ------------------------------------------------------------
 */

bool diff_side_is_net(const struct diff_side *side) {
  return side->kind == DIFF_NET || side->kind == DIFF_KEPT_NET;
}

bool diff_side_is_job(const struct diff_side *side) {
  return side->kind == DIFF_JOB || side->kind == DIFF_KEPT_JOB;
}

bool diff_side_lists(const struct diff_side *side) {
  return side->kind == DIFF_LIST || side->kind == DIFF_KEPT_LIST || diff_side_is_net(side);
}

static const char *kind_text(const struct diff_side *side) {
  return diff_side_is_job(side)   ? "a job of several devices"
         : diff_side_is_net(side) ? "a network"
         : diff_side_lists(side)  ? "a list of operators"
                                  : "one run";
}

static bool choose_counters(struct vinci_diff *diff) {
  diff->counters = ARENA_ARRAY(&diff->arena, size_t, METRICS_MAX);
  for (size_t i = 0; diff->counters && i < diff->names.count; i++) {
    const struct diff_side *a = &diff->side[EXPLAIN_A], *b = &diff->side[EXPLAIN_B];
    bool used = a->used[i] || b->used[i];
    if (a->has[i] && b->has[i] && used && (a->value[i] > 0 || b->value[i] > 0))
      diff->counters[diff->counter_count++] = i;
  }
  return diff->counters != NULL;
}

/* Why an explanation is missing, and what is behind another clock. */
static bool add_notes(struct vinci_diff *diff) {
  const struct diff_side *a = &diff->side[EXPLAIN_A], *b = &diff->side[EXPLAIN_B];
  char text[512];
  for (unsigned i = 0; i < EXPLAIN_SIDES; i++) {
    const struct diff_side *side = &diff->side[i];
    if (!side->has_path) {
      snprintf(text, sizeof text,
               "%.300s keeps no critical path, so the change has no parts; 'vinci run "
               "--output=DIR' keeps one in critical.csv",
               side->name);
      if (!diff_note(diff, text))
        return false;
    }
    if (side->left_out > 0) {
      snprintf(text, sizeof text, "%zu operators of %.300s have no time and are left out",
               side->left_out, side->name);
      if (!diff_note(diff, text))
        return false;
    }
  }
  if (a->soc && b->soc && a->soc->core_hz != b->soc->core_hz) {
    snprintf(text, sizeof text,
             "the core clocks differ, %" PRId64 " and %" PRId64
             " MHz: compare times, as cycles of one are not those of the other",
             a->soc->core_hz / 1000000, b->soc->core_hz / 1000000);
    return diff_note(diff, text);
  }
  return true;
}

static enum vinci_status compare_runs(struct vinci_diff *diff, struct vinci_diag *diag) {
  struct explanation *explanation = &diff->explanation;
  for (unsigned i = 0; i < EXPLAIN_SIDES; i++)
    explanation->total[i] = diff->side[i].total_cycles;
  if (!diff->side[EXPLAIN_A].has_path || !diff->side[EXPLAIN_B].has_path)
    explanation->count = 0;
  explain_order(explanation);
  if (!choose_counters(diff))
    return diff_no_memory(diag);
  return diff_find_partings(diff, diag);
}

static enum vinci_status compare(struct vinci_diff *diff, struct vinci_diag *diag) {
  const struct diff_side *a = &diff->side[EXPLAIN_A], *b = &diff->side[EXPLAIN_B];
  enum vinci_status status = diff_side_is_job(a)  ? diff_job_match(diff, diag)
                             : diff_side_lists(a) ? diff_list_match(diff, diag)
                                                  : compare_runs(diff, diag);
  for (unsigned i = 0; i < EXPLAIN_SIDES; i++)
    diff->side[i].has_path |= diff_side_lists(b) || diff_side_is_job(b);
  return status == VINCI_OK && !add_notes(diff) ? diff_no_memory(diag) : status;
}

static enum vinci_status open_sides(struct vinci_diff *diff, const struct vinci_diff_side *a,
                                    const struct vinci_diff_side *b,
                                    const struct vinci_diff_options *options,
                                    struct vinci_diag *diag) {
  enum vinci_status status = diff_side_open(diff, EXPLAIN_A, a, options, diag);
  if (status == VINCI_OK)
    status = diff_side_open(diff, EXPLAIN_B, b, options, diag);
  for (unsigned i = 0; status == VINCI_OK && i < EXPLAIN_SIDES; i++)
    status = diff_check_kept(&diff->side[i], &diff->side[EXPLAIN_SIDES - 1 - i], diag);
  const struct diff_side *a_side = &diff->side[EXPLAIN_A], *b_side = &diff->side[EXPLAIN_B];
  bool alike = diff_side_lists(a_side) == diff_side_lists(b_side) &&
               diff_side_is_net(a_side) == diff_side_is_net(b_side) &&
               diff_side_is_job(a_side) == diff_side_is_job(b_side);
  if (status == VINCI_OK && !alike)
    status = diag_error(diag, VINCI_E_USAGE, "%s is %s, %s is %s", a_side->name, kind_text(a_side),
                        b_side->name, kind_text(b_side));
  return status;
}

enum vinci_status vinci_diff_run(const struct vinci_diff_side *a, const struct vinci_diff_side *b,
                                 const struct vinci_diff_options *options, vinci_diff **out,
                                 struct vinci_diag *diag) {
  static const struct vinci_diff_options defaults = {.struct_size = sizeof defaults};
  const struct vinci_diff_options *given = options ? options : &defaults;
  *out = NULL;
  if (given->struct_size != sizeof *given)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options is %zu, not %zu",
                      given->struct_size, sizeof *given);
  vinci_diff *diff = calloc(1, sizeof *diff);
  if (!diff)
    return diff_no_memory(diag);
  metrics_collect(NULL, &diff->names);
  enum vinci_status status = open_sides(diff, a, b, given, diag);
  for (unsigned side = 0; status == VINCI_OK && side < EXPLAIN_SIDES; side++)
    status = diff_side_run(diff, (enum explain_side)side, given, diag);
  if (status == VINCI_OK)
    status = compare(diff, diag);
  if (status == VINCI_OK)
    *out = diff;
  else
    vinci_diff_free(diff);
  return status;
}

/* ---- what was found ---------------------------------------------------------------------------
 */

struct vinci_diff_end vinci_diff_end(const vinci_diff *diff, unsigned which) {
  const struct diff_side *side = &diff->side[which == 0 ? EXPLAIN_A : EXPLAIN_B];
  return (struct vinci_diff_end){side->name, side->soc_name, side->total_cycles, side->duration_ps,
                                 side->left_out};
}

bool vinci_diff_is_list(const vinci_diff *diff) { return diff_side_lists(&diff->side[EXPLAIN_A]); }

bool vinci_diff_is_job(const vinci_diff *diff) { return diff_side_is_job(&diff->side[EXPLAIN_A]); }

static bool is_new_group(const struct explanation *explanation, size_t index) {
  const struct explain_item *item = &explanation->items[index];
  return index == 0 || strcmp(item->group, item[-1].group) != 0;
}

static bool is_of(const struct explanation *explanation, enum vinci_diff_table table,
                  size_t index) {
  enum explain_kind kind = explanation->items[index].kind;
  return table == VINCI_DIFF_GROUPS   ? is_new_group(explanation, index)
         : table == VINCI_DIFF_CAUSES ? kind == EXPLAIN_CAUSE
                                      : kind == EXPLAIN_INSTRUCTION;
}

size_t vinci_diff_row_count(const vinci_diff *diff, enum vinci_diff_table table) {
  size_t count = 0;
  if (vinci_diff_is_job(diff))
    return diff_job_row_count(diff, table);
  if (table == VINCI_DIFF_COUNTERS)
    return diff->counter_count;
  if (table == VINCI_DIFF_OPERATORS)
    return diff->pair_count;
  if (table == VINCI_DIFF_CLASSES)
    return diff_side_is_net(&diff->side[EXPLAIN_A]) ? DIFF_CLASSES : 0;
  for (size_t i = 0; i < diff->explanation.count; i++)
    count += is_of(&diff->explanation, table, i);
  return count;
}

static void fill_part(const struct explanation *explanation, enum vinci_diff_table table,
                      const struct explain_item *item, struct vinci_diff_row *out) {
  *out = (struct vinci_diff_row){
      .group = item->group,
      .name = table == VINCI_DIFF_GROUPS ? item->group : item->name,
      .unit = "cycle",
      .text = item->kind == EXPLAIN_CAUSE ? explain_cause_text(item->name) : "",
      .better = "lower",
      .in_a = true,
      .in_b = true,
      .a = item->cycles[EXPLAIN_A],
      .b = item->cycles[EXPLAIN_B],
  };
  if (table == VINCI_DIFF_GROUPS) {
    out->text = "";
    out->a = explain_group_cycles(explanation, EXPLAIN_A, item->group);
    out->b = explain_group_cycles(explanation, EXPLAIN_B, item->group);
  } else if (table == VINCI_DIFF_INSTRUCTIONS) {
    out->a_count = item->count[EXPLAIN_A];
    out->b_count = item->count[EXPLAIN_B];
    out->count_change = explain_count_change(item);
  }
}

static const char *group_of(const struct metric *metric) {
  static const char *const groups[] = {
      [GROUP_RUN] = "run",    [GROUP_PIPE] = "pipe", [GROUP_CORE] = "core",
      [GROUP_PATH] = "bytes", [GROUP_L2] = "l2",     [GROUP_HBM] = "hbm"};
  if (metric->counter->unit == UNIT_PJ)
    return "energy";
  return strncmp(metric->name, "noc.", strlen("noc.")) == 0 ? "noc"
                                                            : groups[metric->counter->group];
}

static void fill_counter(const vinci_diff *diff, size_t index, struct vinci_diff_row *out) {
  const struct metric *metric = &diff->names.item[index];
  const struct counter *row = metric->counter;
  *out = (struct vinci_diff_row){
      .group = group_of(metric),
      .name = metric->name,
      .unit = row->unit == UNIT_WORD ? "word" : counter_unit_name(row->unit),
      .text = row->text,
      .better = counter_better_name(row->better),
      .in_a = true,
      .in_b = true,
      .a = diff->side[EXPLAIN_A].value[index],
      .b = diff->side[EXPLAIN_B].value[index],
  };
  if (row->unit == UNIT_WORD) {
    out->a_word = bound_name((enum bound)out->a);
    out->b_word = bound_name((enum bound)out->b);
  }
}

static void fill_pair(const struct diff_pair *pair, struct vinci_diff_row *out) {
  bool both = pair->a && pair->b;
  *out = (struct vinci_diff_row){
      .group = pair->a ? pair->a->lowered : pair->b->lowered,
      .name = pair->a ? pair->a->name : pair->b->name,
      .unit = "ps",
      .text = both && strcmp(pair->a->lowered, pair->b->lowered) != 0 ? pair->b->lowered : "",
      .better = "lower",
      .in_a = pair->a != NULL,
      .in_b = pair->b != NULL,
      .a = pair->a ? pair->a->duration_ps : 0,
      .b = pair->b ? pair->b->duration_ps : 0,
  };
}

static void fill_class(const vinci_diff *diff, size_t index, struct vinci_diff_row *out) {
  *out = (struct vinci_diff_row){
      .group = "",
      .name = diff_class_name(index),
      .unit = "ps",
      .text = diff_class_text(index),
      .better = "lower",
      .in_a = true,
      .in_b = true,
      .a = diff->side[EXPLAIN_A].class_ps[index],
      .b = diff->side[EXPLAIN_B].class_ps[index],
  };
}

bool vinci_diff_row(const vinci_diff *diff, enum vinci_diff_table table, size_t index,
                    struct vinci_diff_row *out) {
  bool found = index < vinci_diff_row_count(diff, table);
  if (found && vinci_diff_is_job(diff)) {
    diff_job_row(diff, table, index, out);
  } else if (found && table == VINCI_DIFF_COUNTERS) {
    fill_counter(diff, diff->counters[index], out);
  } else if (found && table == VINCI_DIFF_OPERATORS) {
    fill_pair(&diff->pairs[index], out);
  } else if (found && table == VINCI_DIFF_CLASSES) {
    fill_class(diff, index, out);
  } else if (found) {
    size_t at = 0;
    for (size_t left = index + 1; left > 0; at++)
      left -= is_of(&diff->explanation, table, at);
    fill_part(&diff->explanation, table, &diff->explanation.items[at - 1], out);
  }
  if (found)
    out->change = (int64_t)(out->b - out->a);
  return found;
}

bool vinci_diff_parting(const vinci_diff *diff, enum vinci_diff_parting which,
                        struct vinci_diff_point *out) {
  bool program = which == VINCI_DIFF_PROGRAM;
  *out = program ? diff->program : diff->time;
  return program ? diff->program_parts : diff->time_parts;
}

const char *vinci_diff_note(const vinci_diff *diff, size_t index) {
  return index < diff->note_count ? diff->notes[index] : NULL;
}

void vinci_diff_free(vinci_diff *diff) {
  if (!diff)
    return;
  for (unsigned side = 0; side < EXPLAIN_SIDES; side++)
    diff_side_close(&diff->side[side]);
  explain_free(&diff->explanation);
  arena_free(&diff->arena);
  free(diff);
}
