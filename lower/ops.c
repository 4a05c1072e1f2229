/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators. */
#include <string.h>

#include "lower/kernel/lower.h"

static const struct lower_op *const operators[] = {
#define LOWER_OP(name) &lower_##name,
#include "lower/ops.def"
#undef LOWER_OP
};

size_t lower_op_count(void) { return sizeof operators / sizeof *operators; }

const struct lower_op *lower_op(size_t index) { return operators[index]; }

const struct lower_op *lower_find(const char *name) {
  for (size_t i = 0; i < lower_op_count(); i++)
    if (strcmp(operators[i]->name, name) == 0)
      return operators[i];
  return NULL;
}

const struct lower_op *lower_find_vendor(const char *type) {
  for (size_t i = 0; i < lower_op_count(); i++)
    if (words_have(operators[i]->vendor_types, type))
      return operators[i];
  return NULL;
}

static const struct lower_compared comparisons[] = {
#define LOWER_COMPARED(op, formats, rows, kind, amount, percent, args)                             \
  {#op, formats, rows, LOWER_BOUND_##kind, amount, percent, args},
#include "lower/calls/compared.def"
#undef LOWER_COMPARED
};

const struct lower_compared *lower_compared(const char *op) {
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
    if (strcmp(comparisons[i].op, op) == 0)
      return &comparisons[i];
  return NULL;
}

const char *lower_kind_name(enum lower_kind kind) {
  static const char *const names[] = {
#define X(id, name, text) name,
      LOWER_KIND_LIST(X)
#undef X
  };
  return names[kind];
}

size_t vinci_op_count(void) { return lower_op_count(); }

bool vinci_op_info(size_t index, struct vinci_op *out) {
  if (index >= lower_op_count())
    return false;
  const struct lower_op *op = operators[index];
  *out = (struct vinci_op){op->name, op->text, op->vendor_types, op->key_count};
  return true;
}

bool vinci_op_key(size_t index, size_t key_index, struct vinci_op_key *out) {
  if (index >= lower_op_count() || key_index >= operators[index]->key_count)
    return false;
  const struct lower_key *key = &operators[index]->keys[key_index];
  bool words = key->kind == LOWER_WORD || key->kind == LOWER_DTYPE;
  *out = (struct vinci_op_key){
      .name = key->name,
      .kind = lower_kind_name(key->kind),
      .choices = words ? key->choices : "",
      .fallback = key->fallback,
      .text = key->text,
      .tiling = key->tiling,
  };
  return true;
}

bool vinci_op_comparison(size_t index, struct vinci_op_comparison *out) {
  static const char *const bounds[] = {[LOWER_BOUND_BYTES] = "bytes, vector work",
                                       [LOWER_BOUND_RESULT] = "bytes of the result in and out",
                                       [LOWER_BOUND_MACS] = "bytes, cube work"};
  const struct lower_compared *compared =
      index < lower_op_count() ? lower_compared(operators[index]->name) : NULL;
  if (!compared)
    return false;
  *out = (struct vinci_op_comparison){.formats = compared->formats,
                                      .silicon_rows = compared->silicon_rows,
                                      .bound = bounds[compared->kind],
                                      .bound_percent = compared->percent,
                                      .example = compared->args};
  return true;
}
