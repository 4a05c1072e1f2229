/* SPDX-License-Identifier: Apache-2.0 */
/* A side that was simulated before: summary.json, and critical.csv of its folder. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "studies/diff/diff.h"

enum { PATH_SIZE = 4096, SUMMARY_BYTES_MAX = 64 << 20, TABLE_BYTES_MAX = 16 << 20 };

/* A way in summary.json to each counter that the file has. */
struct ways {
  char way[METRICS_MAX][2 * METRIC_NAME_MAX];
};

struct reading {
  struct vinci_diff *diff;
  struct diff_side *side;
  const struct ways *ways;
  bool short_of_memory, partial;
};

/* ---- summary.json ---------------------------------------------------------------------------- */

static const char *path_key(const char *member) {
  for (unsigned path = 0; path < PATH_COUNT; path++) {
    static const char *const words[] = {
#define X(id, from, to, pipe) #id,
        PATH_LIST(X)
#undef X
    };
    if (strcmp(words[path], member) == 0)
      return path_name((enum path)path);
  }
  return member;
}

/* Sums over pipes count the cores without work as idle in the file, but not in the counters: what
 * is of idle cores is left out. */
static void find_ways(const struct metric_list *names, struct ways *out) {
  static const char pipe_word[] = "pipe.", instructions[] = "instructions", idle[] = ".idle_cycles";
  for (size_t i = 0; i < names->count; i++) {
    const struct metric *metric = &names->item[i];
    char *way = out->way[i];
    size_t size = sizeof out->way[i];
    *way = '\0';
    if (strcmp(metric->name, instructions) == 0)
      snprintf(way, size, "host.executed_instructions");
    else if (metric->counter->unit == UNIT_PJ)
      snprintf(way, size, "%s", metric->printed);
    else if (!(metric->counter->places & IN_SUMMARY) || strstr(metric->name, idle))
      continue;
    else if (metric->counter->group == GROUP_PATH)
      snprintf(way, size, "bytes.%s", path_key(metric->member));
    else if (strncmp(metric->printed, pipe_word, strlen(pipe_word)) == 0)
      snprintf(way, size, "pipes.%s", metric->printed + strlen(pipe_word));
    else
      snprintf(way, size, "%s", metric->printed);
  }
}

/* "12.345" as an integer of the unit of the counter; words by their enum. */
static bool read_number(const struct counter *row, const char *text, uint64_t *out) {
  unsigned decimals = counter_decimals(row->unit);
  if (row->unit == UNIT_WORD) {
    for (unsigned bound = 0; bound <= BOUND_NONE; bound++)
      if (strcmp(bound_name((enum bound)bound), text) == 0)
        return *out = bound, true;
    return false;
  }
  const char *end = decimal_digits(text, out);
  if (!end || (*end && *end != '.'))
    return false;
  const char *digit = *end == '.' ? end + 1 : end;
  for (unsigned i = 0; i < decimals; i++) {
    uint64_t next = (uint64_t)(*digit >= '0' && *digit <= '9' ? *digit++ - '0' : 0);
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, next, out))
      return false;
  }
  return *digit == '\0';
}

static void visit(void *context, const char *way, const char *text) {
  struct reading *reading = context;
  struct diff_side *side = reading->side;
  if (strcmp(way, "soc") == 0) {
    side->soc_name = arena_strdup(&reading->diff->arena, text);
    reading->short_of_memory |= !side->soc_name;
  }
  reading->partial |= strcmp(way, "partial") == 0 && strcmp(text, "true") == 0;
  for (size_t i = 0; i < reading->diff->names.count; i++)
    if (strcmp(reading->ways->way[i], way) == 0)
      side->has[i] = side->used[i] =
          read_number(reading->diff->names.item[i].counter, text, &side->value[i]);
}

static bool take(const struct vinci_diff *diff, const struct diff_side *side, const char *name,
                 uint64_t *out) {
  for (size_t i = 0; i < diff->names.count; i++)
    if (strcmp(diff->names.item[i].name, name) == 0 && side->has[i])
      return *out = side->value[i], true;
  return false;
}

static enum vinci_status read_summary(struct vinci_diff *diff, struct diff_side *side,
                                      const char *path, struct vinci_diag *diag) {
  size_t length;
  char *text = file_read(path, SUMMARY_BYTES_MAX, &length, diag);
  struct ways *ways = calloc(1, sizeof *ways);
  struct reading reading = {.diff = diff, .side = side, .ways = ways};
  enum vinci_status status = !text ? diag->status : !ways ? diff_no_memory(diag) : VINCI_OK;
  if (status == VINCI_OK) {
    find_ways(&diff->names, ways);
    status = json_read(path, text, length, visit, &reading, diag);
  }
  free(ways);
  free(text);
  if (status == VINCI_OK && reading.short_of_memory)
    status = diff_no_memory(diag);
  if (status == VINCI_OK && (!take(diff, side, "total_cycles", &side->total_cycles) ||
                             !take(diff, side, "duration_ps", &side->duration_ps))) {
    (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                        "has no total_cycles and duration_us at the top: no summary of one run");
    diag_hint(diag, "'vinci run TRACE --json' prints one");
    status = VINCI_E_INPUT;
  }
  if (status == VINCI_OK && reading.partial &&
      !diff_note(diff, "a result is partial: its run was cut short"))
    status = diff_no_memory(diag);
  return status;
}

/* ---- critical.csv ---------------------------------------------------------------------------- */

/* "instruction,MTE2,copy_gm_to_ubuf,4,1200" */
static bool read_part(struct vinci_diff *diff, enum explain_side which, char *line,
                      bool *short_of_memory) {
  enum { CELLS = 5 };
  static const char *const kinds[] = {"rest", "cause", "instruction"};
  char *cell[CELLS];
  struct explain_item like = {.kind = EXPLAIN_INSTRUCTION};
  if (cells_split(line, cell, CELLS) != CELLS)
    return false;
  for (unsigned kind = EXPLAIN_REST; kind <= EXPLAIN_INSTRUCTION; kind++)
    if (strcmp(cell[0], kinds[kind]) == 0)
      like.kind = (enum explain_kind)kind;
  snprintf(like.group, sizeof like.group, "%s", cell[1]);
  snprintf(like.name, sizeof like.name, "%s", cell[2]);
  uint64_t count, cycles;
  if (!decimal_whole(cell[3], &count) || !decimal_whole(cell[4], &cycles))
    return false;
  *short_of_memory |= !explain_add(&diff->explanation, which, &like, count, cycles);
  return true;
}

static enum vinci_status read_path(struct vinci_diff *diff, enum explain_side which,
                                   const char *path, struct vinci_diag *diag) {
  size_t length;
  unsigned long number = 0;
  bool short_of_memory = false;
  char *text = file_read(path, TABLE_BYTES_MAX, &length, diag), *rest = NULL;
  enum vinci_status status = text ? VINCI_OK : diag->status;
  for (char *line = text ? strtok_r(text, "\r\n", &rest) : NULL; status == VINCI_OK && line;
       line = strtok_r(NULL, "\r\n", &rest))
    if (number++ > 0 && !read_part(diff, which, line, &short_of_memory))
      status = diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){path, number, 1},
                             "not a line of kind,group,name,count,cycles");
  free(text);
  if (short_of_memory)
    status = diff_no_memory(diag);
  diff->side[which].has_path = status == VINCI_OK;
  return status;
}

enum vinci_status diff_kept_read(struct vinci_diff *diff, enum explain_side which,
                                 struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct stat found;
  char path[PATH_SIZE];
  bool folder = stat(side->name, &found) == 0 && S_ISDIR(found.st_mode);
  snprintf(path, sizeof path, "%s%s", side->name, folder ? "/summary.json" : "");
  enum vinci_status status = read_summary(diff, side, path, diag);
  if (status != VINCI_OK || !folder)
    return status;
  snprintf(path, sizeof path, "%s/critical.csv", side->name);
  return stat(path, &found) == 0 ? read_path(diff, which, path, diag) : VINCI_OK;
}
