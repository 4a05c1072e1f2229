/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize: maps of another size, by the nearest point or bilinear. A tile is a row of the result:
 * one or two rows of the map come in, are mixed by the place of the row, and points of that mixture
 * are gathered. Where they lie, and how much of the right neighbour a point has, are tables that
 * each core computes once. On a chip that does not gather, copies of blocks put points of whole
 * blocks in their places.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { REPEAT_BLOCKS = 8, BLOCKS_MAX = 255 * REPEAT_BLOCKS };
enum { FORMAT_NCHW, FORMAT_NC1HWC0 };
enum { MODE_NEAREST, MODE_BILINEAR };
enum {
  FLOAT_BYTES = 4,
  SPREAD_ROWS = 8,
  HEIGHT_MAX = 255 * SPREAD_ROWS,
  NCHW_RANK = 4,
  BLOCKED_RANK
};

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x as its format orders them"),
    LOWER_KEY("size", SHAPE, NULL, NULL, "rows x columns of y's maps"),
    WORD_KEY("mode", "nearest", "nearest|bilinear", "which points of x a point of y is made of"),
    WORD_KEY("corners", "0", "0|1",
             "bilinear: 0: points are the middles of squares; 1: the corners of both maps meet"),
    WORD_KEY(
        "asymmetric", "0", "0|1",
        "bilinear: 1: the first corners of both maps meet, and sides are divided as the extents"),
    WORD_KEY("format", "nchw", "nchw|nc1hwc0", "where the rows of a map lie"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32", "type of x and y"),
    VTILE_KEYS_TABLE};

/* Rows in L = points x channels that lie together. Registers in fp32. */
struct vresize {
  struct vkernel kernel; /* first */
  enum dtype type;
  bool bilinear, corners, asymmetric;
  uint64_t images, h, w, oh, ow, c0;
  struct vtile_operand x, y;
  uint64_t row[2];         /* of the map, in the buffer */
  uint64_t address[VREGS]; /* Y0, Y1: tables of places; Y2: of the right neighbour's share */
  uint64_t shares;         /* blocks: how much of the next row a row of y has */
};

static uint64_t in_elements(const struct vresize *r) { return r->w * r->c0; }
static uint64_t out_elements(const struct vresize *r) { return r->ow * r->c0; }

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  return kernel->tile.rows == 1 || lower_refuse(job, "a tile is one row of y");
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  (void)halvings;
  vtile_split_rows(job->soc, job->cores, &kernel->tile, (unsigned)kernel->element_bytes, 1);
  vtile_fit(job, &kernel->tile);
}

/* ---- steps ----------------------------------------------------------------------------------- */

enum { N_BLOCK = 1, N_PER_BLOCK, N_SHIFT, N_RATIO, N_BACK, N_NUDGE, N_BYTES, N_LAST };

/* X0: 0, 1, 2 ...; T1: the point, T0: the channel; then T1: the place in x, T2: that rounded down.
 * A nudge of a quarter of the distance of places keeps rounding away from whole numbers. */
static const struct vstep place_steps[] = {
    C("vconv_s322f32", NULL, T0, X0), S("vadds", T1, T0, 0.5), P("vmuls", T1, T1, N_PER_BLOCK),
    C("vconv_f322f32", "f", T1, T1), P("vmuls", T2, T1, N_BLOCK), B("vsub", T0, T0, T2),
    P("vadds", T1, T1, N_SHIFT), P("vmuls", T1, T1, N_RATIO), P("vadds", T1, T1, N_BACK),
    S("vmaxs", T1, T1, 0), P("vadds", T2, T1, N_NUDGE), C("vconv_f322f32", "f", T2, T2),
    B("vsub", Y2, T1, T2),
    /* Bytes of the point and of the one to its right. */
    P("vmuls", T3, T2, N_BLOCK), B("vadd", T3, T3, T0), P("vmuls", T3, T3, N_BYTES),
    C("vconv_f322s32", "r", Y0, T3), S("vadds", T2, T2, 1), P("vmins", T2, T2, N_LAST),
    P("vmuls", T3, T2, N_BLOCK), B("vadd", T3, T3, T0), P("vmuls", T3, T3, N_BYTES),
    C("vconv_f322s32", "r", Y1, T3), END};
/* X0, X1: rows of x; X2: the share of the second. */
static const struct vstep mix_rows[] = {B("vsub", T1, X1, X0), B("vmul", T1, T1, X2),
                                        B("vadd", T0, X0, T1), END};
static const struct vstep mix_points[] = {B("vsub", T3, T3, T2), B("vmul", T3, T3, Y2),
                                          B("vadd", X3, T2, T3), END};

/* ---- gathering ------------------------------------------------------------------------------- */

/* The type of what is gathered. */
static enum dtype gathered(const struct vresize *r) { return r->bilinear ? DTYPE_FP32 : r->type; }

/* Blocks of a point; 0: points are no whole blocks, or a row has more of them than one instruction
 * takes, and elements are gathered, which is slower. */
static uint64_t point_blocks(const struct vresize *r) {
  uint64_t bytes = r->c0 * vtile_bytes(gathered(r));
  const struct vinci_soc *soc = r->kernel.job->soc;
  bool whole = isa_row(OP_VGATHERB)->archs & 1u << soc->arch && bytes % BLOCK_BYTES == 0 &&
               r->ow * bytes / BLOCK_BYTES <= BLOCKS_MAX;
  return whole ? bytes / BLOCK_BYTES : 0;
}

/* Whether places are those of the middles of points, and not of their edges or of the corners. */
static bool by_middles(const struct vresize *r) {
  return r->bilinear && !r->corners && !r->asymmetric;
}

/* ---- by copies ---- */

/* How often a row of y has each point of x; 0: not all equally often, or not in turn. */
static uint64_t copies_of_point(const struct vresize *r) {
  return r->ow % r->w == 0 && !r->corners ? r->ow / r->w : 0;
}

static uint64_t gather_mcycles(const struct vinci_soc *soc, const struct vresize *r) {
  const struct isa_row *row = isa_row(point_blocks(r) ? OP_VGATHERB : OP_VGATHER);
  unsigned index = vtile_bytes(gathered(r)) == FLOAT_BYTES ? row->class32 : row->class16;
  uint64_t fetches = point_blocks(r) ? (uint64_t)soc->offset_fetch_mcycles / REPEAT_BLOCKS : 0;
  return (uint64_t)soc->vector_class[index].per_repeat_mcycles + fetches;
}

static uint64_t copies_count(const struct vresize *r) {
  uint64_t every = copies_of_point(r);
  return every > 0 ? every * (1 + r->bilinear) : r->ow;
}

/* Of a row of y. */
static uint64_t element_cycles(const struct vinci_soc *soc, const struct vresize *r) {
  uint64_t bytes = out_elements(r) * vtile_bytes(gathered(r));
  return ceil_div(bytes, (uint64_t)soc->vector_bytes) * gather_mcycles(soc, r) / MILLI;
}

static uint64_t copy_cycles(const struct vinci_soc *soc, const struct vresize *r) {
  const struct path_cost *path = &soc->path[PATH_UB_UB];
  uint64_t bytes = out_elements(r) * vtile_bytes(gathered(r));
  uint64_t issue = copies_count(r) * kernel_issue_cycles(soc, KERNEL_ELEMENTWISE);
  uint64_t move = (copies_count(r) * (uint64_t)path->startup_mcycles +
                   bytes * MILLI * MILLI / (uint64_t)path->mbytes_per_cycle) /
                  MILLI;
  return max_u64(issue, move);
}

static bool has(const struct vinci_soc *soc, enum isa_op op) {
  return isa_row(op)->archs & 1u << soc->arch;
}

static bool points_are_blocks(const struct vresize *r) {
  return r->c0 * vtile_bytes(r->type) % BLOCK_BYTES == 0;
}

/* Chips that gather blocks do; others gather elements, unless copies take less. */
static bool gathers(const struct vinci_soc *soc, const struct vresize *r) {
  if (has(soc, OP_VGATHERB) || !points_are_blocks(r))
    return true;
  return has(soc, OP_VGATHER) && element_cycles(soc, r) <= copy_cycles(soc, r);
}

struct copies {
  struct emit *e;
  struct expr dst, src;
  uint64_t blocks; /* of a point */
};

/* `count` points from number `from` on, to each `every`-th place from number `to` on. */
static void copy_points(const struct copies *c, struct expr to, struct expr from, uint64_t count,
                        uint64_t every) {
  if (count > 0)
    EMIT(c->e, "copy_ubuf_to_ubuf", F("dst", x_at(c->dst, to, c->blocks * BLOCK_BYTES)),
         F("src", x_at(c->src, from, c->blocks * BLOCK_BYTES)), F_IF(count > 1, "n_burst", count),
         F("len_burst", c->blocks), F_IF(count > 1, "dst_gap", (every - 1) * c->blocks));
}

/* The point of x whose share a point of y has, or the one to its right: the place of the middle of
 * the point, rounded down, in x. */
static struct expr place_of(const struct vresize *r, struct expr point, bool right) {
  struct expr left = x_div(x_mul(point, r->w), r->ow);
  if (r->corners)
    left = x_div(x_mul(point, r->w - 1), max_u64(r->ow - 1, 1));
  else if (by_middles(r))
    left = x_div(x_max(0, x_sub(x_mul(x_add(x_mul(point, 2), 1), r->w), r->ow)), 2 * r->ow);
  return right ? x_min(x_add(left, 1), r->w - 1) : left;
}

/*
 * Points in turn: of each `every` points of y, all that lie at the same place between two points of
 * x, with one instruction. Those left of the first middle have the point before; the first and the
 * last of all stop at the edge.
 */
static void copy_in_turn(const struct vresize *r, const struct copies *c, uint64_t every,
                         bool right) {
  for (uint64_t turn = 0; turn < every; turn++) {
    bool before = by_middles(r) && 2 * turn + 1 < every;
    if (before == right && r->w > 1) { /* the point with the same number */
      uint64_t first = before;         /* whose own place is beyond the edge */
      copy_points(c, EXPR(first * every + turn), EXPR(first), r->w - first, every);
      if (before)
        copy_points(c, EXPR(turn), EXPR(1), 1, 1);
    } else if (r->w == 1) {
      copy_points(c, EXPR(turn), EXPR(0), 1, 1);
    } else if (before) {
      copy_points(c, EXPR(every + turn), EXPR(0), r->w - 1, every);
      copy_points(c, EXPR(turn), EXPR(0), 1, 1);
    } else {
      copy_points(c, EXPR(turn), EXPR(1), r->w - 1, every);
      copy_points(c, EXPR((r->w - 1) * every + turn), EXPR(r->w - 1), 1, 1);
    }
  }
}

static void put_copies(struct vunit *unit, const struct vresize *r, unsigned dst, unsigned src,
                       bool right) {
  struct copies c = {unit->emit, unit->reg[dst], unit->reg[src],
                     r->c0 * vtile_bytes(gathered(r)) / BLOCK_BYTES};
  uint64_t every = copies_of_point(r);
  vunit_order(unit, V(src), V(dst));
  if (every > 0) {
    copy_in_turn(r, &c, every, right);
    return;
  }
  struct expr point = emit_for(unit->emit, "point", r->ow);
  copy_points(&c, point, place_of(r, point, right), 1, 1);
  emit_end(unit->emit);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct vresize *r = (struct vresize *)tile;
  uint64_t bytes = vtile_bytes(r->type), slot = 0, *address = r->address;
  uint64_t longest =
      max_u64(max_u64(in_elements(r), out_elements(r)), round_up(r->oh, SPREAD_ROWS)) * FLOAT_BYTES;
  for (unsigned i = 0; i < 1u + r->bilinear; i++)
    r->row[i] = vtile_reserve(&slot, in_elements(r) * bytes);
  r->y.pitch = vtile_pitch(tile->cols, (unsigned)bytes);
  r->y.address = vtile_reserve(&slot, out_elements(r) * bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  for (unsigned reg = T0; reg <= T3; reg++)
    address[reg] = vtile_reserve(&used, longest);
  /* Copies have no tables of places: these go to a register that the table of shares leaves. */
  bool tables = gathers(r->kernel.job->soc, r);
  for (unsigned reg = Y0; reg <= Y2; reg++)
    address[reg] = tables || reg == Y2 ? vtile_reserve(&used, longest) : address[T1];
  r->shares = vtile_reserve(&used, round_up(r->oh, SPREAD_ROWS) * BLOCK_BYTES);
  tile->ub_bytes = used;
}

/* ---- by either ---- */

static void put_gather(struct vunit *unit, const struct vresize *r, unsigned dst, unsigned src,
                       unsigned table) {
  uint64_t blocks = r->ow * point_blocks(r);
  if (!gathers(unit->emit->soc, r)) {
    put_copies(unit, r, dst, src, table == Y1);
    return;
  }
  if (blocks == 0) {
    vunit_step(unit, &(struct vstep){GATHER_((uint8_t)dst, (uint8_t)src, (uint8_t)table)});
    return;
  }
  VROW(unit, V(src) | V(table), V(dst), "vgatherb", F("dst", unit->reg[dst]),
       F("offset", unit->reg[table]), F("src", unit->reg[src]),
       F("repeat", ceil_div(blocks, REPEAT_BLOCKS)), W("type", dtype_name(gathered(r))));
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Which points, and in what they are counted: elements, blocks. */
struct points {
  uint64_t from, to, per_point, bytes;
};

static void set_numbers(const struct vresize *r, double numbers[VPARAM_MAX],
                        const struct points *points) {
  double from = (double)points->from, to = (double)points->to;
  double distance = r->corners ? to > 1 ? to - 1 : 1 : to;
  bool middles = by_middles(r);
  numbers[N_BLOCK - 1] = (double)points->per_point;
  numbers[N_PER_BLOCK - 1] = 1 / (double)points->per_point;
  numbers[N_SHIFT - 1] = middles ? 0.5 : 0;
  numbers[N_RATIO - 1] = (r->corners ? from - 1 : from) / distance;
  numbers[N_BACK - 1] = middles ? -0.5 : 0;
  numbers[N_NUDGE - 1] = 0.25 / distance;
  numbers[N_BYTES - 1] = (double)points->bytes;
  numbers[N_LAST - 1] = from - 1;
}

/* The tables of places, and of shares at an address, for `count` elements or blocks. */
static void put_tables(struct emit *e, const struct vresize *r, const struct points *points,
                       uint64_t count, uint64_t shares) {
  struct vunit unit = {.emit = e, .type = DTYPE_FP32};
  struct vtable series = vtable_series(shares, 1);
  vtables_fill(e, &series, 1, count);
  for (unsigned reg = 0; reg < VREGS; reg++)
    unit.reg[reg] = EXPR(r->address[reg]);
  unit.reg[X0] = unit.reg[Y2] = EXPR(shares);
  set_numbers(r, unit.parameter, points);
  vunit_count(&unit, count);
  for (const struct vstep *step = place_steps; step->form != VFORM_END; step++) {
    unit.written = V_ALL; /* one place has two names */
    vunit_step(&unit, step);
  }
  emit_barrier(e, PIPE_V);
}

/* Shares of the next row of x, a block for each row of y. */
static void put_shares(struct emit *e, const struct vresize *r) {
  const struct points rows = {r->h, r->oh, 1, 1};
  put_tables(e, r, &rows, round_up(r->oh, SPREAD_ROWS), r->address[Y2]);
  EMIT(e, "vbrcb", F("dst", r->shares), F("src", r->address[Y2]),
       F("repeat", ceil_div(r->oh, SPREAD_ROWS)), W("type", "uint32"));
  emit_barrier(e, PIPE_V);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct vresize *r = (struct vresize *)kernel;
  uint64_t blocks = point_blocks(r);
  const struct points elements = {r->w, r->ow, r->c0, vtile_bytes(gathered(r))};
  const struct points whole = {r->w, r->ow, blocks, BLOCK_BYTES};
  emit_comment(e, "Where points lie in x, and shares of their neighbours.");
  if (r->bilinear)
    put_shares(e, r);
  if (r->bilinear || (blocks == 0 && gathers(e->soc, r)))
    put_tables(e, r, &elements, out_elements(r), r->address[Y2]);
  if (blocks > 0)
    put_tables(e, r, &whole, round_up(r->ow * blocks, REPEAT_BLOCKS), r->address[T3]);
  vkernel_tiles(e, kernel);
}

/* ---- a row ----------------------------------------------------------------------------------- */

static void load(struct emit *e, struct vkernel *kernel) {
  const struct vresize *r = (struct vresize *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t row_bytes = in_elements(r) * vtile_bytes(r->type), oh = r->oh, h = r->h;
  struct expr oy = tile->row, first;
  if (r->corners)
    first = x_div(x_mul(oy, h - 1), max_u64(oh - 1, 1));
  else if (by_middles(r))
    first = x_div(x_max(0, x_sub(x_mul(x_add(x_mul(oy, 2), 1), h), oh)), 2 * oh);
  else
    first = x_div(x_mul(oy, h), oh);
  first = emit_assigned(e, "above", first);
  struct expr image = x_at(x_name(e, "x"), tile->outer_at[0], h * row_bytes);
  for (unsigned i = 0; i < 1u + r->bilinear; i++)
    vtile_load_run(e, r->type, x_add(tile->slot, r->row[i]),
                   x_at(image, i ? x_min(x_add(first, 1), h - 1) : first, row_bytes),
                   EXPR(in_elements(r)));
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct vresize *r = (struct vresize *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e, .type = gathered(r), .written = V_ALL};
  bool converts = r->bilinear && r->type != DTYPE_FP32;
  struct expr y = x_add(tile->slot, r->y.address);
  for (unsigned reg = 0; reg < VREGS; reg++)
    unit.reg[reg] = EXPR(r->address[reg]);
  unit.reg[X3] = converts ? unit.reg[T2] : y;
  vunit_count(&unit, in_elements(r));
  for (unsigned i = 0; i < 1u + r->bilinear; i++) {
    struct expr raw = x_add(tile->slot, r->row[i]);
    unit.reg[X0 + i] = converts ? unit.reg[T0 + i] : raw;
    if (converts)
      vunit_convert(&unit, 0, V(X0 + i) | V(T0 + i), r->type, DTYPE_FP32, unit.reg[X0 + i], raw);
  }
  if (r->bilinear) {
    unit.reg[X2] = x_at(EXPR(r->shares), tile->row, BLOCK_BYTES);
    unit.scalars = V(X2);
    vunit_order(&unit, V(X0) | V(X1), V(T0) | V(T1));
    for (const struct vstep *step = mix_rows; step->form != VFORM_END; step++) {
      unit.written = V_ALL; /* rows that are converted have two names */
      vunit_step(&unit, step);
    }
  }
  unit.scalars = 0;
  vunit_count(&unit, out_elements(r));
  put_gather(&unit, r, r->bilinear ? T2 : X3, r->bilinear ? T0 : X0, Y0);
  if (r->bilinear) {
    put_gather(&unit, r, T3, T0, Y1);
    vunit_steps(&unit, mix_points);
  }
  if (converts)
    vunit_convert(&unit, V(X3), 0, DTYPE_FP32, r->type, y, unit.reg[X3]);
  vunit_rest(&unit);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct vresize *r = (const struct vresize *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  uint64_t out[TENSOR_RANK_MAX];
  const char *format = shape->rank == BLOCKED_RANK ? "NC1HWC0" : "NCHW";
  memcpy(out, shape->shape, sizeof out);
  out[2] = r->oh;
  out[3] = r->ow;
  emit_tensor(e, "x", r->type, TENSOR_IN, shape->shape, shape->rank, format);
  emit_tensor(e, "y", r->type, TENSOR_OUT, out, shape->rank, format);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static enum vinci_status read_keys(struct lower_job *job, struct vresize *r) {
  const struct lower_value *shape = lower_get(job, "shape"), *size = lower_get(job, "size");
  bool blocked = lower_get(job, "format")->word == FORMAT_NC1HWC0;
  if (shape->rank != (blocked ? BLOCKED_RANK : NCHW_RANK))
    return lower_error(job, "shape has %d extents, not %u", blocked ? BLOCKED_RANK : NCHW_RANK,
                       shape->rank);
  if (size->rank != 2)
    return lower_error(job, "size is rows x columns");
  r->type = lower_get(job, "dtype")->dtype;
  r->bilinear = lower_get(job, "mode")->word == MODE_BILINEAR;
  r->corners = lower_get(job, "corners")->word;
  r->asymmetric = lower_get(job, "asymmetric")->word;
  r->images = shape->shape[0] * shape->shape[1];
  r->h = shape->shape[2];
  r->w = shape->shape[3];
  r->c0 = blocked ? shape->shape[4] : 1;
  r->oh = size->shape[0];
  r->ow = size->shape[1];
  if ((r->corners || r->asymmetric) && !r->bilinear)
    return lower_error(job, "%s=1 is for mode=bilinear", r->corners ? "corners" : "asymmetric");
  if (r->corners && r->asymmetric)
    return lower_error(job, "corners and asymmetric exclude each other");
  if (r->oh > HEIGHT_MAX)
    return lower_error(job, "more than %d rows of y are not supported", HEIGHT_MAX);
  if (!has(job->soc, OP_VGATHER) && !points_are_blocks(r))
    return lower_error(job,
                       "%s has no instruction that gathers: points have to be whole blocks of %d "
                       "bytes",
                       job->soc->name, BLOCK_BYTES);
  const uint64_t out[] = {r->images, r->oh, r->ow, r->c0};
  return lower_bounded(job, out, 4);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 1,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .load = load,
                                           .compute = compute};
  struct vresize *r = vkernel_new(job, sizeof *r, &kind);
  if (!r)
    return VINCI_E_NOMEM;
  enum vinci_status status = read_keys(job, r);
  if (status != VINCI_OK)
    return status;
  struct vkernel *kernel = &r->kernel;
  kernel->tile.space = (struct vtile_space){
      .outers = 1, .outer = {r->images}, .rows = r->oh, .cols = out_elements(r)};
  kernel->element_bytes = vtile_bytes(r->type);
  kernel->code = KERNEL_ELEMENTWISE;
  r->y = vtile_whole_rows("y", r->type, &kernel->tile.space, 0);
  r->y.outer_stride[0] = r->oh * out_elements(r);
  kernel->out[0] = &r->y;
  return VINCI_OK;
}

static bool call_resize(struct lower_call *call) {
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "a map and a result are needed");
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  bool blocked = strcmp(x->format, "NC1HWC0") == 0;
  if (x->rank != (blocked ? BLOCKED_RANK : NCHW_RANK) || y->rank != x->rank ||
      strcmp(x->format, "NHWC") == 0)
    return lower_cannot(call, "maps are NCHW or NC1HWC0");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "size", y->shape + 2, 2);
  lower_arg(call, "mode=%s", strstr(call->type, "ilinear") ? "bilinear" : "nearest");
  lower_arg(call, "format=%s", blocked ? "nc1hwc0" : "nchw");
  lower_arg_dtype(call, "dtype", x);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);

LOWER_OPERATOR(resize,
               "ResizeNearestNeighborV2|ResizeNearestNeighborV2D|ResizeBilinearV2|"
               "ResizeBilinearV2D|UpsampleNearest2d|UpsampleBilinear2d",
               "y = maps of x in another size, by the nearest point or bilinear", keys, &template,
               NULL, call_resize)
