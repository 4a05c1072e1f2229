/* SPDX-License-Identifier: Apache-2.0 */
/*
 * global_avg_pool: the mean of each channel over a map, NC1HWC0. A tile is some whole maps. The
 * second half of their points is added to the first until one point is left, and an instruction
 * goes through all maps of the tile; sums are in single precision.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { FLOAT_BYTES = 4, LANES = 64, MAPS_MAX = 255, STRIDE_MAX = 255, MAP_RANK = 5 };

static const struct lower_key keys[] = {SHAPE_KEY("extents of x: n, c1, h, w, c0"),
                                        DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"),
                                        VTILE_KEYS_TABLE};

struct pooling {
  struct vkernel kernel; /* first */
  enum dtype type;
  uint64_t points, c0;
  struct vtile_operand x;
  uint64_t y, wide, means; /* the result in the buffer; registers */
};

static uint64_t map_blocks(const struct pooling *p) {
  return p->points * p->c0 * FLOAT_BYTES / BLOCK_BYTES;
}

static void lay_out(struct vtile *tile) {
  struct pooling *p = (struct pooling *)tile;
  uint64_t elements = tile->rows * p->points * p->c0, slot = 0, bytes = vtile_bytes(p->type);
  p->x.address = vtile_reserve(&slot, elements * bytes);
  p->y = vtile_reserve(&slot, tile->rows * p->c0 * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  p->wide = p->type == DTYPE_FP32 ? 0 : vtile_reserve(&used, elements * FLOAT_BYTES);
  p->means = vtile_reserve(&used, tile->rows * p->c0 * FLOAT_BYTES);
  tile->ub_bytes = used;
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  return kernel->tile.rows <= MAPS_MAX || lower_refuse(job, "a tile has at most %d maps", MAPS_MAX);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* `lanes` elements of every map, from an element on, += those at another. */
static void add_lanes(struct vunit *unit, const struct pooling *p, struct expr maps, struct expr to,
                      struct expr from, unsigned lanes) {
  uint64_t pitch = map_blocks(p);
  vunit_lanes(unit, lanes);
  EMIT(unit->emit, "vadd", F("dst", to), F("src0", to), F("src1", from), F("repeat", maps),
       F("dst_repeat", pitch), F("src0_repeat", pitch), F("src1_repeat", pitch), W("type", "fp32"));
}

/* The last points of all maps to the first: each map by an instruction, where their distance is
 * more than an instruction can tell, else 64 elements of all maps. */
static void add_half(struct vunit *unit, const struct pooling *p, struct expr maps, uint64_t half,
                     uint64_t from) {
  struct emit *e = unit->emit;
  uint64_t elements = half * p->c0, whole = elements / LANES, rest = elements % LANES;
  struct expr base = unit->reg[T0];
  if (map_blocks(p) > STRIDE_MAX) {
    struct expr map = emit_for(e, "map", maps);
    base = x_add(base, x_mul(map, map_blocks(p) * BLOCK_BYTES));
    vunit_count(unit, elements);
    EMIT(e, "vadd", F("dst", base), F("src0", base),
         F("src1", x_add(base, from * p->c0 * FLOAT_BYTES)), F("repeat", 1), W("type", "fp32"));
    emit_end(e);
    return;
  }
  if (whole > 0) {
    vunit_lanes(unit, LANES);
    struct expr at = x_mul(emit_for(e, "lanes", whole), LANES * FLOAT_BYTES);
    add_lanes(unit, p, maps, x_add(base, at), x_add(x_add(base, at), from * p->c0 * FLOAT_BYTES),
              LANES);
    emit_end(e);
  }
  struct expr last = x_add(base, whole * LANES * FLOAT_BYTES);
  if (rest > 0)
    add_lanes(unit, p, maps, last, x_add(last, from * p->c0 * FLOAT_BYTES), (unsigned)rest);
}

/* The first point of each map, as a mean, one behind the other. */
static void put_means(struct vunit *unit, const struct pooling *p, struct expr maps) {
  struct emit *e = unit->emit;
  int64_t share = vscalar(DTYPE_FP32, 1.0 / (double)p->points);
  uint64_t blocks = p->c0 * FLOAT_BYTES / BLOCK_BYTES;
  bool far = map_blocks(p) > STRIDE_MAX;
  struct expr map = EXPR(0);
  vunit_lanes(unit, (unsigned)p->c0);
  if (far)
    map = emit_for(e, "mean", maps);
  EMIT(e, "vmuls", F("dst", x_add(unit->reg[T1], x_mul(map, p->c0 * FLOAT_BYTES))),
       F("src", x_add(unit->reg[T0], x_mul(map, map_blocks(p) * BLOCK_BYTES))), F("scalar", share),
       F("repeat", far ? EXPR(1) : maps), F_IF(!far, "dst_repeat", blocks),
       F_IF(!far, "src_repeat", map_blocks(p)), W("type", "fp32"));
  if (far)
    emit_end(e);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct pooling *p = (const struct pooling *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  bool converts = p->type != DTYPE_FP32;
  struct expr raw = x_add(tile->slot, p->x.address), out = x_add(tile->slot, p->y);
  unit.reg[T0] = converts ? EXPR(p->wide) : raw;
  unit.reg[T1] = converts ? EXPR(p->means) : out;
  if (converts) {
    vunit_count(&unit, x_mul(tile->n_rows, p->points * p->c0));
    vunit_convert(&unit, 0, V(T0), p->type, DTYPE_FP32, unit.reg[T0], raw);
  }
  for (uint64_t points = p->points, left; points > 1; points = left) {
    left = points - points / 2;
    emit_barrier(e, PIPE_V);
    add_half(&unit, p, tile->n_rows, points / 2, left);
  }
  emit_barrier(e, PIPE_V);
  put_means(&unit, p, tile->n_rows);
  if (converts) {
    emit_barrier(e, PIPE_V);
    vunit_count(&unit, x_mul(tile->n_rows, p->c0));
    vunit_convert(&unit, V(T1), 0, DTYPE_FP32, p->type, out, unit.reg[T1]);
  }
  vunit_rest(&unit);
}

static void store(struct emit *e, struct vkernel *kernel) {
  const struct pooling *p = (const struct pooling *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t map = p->c0 * vtile_bytes(p->type);
  vtile_store_run(e, p->type, x_add(x_name(e, "y"), x_mul(tile->row, map)), x_add(tile->slot, p->y),
                  x_mul(tile->n_rows, p->c0));
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct pooling *p = (const struct pooling *)kernel;
  const uint64_t *x = lower_get(kernel->job, "shape")->shape;
  const uint64_t y[] = {x[0], x[1], 1, 1, x[4]};
  emit_tensor(e, "x", p->type, TENSOR_IN, x, MAP_RANK, "NC1HWC0");
  emit_tensor(e, "y", p->type, TENSOR_OUT, y, MAP_RANK, "NC1HWC0");
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .compute = compute,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape");
  struct pooling *p = vkernel_new(job, sizeof *p, &kind);
  if (!p)
    return VINCI_E_NOMEM;
  p->type = lower_get(job, "dtype")->dtype;
  if (shape->rank != MAP_RANK || shape->shape[4] * vtile_bytes(p->type) != BLOCK_BYTES)
    return lower_error(job, "shape is NxC1xHxWxC0 with blocks of %d bytes", BLOCK_BYTES);
  struct vkernel *kernel = &p->kernel;
  p->c0 = shape->shape[4];
  p->points = shape->shape[2] * shape->shape[3];
  kernel->tile.space.rows = shape->shape[0] * shape->shape[1];
  kernel->tile.space.cols = p->points * p->c0;
  kernel->rows_max = min_u64(MAPS_MAX, kernel->tile.space.rows);
  kernel->element_bytes = vtile_bytes(p->type);
  kernel->code = KERNEL_REDUCE;
  p->x = vtile_whole_rows("x", p->type, &kernel->tile.space, kernel->tile.space.cols);
  kernel->in[0] = &p->x;
  return VINCI_OK;
}

static bool call_pool(struct lower_call *call) {
  if (call->input_count == 0 || call->input[0].rank != MAP_RANK)
    return lower_cannot(call, "a map in NC1HWC0 is needed");
  lower_arg_tensor(call, &call->input[0]);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(global_avg_pool, "GlobalAveragePool|GlobalAvgPool",
               "y = the mean over each map of x, for each channel", keys, &template, NULL,
               call_pool)
