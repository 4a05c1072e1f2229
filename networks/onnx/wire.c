/* SPDX-License-Identifier: Apache-2.0 */
/* Slims ONNX files. Numbers of fields: onnx.proto, which every version of ONNX keeps. */
#include "networks/onnx/wire.h"

#include <stdlib.h>
#include <string.h>

#include "networks/graph/graph.h"

/* Fields: each costs protobuf-c some dozen bytes. Depth: of messages; each If takes three. */
enum { FIELDS_MAX = 1 << 25, DEPTH_MAX = 64, LENGTH_BYTES = 5, VARINT_BYTES = 10 };
#define SLIM_MAX (UINT64_C(1) << 30)

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2, WIRE_32 = 5 };

/* ---- which fields are read ------------------------------------------------------------------- */

enum message {
  MODEL,
  OPSET,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  VALUE,
  TYPE,
  FUNCTION,
  LEAF, /* a message without messages inside, copied as it is */
};
enum action { DROP, KEEP, ENTER, PLACE, EMPTY };

struct field_rule {
  enum message in;
  unsigned field;
  enum action action;
  enum message child;
};

/* Fields that are not here are dropped: texts for people, training. Of
 * types that are no tensors only their kind stays, which ends their recursion. */
static const struct field_rule rules[] = {
    {MODEL, 1, KEEP, LEAF},         /* ir_version */
    {MODEL, 2, KEEP, LEAF},         /* producer_name */
    {MODEL, 7, ENTER, GRAPH},       /* graph */
    {MODEL, 8, ENTER, LEAF},        /* opset_import */
    {MODEL, 25, ENTER, FUNCTION},   /* functions */
    {FUNCTION, 1, KEEP, LEAF},      /* name */
    {FUNCTION, 4, KEEP, LEAF},      /* input */
    {FUNCTION, 5, KEEP, LEAF},      /* output */
    {FUNCTION, 7, ENTER, NODE},     /* node */
    {FUNCTION, 9, ENTER, LEAF},     /* opset_import */
    {FUNCTION, 10, KEEP, LEAF},     /* domain */
    {GRAPH, 1, ENTER, NODE},        /* node */
    {GRAPH, 2, KEEP, LEAF},         /* name */
    {GRAPH, 5, ENTER, TENSOR},      /* initializer */
    {GRAPH, 11, ENTER, VALUE},      /* input */
    {GRAPH, 12, ENTER, VALUE},      /* output */
    {GRAPH, 13, ENTER, VALUE},      /* value_info */
    {GRAPH, 15, ENTER, SPARSE},     /* sparse_initializer */
    {NODE, 1, KEEP, LEAF},          /* input */
    {NODE, 2, KEEP, LEAF},          /* output */
    {NODE, 3, KEEP, LEAF},          /* name */
    {NODE, 4, KEEP, LEAF},          /* op_type */
    {NODE, 5, ENTER, ATTRIBUTE},    /* attribute */
    {NODE, 7, KEEP, LEAF},          /* domain */
    {ATTRIBUTE, 1, KEEP, LEAF},     /* name */
    {ATTRIBUTE, 2, KEEP, LEAF},     /* f */
    {ATTRIBUTE, 3, KEEP, LEAF},     /* i */
    {ATTRIBUTE, 4, KEEP, LEAF},     /* s */
    {ATTRIBUTE, 5, ENTER, TENSOR},  /* t */
    {ATTRIBUTE, 6, ENTER, GRAPH},   /* g */
    {ATTRIBUTE, 7, KEEP, LEAF},     /* floats */
    {ATTRIBUTE, 8, KEEP, LEAF},     /* ints */
    {ATTRIBUTE, 9, KEEP, LEAF},     /* strings */
    {ATTRIBUTE, 11, EMPTY, LEAF},   /* graphs */
    {ATTRIBUTE, 20, KEEP, LEAF},    /* type */
    {ATTRIBUTE, 21, KEEP, LEAF},    /* ref_attr_name */
    {ATTRIBUTE, 22, ENTER, SPARSE}, /* sparse_tensor */
    {TENSOR, 1, KEEP, LEAF},        /* dims */
    {TENSOR, 2, KEEP, LEAF},        /* data_type */
    {TENSOR, 4, KEEP, LEAF},        /* float_data */
    {TENSOR, 5, KEEP, LEAF},        /* int32_data */
    {TENSOR, 7, KEEP, LEAF},        /* int64_data */
    {TENSOR, 8, KEEP, LEAF},        /* name */
    {TENSOR, 9, PLACE, LEAF},       /* raw_data */
    {TENSOR, 10, KEEP, LEAF},       /* double_data */
    {TENSOR, 11, KEEP, LEAF},       /* uint64_data */
    {TENSOR, 13, ENTER, LEAF},      /* external_data */
    {TENSOR, 14, KEEP, LEAF},       /* data_location */
    {SPARSE, 1, ENTER, TENSOR},     /* values */
    {SPARSE, 3, KEEP, LEAF},        /* dims */
    {VALUE, 1, KEEP, LEAF},         /* name */
    {VALUE, 2, ENTER, TYPE},        /* type */
    {TYPE, 1, ENTER, LEAF},         /* tensor_type */
    {TYPE, 4, EMPTY, LEAF},         /* sequence_type */
    {TYPE, 5, EMPTY, LEAF},         /* map_type */
    {TYPE, 8, EMPTY, LEAF},         /* sparse_tensor_type */
    {TYPE, 9, EMPTY, LEAF},         /* optional_type */
};

static struct field_rule rule_of(enum message in, unsigned field) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].in == in && rules[i].field == field)
      return rules[i];
  return (struct field_rule){in, field, in == LEAF ? KEEP : DROP, LEAF};
}

/* ---- walking --------------------------------------------------------------------------------- */

struct walk {
  const char *name;
  struct vinci_diag *diag;
  const uint8_t *file, *end; /* the whole file */
  uint8_t *out;
  size_t used, room;
  uint64_t fields, nodes;
};

struct field {
  unsigned number;
  enum wire_type type;
  const uint8_t *start, *value; /* of its tag; of its payload */
  uint64_t length;              /* of the payload */
};

/* The end of a varint, or NULL. */
static const uint8_t *read_varint(const uint8_t *at, const uint8_t *end, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned i = 0; i < VARINT_BYTES && at < end; i++) {
    value |= (uint64_t)(*at & 0x7f) << (7 * i);
    if (!(*at++ & 0x80)) {
      *out = value;
      return at;
    }
  }
  return NULL;
}

/* The end of a field, or NULL when it is cut or of no known type. */
static const uint8_t *read_field(const uint8_t *at, const uint8_t *end, struct field *out) {
  uint64_t tag, ignored;
  out->start = at;
  at = read_varint(at, end, &tag);
  if (!at || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
    return NULL;
  out->number = (unsigned)(tag >> 3);
  out->type = (enum wire_type)(tag & 7);
  out->value = at;
  switch (out->type) {
  case WIRE_VARINT: {
    const uint8_t *after = read_varint(at, end, &ignored);
    out->length = after ? (uint64_t)(after - at) : 0;
    return after;
  }
  case WIRE_64:
    out->length = sizeof(uint64_t);
    break;
  case WIRE_32:
    out->length = sizeof(uint32_t);
    break;
  case WIRE_LENGTH:
    out->value = read_varint(at, end, &out->length);
    break;
  default:
    return NULL;
  }
  return out->value && out->length <= (uint64_t)(end - out->value) ? out->value + out->length
                                                                   : NULL;
}

static enum vinci_status fail(const struct walk *walk, const uint8_t *at, const char *what) {
  diag_error_at(walk->diag, VINCI_E_INPUT, (struct diag_position){.path = walk->name},
                "byte %llu: %s", (unsigned long long)(at - walk->file), what);
  return VINCI_E_INPUT;
}

static enum vinci_status need(struct walk *walk, size_t bytes) {
  if (walk->room - walk->used >= bytes)
    return VINCI_OK;
  size_t room = 2 * walk->room + bytes;
  if (room > SLIM_MAX)
    return fail(walk, walk->end, "more than 1 GiB without the weights");
  uint8_t *more = realloc(walk->out, room);
  if (!more)
    return diag_error(walk->diag, VINCI_E_NOMEM, "out of memory reading the model");
  walk->out = more;
  walk->room = room;
  return VINCI_OK;
}

/* A length in five bytes, so that it can be written before what it counts. */
static void put_length(uint8_t *at, uint64_t length) {
  for (unsigned i = 0; i < LENGTH_BYTES; i++)
    at[i] = (uint8_t)((length >> (7 * i) & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

static enum vinci_status put(struct walk *walk, const void *bytes, size_t length) {
  enum vinci_status status = need(walk, length);
  if (status == VINCI_OK && length > 0)
    memcpy(walk->out + walk->used, bytes, length);
  if (status == VINCI_OK)
    walk->used += length;
  return status;
}

static enum vinci_status walk_message(struct walk *walk, enum message message, const uint8_t *at,
                                      const uint8_t *end, unsigned depth);

/* A field with another payload: its tag, a length, then what `child` says. */
static enum vinci_status put_child(struct walk *walk, const struct field_rule *rule,
                                   const struct field *field, unsigned depth) {
  struct wire_place place = {(uint64_t)(field->value - walk->file), field->length};
  size_t tag_bytes = 1;
  while (field->start[tag_bytes - 1] & 0x80)
    tag_bytes++;
  enum vinci_status status = put(walk, field->start, tag_bytes);
  if (status == VINCI_OK)
    status = need(walk, LENGTH_BYTES);
  if (status != VINCI_OK)
    return status;
  size_t length_at = walk->used;
  walk->used += LENGTH_BYTES;
  if (rule->action == PLACE)
    status = put(walk, &place, sizeof place);
  else if (rule->action == ENTER)
    status = walk_message(walk, rule->child, field->value, field->value + field->length, depth + 1);
  if (status == VINCI_OK)
    put_length(walk->out + length_at, walk->used - length_at - LENGTH_BYTES);
  return status;
}

static enum vinci_status walk_field(struct walk *walk, enum message message,
                                    const struct field *field, unsigned depth) {
  struct field_rule rule = rule_of(message, field->number);
  bool is_child = rule.action != KEEP && rule.action != DROP;
  if (++walk->fields > FIELDS_MAX)
    return fail(walk, field->start, "more than 33554432 fields");
  if (rule.child == NODE && rule.action == ENTER && ++walk->nodes > GRAPH_NODES_MAX)
    return fail(walk, field->start, "more than 1048576 nodes");
  if (is_child && field->type != WIRE_LENGTH)
    return fail(walk, field->start, "a field of another type than ONNX has there");
  if (rule.action == DROP)
    return VINCI_OK;
  if (rule.action == KEEP)
    return put(walk, field->start, (size_t)(field->value + field->length - field->start));
  return put_child(walk, &rule, field, depth);
}

static enum vinci_status walk_message(struct walk *walk, enum message message, const uint8_t *at,
                                      const uint8_t *end, unsigned depth) {
  enum vinci_status status = VINCI_OK;
  if (message == LEAF) /* tensor types have dimensions inside, and no recursion */
    return put(walk, at, (size_t)(end - at));
  if (depth > DEPTH_MAX)
    return fail(walk, at, "graphs are nested too deep");
  while (at < end && status == VINCI_OK) {
    struct field field;
    const uint8_t *next = read_field(at, end, &field);
    if (!next)
      return fail(walk, at, "the file is cut or damaged there, or is not an ONNX model");
    status = walk_field(walk, message, &field, depth);
    at = next;
  }
  return status;
}

static enum vinci_status slim(const char *name, enum message message, const uint8_t *bytes,
                              size_t length, struct wire_slim *out, struct vinci_diag *diag) {
  struct walk walk = {.name = name, .diag = diag, .file = bytes, .end = bytes + length};
  *out = (struct wire_slim){0};
  enum vinci_status status = need(&walk, 1);
  if (status == VINCI_OK)
    status = walk_message(&walk, message, bytes, bytes + length, 0);
  if (status == VINCI_OK)
    *out = (struct wire_slim){walk.out, walk.used};
  else
    free(walk.out);
  return status;
}

enum vinci_status wire_slim_model(const char *name, const uint8_t *bytes, size_t length,
                                  struct wire_slim *out, struct vinci_diag *diag) {
  return slim(name, MODEL, bytes, length, out, diag);
}

enum vinci_status wire_slim_tensor(const char *name, const uint8_t *bytes, size_t length,
                                   struct wire_slim *out, struct vinci_diag *diag) {
  return slim(name, TENSOR, bytes, length, out, diag);
}

bool wire_is_model(const uint8_t *bytes, size_t length) {
  enum { IR_VERSION = 1, GRAPH_FIELD = 7 };
  const uint8_t *at = bytes, *end = bytes + length;
  struct field field;
  bool any = false;
  while (at && at < end) {
    at = read_field(at, end, &field);
    /* Most begin so; what is cut behind is still a model, and gets the message of a cut model. */
    if (at && field.start == bytes && field.number == IR_VERSION && field.type == WIRE_VARINT)
      return true;
    any = any || (at && field.number == GRAPH_FIELD && field.type == WIRE_LENGTH);
  }
  return at && any;
}
