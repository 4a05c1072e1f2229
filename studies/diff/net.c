/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks: simulated here, or kept in a result folder of `vinci net run`. Both tables add up to
 * the time of the network. By class: what vinci_net_result says that the time is made of. By node:
 * each instant belongs to the node that began first of those that run, and the instants at which
 * none runs are a row of their own.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/cells.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "studies/diff/diff.h"

enum { PATH_SIZE = 4096, CELLS_MAX = 64, SUMMARY_BYTES_MAX = 1 << 20 };

static const struct {
  const char *name, *text;
  size_t offset; /* in struct vinci_net_result */
} classes[DIFF_CLASSES] = {
    {"cube", "kernels bound by the cube", offsetof(struct vinci_net_result, cube_ps)},
    {"vector", "kernels bound by the vector unit", offsetof(struct vinci_net_result, vector_ps)},
    {"memory", "kernels bound by memory", offsetof(struct vinci_net_result, memory_ps)},
    {"latency", "kernels bound by waits within them",
     offsetof(struct vinci_net_result, latency_ps)},
    {"scalar", "kernels bound by the scalar units", offsetof(struct vinci_net_result, scalar_ps)},
    {"task", "tasks of a given time on the AI Cores", offsetof(struct vinci_net_result, task_ps)},
    {"host", "the AI Cores wait for the host", offsetof(struct vinci_net_result, host_bound_ps)},
    {"gap", "launch: from one kernel to the next in the queue",
     offsetof(struct vinci_net_result, gap_ps)},
    {"wait", "the AI Cores wait for copies and other streams",
     offsetof(struct vinci_net_result, wait_ps)},
    {"tail", "what runs after the AI Cores", offsetof(struct vinci_net_result, tail_ps)},
};

const char *diff_class_name(size_t index) { return classes[index].name; }
const char *diff_class_text(size_t index) { return classes[index].text; }

/* ---- nodes ----------------------------------------------------------------------------------- */

struct span {
  uint64_t start_ps, duration_ps;
  size_t operator;
};

/* Nodes while they are listed; `spans` from malloc. */
struct nodes {
  struct vinci_diff *diff;
  struct diff_side *side;
  size_t capacity, room;
  struct span *spans;
};

static bool add_node(struct nodes *nodes, const char *name, const char *op, uint64_t start_ps,
                     uint64_t duration_ps) {
  struct diff_side *side = nodes->side;
  const uint64_t none = 0;
  if (nodes->room <= side->operator_count) {
    size_t room = 2 * nodes->room + 64;
    struct span *grown = realloc(nodes->spans, room * sizeof *grown);
    if (!grown)
      return false;
    nodes->spans = grown;
    nodes->room = room;
  }
  nodes->spans[side->operator_count] = (struct span){start_ps, duration_ps, side->operator_count};
  return diff_list_add(nodes->diff, side, &nodes->capacity, name, op, &none);
}

static int compare_spans(const void *left, const void *right) {
  const struct span *a = left, *b = right;
  int order = (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
  return order ? order : (a->operator> b->operator) - (a->operator<b->operator);
}

/* Gives the time of the network to its nodes, and what is left to a row of its own. */
static bool share_time(struct nodes *nodes, uint64_t end_ps) {
  struct diff_side *side = nodes->side;
  size_t count = side->operator_count;
  uint64_t until_ps = 0, idle_ps = end_ps;
  if (count > 0)
    qsort(nodes->spans, count, sizeof *nodes->spans, compare_spans);
  for (size_t i = 0; i < count; i++) {
    const struct span *span = &nodes->spans[i];
    uint64_t from_ps = max_u64(span->start_ps, until_ps);
    uint64_t stop_ps = min_u64(span->start_ps + span->duration_ps, end_ps);
    uint64_t share_ps = stop_ps > from_ps ? stop_ps - from_ps : 0;
    side->operators[span->operator].duration_ps = share_ps;
    until_ps = max_u64(until_ps, stop_ps);
    idle_ps -= share_ps;
  }
  side->duration_ps = end_ps;
  if (!diff_list_add(nodes->diff, side, &nodes->capacity, "(no node runs)", "", &idle_ps))
    return false;
  side->duration_ps = end_ps; /* which the list has added to */
  return true;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool visit_node(void *context, const struct vinci_net_node *node) {
  return add_node(context, node->name, node->op, node->start_ps, node->duration_ps);
}

enum vinci_status diff_net_run(struct vinci_diff *diff, enum explain_side which,
                               struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct vinci_run_options models = {.struct_size = sizeof models};
  struct nodes nodes = {.diff = diff, .side = side};
  struct network_watch watch = {.context = &nodes, .visit = visit_node};
  struct vinci_net_result result;
  enum vinci_status status = workload_choose(&side->spec.models, &models, diag);
  if (status == VINCI_OK)
    status = spec_load_soc(&side->spec, side->data, &side->soc, diag);
  if (status == VINCI_OK)
    status = network_run(&side->spec.workload, side->soc, &models, &watch, &result, NULL, diag);
  if (status == VINCI_OK && side->operator_count != result.nodes)
    status = diff_no_memory(diag);
  if (status == VINCI_OK) {
    side->soc_name = vinci_soc_name(side->soc);
    for (size_t i = 0; i < DIFF_CLASSES; i++)
      memcpy(&side->class_ps[i], (const char *)&result + classes[i].offset, sizeof(uint64_t));
    if (!share_time(&nodes, result.end_ps))
      status = diff_no_memory(diag);
  }
  free(nodes.spans);
  return status;
}

/* ---- a result folder ------------------------------------------------------------------------- */

struct summary {
  struct nodes *nodes;
  uint64_t end_ps;
  unsigned found; /* classes and the time */
  bool failed;
};

static void visit_summary(void *context, const char *way, const char *text) {
  struct summary *summary = context;
  struct diff_side *side = summary->nodes->side;
  char key[32];
  if (strcmp(way, "chip") == 0) {
    side->soc_name = arena_strdup(&summary->nodes->diff->arena, text);
    summary->failed |= !side->soc_name;
  } else if (strcmp(way, "time_us") == 0) {
    summary->found += diff_list_us(text, &summary->end_ps);
  }
  for (size_t i = 0; i < DIFF_CLASSES; i++) {
    snprintf(key, sizeof key, "%s_us", classes[i].name);
    if (strcmp(way, key) == 0)
      summary->found += diff_list_us(text, &side->class_ps[i]);
  }
}

static enum vinci_status read_summary(struct nodes *nodes, uint64_t *end_ps,
                                      struct vinci_diag *diag) {
  struct summary summary = {.nodes = nodes};
  char path[PATH_SIZE];
  size_t length;
  snprintf(path, sizeof path, "%s/summary.json", nodes->side->name);
  char *text = file_read(path, SUMMARY_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = json_read(path, text, length, visit_summary, &summary, diag);
  free(text);
  if (status == VINCI_OK && summary.failed)
    status = diff_no_memory(diag);
  if (status == VINCI_OK && summary.found != DIFF_CLASSES + 1)
    status = diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                           "is not a summary of 'vinci net run': it lacks times");
  *end_ps = summary.end_ps;
  return status;
}

static enum vinci_status read_nodes(struct nodes *nodes, struct vinci_diag *diag) {
  enum { NODE, OP, START, DURATION, COLUMNS };
  static const char *const names[] = {"node", "op", "start_us", "duration_us"};
  char path[PATH_SIZE], *line = NULL, *cell[CELLS_MAX];
  size_t index[COLUMNS], room = 0, last = 0;
  struct diag_position position = {.path = path};
  snprintf(path, sizeof path, "%s/nodes.csv", nodes->side->name);
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(diag, path, "open");
  enum vinci_status status = VINCI_OK;
  if (getline(&line, &room, in) <= 0 || !cells_find(line, names, COLUMNS, index))
    status = diag_error_at(diag, VINCI_E_INPUT, position,
                           "lacks one of the columns node, op, start_us, duration_us");
  for (size_t i = 0; status == VINCI_OK && i < COLUMNS; i++)
    last = max_u64(last, index[i]);
  for (position.line = 2; status == VINCI_OK && getline(&line, &room, in) > 0; position.line++) {
    uint64_t start_ps, duration_ps;
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = cells_split(line, cell, CELLS_MAX);
    if (count > CELLS_MAX || count <= last || !diff_list_us(cell[index[START]], &start_ps) ||
        !diff_list_us(cell[index[DURATION]], &duration_ps))
      status =
          diag_error_at(diag, VINCI_E_INPUT, position, "lacks cells, or has no start and duration");
    else if (!add_node(nodes, cell[index[NODE]], cell[index[OP]], start_ps, duration_ps))
      status = diff_no_memory(diag);
  }
  if (status == VINCI_OK && !file_ended(in))
    status = file_error(diag, path, "read");
  free(line);
  fclose(in);
  return status;
}

enum vinci_status diff_net_read(struct vinci_diff *diff, enum explain_side which,
                                struct vinci_diag *diag) {
  struct nodes nodes = {.diff = diff, .side = &diff->side[which]};
  uint64_t end_ps = 0;
  enum vinci_status status = read_summary(&nodes, &end_ps, diag);
  if (status == VINCI_OK)
    status = read_nodes(&nodes, diag);
  if (status == VINCI_OK && !share_time(&nodes, end_ps))
    status = diff_no_memory(diag);
  free(nodes.spans);
  return status;
}
