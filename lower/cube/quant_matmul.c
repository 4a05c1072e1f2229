/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_matmul: C[m,n] = (A[m,k] B[k,n] + bias) * scale, A and B in 8 bits, a scale for each column
 * and, if there are, one for each row (token).
 *
 * Without scales of rows, the fixpipe multiplies on the way to fp16. Otherwise the cube core of a
 * block leaves int32 in places of a workspace, and its two vector cores take half of the rows each,
 * as QuantBatchMatmulV3 of the vendor's library does.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/cube/matmul_cost.h"
#include "lower/cube/matmul_writer.h"
#include "lower/cube/quant.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/rows/rowwise.h"

/* Elements of a slice of a block's rows in UB; rows come in whole blocks of their scales. */
enum { SLICE_ELEMENTS = 4096, ROW_UNIT = 8, PAIR = 2, PITCH_MAX = ROWWISE_PITCH_MAX };

enum {
  QUANT_M,
  QUANT_K,
  QUANT_N,
  QUANT_OUT_DTYPE,
  QUANT_TOKENS,
  QUANT_TRANSPOSE_B,
  QUANT_FORMAT_B,
  QUANT_BIAS,
  QUANT_TILING,
  QUANT_KEY_COUNT = QUANT_TILING + MATMUL_TILING_KEYS
};

static const struct lower_key keys[QUANT_KEY_COUNT] = {
    [QUANT_M] = {"m", LOWER_SIZE, NULL, NULL, "rows of A and of the result"},
    [QUANT_K] = {"k", LOWER_SIZE, NULL, NULL, "columns of A, rows of B"},
    [QUANT_N] = {"n", LOWER_SIZE, NULL, NULL, "columns of B and of the result"},
    [QUANT_OUT_DTYPE] = {"out_dtype", LOWER_DTYPE, "fp16", "fp16|bf16", "type of the result"},
    [QUANT_TOKENS] = {"tokens", LOWER_WORD, "1", "0|1", "a scale for each row too"},
    [QUANT_TRANSPOSE_B] = {"transpose_b", LOWER_WORD, "0", "0|1", "B is given as [n,k]"},
    [QUANT_FORMAT_B] = {"format_b", LOWER_WORD, "ND", "ND|NZ", "layout of B"},
    [QUANT_BIAS] = {"bias", LOWER_WORD, "0", "0|1", "adds a row of n int32 values before"},
    MATMUL_TILING_ROWS(QUANT_TILING, "m x k x n of a block in L0",
                       "k of A's and of B's panels in L1; one is a multiple of the other",
                       "operand that stays in L1 from block to block"),
};

/* ---- the stream of the vector cores ---- */

struct layout {
  uint64_t rows; /* of a slice */
  uint64_t sums, tokens, out, slot;
  uint64_t columns, blocks, end;
};

static struct layout lay_out(const struct matmul *mm, const struct matmul_tiling *t) {
  const struct quant *quant = mm->own;
  uint64_t half = round_up(ceil_div(t->bm, MATMUL_VECTORS), ROW_UNIT), used = 0;
  uint64_t rows = max_u64(ROW_UNIT, SLICE_ELEMENTS / t->bn / ROW_UNIT * ROW_UNIT);
  struct layout x = {.rows = min_u64(rows, half)};
  x.sums = vtile_reserve(&used, x.rows * t->bn * ACCUMULATOR_BYTES);
  x.tokens = vtile_reserve(&used, x.rows * sizeof(float));
  x.out = vtile_reserve(&used, x.rows * t->bn * vtile_bytes(quant->out));
  x.slot = used;
  used *= PAIR;
  x.columns = vtile_reserve(&used, t->bn * sizeof(float));
  x.blocks = vtile_reserve(&used, x.rows * BLOCK_BYTES);
  x.end = used;
  return x;
}

/* A slice of the rows of a block: its first row in the block, rows, buffer. */
struct slice {
  struct expr row, rows, pair, slot, place;
};

static void load(const struct writer *w, const struct layout *x, const struct group *g,
                 const struct slice *s) {
  uint64_t pitch = w->t.bn * ACCUMULATOR_BYTES;
  const struct quant *quant = w->mm->own;
  struct expr bytes = x_mul(g->cn, ACCUMULATOR_BYTES);
  EMIT(w->e, "copy_gm_to_ubuf_align_b32", F("dst", x_add(s->slot, x->sums)),
       F("src", x_add(x_add(x_name(w->e, "sums"), s->place), x_mul(s->row, pitch))),
       F("n_burst", s->rows), F("len_burst", bytes), F("src_gap", x_sub(pitch, bytes)),
       F("dst_gap", x_sub(pitch / BLOCK_BYTES, x_ceil_div(bytes, BLOCK_BYTES))));
  if (quant->tokens)
    vtile_load_run(w->e, DTYPE_FP32, x_add(s->slot, x->tokens),
                   x_slot(w->e, "token_scale", x_add(g->m, s->row), sizeof(float)), s->rows);
}

static void compute(const struct writer *w, const struct layout *x, const struct slice *s) {
  enum { R_SUMS = X0, R_COLUMNS = X1, R_TOKENS = T1, R_OUT = Y0 };
  static const struct vstep by_column = WITH_ROW("vmul", R_SUMS, R_SUMS, R_COLUMNS);
  static const struct vstep by_row[] = {SPREAD(R_TOKENS), WITH_COLUMN("vmul", R_SUMS, R_SUMS), END};
  const struct quant *quant = w->mm->own;
  struct rowwise rows = {.n_rows = s->rows,
                         .cols = w->t.bn,
                         .pitch = w->t.bn,
                         .unit = {.emit = w->e,
                                  .type = DTYPE_FP32,
                                  .written = V_ALL,
                                  .reg = {[R_SUMS] = x_add(s->slot, x->sums),
                                          [R_COLUMNS] = EXPR(x->columns),
                                          [R_TOKENS] = x_add(s->slot, x->tokens),
                                          [R_OUT] = x_add(s->slot, x->out),
                                          [V_BLOCKS] = EXPR(x->blocks)}}};
  struct vunit *unit = &rows.unit;
  rowwise_all(&rows);
  vunit_convert(unit, 0, V(R_SUMS), DTYPE_INT32, DTYPE_FP32, unit->reg[R_SUMS], unit->reg[R_SUMS]);
  rowwise_step(&rows, &by_column);
  if (quant->tokens)
    rowwise_steps(&rows, by_row);
  rowwise_all(&rows);
  vunit_convert(unit, V(R_SUMS), V(R_OUT), DTYPE_FP32, quant->out, unit->reg[R_OUT],
                unit->reg[R_SUMS]);
  vunit_rest(unit);
}

static void store(const struct writer *w, const struct layout *x, const struct group *g,
                  const struct slice *s) {
  uint64_t bytes = vtile_bytes(((const struct quant *)w->mm->own)->out), n = w->mm->n;
  struct expr at = x_add(x_mul(x_add(g->m, s->row), n), g->n), row = x_mul(g->cn, bytes);
  EMIT(w->e, "copy_ubuf_to_gm_align_b16", F("dst", x_slot(w->e, w->mm->c.name, at, bytes)),
       F("src", x_add(s->slot, x->out)), F("n_burst", s->rows), F("len_burst", row),
       F("src_gap", x_sub(w->t.bn * bytes / BLOCK_BYTES, x_ceil_div(row, BLOCK_BYTES))),
       F("dst_gap", x_sub(n * bytes, row)));
}

/* Scales of the columns of a block, behind the last use of those before. */
static void load_columns(const struct writer *w, const struct layout *x, const struct group *g) {
  struct expr first = w->mm->groups ? x_add(x_mul(g->z, w->mm->n), g->n) : g->n;
  emit_handshake(w->e, PIPE_V, PIPE_MTE2, PAIR);
  vtile_load_run(w->e, DTYPE_FP32, EXPR(x->columns), x_slot(w->e, "scale", first, sizeof(float)),
                 g->cn);
  emit_handshake(w->e, PIPE_MTE2, PIPE_V, PAIR);
}

static void put_slices(const struct writer *w, const struct layout *x, const struct group *g,
                       struct expr i) {
  struct emit *e = w->e;
  struct expr half = x_mul(x_ceil_div(g->cm, MATMUL_VECTORS * ROW_UNIT), ROW_UNIT);
  struct expr from = emit_assigned(e, "from", x_mul(x_name(e, "sub"), half));
  struct expr mine = emit_assigned(e, "mine", x_max(0, x_min(half, x_sub(g->cm, from))));
  struct expr place =
      emit_assigned(e, "place", matmul_place(w, i, w->t.bm * w->t.bn * ACCUMULATOR_BYTES));
  struct expr number = emit_for(e, "slice", x_ceil_div(mine, x->rows));
  struct expr first = emit_assigned(e, "first_row", x_mul(number, x->rows));
  struct slice s = {.place = place};
  s.rows = emit_assigned(e, "sr", x_min(x->rows, x_sub(mine, first)));
  s.row = emit_assigned(e, "r0", x_add(from, first));
  s.pair = emit_assigned(e, "pair", x_mod(number, PAIR));
  s.slot = emit_assigned(e, "slot", x_mul(s.pair, x->slot));
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, s.pair);
  load(w, x, g, &s);
  emit_handshake(e, PIPE_MTE2, PIPE_V, s.pair);
  compute(w, x, &s);
  emit_handshake(e, PIPE_V, PIPE_MTE3, s.pair);
  store(w, x, g, &s);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, s.pair);
  emit_end(e);
}

/* Block after block, as the cube core stores them. */
static void stream(const struct writer *given) {
  struct writer writer = *given, *w = &writer;
  struct emit *e = w->e;
  const struct layout x = lay_out(w->mm, &w->t);
  emit_stream(e, emit_vector_core(e->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE);
  emit_plain(e, "set_mask_count");
  vmask_count(e, x.end / sizeof(float));
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_ALL);
  struct expr groups = matmul_share(w);
  emit_flags(e, "free", true, PIPE_MTE3, PIPE_MTE2, PAIR);
  struct expr i = emit_for(e, "block", x_div(groups, w->t.groups));
  struct group g = matmul_group(w, x_mul(i, w->t.groups), "");
  load_columns(w, &x, &g);
  EMIT(e, "wait_flag_dev", F("id", MATMUL_SIGNAL_STORED));
  put_slices(w, &x, &g, i);
  EMIT(e, "ffts_cross_core_sync", W("pipe", "MTE2"), F("mode", 2), F("id", MATMUL_SIGNAL_TAKEN));
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  emit_flags(e, "taken", false, PIPE_MTE3, PIPE_MTE2, PAIR);
}

static void tensors(const struct writer *w) {
  const struct quant *quant = w->mm->own;
  const uint64_t places[] = {w->t.cores * MATMUL_PLACES, w->t.bm, w->t.bn};
  const struct matmul_groups *groups = w->mm->groups;
  const uint64_t scales[] = {w->mm->batch, w->mm->n};
  emit_tensor(w->e, "scale", DTYPE_FP32, TENSOR_IN, groups ? scales : scales + 1, groups ? 2 : 1,
              NULL);
  if (quant->tokens)
    emit_vector(w->e, "token_scale", DTYPE_FP32, TENSOR_IN, groups ? groups->all_rows : w->mm->m);
  emit_tensor(w->e, "sums", DTYPE_INT32, TENSOR_WORKSPACE, places, 3, NULL);
}

static void buffers(const struct writer *w) {
  emit_buffer(w->e, "ub", SPACE_UB, lay_out(w->mm, &w->t).end);
}

static bool fits(struct lower_job *job, const struct matmul_tiling *t) {
  if (t->bn > PITCH_MAX)
    return lower_refuse(job, "rows of a block have at most %d columns", PITCH_MAX);
  return vtile_ub_holds(job, "a slice of a block", lay_out(job->data, t).end);
}

/* What the rows of a slice take to leave; each that is cut takes the engine some cycles more. */
static uint64_t store_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                             const struct matmul_tiling *t, uint64_t rows) {
  uint64_t bytes = vtile_bytes(((const struct quant *)mm->own)->out);
  const struct path_cost *out = &soc->path[PATH_UB_GM];
  uint64_t cut = (mm->n | t->bn) * bytes % BLOCK_BYTES ? rows : 0;
  return estimate_copies(out, rows * t->bn * bytes, 1) +
         cut * (uint64_t)out->unaligned_mcycles / MILLI;
}

/*
 * Six passes over half of each block, slice after slice, whose copies overlap. The first slice of a
 * block waits for the scales of its columns, behind the last use of those of the block before, and
 * its buffer until what lies there has left.
 */
static uint64_t cycles(const struct vinci_soc *soc, const struct matmul *mm,
                       const struct matmul_tiling *t, uint64_t blocks, uint64_t loads) {
  const uint64_t passes = 6, ordered = 6, instructions = 30; /* of a slice */
  const struct layout x = lay_out(mm, t);
  uint64_t half = ceil_div(min_u64(t->bm, mm->m), MATMUL_VECTORS);
  uint64_t slices = ceil_div(half, x.rows), rows = ceil_div(half, slices);
  uint64_t bytes = rows * t->bn * ACCUMULATOR_BYTES;
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  const struct path_cost *in = &soc->path[PATH_GM_UB];
  uint64_t load_start = (uint64_t)in->startup_mcycles / MILLI;
  uint64_t load = cube_cycles_at(bytes, (uint64_t)in->mbytes_per_cycle) + load_start;
  uint64_t compute = max_u64(passes * bytes / REPEAT_BYTES + ordered * start,
                             instructions * kernel_issue_cycles(soc, KERNEL_ELEMENTWISE));
  uint64_t store = store_cycles(soc, mm, t, rows);
  (void)loads;
  uint64_t first = load_start + (uint64_t)soc->cross_core_cycles + load + compute + store;
  return blocks * (first + (slices - 1) * max_u64(compute, max_u64(load, store)));
}

const struct matmul_vectors quant_vectors = {
    .fits = fits, .tensors = tensors, .buffers = buffers, .stream = stream, .cycles = cycles};

/* ---- the operator ---- */

enum vinci_status quant_check(struct lower_job *job) {
  const struct vinci_soc *soc = job->soc;
  if (soc->cross_core_ids <= MATMUL_SIGNAL_TAKEN || soc->cross_core_sets_max < MATMUL_PLACES ||
      soc_core_count(soc, CORE_AIV) < MATMUL_VECTORS * matmul_cores(soc))
    return lower_error(job, "takes two vector cores for each cube core, and signals between them");
  return VINCI_OK;
}

static enum vinci_status check(struct lower_job *job, const struct matmul *mm) {
  enum vinci_status status = matmul_check_cube(job, mm);
  if (status != VINCI_OK)
    return status;
  if (mm->coupled)
    return matmul_coupled_check(job, mm);
  return mm->vectors ? quant_check(job) : VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  const struct lower_value *value = job->value;
  struct matmul *mm = ARENA_NEW(job->arena, struct matmul);
  struct quant *quant = ARENA_NEW(job->arena, struct quant);
  if (!mm || !quant)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  uint64_t m = value[QUANT_M].size, k = value[QUANT_K].size, n = value[QUANT_N].size;
  bool turned = value[QUANT_TRANSPOSE_B].word, nz = value[QUANT_FORMAT_B].word;
  *quant = (struct quant){value[QUANT_OUT_DTYPE].dtype, value[QUANT_TOKENS].word};
  bool by_fixpipe = !quant->tokens && quant->out == DTYPE_FP16;
  if (matmul_is_coupled(job->soc) && !by_fixpipe)
    return lower_error(job, "%s has scales of columns and fp16 results only", job->soc->name);
  *mm = (struct matmul){.name = "quant_matmul",
                        .first_key = QUANT_TILING,
                        .batch = 1,
                        .a_batches = 1,
                        .b_batches = 1,
                        .m = m,
                        .k = k,
                        .n = n,
                        .trans_b = turned,
                        .nz_b = nz,
                        .bias = value[QUANT_BIAS].word,
                        .biases = n,
                        .scales = n,
                        .alone = true,
                        .coupled = matmul_is_coupled(job->soc),
                        .scale = by_fixpipe ? SCALE_COLUMNS : SCALE_NONE,
                        .vectors = by_fixpipe ? NULL : &quant_vectors,
                        .own = quant};
  const struct lower_value in = {.present = true, .dtype = DTYPE_INT8};
  const struct lower_value out = {.present = true, .dtype = by_fixpipe ? DTYPE_FP16 : DTYPE_INT32};
  matmul_types(job, mm, &in, &out);
  mm->a = matmul_operand("a", mm->type, 1, m, k, false);
  mm->b = matmul_operand("b", mm->type, 1, turned ? n : k, turned ? k : n, nz);
  mm->c = matmul_operand("c", quant->out, 1, m, n, false);
  job->data = mm;
  enum vinci_status status = check(job, mm);
  if (status == VINCI_OK)
    matmul_set_sides(job->soc, mm);
  return status;
}

/* Extents of B as it lies: of NZ whole fractals. */
static bool fits_b(const struct lower_tensor *b, bool nz, uint64_t rows, uint64_t cols) {
  enum { C0 = BLOCK_BYTES, NZ_RANK = 4 };
  if (!nz)
    return b->rank >= 2 && b->shape[b->rank - 2] == rows && b->shape[b->rank - 1] == cols;
  return b->rank == NZ_RANK && b->shape[0] == ceil_div(cols, C0) &&
         b->shape[1] == ceil_div(rows, FRACTAL_ROWS);
}

/* x1, x2, scale, offset, bias, pertoken_scale (QuantBatchMatmulV3 of ops-nn). */
static bool from_tensors(struct lower_call *call) {
  enum { IN_A, IN_B, IN_SCALE, IN_OFFSET, IN_BIAS, IN_TOKENS };
  const struct lower_tensor *a = &call->input[IN_A], *b = &call->input[IN_B];
  const struct lower_tensor *c = &call->output[0];
  if (call->input_count <= IN_SCALE || call->output_count == 0 || a->rank < 2 || c->rank < 2)
    return lower_cannot(call, "two matrices, scales and a result are needed");
  uint64_t m = lower_elements(a->shape, a->rank - 1), k = a->shape[a->rank - 1];
  uint64_t n = c->shape[c->rank - 1];
  bool nz = strstr(b->format, "NZ"), turned = !fits_b(b, nz, k, n);
  if (turned && !fits_b(b, nz, n, k))
    return lower_cannot(call, "the shapes do not fit together");
  if (c->dtype != DTYPE_FP16 && c->dtype != DTYPE_BF16)
    return lower_cannot(call, "only results in fp16 and bf16 are modelled");
  lower_arg(call, "m=%" PRIu64, m);
  lower_arg(call, "k=%" PRIu64, k);
  lower_arg(call, "n=%" PRIu64, n);
  lower_arg_dtype(call, "out_dtype", c);
  lower_arg(call, "tokens=%d", call->input_count > IN_TOKENS && call->input[IN_TOKENS].rank > 0);
  lower_arg(call, "transpose_b=%d", turned);
  lower_arg(call, "format_b=%s", nz ? "NZ" : "ND");
  lower_arg(call, "bias=%d", call->input_count > IN_BIAS && call->input[IN_BIAS].rank > 0);
  return true;
}

static const struct lower_template template = MATMUL_TEMPLATE(matmul_candidate);
LOWER_OPERATOR(quant_matmul, "QuantBatchMatmulV3|QuantBatchMatmul|QuantBatchMatmulV4",
               "C[m,n] = (A[m,k] B[k,n] + bias) * scales of columns and rows, A and B of 8 bits",
               keys, &template, NULL, from_tensors)
