/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of kernels (rows.h). */
#include "networks/passes/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/vector/elementwise/chain.h"

/* Operators whose result has the rows of the key `shape`, beside the elementwise ones: from which
 * rank on the first extent is not what they compute along. */
static const struct {
  const char *op;
  unsigned least_rank;
} by_shape[] = {
    {"softmax", 2},  {"log_softmax", 2}, {"layer_norm", 2},      {"rms_norm", 2},
    {"max_pool", 5}, {"avg_pool", 5},    {"global_avg_pool", 5}, {"transdata", 4},
};

static bool is(const struct graph_node *node, const char *key, const char *value) {
  const char *text = graph_arg(node, key);
  return !text || strcmp(text, value) == 0;
}

bool rows_elementwise(const struct graph_node *node) {
  const struct lower_op *op = lower_find(node->op);
  return op && (strcmp(op->name, "cast") == 0 || strcmp(op->name, "chain") == 0 || chain_takes(op));
}

/* ---- which rows ---------------------------------------------------------------------------- */

/* A residual is the last input, with the rows of the result. */
static void set_split(const struct graph_node *node, struct rows *out) {
  out->split = 1;
  if (graph_arg_int(node, "residual", 0) == 1 && node->input_count > 1)
    out->split |= UINT32_C(1) << (node->input_count - 1);
}

/* The key of a kernel of the cube that has its rows; NULL: it has none. */
static const char *key_of(const struct graph_node *node) {
  bool plain = is(node, "format_a", "ND") && is(node, "format_c", "ND");
  if (strcmp(node->op, "conv2d") == 0)
    return "n";
  if (strcmp(node->op, "batch_matmul") == 0 && !is(node, "batch", "1"))
    return is(node, "bias", "each") && graph_arg(node, "bias") ? NULL : "batch";
  if (strcmp(node->op, "matmul") == 0 || strcmp(node->op, "batch_matmul") == 0)
    return plain && is(node, "transpose_a", "0") && is(node, "batch", "1") ? "m" : NULL;
  return NULL;
}

const char *rows_axis(const struct graph_node *node) {
  const char *key = key_of(node);
  if (!key)
    return "outermost extent";
  return strcmp(key, "n") == 0 ? "images" : strcmp(key, "m") == 0 ? "rows of a product" : "batch";
}

static bool cube_rows(const struct graph_node *node, const char *key, struct rows *out) {
  int64_t count = graph_arg_int(node, key, 1);
  set_split(node, out);
  out->count = count > 0 ? (uint64_t)count : 0;
  if (strcmp(key, "batch") != 0)
    return out->count > 0;
  const char *shared = graph_arg(node, "shared");
  if (shared && strcmp(shared, "a") == 0)
    out->split &= ~UINT32_C(1);
  if (!shared || strcmp(shared, "b") != 0)
    out->split |= 2;
  return out->count > 0;
}

/* The extents of an input: those of its own key, or of the first. */
static unsigned input_shape(const struct graph_node *node, uint32_t input, int64_t *shape) {
  char key[16];
  unsigned rank = 0;
  snprintf(key, sizeof key, "shape%u", input);
  if (input > 0)
    rank = graph_arg_ints(node, key, shape, GRAPH_RANK_MAX);
  return rank ? rank : graph_arg_ints(node, "shape", shape, GRAPH_RANK_MAX);
}

static bool elementwise_rows(const struct graph_node *node, struct rows *out) {
  int64_t shape[GRAPH_RANK_MAX];
  unsigned most = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    unsigned rank = input_shape(node, i, shape);
    if (rank == 0 || rank > GRAPH_RANK_MAX || shape[0] < 1)
      return false;
    if (rank > most)
      *out = (struct rows){0};
    if (rank >= most && (uint64_t)shape[0] > out->count)
      *out = (struct rows){.count = (uint64_t)shape[0]};
    if (rank >= most && (uint64_t)shape[0] == out->count)
      out->split |= UINT32_C(1) << i;
    most = rank > most ? rank : most;
  }
  return out->count > 1;
}

static bool shape_rows(const struct graph_node *node, struct rows *out) {
  int64_t shape[GRAPH_RANK_MAX];
  unsigned rank = graph_arg_ints(node, "shape", shape, GRAPH_RANK_MAX);
  const char *way = graph_arg(node, "way");
  if (way && strcmp(way, "nchw_to_nc1hwc0") != 0 && strcmp(way, "nc1hwc0_to_nchw") != 0)
    return false;
  for (size_t i = 0; i < sizeof by_shape / sizeof *by_shape; i++)
    if (strcmp(node->op, by_shape[i].op) == 0 && rank >= by_shape[i].least_rank) {
      *out = (struct rows){(uint64_t)shape[0], 1};
      return shape[0] > 1;
    }
  return false;
}

bool rows_of(const struct graph_node *node, struct rows *out) {
  *out = (struct rows){0};
  if (node->offline || node->output_count != 1 || node->input_count == 0 ||
      node->input_count > GRAPH_ARGS_MAX || node->after_count > 0)
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] == GRAPH_NONE)
      return false;
  out->split = 1;
  if (node->kind == GRAPH_VIEW)
    return node->input_count == 1;
  if (node->kind != GRAPH_KERNEL)
    return false;
  const char *key = key_of(node);
  if (key)
    return cube_rows(node, key, out);
  return rows_elementwise(node) ? elementwise_rows(node, out) : shape_rows(node, out);
}

/* ---- a part -------------------------------------------------------------------------------- */

/* Whether an argument has the rows: of elementwise kernels the shape of each input that is split.
 */
static bool has_rows(const struct graph_node *node, const struct rows *rows, const char *arg) {
  const char *key = key_of(node);
  char own[16];
  if (key)
    return strncmp(arg, key, strlen(key)) == 0 && arg[strlen(key)] == '=';
  for (uint32_t i = 0; i < node->input_count; i++) {
    snprintf(own, sizeof own, i ? "shape%u=" : "shape=", i);
    if (strncmp(arg, own, strlen(own)) == 0)
      return (rows->split >> i) & 1;
  }
  return false;
}

bool rows_write(const struct graph_node *node, const struct rows *rows, uint64_t part, uint64_t of,
                char *text, size_t size) {
  size_t used = 0;
  if (size > 0)
    *text = '\0';
  for (uint32_t i = 0; i < node->arg_count && used < size; i++) {
    const char *arg = node->args[i], *blank = i ? " " : "";
    int more;
    if (has_rows(node, rows, arg)) {
      const char *value = strchr(arg, '=') + 1, *rest = value + strspn(value, "0123456789");
      more = snprintf(text + used, size - used, "%s%.*s%llu%s", blank, (int)(value - arg), arg,
                      (unsigned long long)(rows->count / of * part), rest);
    } else {
      more = snprintf(text + used, size - used, "%s%s", blank, arg);
    }
    used += more > 0 ? (size_t)more : 0;
  }
  return used < size;
}
