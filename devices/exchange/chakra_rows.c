/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a trace as rows of a program. Each node has a clock: how many rows of each stream
 * have ended when it ends. From the clocks follows what a node that is left out passes on.
 */
#include "devices/exchange/chakra_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "devices/jobs/job.h"

enum { US_DIGITS = 6, MILLI_DIGITS = 3 };
#define DURATION_MAX_US UINT64_C(1000000000000)

enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct entry {
  uint64_t id;
  uint32_t index; /* of the node in the file */
};

struct edge {
  uint32_t next; /* of the same node, as first_edge */
};

struct rows {
  const struct chakra_trace *trace;
  uint32_t rank;
  chakra_find_group *find;
  void *context;
  struct vinci_diag *diag;
  FILE *out;
  struct entry *by_id;
  uint32_t *order;     /* nodes, what they depend on first */
  uint8_t *streams;    /* by node: of rows */
  uint32_t *clocks;    /* by node and stream */
  uint32_t *row_nodes; /* nodes of the rows, stream after stream */
  uint32_t *waits;     /* of one row */
  struct edge *edges;  /* from a row that is waited for; an event each, as schedulers write these */
  uint32_t *first_edge; /* by node: its number plus 1; 0: nobody waits */
  uint32_t edge_count, edge_capacity;
  uint32_t stream_count, first_row[JOB_STREAMS_MAX + 1];
};

static bool is_of_host(const struct chakra_node *node) {
  return chakra_has(node, CHAKRA_IS_CPU_OP) && node->numbers[CHAKRA_IS_CPU_OP];
}

/* Of the host's nodes those that this program wrote: others overlap with the device's. */
bool chakra_is_row(const struct chakra_node *node) {
  bool work = !is_of_host(node) || chakra_has(node, CHAKRA_DURATION_PS);
  return (node->type == CHAKRA_COMP && work) || node->type == CHAKRA_COLL ||
         node->type == CHAKRA_SEND || node->type == CHAKRA_RECV;
}

enum vinci_status chakra_fail(const struct chakra_trace *trace, const struct chakra_node *node,
                              struct vinci_diag *diag, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = trace->path},
                       "node %" PRIu64 " (\"%.60s\") %s", node->id, node->name, text);
}

/* ---- what depends on what -------------------------------------------------------------------- */

static int compare_entries(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  return a->id < b->id ? -1 : a->id > b->id;
}

static enum vinci_status index_nodes(struct rows *rows) {
  const struct chakra_trace *trace = rows->trace;
  for (size_t i = 0; i < trace->node_count; i++)
    rows->by_id[i] = (struct entry){trace->nodes[i].id, (uint32_t)i};
  qsort(rows->by_id, trace->node_count, sizeof *rows->by_id, compare_entries);
  for (size_t i = 1; i < trace->node_count; i++)
    if (rows->by_id[i].id == rows->by_id[i - 1].id)
      return chakra_fail(trace, &trace->nodes[rows->by_id[i].index], rows->diag,
                         "has the id of another node");
  return VINCI_OK;
}

static const struct entry *find_node(const struct rows *rows, uint64_t id) {
  return bsearch(&(struct entry){.id = id}, rows->by_id, rows->trace->node_count,
                 sizeof *rows->by_id, compare_entries);
}

/* Nodes that a node on the stack waits for come before it; otherwise the order of the file stays.
 */
static enum vinci_status order_nodes(struct rows *rows) {
  const struct chakra_trace *trace = rows->trace;
  size_t count = trace->node_count, ordered = 0;
  uint8_t *visits = calloc(count + 1, sizeof *visits);
  uint32_t *stack = calloc(count + 1, sizeof *stack), *next = calloc(count + 1, sizeof *next);
  enum vinci_status status =
      visits && stack && next ? VINCI_OK : diag_error(rows->diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; status == VINCI_OK && i < count; i++) {
    size_t depth = 0;
    if (visits[i] == VISIT_NEW)
      stack[depth++] = (uint32_t)i;
    while (status == VINCI_OK && depth > 0) {
      uint32_t at = stack[depth - 1];
      const struct chakra_node *node = &trace->nodes[at];
      visits[at] = VISIT_OPEN;
      if (next[at] == node->dep_count) {
        visits[at] = VISIT_DONE;
        rows->order[ordered++] = at;
        depth--;
        continue;
      }
      uint64_t id = node->deps[next[at]++];
      const struct entry *dep = find_node(rows, id);
      if (!dep)
        status = chakra_fail(trace, node, rows->diag,
                             "depends on node %" PRIu64 ", which the trace does not have", id);
      else if (visits[dep->index] == VISIT_OPEN)
        status = chakra_fail(trace, node, rows->diag,
                             "depends on node %" PRIu64 ", and that depends on it", id);
      else if (visits[dep->index] == VISIT_NEW)
        stack[depth++] = dep->index;
    }
  }
  free(visits);
  free(stack);
  free(next);
  return status;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream that a node names; else work, collectives, sends and receives have one each. */
static uint64_t named_stream(const struct chakra_node *node) {
  return chakra_has(node, CHAKRA_STREAM) ? node->numbers[CHAKRA_STREAM]
         : node->type == CHAKRA_COMP     ? 0
         : node->type == CHAKRA_COLL     ? 1
         : node->type == CHAKRA_SEND     ? 2
                                         : 3;
}

/* Streams keep their numbers where all fit a job; otherwise they are counted in the order in which
 * they come. */
static enum vinci_status number_streams(struct rows *rows) {
  const struct chakra_trace *trace = rows->trace;
  uint64_t names[JOB_STREAMS_MAX], most = 0;
  uint32_t count = 0;
  for (size_t i = 0; i < trace->node_count; i++) {
    uint64_t name = named_stream(&trace->nodes[i]);
    uint32_t at = 0;
    if (!chakra_is_row(&trace->nodes[i]))
      continue;
    while (at < count && names[at] != name)
      at++;
    if (at == JOB_STREAMS_MAX)
      return chakra_fail(trace, &trace->nodes[i], rows->diag,
                         "is in one more stream than the %d that a job has", JOB_STREAMS_MAX);
    names[at] = name;
    count += at == count;
    most = name > most ? name : most;
    rows->streams[i] = (uint8_t)at;
  }
  bool keep = most < JOB_STREAMS_MAX;
  for (size_t i = 0; keep && i < trace->node_count; i++)
    rows->streams[i] = (uint8_t)names[rows->streams[i]];
  rows->stream_count = keep ? (uint32_t)most + 1 : count;
  return VINCI_OK;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static uint32_t *clock_of(const struct rows *rows, uint32_t node) {
  return &rows->clocks[(size_t)node * rows->stream_count];
}

static void merge(const struct rows *rows, uint32_t *into, const uint32_t *from) {
  for (uint32_t s = 0; s < rows->stream_count; s++)
    into[s] = from[s] > into[s] ? from[s] : into[s];
}

/* In order of the rows: clocks, and the rows of each stream. A node that is left out passes on what
 * it depends on. */
static void set_clocks(struct rows *rows) {
  const struct chakra_trace *trace = rows->trace;
  uint32_t last[JOB_STREAMS_MAX], filled[JOB_STREAMS_MAX] = {0};
  for (uint32_t s = 0; s < JOB_STREAMS_MAX; s++)
    last[s] = UINT32_MAX;
  for (size_t i = 0; i < trace->node_count; i++) /* counted one place further on */
    if (chakra_is_row(&trace->nodes[i]))
      rows->first_row[rows->streams[i] + 1]++;
  for (uint32_t s = 0; s < JOB_STREAMS_MAX; s++)
    rows->first_row[s + 1] += rows->first_row[s];
  for (size_t i = 0; i < trace->node_count; i++) {
    uint32_t at = rows->order[i], stream = rows->streams[at];
    const struct chakra_node *node = &trace->nodes[at];
    for (size_t d = 0; d < node->dep_count; d++)
      merge(rows, clock_of(rows, at), clock_of(rows, find_node(rows, node->deps[d])->index));
    if (!chakra_is_row(node))
      continue;
    if (last[stream] != UINT32_MAX)
      merge(rows, clock_of(rows, at), clock_of(rows, last[stream]));
    last[stream] = at;
    rows->row_nodes[rows->first_row[stream] + filled[stream]++] = at;
    clock_of(rows, at)[stream] = filled[stream];
  }
}

/* The clock that holds before a row starts, as the row before in its stream leaves the clock. */
static void clock_before(const struct rows *rows, uint32_t before, uint32_t *out) {
  memset(out, 0, JOB_STREAMS_MAX * sizeof *out);
  if (before != UINT32_MAX)
    memcpy(out, clock_of(rows, before), rows->stream_count * sizeof *out);
}

static bool is_again(const struct chakra_node *node, size_t dep) {
  for (size_t i = 0; i < dep; i++)
    if (node->deps[i] == node->deps[dep])
      return true;
  return false;
}

/*
 * The nodes of other streams that a row waits for: those that it names, also where a wait is not
 * needed, so that a job which was written as Chakra gets its own waits back; then what nodes that
 * are left out pass on, where nothing else has waited for that. out has room for the dependencies
 * and for a node of each stream; returns how many there are.
 */
static size_t waits_of(const struct rows *rows, uint32_t at, uint32_t before, uint32_t *out) {
  const struct chakra_node *node = &rows->trace->nodes[at];
  uint32_t known[JOB_STREAMS_MAX];
  size_t count = 0;
  clock_before(rows, before, known);
  for (size_t d = 0; d < node->dep_count; d++) {
    uint32_t dep = find_node(rows, node->deps[d])->index;
    if (!chakra_is_row(&rows->trace->nodes[dep]))
      continue;
    merge(rows, known, clock_of(rows, dep));
    if (rows->streams[dep] != rows->streams[at] && !is_again(node, d))
      out[count++] = dep;
  }
  for (uint32_t s = 0; s < rows->stream_count; s++) {
    uint32_t needed = clock_of(rows, at)[s];
    if (s != rows->streams[at] && needed > known[s])
      out[count++] = rows->row_nodes[rows->first_row[s] + needed - 1];
  }
  return count;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void chakra_put_word(const char *name, FILE *out) {
  for (; *name; name++)
    putc((unsigned char)*name < ' ' || strchr(",|\"", *name) ? '_' : *name, out);
}

static void put_name(const struct rows *rows, const char *row, const struct chakra_node *node) {
  fprintf(rows->out, "%s,name=", row);
  chakra_put_word(*node->name ? node->name : chakra_type_name(node->type), rows->out);
}

static enum vinci_status put_work(const struct rows *rows, const struct chakra_node *node) {
  uint64_t ps = node->numbers[CHAKRA_DURATION_PS];
  if (node->duration_us > DURATION_MAX_US)
    return chakra_fail(rows->trace, node, rows->diag, "lasts longer than a job may");
  if (!chakra_has(node, CHAKRA_DURATION_PS))
    ps = node->duration_us * 1000000;
  put_name(rows, is_of_host(node) ? "host" : "work", node);
  fprintf(rows->out, ",us=%s", decimal_exact(ps, US_DIGITS).text);
  if (node->numbers[CHAKRA_MEMORY_MILLI])
    fprintf(rows->out, ",memory=%s",
            decimal_exact(node->numbers[CHAKRA_MEMORY_MILLI], MILLI_DIGITS).text);
  return VINCI_OK;
}

static enum vinci_status put_collective(const struct rows *rows, const struct chakra_node *node) {
  struct chakra_place place;
  enum collective_op op = COLLECTIVE_SEND_RECV;
  if (!chakra_has(node, CHAKRA_COMM_SIZE))
    return chakra_fail(rows->trace, node, rows->diag, "has no attribute comm_size");
  if (node->type == CHAKRA_COLL && !chakra_has(node, CHAKRA_COMM_TYPE))
    return chakra_fail(rows->trace, node, rows->diag, "has no attribute comm_type");
  if (node->type == CHAKRA_COLL)
    op = chakra_collective(node->numbers[CHAKRA_COMM_TYPE]);
  if (op == COLLECTIVE_OPS)
    return chakra_fail(rows->trace, node, rows->diag, "has comm_type %" PRIu64 "; 0 to 9 are known",
                       node->numbers[CHAKRA_COMM_TYPE]);
  enum vinci_status status =
      rows->find(rows->context, rows->trace, node, rows->rank, &place, rows->diag);
  if (status != VINCI_OK)
    return status;
  uint64_t bytes = node->numbers[CHAKRA_COMM_SIZE];
  if ((op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_GATHER) &&
      __builtin_mul_overflow(bytes, place.ranks, &bytes))
    return chakra_fail(rows->trace, node, rows->diag, "moves more bytes than can be counted");
  if (chakra_has(node, CHAKRA_BYTES))
    bytes = node->numbers[CHAKRA_BYTES];
  const char *algorithm = node->texts[CHAKRA_ALGORITHM];
  const struct collective_algorithm *known;
  if (algorithm && collective_find(op, algorithm, &known, NULL) != VINCI_OK)
    return chakra_fail(rows->trace, node, rows->diag, "has no algorithm of %s: \"%.40s\"",
                       collective_op_name(op), algorithm);
  put_name(rows, "collective", node);
  fprintf(rows->out, ",op=%s,group=", collective_op_name(op));
  chakra_put_word(place.family, rows->out);
  fprintf(rows->out, ",bytes=%" PRIu64, bytes);
  if (algorithm)
    fprintf(rows->out, ",algorithm=%s", algorithm);
  if (node->numbers[CHAKRA_ROOT])
    fprintf(rows->out, ",root=%" PRIu64, node->numbers[CHAKRA_ROOT]);
  return VINCI_OK;
}

static enum vinci_status put_row(const struct rows *rows, uint32_t at) {
  const struct chakra_node *node = &rows->trace->nodes[at];
  enum vinci_status status =
      node->type == CHAKRA_COMP ? put_work(rows, node) : put_collective(rows, node);
  if (status != VINCI_OK)
    return status;
  if (rows->streams[at])
    fprintf(rows->out, ",stream=%u", rows->streams[at]);
  if (node->numbers[CHAKRA_EARLIEST_PS])
    fprintf(rows->out, ",at_us=%s",
            decimal_exact(node->numbers[CHAKRA_EARLIEST_PS], US_DIGITS).text);
  putc('\n', rows->out);
  for (uint32_t edge = rows->first_edge[at]; edge; edge = rows->edges[edge - 1].next)
    fprintf(rows->out, "record,event=e%u,stream=%u\n", edge - 1, rows->streams[at]);
  return VINCI_OK;
}

/* Puts one more edge behind those of a node. */
static bool add_edge(struct rows *rows, uint32_t from) {
  if (rows->edge_count == rows->edge_capacity) {
    uint32_t capacity = rows->edge_capacity ? 2 * rows->edge_capacity : 64;
    struct edge *edges = realloc(rows->edges, capacity * sizeof *edges);
    if (!edges)
      return false;
    rows->edges = edges;
    rows->edge_capacity = capacity;
  }
  uint32_t *end = &rows->first_edge[from];
  while (*end)
    end = &rows->edges[*end - 1].next;
  rows->edges[rows->edge_count] = (struct edge){0};
  *end = ++rows->edge_count;
  return true;
}

/* Goes over the rows: first to find who is waited for, then to write. */
static enum vinci_status put_all(struct rows *rows, bool write) {
  uint32_t last[JOB_STREAMS_MAX], edge = 0;
  enum vinci_status status = VINCI_OK;
  for (uint32_t s = 0; s < JOB_STREAMS_MAX; s++)
    last[s] = UINT32_MAX;
  for (size_t i = 0; status == VINCI_OK && i < rows->trace->node_count; i++) {
    uint32_t at = rows->order[i], stream = rows->streams[at];
    if (!chakra_is_row(&rows->trace->nodes[at]))
      continue;
    size_t count = waits_of(rows, at, last[stream], rows->waits);
    for (size_t w = 0; w < count; w++)
      if (write)
        fprintf(rows->out, "wait,event=e%u,stream=%u\n", edge++, stream);
      else if (!add_edge(rows, rows->waits[w]))
        return diag_error(rows->diag, VINCI_E_NOMEM, "out of memory");
    if (write)
      status = put_row(rows, at);
    last[stream] = at;
  }
  return status;
}

enum vinci_status chakra_put_rows(const struct chakra_trace *trace, uint32_t rank,
                                  chakra_find_group *find, void *context, FILE *out,
                                  struct vinci_diag *diag) {
  size_t count = trace->node_count + 1, most = JOB_STREAMS_MAX;
  for (size_t i = 0; i < trace->node_count; i++)
    most = max_u64(most, trace->nodes[i].dep_count + JOB_STREAMS_MAX);
  struct rows rows = {
      .trace = trace, .rank = rank, .find = find, .context = context, .diag = diag, .out = out};
  rows.by_id = calloc(count, sizeof *rows.by_id);
  rows.order = calloc(count, sizeof *rows.order);
  rows.streams = calloc(count, sizeof *rows.streams);
  rows.row_nodes = calloc(count, sizeof *rows.row_nodes);
  rows.first_edge = calloc(count, sizeof *rows.first_edge);
  rows.waits = calloc(most, sizeof *rows.waits);
  enum vinci_status status = VINCI_OK;
  if (!rows.by_id || !rows.order || !rows.streams || !rows.row_nodes || !rows.first_edge ||
      !rows.waits)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = index_nodes(&rows);
  if (status == VINCI_OK)
    status = order_nodes(&rows);
  if (status == VINCI_OK)
    status = number_streams(&rows);
  if (status == VINCI_OK) {
    rows.clocks = calloc(count * (rows.stream_count + 1), sizeof *rows.clocks);
    status = rows.clocks ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  if (status == VINCI_OK) {
    set_clocks(&rows);
    status = put_all(&rows, false);
  }
  if (status == VINCI_OK)
    status = put_all(&rows, true);
  free(rows.by_id);
  free(rows.order);
  free(rows.streams);
  free(rows.clocks);
  free(rows.row_nodes);
  free(rows.edges);
  free(rows.first_edge);
  free(rows.waits);
  return status;
}
