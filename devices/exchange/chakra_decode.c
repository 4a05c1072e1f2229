/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes Chakra files: messages with their length before them, first the metadata, then the nodes.
 * The wire format is that of protocol buffers (protobuf.dev/programming-guides/encoding). A dozen
 * fields are needed, so that a generated reader would be larger, and would need its package.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "devices/exchange/chakra.h"

enum { VARINT_BYTES = 10, KIND_BITS = 3 };
enum wire_kind { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2, WIRE_32 = 5 };

/* Numbers of fields. */
enum { METADATA_VERSION = 1, METADATA_ATTRIBUTE = 2 };
enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_CONTROL = 4, NODE_DATA = 5 };
enum { NODE_DURATION = 7, NODE_ATTRIBUTE = 10 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_SINT32 = 15, ATTRIBUTE_SINT64 = 17, ATTRIBUTE_TEXT = 29 };

struct decoder {
  const char *path;
  const uint8_t *begin;
  struct vinci_diag *diag;
  struct chakra_trace *trace;
};

/* A part of the file that is read from its front. */
struct span {
  const uint8_t *at, *end;
};

struct field {
  unsigned number;
  enum wire_kind kind;
  uint64_t value;   /* of a number */
  struct span span; /* of what has a length */
};

static enum vinci_status fail(const struct decoder *decoder, const uint8_t *at, const char *what) {
  return diag_error_at(decoder->diag, VINCI_E_INPUT, (struct diag_position){.path = decoder->path},
                       "byte %zu: %s", (size_t)(at - decoder->begin), what);
}

static bool take_varint(struct span *span, uint64_t *out) {
  *out = 0;
  for (unsigned i = 0; i < VARINT_BYTES && span->at < span->end; i++) {
    uint8_t byte = *span->at++;
    *out |= (uint64_t)(byte & 0x7f) << 7 * i;
    if (byte < 0x80)
      return true;
  }
  return false;
}

static bool take_fixed(struct span *span, unsigned bytes, uint64_t *out) {
  *out = 0;
  if ((size_t)(span->end - span->at) < bytes)
    return false;
  for (unsigned i = 0; i < bytes; i++)
    *out |= (uint64_t)*span->at++ << 8 * i;
  return true;
}

static bool take_span(struct span *span, struct span *out) {
  uint64_t length;
  if (!take_varint(span, &length) || length > (uint64_t)(span->end - span->at))
    return false;
  *out = (struct span){span->at, span->at + length};
  span->at += length;
  return true;
}

static bool take_field(struct span *span, struct field *out) {
  uint64_t key;
  if (!take_varint(span, &key) || key >> KIND_BITS == 0 || key > UINT32_MAX)
    return false;
  *out = (struct field){.number = (unsigned)(key >> KIND_BITS),
                        .kind = (enum wire_kind)(key & ((1 << KIND_BITS) - 1))};
  switch (out->kind) {
  case WIRE_VARINT:
    return take_varint(span, &out->value);
  case WIRE_64:
    return take_fixed(span, 8, &out->value);
  case WIRE_32:
    return take_fixed(span, 4, &out->value);
  case WIRE_LENGTH:
    return take_span(span, &out->span);
  default:
    return false;
  }
}

static const char *text_of(struct decoder *decoder, struct span span) {
  const uint8_t *zero = memchr(span.at, 0, (size_t)(span.end - span.at));
  size_t length = (size_t)((zero ? zero : span.end) - span.at);
  return arena_strndup(&decoder->trace->arena, (const char *)span.at, length);
}

static enum vinci_status no_memory(const struct decoder *decoder) {
  return diag_error(decoder->diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- attributes ------------------------------------------------------------------------------ */

struct attribute {
  struct span name, text;
  bool has_number, has_text;
  uint64_t number;
};

static bool is(struct span name, const char *text) {
  size_t length = strlen(text);
  return (size_t)(name.end - name.at) == length && memcmp(name.at, text, length) == 0;
}

/* Numbers may have any of the schema's types of integers; floating-point ones are no numbers here.
 */
static enum vinci_status decode_attribute(const struct decoder *decoder, struct span span,
                                          struct attribute *out) {
  *out = (struct attribute){0};
  while (span.at < span.end) {
    struct field field;
    const uint8_t *at = span.at;
    if (!take_field(&span, &field))
      return fail(decoder, at, "an attribute is damaged");
    if (field.kind == WIRE_LENGTH) {
      out->name = field.number == ATTRIBUTE_NAME ? field.span : out->name;
      out->text = field.number == ATTRIBUTE_TEXT ? field.span : out->text;
      out->has_text = out->has_text || field.number == ATTRIBUTE_TEXT;
      continue;
    }
    bool zigzag = field.number == ATTRIBUTE_SINT32 || field.number == ATTRIBUTE_SINT64;
    bool fraction = field.number == 3 || field.number == 5; /* double_val, float_val */
    out->number = zigzag ? field.value >> 1 ^ -(field.value & 1) : field.value;
    out->has_number = !fraction;
  }
  return VINCI_OK;
}

static enum vinci_status take_attribute(struct decoder *decoder, struct span span,
                                        struct chakra_node *node) {
  static const char *const numbers[] = {
#define X(id, name) name,
      CHAKRA_NUMBER_LIST(X)
#undef X
  };
  static const char *const texts[] = {
#define X(id, name) name,
      CHAKRA_TEXT_LIST(X)
#undef X
  };
  struct attribute attribute;
  enum vinci_status status = decode_attribute(decoder, span, &attribute);
  if (status != VINCI_OK)
    return status;
  for (unsigned i = 0; i < CHAKRA_NUMBERS; i++)
    if (attribute.has_number && is(attribute.name, numbers[i])) {
      node->numbers[i] = attribute.number;
      node->given |= 1u << i;
    }
  for (unsigned i = 0; i < CHAKRA_TEXTS; i++)
    if (attribute.has_text && is(attribute.name, texts[i]) &&
        !(node->texts[i] = text_of(decoder, attribute.text)))
      return no_memory(decoder);
  return VINCI_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool add_dependency(struct chakra_node *node, uint64_t id) {
  if (node->dep_count == node->dep_capacity) {
    size_t capacity = node->dep_capacity ? 2 * node->dep_capacity : 4;
    uint64_t *deps = realloc(node->deps, capacity * sizeof *deps);
    if (!deps)
      return false;
    node->deps = deps;
    node->dep_capacity = capacity;
  }
  node->deps[node->dep_count++] = id;
  return true;
}

/* Repeated numbers stand alone or packed. */
static enum vinci_status take_dependencies(const struct decoder *decoder, const struct field *field,
                                           struct chakra_node *node) {
  struct span span = field->span;
  if (field->kind == WIRE_VARINT)
    return add_dependency(node, field->value) ? VINCI_OK : no_memory(decoder);
  while (span.at < span.end) {
    const uint8_t *at = span.at;
    uint64_t id;
    if (!take_varint(&span, &id))
      return fail(decoder, at, "a list of dependencies is damaged");
    if (!add_dependency(node, id))
      return no_memory(decoder);
  }
  return VINCI_OK;
}

static enum vinci_status take_node_field(struct decoder *decoder, const struct field *field,
                                         struct chakra_node *node) {
  bool number = field->kind == WIRE_VARINT, list = field->kind == WIRE_LENGTH;
  switch (field->number) {
  case NODE_ID:
    node->id = number ? field->value : node->id;
    return VINCI_OK;
  case NODE_NAME:
    if (list)
      node->name = text_of(decoder, field->span);
    return node->name ? VINCI_OK : no_memory(decoder);
  case NODE_TYPE:
    node->type = number ? (uint32_t)field->value : node->type;
    return VINCI_OK;
  case NODE_CONTROL:
  case NODE_DATA:
    return number || list ? take_dependencies(decoder, field, node) : VINCI_OK;
  case NODE_DURATION:
    node->duration_us = number ? field->value : node->duration_us;
    return VINCI_OK;
  case NODE_ATTRIBUTE:
    return list ? take_attribute(decoder, field->span, node) : VINCI_OK;
  default:
    return VINCI_OK; /* tensors and the like */
  }
}

static enum vinci_status decode_node(struct decoder *decoder, struct span span) {
  struct chakra_trace *trace = decoder->trace;
  if (trace->node_count == trace->node_capacity) {
    size_t capacity = trace->node_capacity ? 2 * trace->node_capacity : 256;
    struct chakra_node *nodes = realloc(trace->nodes, capacity * sizeof *nodes);
    if (!nodes)
      return no_memory(decoder);
    trace->nodes = nodes;
    trace->node_capacity = capacity;
  }
  struct chakra_node *node = &trace->nodes[trace->node_count++];
  *node = (struct chakra_node){.name = ""};
  while (span.at < span.end) {
    struct field field;
    const uint8_t *at = span.at;
    if (!take_field(&span, &field))
      return fail(decoder, at, "a node is damaged");
    enum vinci_status status = take_node_field(decoder, &field, node);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Converters of PyTorch's traces name the version in an attribute: "1.1.1-chakra.0.0.4". */
static enum vinci_status decode_metadata(struct decoder *decoder, struct span span) {
  while (span.at < span.end) {
    struct field field;
    struct attribute attribute = {0};
    const uint8_t *at = span.at;
    if (!take_field(&span, &field))
      return fail(decoder, at, "the file does not begin as a Chakra trace does");
    enum vinci_status status = VINCI_OK;
    bool list = field.kind == WIRE_LENGTH;
    if (list && field.number == METADATA_VERSION)
      attribute = (struct attribute){.text = field.span, .has_text = true};
    else if (list && field.number == METADATA_ATTRIBUTE)
      status = decode_attribute(decoder, field.span, &attribute);
    if (status == VINCI_OK && attribute.has_text &&
        (field.number == METADATA_VERSION || is(attribute.name, "schema")))
      decoder->trace->version = text_of(decoder, attribute.text);
    if (status == VINCI_OK && !decoder->trace->version)
      status = no_memory(decoder);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

static enum vinci_status check_version(const struct decoder *decoder) {
  const char *version = decoder->trace->version;
  size_t length = strlen(version), wanted = strlen(CHAKRA_VERSION);
  if (length == 0 || (length >= wanted && strcmp(version + length - wanted, CHAKRA_VERSION) == 0))
    return VINCI_OK;
  (void)diag_error_at(decoder->diag, VINCI_E_INPUT, (struct diag_position){.path = decoder->path},
                      "schema version \"%.40s\"; " CHAKRA_VERSION " is read", version);
  diag_hint(decoder->diag, "convert the trace anew with a converter of schema " CHAKRA_VERSION);
  return VINCI_E_INPUT;
}

void chakra_trace_free(struct chakra_trace *trace) {
  for (size_t i = 0; i < trace->node_count; i++)
    free(trace->nodes[i].deps);
  free(trace->nodes);
  arena_free(&trace->arena);
}

enum vinci_status chakra_decode(const char *path, const void *bytes, size_t length,
                                struct chakra_trace *out, struct vinci_diag *diag) {
  struct decoder decoder = {.path = path, .begin = bytes, .diag = diag, .trace = out};
  struct span file = {bytes, (const uint8_t *)bytes + length}, message;
  *out = (struct chakra_trace){.path = path, .version = ""};
  enum vinci_status status =
      take_span(&file, &message)
          ? decode_metadata(&decoder, message)
          : fail(&decoder, bytes, "the file does not begin as a Chakra trace does");
  if (status == VINCI_OK)
    status = check_version(&decoder);
  while (status == VINCI_OK && file.at < file.end) {
    const uint8_t *at = file.at;
    status = take_span(&file, &message) ? decode_node(&decoder, message)
                                        : fail(&decoder, at, "the file ends within a node");
  }
  if (status != VINCI_OK)
    chakra_trace_free(out);
  return status;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *chakra_type_name(uint32_t type) {
  static const char *const names[CHAKRA_TYPES] = {
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
      "STORAGE_NODE", "BATCH_NODE",     "CHECKPOINT_NODE"};
  return type < CHAKRA_TYPES ? names[type] : NULL;
}

/* In the order of CollectiveCommType. */
static const enum collective_op collectives[] = {
    COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE,         COLLECTIVE_ALL_GATHER,
    COLLECTIVE_GATHER,     COLLECTIVE_SCATTER,        COLLECTIVE_BROADCAST,
    COLLECTIVE_ALL_TO_ALL, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_BARRIER};

enum collective_op chakra_collective(uint64_t comm_type) {
  return comm_type < sizeof collectives / sizeof *collectives ? collectives[comm_type]
                                                              : COLLECTIVE_OPS;
}

int chakra_comm_type(enum collective_op op) {
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
    if (collectives[i] == op)
      return (int)i;
  return -1;
}
