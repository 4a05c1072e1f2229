/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of operators: their times, and which operators of two lists are the same. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/diff/diff.h"

enum { PATH_SIZE = 4096, CELLS_MAX = 256, US_DIGITS = 6 };

/* The columns of op_summary.csv that are read. */
enum column { COLUMN_NAME, COLUMN_LOWERED, COLUMN_STATUS, COLUMN_DURATION, COLUMNS };
enum { COLUMN_WEIGHT = COLUMNS, ALL_COLUMNS };
#define NO_COLUMN SIZE_MAX
static const char *const column_names[] = {"Op Name", "lowered", "status", "sim_duration_us"};
static const char *const weight_name[] = {"weight"}; /* tables of older versions have none */

/* ---- tables ---------------------------------------------------------------------------------- */

bool diff_list_is_kept(const char *path) {
  size_t index[COLUMNS], capacity = 0;
  char *line = NULL;
  FILE *in = fopen(path, "r");
  bool kept =
      in && getline(&line, &capacity, in) > 0 && cells_find(line, column_names, COLUMNS, index);
  free(line);
  if (in)
    fclose(in);
  return kept;
}

bool diff_list_us(const char *text, uint64_t *ps) {
  const char *end = decimal_digits(text, ps);
  if (!end || (*end && *end != '.'))
    return false;
  const char *digit = *end == '.' ? end + 1 : end;
  for (unsigned i = 0; i < US_DIGITS; i++) {
    uint64_t next = (uint64_t)(*digit >= '0' && *digit <= '9' ? *digit++ - '0' : 0);
    if (__builtin_mul_overflow(*ps, 10, ps) || __builtin_add_overflow(*ps, next, ps))
      return false;
  }
  return *digit == '\0';
}

bool diff_list_add(struct vinci_diff *diff, struct diff_side *side, size_t *capacity,
                   const char *name, const char *lowered, const uint64_t *duration_ps) {
  if (side->operator_count == *capacity) {
    size_t more = *capacity ? 2 * *capacity : 64;
    struct diff_operator *grown = ARENA_ARRAY(&diff->arena, struct diff_operator, more);
    if (!grown)
      return false;
    if (side->operator_count > 0)
      memcpy(grown, side->operators, side->operator_count * sizeof *grown);
    side->operators = grown;
    *capacity = more;
  }
  struct diff_operator *operator= & side->operators[side->operator_count++];
  operator->name = arena_strdup(&diff->arena, name);
  operator->lowered = arena_strdup(&diff->arena, lowered);
  operator->has_time = duration_ps != NULL;
  if (duration_ps)
    side->duration_ps += operator->duration_ps = * duration_ps;
  else
    side->left_out++;
  return operator->name && operator->lowered;
}

static bool add_row(struct vinci_diff *diff, struct diff_side *side, size_t *capacity,
                    char *const *cell, const size_t index[ALL_COLUMNS]) {
  uint64_t duration_ps, weight = 1;
  bool has_time =
      strcmp(cell[index[COLUMN_STATUS]], "ok") == 0 &&
      diff_list_us(cell[index[COLUMN_DURATION]], &duration_ps) &&
      (index[COLUMN_WEIGHT] == NO_COLUMN || decimal_whole(cell[index[COLUMN_WEIGHT]], &weight)) &&
      !__builtin_mul_overflow(duration_ps, weight, &duration_ps);
  if (weight != 1 && !diff_note(diff, "times count each operator as often as its weight says"))
    return false;
  return diff_list_add(diff, side, capacity, cell[index[COLUMN_NAME]], cell[index[COLUMN_LOWERED]],
                       has_time ? &duration_ps : NULL);
}

static bool find_columns(char *header, size_t index[ALL_COLUMNS]) {
  char *copy = strdup(header); /* a header is split in place */
  bool found = copy && cells_find(header, column_names, COLUMNS, index);
  if (found && !cells_find(copy, weight_name, 1, &index[COLUMN_WEIGHT]))
    index[COLUMN_WEIGHT] = NO_COLUMN;
  free(copy);
  return found;
}

enum vinci_status diff_list_read(struct vinci_diff *diff, enum explain_side which, const char *path,
                                 struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct diag_position position = {.path = path};
  size_t index[ALL_COLUMNS], capacity = 0, room = 0, last = 0;
  char *line = NULL, *cell[CELLS_MAX];
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(diag, path, "open");
  enum vinci_status status = VINCI_OK;
  if (getline(&line, &room, in) <= 0 || !find_columns(line, index))
    status = diag_error_at(diag, VINCI_E_INPUT, position,
                           "is not a table of 'vinci run --ops': it lacks one of the columns Op "
                           "Name, lowered, status, sim_duration_us");
  for (unsigned c = 0; status == VINCI_OK && c < ALL_COLUMNS; c++)
    last = index[c] != NO_COLUMN && index[c] > last ? index[c] : last;
  for (position.line = 2; status == VINCI_OK && getline(&line, &room, in) > 0; position.line++) {
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = cells_split(line, cell, CELLS_MAX);
    if (count <= last || count > CELLS_MAX)
      status = diag_error_at(diag, VINCI_E_INPUT, position, "has fewer cells than the header");
    else if (!add_row(diff, side, &capacity, cell, index))
      status = diff_no_memory(diag);
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

static void note_warning(void *context, const char *text) { (void)diff_note(context, text); }

enum vinci_status diff_list_run(struct vinci_diff *diff, enum explain_side which,
                                const struct vinci_diff_options *options, struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct vinci_ops_result result;
  struct vinci_diag own = {.warn = note_warning, .warn_context = diff};
  struct vinci_ops_options run = {
      .struct_size = sizeof run,
      .overrides = {.soc = side->spec.soc,
                    .data_dir = side->data,
                    .memory = side->spec.models.memory,
                    .network = side->spec.models.network,
                    .l2 = side->spec.models.l2,
                    .code = side->spec.models.code,
                    .sets = side->spec.sets,
                    .set_count = side->spec.set_count},
      .max_cycles = options->max_cycles,
      .jobs = workload_jobs(options->jobs, DIFF_JOBS_MAX),
  };
  char folder[PATH_SIZE], path[PATH_SIZE + 16];
  enum vinci_status status = folder_make_temporary("vinci-diff", folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  status = vinci_ops_run(side->name, folder, &run, &result, &own);
  own.warn = diag->warn;
  own.warn_context = diag->warn_context;
  if (status != VINCI_OK)
    *diag = own;
  snprintf(path, sizeof path, "%s/op_summary.csv", folder);
  if (status == VINCI_OK)
    status = diff_list_read(diff, which, path, diag);
  folder_remove(folder);
  side->soc_name = side->spec.soc ? side->spec.soc : "";
  return status;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* An operator in the order of name, arguments, and place in its list. */
static int compare_exactly(const void *left, const void *right) {
  const struct diff_operator *a = *(struct diff_operator *const *)left;
  const struct diff_operator *b = *(struct diff_operator *const *)right;
  int order = strcmp(a->name, b->name);
  order = order ? order : strcmp(a->lowered, b->lowered);
  return order ? order : (a > b) - (a < b);
}

static int compare_names(const void *left, const void *right) {
  const struct diff_operator *a = *(struct diff_operator *const *)left;
  const struct diff_operator *b = *(struct diff_operator *const *)right;
  int order = strcmp(a->name, b->name);
  return order ? order : (a > b) - (a < b);
}

/* Those that have a time and no partner yet, in order. */
static size_t put_in_order(const struct diff_side *side, struct diff_operator **out,
                           int (*compare)(const void *, const void *)) {
  size_t count = 0;
  for (size_t i = 0; i < side->operator_count; i++)
    if (side->operators[i].has_time && !side->operators[i].matched)
      out[count++] = &side->operators[i];
  qsort(out, count, sizeof(struct diff_operator *), compare);
  return count;
}

static void add_pair(struct vinci_diff *diff, struct diff_operator *a, struct diff_operator *b) {
  if (a)
    a->matched = true;
  if (b)
    b->matched = true;
  diff->pairs[diff->pair_count++] = (struct diff_pair){a, b};
}

/* Pairs the k-th of equal operators of A with the k-th of B. */
static void pair_equal(struct vinci_diff *diff, struct diff_operator **a, struct diff_operator **b,
                       bool exactly) {
  int (*compare)(const void *, const void *) = exactly ? compare_exactly : compare_names;
  size_t a_count = put_in_order(&diff->side[EXPLAIN_A], a, compare);
  size_t b_count = put_in_order(&diff->side[EXPLAIN_B], b, compare);
  for (size_t i = 0, k = 0; i < a_count && k < b_count;) {
    int order = strcmp(a[i]->name, b[k]->name);
    if (order == 0 && exactly)
      order = strcmp(a[i]->lowered, b[k]->lowered);
    if (order == 0)
      add_pair(diff, a[i], b[k]);
    i += order <= 0;
    k += order >= 0;
  }
}

static uint64_t size_of(const struct diff_pair *pair) {
  uint64_t a = pair->a ? pair->a->duration_ps : 0, b = pair->b ? pair->b->duration_ps : 0;
  return a > b ? a - b : b - a;
}

static const char *name_of(const struct diff_pair *pair) {
  return pair->a ? pair->a->name : pair->b->name;
}

static const char *lowered_of(const struct diff_pair *pair) {
  return pair->a ? pair->a->lowered : pair->b->lowered;
}

/* By the size of the change; equal ones as they would be in either list. */
static int compare_pairs(const void *left, const void *right) {
  const struct diff_pair *a = left, *b = right;
  if (size_of(a) != size_of(b))
    return size_of(a) > size_of(b) ? -1 : 1;
  int order = strcmp(name_of(a), name_of(b));
  order = order ? order : strcmp(lowered_of(a), lowered_of(b));
  if (order != 0)
    return order;
  if (a->a && b->a)
    return (a->a > b->a) - (a->a < b->a);
  return (a->b > b->b) - (a->b < b->b);
}

enum vinci_status diff_list_match(struct vinci_diff *diff, struct vinci_diag *diag) {
  size_t a_count = diff->side[EXPLAIN_A].operator_count;
  size_t b_count = diff->side[EXPLAIN_B].operator_count;
  struct diff_operator **a = calloc(a_count + 1, sizeof(struct diff_operator *));
  struct diff_operator **b = calloc(b_count + 1, sizeof(struct diff_operator *));
  diff->pairs = ARENA_ARRAY(&diff->arena, struct diff_pair, a_count + b_count + 1);
  bool ready = a && b && diff->pairs;
  if (ready) {
    pair_equal(diff, a, b, true);
    pair_equal(diff, a, b, false);
    a_count = put_in_order(&diff->side[EXPLAIN_A], a, compare_names);
    b_count = put_in_order(&diff->side[EXPLAIN_B], b, compare_names);
    for (size_t i = 0; i < a_count; i++)
      add_pair(diff, a[i], NULL);
    for (size_t i = 0; i < b_count; i++)
      add_pair(diff, NULL, b[i]);
    qsort(diff->pairs, diff->pair_count, sizeof *diff->pairs, compare_pairs);
  }
  free(a);
  free(b);
  return ready ? VINCI_OK : diff_no_memory(diag);
}
