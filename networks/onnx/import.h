/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the ONNX reader share: values, calls of operators, layers. */
#ifndef VINCI_NETWORKS_ONNX_IMPORT_H
#define VINCI_NETWORKS_ONNX_IMPORT_H

#include "core/base/lookup.h"
#include "networks/onnx/onnx.h"
#include "networks/onnx/onnx.pb-c.h"
#include "networks/onnx/types.h"

/* Values of more elements are not computed: what they make is constant without values. Of a tensor:
 * elements and bytes, as those of graphs as text. */
enum { ONNX_FOLD_MAX = 1 << 16, ONNX_LAST_OPSET = 23 };
#define ONNX_ELEMENTS_MAX (UINT64_C(1) << 42)

struct onnx_value {
  const char *name;    /* of the network; made names begin with that of what they come from */
  enum onnx_type type; /* ONNX_UNKNOWN: not known */
  bool shaped;
  unsigned rank;
  uint64_t shape[GRAPH_RANK_MAX];
  bool constant;    /* known before a run; its values may not be at hand */
  const void *data; /* of a constant: its elements in order, little-endian; NULL: not at hand, or
                       more than ONNX_FOLD_MAX of 4 bits, which are in `bytes` alone */
  bool borrowed;    /* data lie in the file */
  struct onnx_value **items; /* of a sequence of tensors; NULL: the value is not a sequence */
  uint32_t item_count;
  struct onnx_value *bytes; /* of constants of 4 bits and of fp8: the bytes that hold them */
  bool is_input, is_output;
  bool live; /* a layer that stays reads the value */
  const struct onnx_layer *writer;
  uint32_t tensor; /* of the graph; GRAPH_NONE: none yet */
};

/* An operator of the model that stays. */
struct onnx_layer {
  const char *op, *origin;
  const char **args;
  struct onnx_value **inputs, **outputs; /* an input may be NULL: left out */
  uint32_t arg_count, input_count, output_count;
  bool live;
  struct onnx_layer *next, *before;
};

/* Names of the graph, of a branch of an If, or of a function; a branch sees the names around. */
struct onnx_call;
struct onnx_scope {
  struct onnx_scope *around;
  struct lookup names;
  unsigned depth;
  const struct onnx_call *caller; /* of a function's nodes: the node that calls; else NULL */
  struct onnx_scope *declared;    /* types and shapes that the file notes, by name */
};

struct onnx_import {
  const char *name;
  const uint8_t *file;
  size_t file_bytes;
  const struct onnx_options *options;
  struct vinci_diag *diag;
  struct arena arena; /* of all below */
  struct graph *graph;
  const Onnx__ModelProto *model;
  int64_t opset;
  bool declared_shapes; /* no option has changed a fixed size: shapes that the file notes hold */
  struct onnx_layer *first, *last;
  uint32_t layer_count;
  uint64_t node_count; /* that were looked at, branches included */
  uint64_t item_count; /* of all sequences */
};

/* An operator that is looked at. A rule sets the type and shape of outputs and adds arguments. */
struct onnx_call {
  struct onnx_import *import;
  const Onnx__NodeProto *node;
  const struct onnx_op *row; /* NULL: an operator that this reader does not know */
  const char *op;            /* the name that the layer shall have */
  int64_t opset;
  struct onnx_scope *scope;
  struct onnx_value **inputs, **outputs;
  uint32_t input_count, output_count;
  uint32_t kept_inputs; /* the layer's; those behind have become arguments */
  const char *args[GRAPH_ARGS_MAX];
  uint32_t arg_count;
  bool done; /* the rule has bound the outputs itself: no layer is needed */
};

typedef enum vinci_status (*onnx_rule)(struct onnx_call *call);

/* What is computed of constant inputs; false: these values not (then the output has none). */
typedef bool (*onnx_fold)(struct onnx_call *call);

struct onnx_op {
  const char *name;
  uint32_t inputs_min; /* that have to be there */
  onnx_rule rule;      /* called when the first inputs_min inputs have shapes */
  onnx_fold fold;      /* NULL: constant results have no values */
  bool stays;          /* a layer even when all inputs are constant: random, quantised */
};
const struct onnx_op *onnx_op_find(const char *name);

/* ---- errors (import.c) ---- */

/* VINCI_E_INPUT "MODEL: node "NAME" (OP): text". */
enum vinci_status onnx_fail(const struct onnx_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum vinci_status onnx_no_memory(struct onnx_import *import);
/* The node's name, else that of its first named output; "": none. */
const char *onnx_node_name(const Onnx__NodeProto *node);
/* The input of the model that an input of the call follows from, the first of several; NULL: none.
 */
const char *onnx_input_of(const struct onnx_call *call, uint32_t input);
/* Hints at that input, to be fixed. */
void onnx_hint_input(const struct onnx_call *call, uint32_t input);
/* What --fix says of a value; NULL: nothing. (inputs.c) */
const char *onnx_fixed_word(const struct onnx_import *import, const char *name);

/* ---- functions of the model (functions.c) ---- */

/* The function that a node calls; NULL: an operator. */
const Onnx__FunctionProto *onnx_function(const struct onnx_call *call);
/* Goes over the nodes of the function; the outputs of the call become those of the function. */
VINCI_MUST_CHECK enum vinci_status onnx_call_function(struct onnx_call *call,
                                                      const Onnx__FunctionProto *function);
/* The same of an operator that ONNX Runtime contributes; *known: the reader has that operator. */
VINCI_MUST_CHECK enum vinci_status onnx_call_contrib(struct onnx_call *call, bool *known);
/* The same of a standard operator that no layer stands for, after its rule. */
VINCI_MUST_CHECK enum vinci_status onnx_call_standard(struct onnx_call *call, bool *known);
/* An attribute, or the caller's attribute that it refers to, which may be NULL. */
const Onnx__AttributeProto *onnx_refer(const struct onnx_call *call,
                                       const Onnx__AttributeProto *attribute);

/* ---- types and values (tensor.c) ---- */
const char *onnx_type_name(enum onnx_type type);
unsigned onnx_type_bits(enum onnx_type type);
/* Of an element in onnx_value.data: of 4 bits each has a byte of its own. */
unsigned onnx_element_bytes(enum onnx_type type);
/* Whether onnx_store_int() and onnx_store_real() know the type. */
bool onnx_can_store(enum onnx_type type);
bool onnx_type_is_float(enum onnx_type type);
enum dtype onnx_type_dtype(enum onnx_type type);
uint64_t onnx_elements(const struct onnx_value *value);
/* Type, shape and values of a TensorProto out of a slim message. */
VINCI_MUST_CHECK enum vinci_status onnx_take_tensor(struct onnx_import *import,
                                                    const Onnx__TensorProto *tensor,
                                                    struct onnx_value *out);
/* Sets value->bytes of a constant out of its elements, of types that have it; false: no memory. */
bool onnx_pack(struct onnx_import *import, struct onnx_value *value);
/* One element as an integer or a real number; type and data have to be known. */
int64_t onnx_load_int(const struct onnx_value *value, uint64_t index);
double onnx_load_real(const struct onnx_value *value, uint64_t index);
void onnx_store_int(void *data, enum onnx_type type, uint64_t index, int64_t number);
void onnx_store_real(void *data, enum onnx_type type, uint64_t index, double number);

/* ---- attributes and arguments (attributes.c) ---- */

const Onnx__AttributeProto *onnx_attribute(const struct onnx_call *call, const char *name);
int64_t onnx_int(const struct onnx_call *call, const char *name, int64_t fallback);
double onnx_real(const struct onnx_call *call, const char *name, double fallback);
const char *onnx_text(const struct onnx_call *call, const char *name, const char *fallback);
/* Whole numbers of an attribute; how many, 0 when it is absent; more than `most` is an error. */
struct onnx_ints {
  bool given;
  unsigned count;
  int64_t list[2 * GRAPH_RANK_MAX];
};
VINCI_MUST_CHECK enum vinci_status onnx_ints(const struct onnx_call *call, const char *name,
                                             struct onnx_ints *out);
/* The same of an input that has to be constant. */
VINCI_MUST_CHECK enum vinci_status onnx_ints_input(const struct onnx_call *call, uint32_t input,
                                                   struct onnx_ints *out);
/* Of an attribute before `since`, of an input from then on. */
VINCI_MUST_CHECK enum vinci_status onnx_ints_either(const struct onnx_call *call, const char *name,
                                                    int64_t since, uint32_t input,
                                                    struct onnx_ints *out);
/* Whether an input is given; whether it is given and its values are at hand. */
bool onnx_given(const struct onnx_call *call, uint32_t input);
bool onnx_known(const struct onnx_call *call, uint32_t input);
/* Makes an axis >= 0; VINCI_E_INPUT when the tensor has no such axis. */
VINCI_MUST_CHECK enum vinci_status onnx_axis(const struct onnx_call *call, int64_t axis,
                                             unsigned rank, unsigned *out);

/* VINCI_E_INPUT: an attribute of the operator is not one of its words (words.def). */
VINCI_MUST_CHECK enum vinci_status onnx_check_words(const struct onnx_call *call);

void onnx_arg_int(struct onnx_call *call, const char *key, int64_t value);
void onnx_arg_real(struct onnx_call *call, const char *key, double value);
void onnx_arg_reals(struct onnx_call *call, const char *key, const double *list, unsigned count);
void onnx_arg_text(struct onnx_call *call, const char *key, const char *value);
void onnx_arg_ints(struct onnx_call *call, const char *key, const int64_t *list, unsigned count);
/* All attributes as they are, of operators without a rule. */
void onnx_arg_all(struct onnx_call *call);

/* ---- outputs ---- */

/* Type and shape of an output; outputs behind the last are passed over. VINCI_E_INPUT for shapes
 * without elements or with too many. */
VINCI_MUST_CHECK enum vinci_status onnx_output(struct onnx_call *call, uint32_t output,
                                               enum onnx_type type, const uint64_t *shape,
                                               unsigned rank);
/* As an input. */
VINCI_MUST_CHECK enum vinci_status onnx_output_like(struct onnx_call *call, uint32_t output,
                                                    const struct onnx_value *like);
/* The call makes nothing: output 0 is that value. */
void onnx_output_is(struct onnx_call *call, struct onnx_value *value);
/* A further value, of no name of the model. */
struct onnx_value *onnx_new_value(struct onnx_import *import, const char *name);
/* Adds the layer of a call as it stands. */
VINCI_MUST_CHECK enum vinci_status onnx_add_layer(struct onnx_call *call);

/* ---- the parts in their order ---- */

/* The initializers, and then all nodes, of the whole graph or of a branch. */
VINCI_MUST_CHECK enum vinci_status onnx_take_initializers(struct onnx_import *import,
                                                          struct onnx_scope *scope,
                                                          const Onnx__GraphProto *graph);
/* Nodes in an order in which each tensor is written before it is read, that of the file where that
 * is such an order, without those that no output needs; a NULL ends the list. NULL when memory is
 * short (order.c). */
const Onnx__NodeProto **onnx_ordered(struct onnx_import *import, const Onnx__GraphProto *graph);
VINCI_MUST_CHECK enum vinci_status onnx_pass(struct onnx_import *import, struct onnx_scope *scope,
                                             const Onnx__GraphProto *graph);
struct onnx_value *onnx_look_up(const struct onnx_scope *scope, const char *name);
VINCI_MUST_CHECK enum vinci_status onnx_bind(struct onnx_import *import, struct onnx_scope *scope,
                                             const char *name, struct onnx_value *value);
/* The inputs of the graph, with the sizes that file and options give (inputs.c). */
VINCI_MUST_CHECK enum vinci_status onnx_take_inputs(struct onnx_import *import,
                                                    struct onnx_scope *scope,
                                                    const Onnx__GraphProto *graph);
/* What the file notes of the graph's tensors, into scope->declared (inputs.c). */
VINCI_MUST_CHECK enum vinci_status onnx_take_declared(struct onnx_import *import,
                                                      struct onnx_scope *scope,
                                                      const Onnx__GraphProto *graph);
/* From layers to the graph (emit.c). */
VINCI_MUST_CHECK enum vinci_status onnx_emit(struct onnx_import *import,
                                             const struct onnx_scope *scope,
                                             const Onnx__GraphProto *graph);

#endif
