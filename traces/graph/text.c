/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs: rows of a word and key=value fields. */
#include "traces/graph/text.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"

enum { FIELDS_MAX = 20, LINE_BYTES_MAX = 1 << 20 };
#define BYTES_MAX (UINT64_C(1) << 45) /* of a tensor, as of those of profiles */
#define PS_PER_US 1000000.0
#define US_MAX 1e12

/* Lists of names have blanks between. */
static const char not_in_names[] = " \t\r\",";

struct reader {
  struct graph *graph;
  struct vinci_diag *diag;
  const char *path;
  struct csv_parser csv;
  unsigned long line;
  const char *text; /* the line */
  size_t length;
  char *scratch; /* its fields, zero-terminated */
  size_t used;
  const char *fields[FIELDS_MAX];
  size_t field_count;
  uint32_t taken; /* a bit for each field whose key is known */
  bool begun;
};

/* ---- errors -------------------------------------------------------------------------------- */

/* The byte at which a field begins, from 1: commas between quotes do not count. */
static unsigned long column_of(const struct reader *reader, size_t field) {
  bool quoted = false;
  size_t at = 0;
  for (size_t i = 0; i < reader->length && field > 0; i++) {
    quoted ^= reader->text[i] == '"';
    if (reader->text[i] == ',' && !quoted) {
      field--;
      at = i + 1;
    }
  }
  return (unsigned long)at + 1;
}

static enum vinci_status fail(struct reader *reader, size_t field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum vinci_status fail(struct reader *reader, size_t field, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct diag_position position = {reader->path, reader->line, column_of(reader, field)};
  diag_error_at(reader->diag, VINCI_E_INPUT, position, "%s", text);
  diag_excerpt(reader->diag, reader->text, reader->length);
  return VINCI_E_INPUT;
}

static enum vinci_status no_memory(struct reader *reader) {
  return diag_error(reader->diag, VINCI_E_NOMEM, "out of memory reading the graph");
}

/* ---- fields -------------------------------------------------------------------------------- */

static void take_field(void *text, size_t length, void *context) {
  struct reader *reader = context;
  char *copy = reader->scratch + reader->used;
  if (length > 0)
    memcpy(copy, text, length);
  copy[length] = '\0';
  reader->used += length + 1;
  if (reader->field_count < FIELDS_MAX)
    reader->fields[reader->field_count] = copy;
  reader->field_count++;
}

static enum vinci_status split(struct reader *reader) {
  reader->used = reader->field_count = 0;
  reader->taken = 1; /* the word of the row */
  if (csv_parse(&reader->csv, reader->text, reader->length, take_field, NULL, reader) !=
          reader->length ||
      csv_fini(&reader->csv, take_field, NULL, reader) != 0)
    return fail(reader, 0, "not CSV: %s", csv_strerror(csv_error(&reader->csv)));
  if (reader->field_count > FIELDS_MAX)
    return fail(reader, FIELDS_MAX, "more than %d fields in a row", FIELDS_MAX);
  if (memchr(reader->text, '\0', reader->length))
    return fail(reader, 0, "a zero byte; is this a text?");
  return VINCI_OK;
}

/* The field of a key; 0: there is none. */
static size_t find_key(struct reader *reader, const char *key) {
  size_t length = strlen(key);
  for (size_t i = 1; i < reader->field_count; i++)
    if (strncmp(reader->fields[i], key, length) == 0 && reader->fields[i][length] == '=') {
      reader->taken |= UINT32_C(1) << i;
      return i;
    }
  return 0;
}

static const char *value_of(const struct reader *reader, size_t field) {
  return strchr(reader->fields[field], '=') + 1;
}

/* The value of a key, or the fallback; NULL as fallback: the key has to be there. */
static enum vinci_status take_text(struct reader *reader, const char *key, const char *fallback,
                                   const char **out) {
  size_t field = find_key(reader, key);
  if (field == 0 && !fallback)
    return fail(reader, 0, "a %s row needs %s=...", reader->fields[0], key);
  *out = field ? value_of(reader, field) : fallback;
  if (field && !fallback && **out == '\0')
    return fail(reader, field, "%s= is empty", key);
  return VINCI_OK;
}

struct words {
  const char *const *names;
  size_t count;
};

static const char *word_at(const void *context, size_t index) {
  const struct words *words = context;
  return words->names[index];
}

static enum vinci_status take_word(struct reader *reader, const char *key, const char *fallback,
                                   struct words words, size_t *out) {
  const char *text;
  enum vinci_status status = take_text(reader, key, fallback, &text);
  if (status != VINCI_OK)
    return status;
  for (*out = 0; *out < words.count; ++*out)
    if (strcmp(words.names[*out], text) == 0)
      return VINCI_OK;
  const char *nearest = diag_nearest(text, words.count, word_at, &words);
  fail(reader, find_key(reader, key), "unknown %s \"%s\"", key, text);
  if (nearest)
    diag_hint(reader->diag, "did you mean %s=%s?", key, nearest);
  else
    diag_hint(reader->diag, "%s is one of %s, %s, ...", key, words.names[0], words.names[1]);
  return VINCI_E_INPUT;
}

static bool parse_size(const char *text, const char **end, uint64_t *out) {
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (value > BYTES_MAX)
      return false;
    value = value * 10 + (uint64_t)(*at - '0');
  }
  *end = at;
  *out = value;
  return at > text;
}

static enum vinci_status take_number(struct reader *reader, const char *key, uint64_t most,
                                     bool *given, uint64_t *out) {
  size_t field = find_key(reader, key);
  const char *end = "";
  *given = field != 0;
  if (field && (!parse_size(value_of(reader, field), &end, out) || *end || *out > most))
    return fail(reader, field, "%s is a whole number up to %llu, not \"%s\"", key,
                (unsigned long long)most, value_of(reader, field));
  return VINCI_OK;
}

/* Every field that no row of this kind has. */
static enum vinci_status end_row(struct reader *reader, struct words keys) {
  for (size_t i = 1; i < reader->field_count; i++) {
    if (reader->taken & UINT32_C(1) << i)
      continue;
    char key[32];
    const char *equals = strchr(reader->fields[i], '=');
    snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - reader->fields[i]) : 31,
             reader->fields[i]);
    if (!equals)
      return fail(reader, i, "\"%s\" is no key=value field", key);
    bool known = false;
    for (size_t j = 0; j < keys.count; j++)
      known = known || strcmp(keys.names[j], key) == 0;
    if (known)
      return fail(reader, i, "second %s=", key);
    fail(reader, i, "a %s row has no key %s", reader->fields[0], key);
    const char *nearest = diag_nearest(key, keys.count, word_at, &keys);
    if (nearest)
      diag_hint(reader->diag, "did you mean %s=?", nearest);
    return VINCI_E_INPUT;
  }
  return VINCI_OK;
}

/* ---- graph, tensor ------------------------------------------------------------------------- */

static enum vinci_status graph_row(struct reader *reader) {
  static const char *const keys[] = {"version", "name"};
  uint64_t version = 0;
  const char *name;
  bool given;
  if (reader->begun)
    return fail(reader, 0, "second graph row; a file has one, the first");
  enum vinci_status status = take_number(reader, "version", UINT32_MAX, &given, &version);
  if (status == VINCI_OK && version != GRAPH_TEXT_VERSION)
    status = fail(reader, given ? find_key(reader, "version") : 0,
                  "this program reads graph,version=%d", GRAPH_TEXT_VERSION);
  if (status == VINCI_OK)
    status = take_text(reader, "name", "", &name);
  if (status == VINCI_OK)
    status = end_row(reader, (struct words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  reader->begun = true;
  reader->graph->name = arena_strdup(&reader->graph->arena, name);
  return reader->graph->name ? VINCI_OK : no_memory(reader);
}

/* "8x128"; "" is a scalar. */
static enum vinci_status take_shape(struct reader *reader, struct graph_tensor *tensor) {
  size_t field = find_key(reader, "shape");
  uint64_t shape[GRAPH_RANK_MAX], elements = 1;
  unsigned rank = 0;
  if (!field)
    return VINCI_OK;
  for (const char *at = value_of(reader, field); *at;) {
    if (rank == GRAPH_RANK_MAX)
      return fail(reader, field, "a shape of more than %d dimensions", GRAPH_RANK_MAX);
    if (!parse_size(at, &at, &shape[rank]) || (*at && *at != 'x') || (*at == 'x' && !at[1]))
      return fail(reader, field, "shape is extents such as 8x128, not \"%s\"",
                  value_of(reader, field));
    at += *at == 'x';
    if (shape[rank] == 0 || shape[rank] > BYTES_MAX / 8 / elements)
      return fail(reader, field, "shape %s has %s", value_of(reader, field),
                  shape[rank] ? "too many elements" : "no elements");
    elements *= shape[rank++];
  }
  graph_set_shape(tensor, shape, rank);
  return VINCI_OK;
}

static enum vinci_status take_memory(struct reader *reader, uint32_t index) {
  const char *name;
  enum vinci_status status = take_text(reader, "memory", "", &name);
  if (status != VINCI_OK || !*name)
    return status;
  uint32_t memory = graph_find_tensor(reader->graph, name);
  if (memory == GRAPH_NONE || memory == index)
    return fail(reader, find_key(reader, "memory"), "no tensor \"%s\" stands before this row",
                name);
  reader->graph->tensors[index].memory = memory;
  return VINCI_OK;
}

static enum vinci_status take_offset(struct reader *reader, struct graph_tensor *tensor) {
  enum { ALIGNMENT = 512 };
  enum vinci_status status =
      take_number(reader, "offset", BYTES_MAX, &tensor->placed, &tensor->offset);
  if (status == VINCI_OK && tensor->offset % ALIGNMENT != 0)
    return fail(reader, find_key(reader, "offset"), "offset is a multiple of %d bytes, not %llu",
                ALIGNMENT, (unsigned long long)tensor->offset);
  if (status == VINCI_OK && tensor->placed && tensor->memory != GRAPH_NONE)
    return fail(reader, find_key(reader, "offset"),
                "a tensor in the memory of another has no "
                "offset of its own");
  return status;
}

static enum vinci_status take_types(struct reader *reader, struct graph_tensor *tensor) {
  static const char *const ios[] = {
#define X(id, name) name,
      GRAPH_IO_LIST(X)
#undef X
  };
  static const char *const types[] = {
#define X(id, name, bits) name,
      DTYPE_LIST(X)
#undef X
  };
  size_t type = 0, io = 0;
  const char *format;
  enum vinci_status status =
      take_word(reader, "dtype", NULL, (struct words){types, DTYPE_COUNT}, &type);
  if (status == VINCI_OK)
    status = take_word(reader, "io", "local", (struct words){ios, GRAPH_IO_COUNT}, &io);
  if (status == VINCI_OK)
    status = take_text(reader, "format", "ND", &format);
  if (status != VINCI_OK)
    return status;
  if (strlen(format) >= sizeof tensor->format)
    return fail(reader, find_key(reader, "format"), "format of more than %zu bytes",
                sizeof tensor->format - 1);
  tensor->dtype = (enum dtype)type;
  tensor->io = (enum graph_io)io;
  snprintf(tensor->format, sizeof tensor->format, "%s", format);
  return VINCI_OK;
}

static enum vinci_status tensor_row(struct reader *reader) {
  static const char *const keys[] = {"name", "dtype", "shape", "io", "format", "memory", "offset"};
  const char *name;
  enum vinci_status status = take_text(reader, "name", NULL, &name);
  if (status != VINCI_OK)
    return status;
  if (strpbrk(name, not_in_names))
    return fail(reader, find_key(reader, "name"), "a name has no blanks, commas or quotes");
  if (graph_find_tensor(reader->graph, name) != GRAPH_NONE)
    return fail(reader, find_key(reader, "name"), "second tensor \"%s\"", name);
  uint32_t index = graph_add_tensor(reader->graph, name);
  if (index == GRAPH_NONE)
    return no_memory(reader);
  status = take_types(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_shape(reader, &reader->graph->tensors[index]);
  if (status == VINCI_OK)
    status = take_memory(reader, index);
  if (status == VINCI_OK)
    status = take_offset(reader, &reader->graph->tensors[index]);
  return status == VINCI_OK ? end_row(reader, (struct words){keys, sizeof keys / sizeof *keys})
                            : status;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static const char *tensor_at(const void *context, size_t index) {
  const struct graph *graph = context;
  return graph->tensors[index].name;
}

/* Cuts the next word of a value into the arena; NULL at its end. */
static const char *next_word(struct reader *reader, const char **at) {
  while (**at == ' ')
    ++*at;
  size_t length = strcspn(*at, " ");
  const char *word = length ? arena_strndup(&reader->graph->arena, *at, length) : NULL;
  *at += length;
  return word;
}

struct numbers {
  uint32_t list[GRAPH_LIST_MAX];
  uint32_t count;
};

static enum vinci_status take_tensors(struct reader *reader, const char *key, struct numbers *out) {
  size_t field = find_key(reader, key);
  const char *at = field ? value_of(reader, field) : "", *word;
  for (out->count = 0; (word = next_word(reader, &at));) {
    uint32_t index = strcmp(word, "-") == 0 ? GRAPH_NONE : graph_find_tensor(reader->graph, word);
    if (out->count == GRAPH_LIST_MAX)
      return fail(reader, field, "more than %d tensors", GRAPH_LIST_MAX);
    if (index == GRAPH_NONE && strcmp(word, "-") != 0) {
      fail(reader, field, "no tensor \"%s\" stands before this row", word);
      const char *nearest =
          diag_nearest(word, reader->graph->tensor_count, tensor_at, reader->graph);
      if (nearest)
        diag_hint(reader->diag, "did you mean %s?", nearest);
      return VINCI_E_INPUT;
    }
    out->list[out->count++] = index;
  }
  return VINCI_OK;
}

static uint32_t find_node(const struct graph *graph, const char *name) {
  for (uint32_t i = graph->node_count; i-- > 0;) /* most control edges lead to a near node */
    if (strcmp(graph->nodes[i].name, name) == 0)
      return i;
  return GRAPH_NONE;
}

static enum vinci_status take_after(struct reader *reader, struct numbers *out) {
  size_t field = find_key(reader, "after");
  const char *at = field ? value_of(reader, field) : "", *word;
  for (out->count = 0; (word = next_word(reader, &at));) {
    uint32_t index = find_node(reader->graph, word);
    if (out->count == GRAPH_LIST_MAX)
      return fail(reader, field, "more than %d nodes", GRAPH_LIST_MAX);
    if (index == GRAPH_NONE)
      return fail(reader, field, "no node \"%s\" stands before this row", word);
    out->list[out->count++] = index;
  }
  return VINCI_OK;
}

static enum vinci_status take_args(struct reader *reader, const char **args, uint32_t *count) {
  size_t field = find_key(reader, "args");
  const char *at = field ? value_of(reader, field) : "", *word;
  for (*count = 0; (word = next_word(reader, &at));) {
    if (*count == GRAPH_ARGS_MAX)
      return fail(reader, field, "more than %d arguments", GRAPH_ARGS_MAX);
    if (!strchr(word, '='))
      return fail(reader, field, "arguments are key=value with blanks between, not \"%s\"", word);
    args[(*count)++] = word;
  }
  return VINCI_OK;
}

static enum vinci_status take_duration(struct reader *reader, const char *key, const char *fallback,
                                       uint64_t *out) {
  const char *text;
  double us;
  enum vinci_status status = take_text(reader, key, fallback, &text);
  if (status != VINCI_OK)
    return status;
  if (!decimal_parse(text, &us) || us < 0 || us > US_MAX)
    return fail(reader, find_key(reader, key), "%s is a number up to 1e12, not \"%s\"", key, text);
  *out = (uint64_t)(us * PS_PER_US + 0.5);
  return VINCI_OK;
}

static enum vinci_status take_op(struct reader *reader, struct graph_node *node) {
  static const char *const ways[] = {"h2d", "d2h"};
  size_t way;
  enum vinci_status status;
  switch (node->kind) {
  case GRAPH_TASK:
    status = take_text(reader, "unit", "AI_CPU", &node->op);
    return status == VINCI_OK ? take_duration(reader, "duration_us", NULL, &node->duration_ps)
                              : status;
  case GRAPH_COPY:
    status = take_word(reader, "way", NULL, (struct words){ways, 2}, &way);
    node->op = status == VINCI_OK ? ways[way] : "";
    return status;
  case GRAPH_VIEW:
    node->op = "view";
    return VINCI_OK;
  default:
    status = take_duration(reader, "measured_us", "0", &node->duration_ps);
    return status == VINCI_OK ? take_text(reader, "op", NULL, &node->op) : status;
  }
}

/* Outputs of a view lie in the memory of its input. */
static enum vinci_status make_view(struct reader *reader, const struct graph_node *node) {
  if (node->input_count != 1 || node->output_count != 1 || node->inputs[0] == GRAPH_NONE)
    return fail(reader, 0, "a view has one tensor in and one out");
  struct graph_tensor *in = &reader->graph->tensors[node->inputs[0]];
  struct graph_tensor *out = &reader->graph->tensors[node->outputs[0]];
  if (in->shaped && out->shaped && graph_bytes(in) != graph_bytes(out))
    return fail(reader, find_key(reader, "out"), "a view keeps its bytes: %llu in, %llu out",
                (unsigned long long)graph_bytes(in), (unsigned long long)graph_bytes(out));
  if (out->memory == GRAPH_NONE && graph_memory(reader->graph, node->inputs[0]) != node->outputs[0])
    out->memory = node->inputs[0];
  return VINCI_OK;
}

static enum vinci_status read_node(struct reader *reader, struct graph_node *node,
                                   struct numbers lists[3]) {
  static const char *const keys[] = {"name",   "op",      "in",         "out",  "args",
                                     "stream", "origin",  "after",      "unit", "duration_us",
                                     "way",    "host_us", "measured_us"};
  const char *args[GRAPH_ARGS_MAX];
  uint64_t stream = 0;
  bool given;
  enum vinci_status status = take_text(reader, "name", NULL, &node->name);
  if (status == VINCI_OK && strpbrk(node->name, not_in_names))
    status = fail(reader, find_key(reader, "name"), "a name has no blanks, commas or quotes");
  if (status == VINCI_OK)
    status = take_op(reader, node);
  if (status == VINCI_OK)
    status = take_tensors(reader, "in", &lists[0]);
  if (status == VINCI_OK)
    status = take_tensors(reader, "out", &lists[1]);
  if (status == VINCI_OK)
    status = take_after(reader, &lists[2]);
  if (status == VINCI_OK)
    status = take_args(reader, args, &node->arg_count);
  if (status == VINCI_OK)
    status = take_number(reader, "stream", UINT16_MAX, &given, &stream);
  if (status == VINCI_OK)
    status = take_duration(reader, "host_us", "0", &node->host_ps);
  if (status == VINCI_OK)
    status = take_text(reader, "origin", "", &node->origin);
  if (status == VINCI_OK)
    status = end_row(reader, (struct words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; i < lists[1].count; i++)
    if (lists[1].list[i] == GRAPH_NONE)
      return fail(reader, find_key(reader, "out"), "an output cannot be left out");
  node->stream = (uint32_t)stream;
  node->args = args;
  node->inputs = lists[0].list;
  node->input_count = lists[0].count;
  node->outputs = lists[1].list;
  node->output_count = lists[1].count;
  node->after = lists[2].list;
  node->after_count = lists[2].count;
  if (node->kind == GRAPH_VIEW)
    status = make_view(reader, node);
  if (status == VINCI_OK && graph_add_node(reader->graph, node) == GRAPH_NONE)
    status = no_memory(reader);
  return status;
}

static enum vinci_status node_row(struct reader *reader, enum graph_kind kind) {
  struct graph_node node = {.kind = kind};
  struct numbers *lists = calloc(3, sizeof *lists);
  enum vinci_status status = lists ? read_node(reader, &node, lists) : no_memory(reader);
  free(lists);
  return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum vinci_status read_row(struct reader *reader) {
  static const char *const rows[] = {
#define X(id, name) name,
      GRAPH_KIND_LIST(X)
#undef X
          "graph",
      "tensor"};
  struct words words = {rows, sizeof rows / sizeof *rows};
  const char *word = reader->fields[0];
  if (strcmp(word, "graph") == 0)
    return graph_row(reader);
  if (!reader->begun)
    return fail(reader, 0, "the first row is \"graph,version=%d\"", GRAPH_TEXT_VERSION);
  if (strcmp(word, "tensor") == 0)
    return tensor_row(reader);
  for (unsigned kind = 0; kind < GRAPH_KIND_COUNT; kind++)
    if (strcmp(word, rows[kind]) == 0)
      return node_row(reader, (enum graph_kind)kind);
  const char *nearest = diag_nearest(word, words.count, word_at, &words);
  fail(reader, 0, "unknown row \"%.60s\"", word);
  if (nearest)
    diag_hint(reader->diag, "did you mean %s?", nearest);
  return VINCI_E_INPUT;
}

static enum vinci_status read_line(struct reader *reader) {
  size_t blank = 0;
  while (blank < reader->length && strchr(" \t\r", reader->text[blank]))
    blank++;
  if (blank == reader->length || reader->text[blank] == '#')
    return VINCI_OK;
  if (reader->length > LINE_BYTES_MAX)
    return fail(reader, 0, "line of more than %d bytes", LINE_BYTES_MAX);
  enum vinci_status status = split(reader);
  return status == VINCI_OK ? read_row(reader) : status;
}

static enum vinci_status read_all(struct reader *reader, const char *text, size_t length) {
  enum vinci_status status = VINCI_OK;
  for (size_t at = 0; at < length && status == VINCI_OK;) {
    const char *newline = memchr(text + at, '\n', length - at);
    reader->line++;
    reader->text = text + at;
    reader->length = newline ? (size_t)(newline - text) - at : length - at;
    at += reader->length + 1;
    status = read_line(reader);
  }
  if (status == VINCI_OK && !reader->begun)
    status = diag_error_at(
        reader->diag, VINCI_E_INPUT, (struct diag_position){.path = reader->path},
        "the graph is empty; the first row is \"graph,version=%d\"", GRAPH_TEXT_VERSION);
  return status;
}

bool graph_text_is(const char *text, size_t length) {
  static const char head[] = "graph,";
  size_t at = 0;
  while (at < length && (text[at] == '#' || text[at] == '\n')) {
    const char *newline = memchr(text + at, '\n', length - at);
    at = newline ? (size_t)(newline - text) + 1 : length;
  }
  return length - at >= sizeof head - 1 && memcmp(text + at, head, sizeof head - 1) == 0;
}

enum vinci_status graph_text_read(const char *name, const char *text, size_t length,
                                  struct graph *out, struct vinci_diag *diag) {
  struct reader reader = {.graph = out, .diag = diag, .path = name};
  *out = (struct graph){0};
  if (csv_init(&reader.csv, CSV_STRICT | CSV_STRICT_FINI) != 0)
    return no_memory(&reader);
  /* A field and its zero take no more than the line and a byte each. */
  reader.scratch = malloc(2 * (LINE_BYTES_MAX + 2));
  enum vinci_status status = reader.scratch ? read_all(&reader, text, length) : no_memory(&reader);
  if (status == VINCI_OK)
    status = graph_check(out, diag);
  free(reader.scratch);
  csv_free(&reader.csv);
  if (status != VINCI_OK)
    graph_free(out);
  return status;
}
