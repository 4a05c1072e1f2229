/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators along the last dimension that keep the shape: softmax, normalisations. A tile is some
 * whole rows, or a part of one (norm_long.c).
 */
#include "lower/vector/rows/norm.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/rows/rowfunc.h"

enum { FLOAT_BYTES = 4, WEIGHT_FLAG = 2, SPREAD_ROWS = 8 };

static const struct vstep softmax_steps[] = {
    REDUCE(T1, X0, V_MAX), SPREAD(T1), WITH_COLUMN("vsub", T0, X0), U("vexp", T0, T0),
    REDUCE(T1, T0, V_SUM), SPREAD(T1), WITH_COLUMN("vdiv", Y0, T0), END};
/* COLUMN(T1) to a power, by logarithm and exponential, spread. */
#define POWER(power_)                                                                              \
  COLUMN(U_("vln", T1, T1)), COLUMN(S_("vmuls", T1, T1, power_)), COLUMN(U_("vexp", T1, T1)),      \
      SPREAD(T1)
static const struct vstep softmax_multiplied[] = {
    REDUCE(T1, X0, V_MAX), SPREAD(T1), WITH_COLUMN("vsub", T0, X0), U("vexp", T0, T0),
    REDUCE(T1, T0, V_SUM), POWER(-1),  WITH_COLUMN("vmul", Y0, T0), END};
static const struct vstep log_softmax_steps[] = {REDUCE(T1, X0, V_MAX),
                                                 SPREAD(T1),
                                                 WITH_COLUMN("vsub", T0, X0),
                                                 U("vexp", Y0, T0),
                                                 REDUCE(T1, Y0, V_SUM),
                                                 COLUMN(U_("vln", T1, T1)),
                                                 SPREAD(T1),
                                                 WITH_COLUMN("vsub", Y0, T0),
                                                 END};
/* x: gradient, x1: the log-softmax: x - exp(x1) * sum(x). */
static const struct vstep log_softmax_grad_steps[] = {
    REDUCE(T1, X0, V_SUM), SPREAD(T1), U("vexp", T0, X1), WITH_COLUMN("vmul", T0, T0),
    B("vsub", Y0, X0, T0), END};
/* x1: the labels; y1: what is summed to the loss. */
static const struct vstep cross_entropy_rows_steps[] = {REDUCE(T1, X0, V_MAX),
                                                        SPREAD(T1),
                                                        WITH_COLUMN("vsub", T0, X0),
                                                        U("vexp", Y0, T0),
                                                        REDUCE(T1, Y0, V_SUM),
                                                        COLUMN(U_("vln", T1, T1)),
                                                        SPREAD(T1),
                                                        WITH_COLUMN("vsub", T0, T0),
                                                        B("vmul", Y1, T0, X1),
                                                        S("vmuls", Y1, Y1, -1),
                                                        U("vexp", T0, T0),
                                                        B("vsub", Y0, T0, X1),
                                                        END};
/* x: the softmax, x1: its gradient: x * (x1 - sum(x * x1)). */
static const struct vstep softmax_grad_steps[] = {
    B("vmul", T0, X0, X1),       REDUCE(T1, T0, V_SUM), SPREAD(T1),
    WITH_COLUMN("vsub", T0, X1), B("vmul", Y0, T0, X0), END};
/* COLUMN(T1) = sqrt(COLUMN(T1) * mean + epsilon), spread. */
#define ROOT_OF_MEAN                                                                               \
  COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)), COLUMN(P_("vadds", T1, T1, NUMBER_EPSILON)),           \
      COLUMN(U_("vsqrt", T1, T1)), SPREAD(T1)
static const struct vstep rms_norm_steps[] = {
    B("vmul", T0, X0, X0),       REDUCE(T1, T0, V_SUM),        ROOT_OF_MEAN,
    WITH_COLUMN("vdiv", T0, X0), WITH_ROW("vmul", Y0, T0, X2), END};
static const struct vstep add_rms_norm_steps[] = {B("vadd", Y1, X0, X1),
                                                  B("vmul", T0, Y1, Y1),
                                                  REDUCE(T1, T0, V_SUM),
                                                  ROOT_OF_MEAN,
                                                  WITH_COLUMN("vdiv", T0, Y1),
                                                  WITH_ROW("vmul", Y0, T0, X2),
                                                  END};
/* The vendor's kernel for rows up to NORM_SMALL elements (ops-nn, norm/rms_norm, merge_n). */
static const struct vstep rms_norm_small_steps[] = {B("vmul", T0, X0, X0),
                                                    SUM_FROM_ZERO(T1, T0),
                                                    COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                    COLUMN(P_("vadds", T1, T1, NUMBER_EPSILON)),
                                                    COLUMN(U_("vsqrt", T1, T1)),
                                                    COLUMN(FILL_(V_ACCUMULATOR, 1)),
                                                    COLUMN(B_("vdiv", T1, V_ACCUMULATOR, T1)),
                                                    SPREAD(T1),
                                                    TILE_COLUMN(T0),
                                                    B("vmul", T0, X0, T0),
                                                    B("vmul", Y0, T0, X2),
                                                    END};
enum { RMS_ELEMENT_BYTES = 16, RMS_ROW_BYTES = 260 };
static const struct vstep layer_norm_steps[] = {REDUCE(T1, X0, V_SUM),
                                                COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                SPREAD(T1),
                                                WITH_COLUMN("vsub", T0, X0),
                                                B("vmul", Y0, T0, T0),
                                                REDUCE(T1, Y0, V_SUM),
                                                ROOT_OF_MEAN,
                                                WITH_COLUMN("vdiv", T0, T0),
                                                WITH_ROW("vmul", T0, T0, X2),
                                                WITH_ROW("vadd", Y0, T0, X3),
                                                END};
/* Public source of the vendor's layer_norm: exp(-0.5 * ln(variance + eps)), in all lanes of a row.
 */
static const struct vstep layer_norm_multiplied[] = {REDUCE(T1, X0, V_SUM),
                                                     COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                     SPREAD(T1),
                                                     WITH_COLUMN("vsub", T0, X0),
                                                     B("vmul", Y0, T0, T0),
                                                     REDUCE(T1, Y0, V_SUM),
                                                     COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                     COLUMN(P_("vadds", T1, T1, NUMBER_EPSILON)),
                                                     POWER(-0.5),
                                                     WITH_COLUMN("vmul", T0, T0),
                                                     WITH_ROW("vmul", T0, T0, X2),
                                                     WITH_ROW("vadd", Y0, T0, X3),
                                                     END};

static const struct vstep mean_variance_norm_steps[] = {REDUCE(T1, X0, V_SUM),
                                                        COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                        SPREAD(T1),
                                                        WITH_COLUMN("vsub", T0, X0),
                                                        B("vmul", Y0, T0, T0),
                                                        REDUCE(T1, Y0, V_SUM),
                                                        ROOT_OF_MEAN,
                                                        WITH_COLUMN("vdiv", Y0, T0),
                                                        END};
static const struct vstep add_layer_norm_steps[] = {B("vadd", Y1, X0, X1),
                                                    REDUCE(T1, Y1, V_SUM),
                                                    COLUMN(P_("vmuls", T1, T1, NUMBER_MEAN)),
                                                    SPREAD(T1),
                                                    WITH_COLUMN("vsub", T0, Y1),
                                                    B("vmul", Y0, T0, T0),
                                                    REDUCE(T1, Y0, V_SUM),
                                                    ROOT_OF_MEAN,
                                                    WITH_COLUMN("vdiv", T0, T0),
                                                    WITH_ROW("vmul", T0, T0, X2),
                                                    WITH_ROW("vadd", Y0, T0, X3),
                                                    END};

/* ---- layout --------------------------------------------------------------------------------- */

/* Tiles of whole rows in a vector function: no copies of inputs and results in single precision. */
static void lay_out_function(struct vnorm *norm) {
  struct vtile *tile = &norm->kernel.tile;
  uint64_t elements = tile->rows * norm->pitch, slot = 0;
  uint64_t bytes = elements * vtile_bytes(norm->type) + ROWFUNC_TAIL_BYTES;
  uint32_t keeps = rowfunc_keeps(norm->kernel.job->soc, norm_steps(norm), tile->space.cols);
  bool converts = norm->type != DTYPE_FP32;
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    norm->in[k].address = vtile_reserve(&slot, bytes);
  norm->out.address = vtile_reserve(&slot, bytes);
  if (norm->norm->sum)
    norm->sum.address = vtile_reserve(&slot, bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned r = Y0; r <= T0; r++)
    if (keeps & V(r) && (r == T0 || converts))
      norm->address[r] = vtile_reserve(&used, elements * FLOAT_BYTES + ROWFUNC_TAIL_BYTES);
  for (unsigned k = 0; k < norm->norm->weights; k++) {
    uint64_t *address = &norm->address[X2 + k];
    *address = vtile_reserve(&used, norm->pitch * FLOAT_BYTES + ROWFUNC_TAIL_BYTES);
    norm->weight[k].address =
        converts ? vtile_reserve(&used, norm->pitch * vtile_bytes(norm->type)) : *address;
  }
  tile->ub_bytes = used;
}

/* Weights of long rows come part by part, in the buffers; those of whole rows stay. */
static void lay_out(struct vtile *tile) {
  struct vnorm *norm = (struct vnorm *)tile;
  if (norm_in_function(norm)) {
    lay_out_function(norm);
    return;
  }
  unsigned inputs = norm->norm->inputs, weights = norm->norm->weights;
  bool converts = norm->type != DTYPE_FP32, is_long = norm_is_long(norm);
  bool vendor = norm_as_vendor(norm);
  uint64_t bytes = vtile_bytes(norm->type), *address = norm->address, slot = 0;
  uint64_t elements = is_long ? tile->cols : tile->rows * norm->pitch;
  for (unsigned k = 0; k < inputs; k++)
    norm->in[k].address = vtile_reserve(&slot, elements * bytes);
  for (unsigned k = 0; k < weights && is_long; k++)
    norm->weight[k].address = vtile_reserve(&slot, elements * bytes);
  norm->out.address = vtile_reserve(&slot, elements * bytes);
  if (norm->norm->sum)
    norm->sum.address = vtile_reserve(&slot, elements * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned k = 0; k < inputs && converts; k++)
    address[X0 + k] = vtile_reserve(&used, elements * FLOAT_BYTES);
  for (unsigned k = 0; k < weights && converts && is_long; k++)
    address[X2 + k] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if ((converts || is_long) && !vendor)
    address[Y0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if ((converts || is_long) && norm->norm->sum)
    address[Y1] = vtile_reserve(&used, elements * FLOAT_BYTES);
  address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts && vendor)
    address[Y0] = address[T0];
  address[T1] = vtile_reserve(&used, ceil_div(tile->rows, SPREAD_ROWS) * BLOCK_BYTES);
  address[V_ACCUMULATOR] = vtile_reserve(&used, tile->rows * ROWWISE_LANES * FLOAT_BYTES);
  /* Long rows keep the numbers of both reductions, which 512 bytes hold. */
  address[V_BLOCKS] =
      vendor ? address[V_ACCUMULATOR]
             : vtile_reserve(&used, ceil_div(tile->rows, SPREAD_ROWS) * SPREAD_ROWS * BLOCK_BYTES);
  for (unsigned k = 0; k < weights && !is_long; k++)
    address[X2 + k] = vtile_reserve(&used, (vendor ? elements : norm->pitch) * FLOAT_BYTES);
  for (unsigned k = 0; k < weights && !is_long; k++)
    norm->weight[k].address = vendor     ? address[converts ? X2 + k : T0]
                              : converts ? used + k * norm->pitch * bytes
                                         : address[X2 + k];
  if (weights && converts && !is_long && !vendor)
    (void)vtile_reserve(&used, NORM_INPUTS * norm->pitch * bytes);
  tile->ub_bytes = used;
}

/* ---- tilings --------------------------------------------------------------------------------- */

/* Whole rows, or parts of one where UB cannot hold a row. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  const struct vnorm *norm = (const struct vnorm *)kernel;
  if (norm_as_vendor(norm)) {
    kernel->tile.buffers = 1;
    halvings = 0;
  }
  if (vtile_fits(job, &kernel->tile))
    vkernel_split_rows(job, kernel, halvings);
  else
    norm_long_split(job, (struct vnorm *)kernel, halvings);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct vnorm *norm = (const struct vnorm *)kernel;
  const struct vtile *tile = &kernel->tile;
  if (norm_is_long(norm) && (tile->rows > 1 || tile->cols % ROWWISE_LANES != 0))
    return lower_refuse(job, "a tile is whole rows, or of one row a multiple of %d columns",
                        ROWWISE_LANES);
  if (norm_is_long(norm) && tile->space.outers > 0)
    return lower_refuse(job, "UB does not hold a row, and the mask repeats");
  if (norm_is_long(norm) && tile->blocks > tile->space.rows)
    return lower_refuse(job, "more cores than rows: %" PRIu64 " and %" PRIu64, tile->blocks,
                        tile->space.rows);
  return norm_in_function(norm) || rowwise_walks(job, tile, norm->pitch);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The weights that stay, converted; in all rows where the vendor's kernel has them so. */
static void put_weights(struct emit *e, const struct vnorm *norm) {
  const struct vtile *tile = &norm->kernel.tile;
  struct rowwise rows = {.unit = {.emit = e, .written = V_ALL},
                         .n_rows = EXPR(tile->rows),
                         .single = EXPR(tile->rows == 1 ? tile->space.cols : 0),
                         .cols = tile->space.cols,
                         .pitch = norm->pitch};
  bool vendor = norm_as_vendor(norm), converts = norm->type != DTYPE_FP32;
  for (unsigned k = 0; k < norm->norm->weights; k++) {
    unsigned to = vendor ? T0 : X2 + k;
    vunit_count(&rows.unit, norm->pitch);
    if (converts)
      vunit_convert(&rows.unit, 0, V(to), norm->type, DTYPE_FP32, EXPR(norm->address[to]),
                    EXPR(norm->weight[k].address));
    rows.unit.reg[T0] = EXPR(norm->address[T0]);
    rows.unit.reg[X2 + k] = EXPR(norm->address[X2 + k]);
    if (vendor)
      rowwise_step(&rows, &(struct vstep)TILE_ROW((uint8_t)(X2 + k), T0));
  }
  vunit_rest(&rows.unit);
}

/* Weights are loaded once and stay. Columns are spread 8 rows at a time; there may be fewer. */
static void put_start(struct emit *e, const struct vnorm *norm) {
  const struct vtile *tile = &norm->kernel.tile;
  struct vunit unit = {.emit = e};
  uint64_t bytes = tile->space.cols * vtile_bytes(norm->type);
  unsigned weights = norm->norm->weights;
  for (unsigned k = 0; k < weights; k++)
    EMIT(e, vtile_copy_name(false, norm->type), F("dst", norm->weight[k].address),
         F("src", x_name(e, norm->weight[k].name)), F("len_burst", bytes),
         F("right_pad", vtile_pad(EXPR(bytes), norm->type)));
  if (weights)
    emit_handshake(e, PIPE_MTE2, PIPE_V, WEIGHT_FLAG);
  if (weights)
    put_weights(e, norm);
  if (norm_in_function(norm))
    return;
  vunit_count(&unit, round_up(tile->rows, SPREAD_ROWS));
  EMIT(e, "vector_dup", F("dst", norm->address[T1]), F("scalar", 0), F("repeat", 1),
       W("type", "fp32"));
}

void norm_set_registers(const struct vnorm *norm, struct rowwise *rows, uint32_t inputs,
                        bool results) {
  const struct vtile *tile = &norm->kernel.tile;
  struct vunit *unit = &rows->unit;
  bool converts = norm->type != DTYPE_FP32;
  unit->parameter[NUMBER_MEAN - 1] = 1.0 / (double)tile->space.cols;
  unit->parameter[NUMBER_EPSILON - 1] = norm->epsilon;
  unit->parameter[NUMBER_SCALE - 1] = norm->scale;
  for (unsigned r = 0; r < VREGS; r++)
    unit->reg[r] = EXPR(norm->address[r]);
  if (results && !converts)
    unit->reg[Y0] = x_add(tile->slot, norm->out.address);
  if (results && !converts && norm->norm->sum)
    unit->reg[Y1] = x_add(tile->slot, norm->sum.address);
  for (unsigned r = X0; r <= X3; r++) {
    if (!(inputs & V(r)))
      continue;
    const struct vtile_operand *operand = r < X2 ? &norm->in[r - X0] : &norm->weight[r - X2];
    struct expr raw = x_add(tile->slot, operand->address);
    if (!converts) {
      unit->reg[r] = raw;
      continue;
    }
    rowwise_all(rows);
    /* A row for all rows of the tile; of a long row a part. */
    if (r < X2 && operand->row_stride == 0 && tile->cols == tile->space.cols)
      vunit_count(unit, norm->pitch);
    vunit_convert(unit, 0, V(r), norm->type, DTYPE_FP32, unit->reg[r], raw);
  }
}

static void put_result(const struct vnorm *norm, struct rowwise *rows, unsigned reg,
                       const struct vtile_operand *out) {
  rowwise_all(rows);
  vunit_convert(&rows->unit, V(reg), 0, DTYPE_FP32, norm->type,
                x_add(norm->kernel.tile.slot, out->address), rows->unit.reg[reg]);
}

void norm_put_results(const struct vnorm *norm, struct rowwise *rows) {
  if (norm->type == DTYPE_FP32)
    return;
  put_result(norm, rows, Y0, &norm->out);
  if (norm->norm->sum)
    put_result(norm, rows, Y1, &norm->sum);
}

static void compute_in_function(struct emit *e, const struct vnorm *norm) {
  const struct vtile *tile = &norm->kernel.tile;
  const struct vtile_operand *outs[] = {&norm->out, &norm->sum};
  uint64_t float_row = norm->pitch * FLOAT_BYTES, row = norm->pitch * vtile_bytes(norm->type);
  double parameter[VPARAM_MAX] = {[NUMBER_MEAN - 1] = 1.0 / (double)tile->space.cols,
                                  [NUMBER_EPSILON - 1] = norm->epsilon,
                                  [NUMBER_SCALE - 1] = norm->scale};
  struct rowfunc function = {.emit = e,
                             .steps = norm_steps(norm),
                             .parameter = parameter,
                             .n_rows = tile->rows == 1 ? EXPR(1) : tile->n_rows,
                             .cols = tile->space.cols};
  for (unsigned r = 0; r < VREGS; r++)
    function.value[r] = (struct rowfunc_rows){EXPR(norm->address[r]),
                                              r == X2 || r == X3 ? 0 : float_row, DTYPE_FP32};
  for (unsigned k = 0; k < norm->norm->inputs; k++)
    function.value[X0 + k] = (struct rowfunc_rows){x_add(tile->slot, norm->in[k].address),
                                                   norm->in[k].row_stride ? row : 0, norm->type};
  for (unsigned k = 0; k < sizeof outs / sizeof *outs; k++) {
    function.result[k] =
        (struct rowfunc_rows){x_add(tile->slot, outs[k]->address), row, norm->type};
    if (norm->type == DTYPE_FP32)
      function.value[Y0 + k] = function.result[k];
  }
  emit_barrier(e, PIPE_V);
  rowfunc_put(&function);
}

/* With one buffer, the next tile comes in once the inputs are converted, and the result of the last
 * tile goes out until this result is converted. */
static void compute(struct emit *e, struct vkernel *kernel) {
  const struct vnorm *norm = (struct vnorm *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct rowwise rows = rowwise_of(e, tile, norm->pitch);
  bool converts = norm->type != DTYPE_FP32;
  if (norm_in_function(norm)) {
    compute_in_function(e, norm);
    return;
  }
  if (tile->lends && !converts)
    vtile_writes(e, tile);
  norm_set_registers(norm, &rows, V(X0 + norm->norm->inputs) - V(X0), true);
  if (tile->lends && converts)
    vtile_read(e, tile);
  rowwise_steps(&rows, norm_steps(norm));
  if (tile->lends)
    (converts ? vtile_writes : vtile_read)(e, tile);
  norm_put_results(norm, &rows);
  vunit_rest(&rows.unit);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct vnorm *norm = (const struct vnorm *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  for (unsigned k = 0; k < norm->norm->inputs; k++) {
    const struct lower_value *own = k ? lower_get(kernel->job, "shape1") : NULL;
    own = own ? own : shape;
    emit_tensor(e, norm->in[k].name, norm->type, TENSOR_IN, own->shape, own->rank, NULL);
  }
  for (unsigned k = 0; k < norm->norm->weights; k++)
    emit_vector(e, norm->weight[k].name, norm->type, TENSOR_IN, kernel->tile.space.cols);
  emit_tensor(e, "y", norm->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  if (norm->norm->sum)
    emit_tensor(e, "y1", norm->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  struct vnorm *norm = (struct vnorm *)kernel;
  if (norm_is_long(norm)) {
    norm_long_emit(e, norm);
    return;
  }
  put_start(e, norm);
  kernel->tile.lends = norm_as_vendor(norm);
  vkernel_tiles(e, kernel);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const struct lower_key softmax_keys[] = {
    SHAPE_KEY("extents of x; along the last"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"), VTILE_KEYS_TABLE};
static const struct lower_key norm_keys[] = {
    SHAPE_KEY("extents of x; along the last"), DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of all"),
    NUMBER_KEY("eps", "1e-5", "added to the mean square"), VTILE_KEYS_TABLE};

static void set_operands(struct vnorm *norm) {
  static const char *const names[] = {"x", "x1"}, *const weights[] = {"gamma", "beta"};
  struct vkernel *kernel = &norm->kernel;
  norm->out = vtile_whole_rows("y", norm->type, &kernel->tile.space, norm->pitch);
  for (unsigned k = 0; k < NORM_INPUTS; k++) {
    norm->in[k] = norm->weight[k] = norm->out;
    norm->in[k].name = names[k];
    norm->weight[k].name = weights[k];
    norm->weight[k].row_stride = 0;
    kernel->in[k] = k < norm->norm->inputs ? &norm->in[k] : NULL;
  }
  kernel->out[0] = &norm->out;
  norm->sum = norm->out;
  norm->sum.name = "y1";
  kernel->out[1] = norm->norm->sum ? &norm->sum : NULL;
}

/* The operator as the chip computes it; NULL when memory is short. */
static const struct norm *choose_norm(struct lower_job *job, const struct norm *norm) {
  if (!norm->multiplied || job->soc->arch != ARCH_C100)
    return norm;
  struct norm *own = ARENA_NEW(job->arena, struct norm);
  if (own) {
    *own = *norm;
    own->steps = norm->multiplied;
  }
  return own;
}

enum vinci_status norm_setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .compute = compute};
  const struct lower_value *shape = lower_get(job, "shape"), *epsilon = lower_get(job, "eps");
  const struct lower_value *scale = lower_get(job, "scale");
  struct vnorm *norm = vkernel_new(job, sizeof *norm, &kind);
  if (!norm)
    return VINCI_E_NOMEM;
  norm->norm = choose_norm(job, job->op->spec);
  if (!norm->norm)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  if (epsilon && epsilon->number < 0)
    return lower_error(job, "eps is at least 0, not %.9g", epsilon->number);
  struct vkernel *kernel = &norm->kernel;
  norm->type = lower_get(job, "dtype")->dtype;
  norm->epsilon = epsilon ? epsilon->number : 0;
  norm->scale = scale ? scale->number : 1;
  kernel->tile.space.cols = shape->shape[shape->rank - 1];
  kernel->tile.space.rows = lower_elements(shape->shape, shape->rank - 1);
  norm->pitch = vtile_pitch(kernel->tile.space.cols, vtile_bytes(norm->type));
  norm->function = rowfunc_knows(job->soc, norm->norm->steps) &&
                   rowfunc_pays(norm->norm->steps, kernel->tile.space.cols);
  kernel->rows_max =
      norm->function ? kernel->tile.space.rows : rowwise_rows_max(&kernel->tile, norm->pitch);
  if (norm_as_vendor(norm))
    kernel->rows_max =
        min_u64(kernel->rows_max,
                max_u64(1, (uint64_t)job->soc->ub_bytes /
                               (norm->pitch * norm->norm->element_bytes + norm->norm->row_bytes)));
  kernel->element_bytes = vtile_bytes(norm->type);
  kernel->code = norm->norm->weights || norm->norm->inputs > 1 ? KERNEL_FUSED : KERNEL_REDUCE;
  set_operands(norm);
  return VINCI_OK;
}

/* x1, x2, gamma, beta: the last of AddRmsNormBias alone (vLLM-Ascend, csrc/add_rms_norm_bias). */
static bool call_norm(struct lower_call *call) {
  const unsigned beta = 3;
  lower_as_rows(call);
  if (strcmp(call->type, "AddRmsNormBias") == 0 && call->input_count > beta &&
      call->input[beta].rank > 0)
    return lower_cannot(call, "a row that is added to the norm is not modelled");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(norm_setup);
#define NORM(id, vendor, summary, keys, inputs_, ...)                                              \
  LOWER_OPERATOR(                                                                                  \
      id, vendor, summary, keys, &template,                                                        \
      (&(const struct norm){.inputs = inputs_, .steps = id##_steps, .weights = __VA_ARGS__}),      \
      call_norm)

NORM(softmax, "SoftmaxV2|Softmax", "y = exp(x - max) / sum", softmax_keys, 1, 0,
     .multiplied = softmax_multiplied)
NORM(softmax_grad, "SoftmaxGrad|SoftmaxGradExt", "y = x * (x1 - sum(x * x1)), x being the softmax",
     softmax_keys, 2, 0)
NORM(log_softmax, "LogSoftmaxV2|LogSoftmax", "y = x - max - ln(sum(exp(x - max)))", softmax_keys, 1,
     0)
NORM(log_softmax_grad, "LogSoftmaxGrad", "y = x - exp(x1) * sum(x)", softmax_keys, 2, 0)
NORM(cross_entropy_rows, "", "y = softmax(x) - x1; y1 = -x1 * log_softmax(x)", softmax_keys, 2, 0,
     .sum = true)
NORM(rms_norm, "RmsNorm", "y = gamma * x / sqrt(mean(x * x) + eps)", norm_keys, 1, 1,
     .small = rms_norm_small_steps, .element_bytes = RMS_ELEMENT_BYTES, .row_bytes = RMS_ROW_BYTES)
NORM(add_rms_norm, "AddRmsNorm|InplaceAddRmsNorm|AddRmsNormBias",
     "y1 = x + x1; y = gamma * y1 / sqrt(mean(y1 * y1) + eps)", norm_keys, 2, 1, .sum = true)
NORM(layer_norm, "LayerNorm|LayerNormV3|LayerNormV4|LayerNormV3WithImplMode",
     "y = gamma * (x - mean) / sqrt(variance + eps) + beta", norm_keys, 1, 2,
     .multiplied = layer_norm_multiplied)
NORM(mean_variance_norm, "", "y = (x - mean) / sqrt(variance + eps)", norm_keys, 1, 0)
NORM(add_layer_norm, "AddLayerNorm|InplaceAddLayerNorm",
     "y1 = x + x1; y = gamma * (y1 - mean) / sqrt(variance + eps) + beta", norm_keys, 2, 2,
     .sum = true)
