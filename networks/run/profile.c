/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a profile into nodes, matched tensors into tensors. */
#include "networks/run/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/file.h"
#include "lower/calls/sequence.h"

enum { PS_PER_NS = 1000, COSTS_MAX = 512, COSTS_BYTES_MAX = 1 << 20, NAME_BYTES = 320 };

struct cost {
  const char *type;
  uint64_t ps;
};

struct importing {
  struct graph *graph;
  const struct vinci_soc *soc;
  const struct profile_options *options;
  struct profile_counts *counts;
  struct vinci_diag *diag;
  struct call_list list;
  struct sequence sequence;
  uint32_t *current; /* of each matched tensor: its tensor in the graph now; GRAPH_NONE: not yet */
  struct cost costs[COSTS_MAX];
  size_t cost_count;
  bool begun;
  uint64_t first_ns, end_ns; /* of rows on AI Cores */
};

static enum vinci_status no_memory(struct importing *importing) {
  return diag_error(importing->diag, VINCI_E_NOMEM, "out of memory for the graph of the profile");
}

/* ---- host costs ----------------------------------------------------------------------------- */

static enum vinci_status cost_row(struct importing *importing, char *line, unsigned long number) {
  char *comma = strchr(line, ','), *more = comma ? strchr(comma + 1, ',') : NULL;
  struct cost *cost = &importing->costs[importing->cost_count];
  if (importing->cost_count == COSTS_MAX)
    return diag_error(importing->diag, VINCI_E_INPUT, "more than %d rows of host costs", COSTS_MAX);
  if (comma)
    *comma = '\0';
  if (more)
    *more = '\0';
  cost->type = arena_strdup(&importing->graph->arena, line);
  if (!cost->type)
    return no_memory(importing);
  if (!comma || *line == '\0' || !calls_time(comma + 1, &cost->ps)) {
    struct diag_position at = {.path = importing->options->host_costs, .line = number, .column = 1};
    diag_error_at(importing->diag, VINCI_E_INPUT, at, "not a type and microseconds");
    diag_hint(importing->diag, "a row is such as Add,119.2 behind the header type,mean_us");
    return VINCI_E_INPUT;
  }
  importing->cost_count++;
  return VINCI_OK;
}

/* Columns behind the two that are read; n, how often a type was measured, is known. */
static bool note_columns(struct importing *importing, const char *header, size_t start) {
  struct unread unread = {0};
  for (const char *at = header + start; *at == ',';) {
    size_t length = strcspn(++at, ",");
    struct unread_found found = {
        .kind = UNREAD_COLUMN,
        .at = {importing->options->host_costs, 1, (unsigned long)(at - header) + 1},
        .name = at,
        .length = length};
    if (length > 0 && !(length == 1 && *at == 'n') &&
        !unread_add(&unread, &importing->graph->arena, &found))
      return false;
    at += length;
  }
  unread_warn(&unread, importing->diag);
  return true;
}

/* The header, then "type,mean_us" with whatever columns behind. */
static enum vinci_status read_costs(struct importing *importing) {
  static const char header[] = "type,mean_us";
  const char *path = importing->options->host_costs;
  size_t length;
  if (!path)
    return VINCI_OK;
  char *text = file_read_text(path, COSTS_BYTES_MAX, &length, importing->diag), *line = text, *next;
  enum vinci_status status = text ? VINCI_OK : importing->diag->status;
  for (unsigned long number = 1; status == VINCI_OK && line && *line; number++, line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    if (number == 1 && strncmp(line, header, sizeof header - 1) != 0)
      status = diag_error_at(importing->diag, VINCI_E_INPUT,
                             (struct diag_position){.path = path, .line = 1, .column = 1},
                             "a table of host costs begins with \"%s\"", header);
    else if (number == 1 && !note_columns(importing, line, sizeof header - 1))
      status = no_memory(importing);
    else if (number > 1 && *line)
      status = cost_row(importing, line, number);
  }
  free(text);
  return status;
}

static uint64_t cost_of(struct importing *importing, const char *type) {
  for (size_t i = 0; i < importing->cost_count; i++)
    if (strcmp(importing->costs[i].type, type) == 0)
      return importing->costs[i].ps;
  importing->counts->unknown_cost += importing->cost_count > 0;
  return 0;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static uint32_t new_tensor(struct importing *importing, size_t tensor, uint32_t memory) {
  const struct sequence_tensor *from = &importing->sequence.tensors[tensor];
  char base[NAME_BYTES];
  snprintf(base, sizeof base, "t%zu", tensor);
  const char *name = graph_new_name(importing->graph, base);
  uint32_t index = name ? graph_add_tensor(importing->graph, name) : GRAPH_NONE;
  if (index == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor *to = &importing->graph->tensors[index];
  uint64_t elements = max_u64(1, from->bytes * BITS_PER_BYTE / dtype_bits(from->dtype));
  to->dtype = from->dtype;
  to->memory = memory;
  graph_set_shape(to, &elements, 1);
  return index;
}

/* What device memory cannot hold is no tensor of this chip. */
static bool is_there(const struct importing *importing, const struct sequence_use *use) {
  return use->tensor != SEQUENCE_NONE &&
         importing->sequence.tensors[use->tensor].bytes <= (uint64_t)importing->soc->hbm_bytes;
}

/* Tensors that nobody has written before are there at the start. */
static bool take_inputs(struct importing *importing, const struct sequence_row *row,
                        uint32_t *inputs) {
  for (unsigned i = 0; i < row->inputs; i++) {
    const struct sequence_use *use = &importing->sequence.uses[row->first_use + i];
    inputs[i] = GRAPH_NONE;
    if (!is_there(importing, use))
      continue;
    uint32_t *current = &importing->current[use->tensor];
    if (*current == GRAPH_NONE) {
      if ((*current = new_tensor(importing, use->tensor, GRAPH_NONE)) == GRAPH_NONE)
        return false;
      importing->graph->tensors[*current].io = GRAPH_IN;
    }
    inputs[i] = *current;
  }
  return true;
}

/* Each write makes a new tensor, in the memory of the one before where there is such. */
static bool take_outputs(struct importing *importing, const struct sequence_row *row,
                         uint32_t *outputs, uint32_t *count) {
  *count = 0;
  for (unsigned i = row->inputs; i < row->inputs + row->outputs; i++) {
    const struct sequence_use *use = &importing->sequence.uses[row->first_use + i];
    if (!is_there(importing, use))
      continue;
    uint32_t *current = &importing->current[use->tensor];
    if ((*current = new_tensor(importing, use->tensor, *current)) == GRAPH_NONE)
      return false;
    outputs[(*count)++] = *current;
  }
  return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The unit of a task: what the profile says, without blanks. */
static void unit_of(const struct call_row *row, char *unit, size_t size) {
  const char *core = calls_communicates(row) ? "COMMUNICATION" : row->cell[CALL_CORE];
  snprintf(unit, size, "%s", *core ? core : "AI_CPU");
  for (char *at = unit; *at; at++)
    *at = *at == ' ' || *at == ',' ? '_' : *at;
}

static const char *name_of(struct importing *importing, const struct call_row *row, size_t index) {
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "%zu_%.200s", index + 1,
           *row->cell[CALL_NAME] ? row->cell[CALL_NAME] : row->cell[CALL_TYPE]);
  for (char *at = name; *at; at++)
    *at = *at == ' ' || *at == '\t' || *at == ',' || *at == '"' ? '_' : *at;
  return arena_strdup(&importing->graph->arena, name);
}

/* A gap that is too long for launches: the host did something else before this row. */
static enum vinci_status add_host_wait(struct importing *importing, const struct call_row *row) {
  uint64_t gap = importing->begun && row->started && row->start_ns > importing->end_ns
                     ? (row->start_ns - importing->end_ns) * PS_PER_NS
                     : 0;
  if (importing->options->host_wait_ps == 0 || gap < importing->options->host_wait_ps)
    return VINCI_OK;
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "host_%zu", ++importing->counts->host_waits);
  struct graph_node node = {
      .name = name, .kind = GRAPH_TASK, .op = "HOST", .origin = "host", .duration_ps = gap};
  return graph_add_node(importing->graph, &node) == GRAPH_NONE ? no_memory(importing) : VINCI_OK;
}

static void advance(struct importing *importing, const struct call_row *row) {
  if (!calls_on_cores(row))
    return;
  importing->counts->measured_core_ps += row->measured_ps;
  if (!row->started)
    return;
  uint64_t end = row->start_ns + row->measured_ps / PS_PER_NS;
  if (!importing->begun)
    importing->first_ns = row->start_ns;
  importing->begun = true;
  importing->end_ns = max_u64(importing->end_ns, end);
}

static enum vinci_status add_row(struct importing *importing, size_t index) {
  const struct call_row *row = &importing->list.rows[index];
  const struct sequence_row *used = &importing->sequence.rows[index];
  uint32_t inputs[LOWER_TENSORS_MAX], outputs[LOWER_TENSORS_MAX], count;
  struct call_request request = {0};
  char unit[NAME_BYTES];
  bool cores = calls_on_cores(row);
  enum vinci_status status = cores ? add_host_wait(importing, row) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  if (!take_inputs(importing, used, inputs) || !take_outputs(importing, used, outputs, &count))
    return no_memory(importing);
  struct graph_node node = {.name = name_of(importing, row, index),
                            .inputs = inputs,
                            .outputs = outputs,
                            .input_count = used->inputs,
                            .output_count = count,
                            .origin = row->cell[CALL_TYPE],
                            .host_ps = cost_of(importing, row->cell[CALL_TYPE]),
                            .duration_ps = row->measured_ps,
                            .stream = cores ? 0 : 1};
  if (!node.name)
    return no_memory(importing);
  if (cores &&
      calls_resolve(&importing->list, row, importing->soc, &importing->graph->arena, &request)) {
    node.kind = GRAPH_KERNEL;
    node.op = request.op->name;
    node.args = request.args;
    node.arg_count = (uint32_t)request.arg_count;
    importing->counts->kernels++;
  } else {
    unit_of(row, unit, sizeof unit);
    node.kind = GRAPH_TASK;
    node.op = unit;
    importing->counts->tasks++;
  }
  advance(importing, row);
  return graph_add_node(importing->graph, &node) == GRAPH_NONE ? no_memory(importing) : VINCI_OK;
}

static enum vinci_status add_rows(struct importing *importing) {
  size_t tensors = importing->sequence.tensor_count;
  enum vinci_status status = VINCI_OK;
  importing->current = malloc((tensors + 1) * sizeof *importing->current);
  if (!importing->current)
    return no_memory(importing);
  for (size_t i = 0; i < tensors; i++)
    importing->current[i] = GRAPH_NONE;
  for (size_t i = 0; i < importing->list.count && status == VINCI_OK; i++)
    status = add_row(importing, i);
  free(importing->current);
  importing->counts->measured_span_ps = (importing->end_ns - importing->first_ns) * PS_PER_NS;
  return status;
}

enum vinci_status profile_graph(const char *path, const struct vinci_soc *soc,
                                const struct profile_options *options, struct graph *out,
                                struct profile_counts *counts, struct vinci_diag *diag) {
  struct importing *importing = calloc(1, sizeof *importing);
  *out = (struct graph){0};
  *counts = (struct profile_counts){0};
  if (!importing)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the graph of the profile");
  *importing = (struct importing){
      .graph = out, .soc = soc, .options = options, .counts = counts, .diag = diag};
  enum vinci_status status = calls_read(path, &importing->list, diag);
  bool read = status == VINCI_OK;
  if (read && !importing->list.has[CALL_IN_SHAPES]) {
    status = diag_error(diag, VINCI_E_INPUT, "%s is not a profile: it has no input shapes", path);
    diag_hint(diag, "the profiler's kernel_details.csv has all that a replay needs");
  }
  if (status == VINCI_OK)
    status = options->device ? calls_keep_device(&importing->list, path, options->device, diag)
                             : calls_one_device(&importing->list, path, diag);
  if (status == VINCI_OK)
    status = read_costs(importing);
  if (status == VINCI_OK) {
    status = sequence_create(&importing->list, &importing->sequence, diag);
    if (status == VINCI_OK)
      status = add_rows(importing);
    sequence_free(&importing->sequence);
  }
  if (status == VINCI_OK && !(out->name = arena_strdup(&out->arena, path)))
    status = no_memory(importing);
  if (read)
    arena_free(&importing->list.arena);
  free(importing);
  if (status != VINCI_OK)
    graph_free(out);
  return status;
}
