/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_matmul: the rows of A in groups, each with a B of its own (experts of a layer). The
 * numbers of rows are given, as traces have no addresses that depend on data; some may be 0. One
 * kernel, as GroupedMatmul of the vendor's library is: blocks of all groups are dealt out to the
 * cores in turn.
 *
 * In 8 bits, results get scales of the columns of each group and, if there are, of rows (quant.h).
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/cube/matmul_writer.h"
#include "lower/cube/quant.h"

enum {
  GROUPED_ROWS,
  GROUPED_COUNT,
  GROUPED_K,
  GROUPED_N,
  GROUPED_DTYPE,
  GROUPED_OUT_DTYPE,
  GROUPED_TOKENS,
  GROUPED_TRANSPOSE_B,
  GROUPED_TILING,
  GROUPED_KEY_COUNT = GROUPED_TILING + MATMUL_TILING_KEYS
};

static const struct lower_key keys[GROUPED_KEY_COUNT] = {
    [GROUPED_ROWS] = {"rows", LOWER_SHAPE, NULL, "0",
                      "rows of the groups in turn: 100x0x7 has 100, none, 7, 100 .."},
    [GROUPED_COUNT] = {"groups", LOWER_SIZE, "", NULL, "groups; default: as many as rows says"},
    [GROUPED_K] = {"k", LOWER_SIZE, NULL, NULL, "columns of A, rows of each B"},
    [GROUPED_N] = {"n", LOWER_SIZE, NULL, NULL, "columns of each B and of the result"},
    [GROUPED_DTYPE] = {"dtype", LOWER_DTYPE, "fp16", "fp16|bf16|int8", "type of A and B"},
    [GROUPED_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "", "fp16|bf16",
                           "type of the result; default: that of A, fp16 for int8"},
    [GROUPED_TOKENS] = {"tokens", LOWER_WORD, "0", "0|1", "of int8: a scale for each row too"},
    [GROUPED_TRANSPOSE_B] = {"transpose_b", LOWER_WORD, "0", "0|1", "each B is given as [n,k]"},
    MATMUL_TILING_ROWS(GROUPED_TILING, "m x k x n of a block in L0",
                       "k of A's and of B's panels in L1; one is a multiple of the other",
                       "operand that stays in L1 from block to block: none"),
};

/* ---- blocks ---- */

uint64_t grouped_blocks(const struct matmul_groups *groups, uint64_t count, uint64_t bm,
                        uint64_t nt) {
  uint64_t blocks = 0;
  for (uint64_t i = 0; i < count % groups->listed; i++)
    blocks += ceil_div(groups->rows[i], bm) * nt;
  for (unsigned i = 0; i < groups->listed; i++)
    blocks += count / groups->listed * ceil_div(groups->rows[i], bm) * nt;
  return blocks;
}

/* Of the values, the one that belongs to the group at `index` in its turn. */
static struct expr chosen(const struct matmul_groups *groups, struct expr index,
                          const uint64_t *values) {
  struct expr sum = EXPR(0);
  for (unsigned i = 0; i < groups->listed; i++)
    sum = x_add(sum, x_mul(values[i], x_eq(index, i)));
  return sum;
}

/* Turns of all listed groups have the same blocks; within one, group i begins at a block and at a
 * row that do not depend on the turn. */
void grouped_place(const struct writer *w, struct group *g) {
  const struct matmul_groups *groups = w->mm->groups;
  const struct matmul_tiling *t = &w->t;
  uint64_t block[TENSOR_RANK_MAX], row[TENSOR_RANK_MAX], rows = 0;
  for (unsigned i = 0; i < groups->listed; i++) {
    block[i] = grouped_blocks(groups, i, t->rows, t->nt);
    row[i] = rows;
    rows += groups->rows[i];
  }
  uint64_t per_turn = grouped_blocks(groups, groups->listed, t->rows, t->nt);
  struct expr turn = group_let(g, "turn_of", x_div(g->t, per_turn));
  struct expr at = group_let(g, "in_turn", x_mod(g->t, per_turn)), index = EXPR(0);
  for (unsigned i = 1; i < groups->listed; i++)
    index = x_add(index, block[i] == 0 ? EXPR(1) : x_lt(block[i] - 1, at));
  index = group_let(g, "index", index);
  g->z = group_let(g, "z", x_add(x_mul(turn, groups->listed), index));
  struct expr r = group_let(g, "r", x_sub(at, chosen(groups, index, block)));
  struct expr size = group_let(g, "size", chosen(groups, index, groups->rows));
  struct expr high = group_let(g, "high", x_ceil_div(size, t->rows));
  struct expr before = x_add(x_mul(turn, rows), chosen(groups, index, row));
  struct expr first = group_let(g, "in_group", x_mul(x_mod(r, high), t->rows));
  g->part = g->from = EXPR(0);
  g->depth = EXPR(w->mm->k);
  g->m = group_let(g, "m", x_add(before, first));
  g->n = group_let(g, "n", x_mul(x_div(r, high), t->bn));
  g->cm = group_let(g, "cm", x_rest(t->rows, size, first));
  g->cn = group_let(g, "cn", x_rest(t->bn, w->mm->n, g->n));
}

/* ---- the operator ---- */

static enum vinci_status check(struct lower_job *job, const struct matmul *mm,
                               const struct quant *quant) {
  enum vinci_status status = matmul_check_cube(job, mm);
  if (status != VINCI_OK)
    return status;
  if (mm->coupled)
    return lower_error(job, "not for %s", arch_name(job->soc->arch));
  if (mm->m == 0)
    return lower_error(job, "a group with rows is needed");
  if (mm->type == DTYPE_INT8)
    return quant_check(job);
  if (quant->tokens)
    return lower_error(job, "tokens are for int8");
  if (quant->out != mm->type)
    return lower_error(job, "%s gives no %s", dtype_name(mm->type), dtype_name(quant->out));
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value, *rows = &value[GROUPED_ROWS];
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct quant *quant = ARENA_NEW(job->arena, struct quant);
  struct matmul_groups *groups = ARENA_NEW(job->arena, struct matmul_groups);
  if (!mm || !quant || !groups)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t k = value[GROUPED_K].size, n = value[GROUPED_N].size, all = 0, most = 0;
  uint64_t count = value[GROUPED_COUNT].present ? value[GROUPED_COUNT].size : rows->rank;
  bool turned = value[GROUPED_TRANSPOSE_B].word;
  groups->listed = rows->rank;
  for (uint64_t i = 0; i < groups->listed; i++) {
    uint64_t times = count / groups->listed + (i < count % groups->listed);
    groups->rows[i] = rows->shape[i];
    all += times * groups->rows[i];
    most = times ? max_u64(most, groups->rows[i]) : most;
  }
  groups->count = count;
  bool integer = value[GROUPED_DTYPE].dtype == DTYPE_INT8;
  quant->tokens = value[GROUPED_TOKENS].word;
  quant->out = value[GROUPED_OUT_DTYPE].present ? value[GROUPED_OUT_DTYPE].dtype
               : integer                        ? DTYPE_FP16
                                                : value[GROUPED_DTYPE].dtype;
  *mm = (struct matmul){.name = "grouped_matmul",
                        .first_key = GROUPED_TILING,
                        .batch = count,
                        .a_batches = 1,
                        .b_batches = count,
                        .m = most,
                        .k = k,
                        .n = n,
                        .trans_b = turned,
                        .alone = true,
                        .groups = groups,
                        .coupled = matmul_is_coupled(job->soc),
                        .vectors = integer ? &quant_vectors : NULL,
                        .own = quant};
  const struct lower_value out = {.present = true, .dtype = integer ? DTYPE_INT32 : quant->out};
  matmul_types(job, mm, &value[GROUPED_DTYPE], &out);
  groups->all_rows = all;
  mm->a = matmul_operand("a", mm->type, 1, all, k, false);
  mm->b = matmul_operand("b", mm->type, count, turned ? n : k, turned ? k : n, false);
  mm->c = matmul_operand("c", quant->out, 1, all, n, false);
  job->data = mm;
  const uint64_t weights[] = {count, k, n}, results[] = {all, max_u64(n, k)};
  enum vinci_status status = lower_bounded(job, weights, 3);
  if (status == VINCI_OK)
    status = lower_bounded(job, results, 2);
  if (status == VINCI_OK)
    status = check(job, mm, quant);
  if (status == VINCI_OK)
    matmul_set_sides(job->soc, mm);
  return status;
}

/* The lists of x and weights are one tensor each where groups are many: x [rows, k], weights
 * [groups, k, n] or [groups, n, k]. How the rows are shared is a value; rows= in a column args says
 * that, else they are shared evenly. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *a = &call->input[0], *b = &call->input[1], *c = &call->output[0];
  if (call->input_count < 2 || call->output_count < 1 || a->rank != 2 || b->rank != 3 ||
      c->rank != 2)
    return lower_cannot(call, "one x and one tensor of weights of all groups are needed");
  uint64_t k = a->shape[1], n = c->shape[1], groups = b->shape[0];
  bool turned = b->shape[1] != k || b->shape[2] != n;
  if (turned && (b->shape[1] != n || b->shape[2] != k))
    return lower_cannot(call, "the shapes do not fit together");
  if (c->dtype != DTYPE_FP16 && c->dtype != DTYPE_BF16)
    return lower_cannot(call, "only results in fp16 and bf16 are modelled");
  if (!call->given || !strstr(call->given, "rows="))
    lower_arg(call, "rows=%" PRIu64, max_u64(1, a->shape[0] / max_u64(1, groups)));
  lower_arg(call, "groups=%" PRIu64, groups);
  lower_arg(call, "k=%" PRIu64, k);
  lower_arg(call, "n=%" PRIu64, n);
  lower_arg_dtype(call, "dtype", a);
  lower_arg_dtype(call, "out_dtype", c);
  lower_arg(call, "transpose_b=%d", turned);
  if (a->dtype == DTYPE_INT8)
    lower_arg(call, "tokens=1");
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(matmul_candidate);
LOWER_OPERATOR(grouped_matmul, "GroupedMatmul|GroupedMatmulV4",
               "rows of C = rows of A times the B of their group", keys, &template, NULL,
               from_tensors)
