/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings of matmul: which are legal, and the candidates. */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/cube/conv.h"

enum {
  BIAS_FLAG_IDS = 6, /* FLAG_BIAS of matmul_writer.h is the last pair */
  L0_SLOTS = 2,
  INNER_SLOTS = 2,
  BT_SLOTS = 2,
  MAD_MAX = 4080,     /* of m and n; the operand has 12 bits */
  L1_ROW_MAX = 32767, /* rows of a feature map */
  BURSTS_MAX = 4095,  /* of a copy */
};

/* ---- legality ---- */

/* Transposed squares of 8 bits have 32 rows. */
static uint64_t m_unit(const struct matmul *mm) {
  return mm->trans_a ? matmul_unit(mm) : FRACTAL_ROWS;
}

uint64_t conv_map_rows(const struct conv *conv, uint64_t out_rows) {
  return min_u64(conv->h, (out_rows - 1) * conv->sh + (conv->kh - 1) * conv->dh + 1);
}

uint64_t conv_rows(const struct conv *conv, uint64_t bm) {
  bool whole = bm % conv->wo == 0; /* rows of the result */
  uint64_t rows = whole ? bm / conv->wo : (bm + conv->wo - 2) / conv->wo + 1;
  return conv_map_rows(conv, min_u64(conv->ho, rows));
}

uint64_t matmul_a_panel_bytes(const struct matmul *mm, uint64_t bm, uint64_t ka) {
  const struct conv *conv = mm->conv;
  if (!conv)
    return round_up(bm, FRACTAL_ROWS) * ka * mm->element_bytes;
  return ceil_div(min_u64(ka, mm->k), conv->window) * conv_rows(conv, bm) * conv->w *
         conv->point_bytes;
}

/* For panels: what rows of bias and scales, and residuals leave. */
static uint64_t l1_room(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                        uint64_t bn) {
  uint64_t rows = mm->bias ? BT_SLOTS * (uint64_t)soc->bt_bytes : 0;
  rows += matmul_residual_l1_bytes(mm, bm, bn);
  if (mm->scale == SCALE_COLUMNS)
    rows += BT_SLOTS * round_up(bn * MATMUL_SCALE_BYTES, FRACTAL_BYTES);
  return (uint64_t)soc->l1_bytes - min_u64((uint64_t)soc->l1_bytes, rows);
}

/* What a panel of B takes in L1. Of a gradient's weights whole fractals of k come in. */
static uint64_t b_panel(const struct matmul *mm, uint64_t bn, uint64_t kb) {
  const struct conv *conv = mm->conv;
  if (!conv || !conv->gradient)
    return bn * kb * mm->element_bytes;
  uint64_t rows = round_up(ceil_div(min_u64(kb, mm->k), conv->window) * mm->c0, FRACTAL_ROWS);
  return bn * conv->window / mm->c0 * rows * mm->element_bytes;
}

static bool split_panels(struct lower_job *job, const struct matmul *mm, struct matmul_tiling *t) {
  uint64_t bn = round_up(t->bn, FRACTAL_ROWS);
  if (t->ka % t->kb && t->kb % t->ka)
    return lower_refuse(job, "of the panels one has to be a multiple of the other");
  if (!mm->conv && (t->ka % t->bk || t->kb % t->bk))
    return lower_refuse(job, "panels have to be multiples of the tile's k");
  if (mm->conv && (t->kb % mm->c0 || (t->ka < mm->k && t->ka % mm->conv->window)))
    return lower_refuse(job, "panels of the map have to be multiples of %u",
                        (unsigned)mm->conv->window);
  if (mm->conv && mm->conv->gradient && t->kb < mm->k &&
      t->kb / mm->conv->window * mm->c0 % FRACTAL_ROWS + t->kb % mm->conv->window)
    return lower_refuse(job, "panels of the weights have to be whole fractals");
  uint64_t k_padded = mm->conv ? mm->k : round_up(mm->k, t->bk);
  bool a_outer = t->resident == RESIDENT_A || (t->resident == RESIDENT_NONE && t->ka >= t->kb);
  t->a_outer = a_outer;
  t->outer_k = a_outer ? t->ka : t->kb;
  t->inner_k = a_outer ? t->kb : t->ka;
  if (t->outer_k % t->inner_k)
    return lower_refuse(job, "the resident operand needs the deeper panel");
  if (t->resident != RESIDENT_NONE && t->outer_k < k_padded)
    return lower_refuse(job, "a resident operand needs a panel of all of k");
  t->a_panel_bytes = matmul_a_panel_bytes(mm, t->rows, t->ka);
  t->b_panel_bytes = b_panel(mm, bn, t->kb);
  uint64_t outer = a_outer ? t->a_panel_bytes : t->b_panel_bytes;
  uint64_t inner = a_outer ? t->b_panel_bytes : t->a_panel_bytes;
  uint64_t room = l1_room(job->soc, mm, t->bm, bn);
  room -= t->early ? min_u64(room, BLOCK_BYTES) : 0;
  t->outer_slots = t->resident != RESIDENT_NONE && outer * 2 + inner * INNER_SLOTS > room ? 1 : 2;
  if (outer * t->outer_slots + inner * INNER_SLOTS > room)
    return lower_refuse(job, "the panels do not fit L1");
  /* Parts are whole units; the last part may end within a unit. */
  uint64_t unit = matmul_part_unit(mm, t), units = ceil_div(mm->k, unit);
  uint64_t most = ceil_div(units, t->split) * unit;
  uint64_t least = min_u64(units / t->split * unit, most - (units * unit - mm->k));
  t->k = t->split > 1 ? most : mm->k;
  t->groups = ceil_div(t->k, t->outer_k);
  t->turns = ceil_div(t->k, t->inner_k);
  if (t->split > 1 && least <= (t->groups - 1) * t->outer_k)
    return lower_refuse(job, "parts of k have to have the same number of panels");
  return true;
}

bool matmul_fits_l0(struct lower_job *job, const struct matmul *mm, const struct matmul_tiling *t) {
  const struct vinci_soc *soc = job->soc;
  uint64_t bm = round_up(t->bm, FRACTAL_ROWS), bn = round_up(t->bn, FRACTAL_ROWS);
  uint64_t k_unit = mm->conv ? mm->c0 : matmul_unit(mm);
  if (t->bk % k_unit)
    return lower_refuse(job, "the tile's k has to be a multiple of %u", (unsigned)k_unit);
  if (t->bm % m_unit(mm) || t->bn % matmul_unit(mm))
    return lower_refuse(job, "the tile's m and n have to be whole fractals");
  if (bm > MAD_MAX || bn > MAD_MAX || t->bk > MAD_MAX)
    return lower_refuse(job, "the tile is larger than one mad");
  if (bm * t->bk * mm->element_bytes * L0_SLOTS > (uint64_t)soc->l0a_bytes ||
      matmul_b_step_bytes(mm, t) * L0_SLOTS > (uint64_t)soc->l0b_bytes)
    return lower_refuse(job, "two tiles of an operand do not fit L0A or L0B");
  if (bm * bn * ACCUMULATOR_BYTES > (uint64_t)soc->l0c_bytes)
    return lower_refuse(job, "the block does not fit L0C");
  bool table = mm->bias && !mm->coupled;
  if (table && soc->flag_ids < BIAS_FLAG_IDS)
    return lower_refuse(job, "a bias takes %d flag ids between two pipes, %s has %d", BIAS_FLAG_IDS,
                        soc->name, (int)soc->flag_ids);
  if (table && bn * ACCUMULATOR_BYTES > (uint64_t)soc->bt_bytes)
    return lower_refuse(job, "the bias of a block does not fit the bias table");
  if (mm->scale == SCALE_COLUMNS && bn * MATMUL_SCALE_BYTES > (uint64_t)soc->fb_bytes)
    return lower_refuse(job, "the scales of a block do not fit the fixpipe's buffer");
  return true;
}

uint64_t matmul_c_slots(const struct vinci_soc *soc, const struct matmul_tiling *t) {
  uint64_t block = round_up(t->bm, FRACTAL_ROWS) * round_up(t->bn, FRACTAL_ROWS);
  return block * ACCUMULATOR_BYTES * 2 <= (uint64_t)soc->l0c_bytes ? 2 : 1;
}

/* Elements of k in a panel of a product: coupled cores bring a column of blocks with each burst, of
 * which a copy has 12 bits. */
static uint64_t deepest_panel(const struct matmul *mm) {
  if (mm->conv) /* is_one_copy() */
    return UINT64_MAX;
  return mm->coupled ? BURSTS_MAX : L1_ROW_MAX;
}

/* A panel of a convolution comes with one copy, and load3d counts its depth in 16 bits. */
static bool is_one_copy(const struct conv *conv, const struct matmul *mm,
                        const struct matmul_tiling *t) {
  uint64_t ka = min_u64(t->ka, mm->k), kb = min_u64(t->kb, mm->k);
  uint64_t bursts = conv->gradient ? t->bn / mm->c0 * conv->kh * conv->kw : ceil_div(kb, mm->c0);
  return ka <= UINT16_MAX && ceil_div(ka, conv->window) <= BURSTS_MAX && bursts <= BURSTS_MAX;
}

/* MatMulV3 sets enUnitFlag (mat_mul_v3_common.h of ops-nn). Mad and fixpipe use the same fractals.
 */
static bool has_unit_flags(const struct matmul *mm, const struct matmul_tiling *t) {
  return !mm->shallow && !mm->coupled && !mm->conv && !mm->residual && !mm->nz_c && t->split == 1 &&
         mm->element_bytes > 1 && mm->scale == SCALE_NONE;
}

/*
 * MatMulV3 loads a panel where it is used, A's ahead of B's, and asks for none ahead
 * (MM_CFG_NO_PRELOAD of mat_mul_v3_common.h of ops-nn; scheduler_mdl_base.h of asc-devkit). The
 * scalar unit runs ahead of MTE1 as far as queues allow, and so do loads. Where B has the deeper
 * panels, its load stands behind a load of A that waits for room in L1. Blocks that are
 * not of the vendor's choice are chosen here, and so is their order.
 */
static bool has_library_loads(const struct matmul *mm, const struct matmul_tiling *t) {
  return mm->library_loads && mm->library_block && t->unit_flags && t->resident == RESIDENT_NONE;
}

bool matmul_tiling(struct lower_job *job, struct matmul_tiling *t) {
  const struct matmul *mm = job->data;
  const struct lower_value *tile = matmul_key(job, MATMUL_TILE);
  const struct lower_value *panel = matmul_key(job, MATMUL_PANEL);
  if (tile->rank != 3 || panel->rank != 2)
    return lower_refuse(job, "tile is MxKxN, panel is KAxKB");
  *t = (struct matmul_tiling){
      .bm = tile->shape[0],
      .bk = tile->shape[1],
      .bn = tile->shape[2],
      .ka = panel->shape[0],
      .kb = panel->shape[1],
      .resident = (enum matmul_resident)matmul_key(job, MATMUL_RESIDENT)->word,
      .band = matmul_key(job, MATMUL_BAND)->size,
      .cores = matmul_key(job, MATMUL_CORES)->size,
      .split = mm->alone ? 1 : matmul_key(job, MATMUL_SPLIT)->size,
  };
  t->rows = t->bm;
  if (mm->conv) { /* blocks may be whole rows of the result */
    t->bm = round_up(t->bm, FRACTAL_ROWS);
    t->early = conv_knob(job, CONV_EARLY)->word;
    t->by_rows = conv_knob(job, CONV_COPIES)->word;
  }
  if ((t->split > 1 && !matmul_split_fits(job, t)) || !matmul_fits_l0(job, mm, t) ||
      !split_panels(job, mm, t) || (mm->coupled && !matmul_coupled_fits(job, t)))
    return false;
  if (mm->conv && !is_one_copy(mm->conv, mm, t))
    return lower_refuse(job, "panels are too deep for one copy");
  if (t->by_rows && !conv_rows_fit(job))
    return false;
  uint64_t deepest = deepest_panel(mm);
  if (t->ka > deepest || t->kb > deepest)
    return lower_refuse(job, "panels are deeper than %u", (unsigned)deepest);
  t->mt = ceil_div(mm->m, t->rows);
  t->nt = ceil_div(mm->n, t->bn);
  t->blocks_total = mm->groups ? grouped_blocks(mm->groups, mm->groups->count, t->rows, t->nt)
                               : mm->batch * t->mt * t->nt * t->split;
  if (mm->groups && t->resident != RESIDENT_NONE)
    return lower_refuse(job, "with groups no operand stays in L1");
  if (t->split == 1)
    t->cores = min_u64(t->cores, t->blocks_total);
  if (t->early && (t->cores == 1 || job->soc->first_read_cycles == 0))
    return lower_refuse(job, "no other core makes the first read wait");
  t->band = min_u64(t->band, t->mt);
  t->c_slots = matmul_c_slots(job->soc, t);
  t->unit_flags = has_unit_flags(mm, t);
  t->in_time = has_library_loads(mm, t);
  if (mm->vectors && mm->vectors->fits)
    return mm->vectors->fits(job, t);
  return true;
}

/* ---- candidates ---- */

/*
 * Sides of blocks. With work enough for every core the vendor's library takes blocks of 128 x 256
 * or 256 x 128 and streams both operands; smaller shapes choose among all. An operand that stays in
 * L1 would be up to 7 % faster for k around 1024, and can be asked for. On the 950 the library
 * evens out the last wave, which matters up to some eight blocks for each core.
 */
static const uint16_t sides[] = {256, 128, 512, 384, 224, 192, 160, 112, 96, 80, 64, 48, 32, 16};
enum { SIDE_COUNT = sizeof sides / sizeof *sides, LARGE_SIDES = 2 };
_Static_assert((int)SIDE_COUNT <= (int)MATMUL_SIDES_MAX, "MATMUL_SIDES_MAX is too small");
/* MatMulV2 has panels of equal depth. */
enum { EVEN_COUNT = 1, STREAMING_COUNT = 3, DEPTH_COUNT = 5 };
enum { LARGE_M = 128, LARGE_N = 256, LARGE_BLOCKS_PER_CORE = 2, LARGE_BLOCKS_C310 = 8 };
enum { STEP_MAX = 2048, SHALLOW_STEPS = 4 };
/* With k in parts. */
static const uint16_t split_sides[] = {128, 256, 64, 32, 16};
enum { SPLIT_SIDES = sizeof split_sides / sizeof *split_sides, SPLIT_KINDS = 2, PART_STEPS = 4 };

static bool is_large(const struct vinci_soc *soc, const struct matmul *mm) {
  uint64_t cores = matmul_cores(soc);
  uint64_t each = soc->arch == ARCH_C310 ? LARGE_BLOCKS_C310 : LARGE_BLOCKS_PER_CORE;
  return mm->batch * ceil_div(mm->m, LARGE_M) * ceil_div(mm->n, LARGE_N) >= each * cores;
}

/* ---- the blocks of MatMulV3 (matmul_v3_base_tiling.cpp of the public repository ops-nn) ---- */

enum { LIBRARY_SHORT = 128, LIBRARY_LONG = 256, LIBRARY_STEP_BYTES = 128, LIBRARY_BAND = 4 };

/* Elements that blocks of bm x bn load for each k. */
static uint64_t loads_per_k(const struct matmul *mm, uint64_t bm, uint64_t bn) {
  return ceil_div(mm->m, bm) * mm->n + ceil_div(mm->n, bn) * mm->m;
}

/* Blocks have more columns than rows where k runs along neither or one of the operands' rows. With
 * one operand transposed a side with work for half of the cores may ask for more rows. */
static bool library_is_tall(const struct matmul *mm, uint64_t cores) {
  uint64_t half = cores / 2 * LIBRARY_LONG;
  bool m_large = mm->m >= half, n_large = mm->n >= half;
  if (mm->trans_a == mm->trans_b)
    return mm->trans_a;
  if (m_large && n_large)
    return loads_per_k(mm, LIBRARY_LONG, LIBRARY_SHORT) <
           loads_per_k(mm, LIBRARY_SHORT, LIBRARY_LONG);
  return m_large || (!n_large && mm->m > mm->n);
}

/* The block that the library takes whenever each core gets one; false: the shape is smaller, the
 * type is int8, which MatMulV3 does not take, or the chip is another than a 910B or has not the
 * buffers for the block. On the 950 the library evens out the last wave of blocks (adaptive sliding
 * windows). */
static bool library_tile(const struct vinci_soc *soc, const struct matmul *mm, uint64_t tile[3]) {
  uint64_t cores = matmul_cores(soc);
  if (mm->shallow || soc->arch != ARCH_C220 || mm->batch > 1 || mm->element_bytes == 1 ||
      mm->m < LIBRARY_LONG || mm->n < LIBRARY_LONG)
    return false;
  bool tall = library_is_tall(mm, cores);
  tile[0] = tall ? LIBRARY_LONG : LIBRARY_SHORT;
  tile[1] = LIBRARY_STEP_BYTES / mm->element_bytes;
  tile[2] = tall ? LIBRARY_SHORT : LIBRARY_LONG;
  return ceil_div(mm->m, tile[0]) * ceil_div(mm->n, tile[2]) >= cores &&
         tile[0] * tile[2] * ACCUMULATOR_BYTES <= (uint64_t)soc->l0c_bytes &&
         matmul_deepest_step(soc, mm, tile[0], tile[2], tile[1]) >= tile[1];
}

bool matmul_has_library_block(const struct vinci_soc *soc, const struct matmul *mm) {
  uint64_t tile[3];
  return library_tile(soc, mm, tile);
}

uint64_t matmul_deepest_step(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                             uint64_t bn, uint64_t unit) {
  uint64_t a = (uint64_t)soc->l0a_bytes / L0_SLOTS / (bm * mm->element_bytes);
  uint64_t b = (uint64_t)soc->l0b_bytes / L0_SLOTS / (bn * mm->element_bytes);
  return max_u64(min_u64(a, b - min_u64(b, mm->b_spill)) / unit * unit, unit);
}

/* The largest power of two that L0 and k allow as the depth of a step; else the smallest depth. */
static uint64_t power_depth(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                            uint64_t bn) {
  uint64_t unit = matmul_unit(mm);
  uint64_t depth = min_u64(matmul_deepest_step(soc, mm, bm, bn, unit), round_up(mm->k, unit));
  /* Whole steps in a panel of a power of two. */
  for (uint64_t power = STEP_MAX; power >= unit; power /= 2)
    if (depth >= power)
      return power;
  return unit;
}

/* MatMulV2 in fp32 takes steps of 16: in profiles its scalar time grows with k / 16, and its cube
 * time with the latency of as many mads. */
static uint64_t step_depth(const struct vinci_soc *soc, const struct matmul *mm, uint64_t bm,
                           uint64_t bn) {
  bool small = mm->shallow && matmul_stored(mm->type) == DTYPE_FP32;
  return small ? matmul_unit(mm) : power_depth(soc, mm, bm, bn);
}

/* All of k in one panel of the kind that MatMulV2 has. */
static bool is_short(const struct matmul *mm, uint64_t bk) { return mm->k <= SHALLOW_STEPS * bk; }

/* Depth of panels, as deep as L1 and one copy allow, in the ratio a:b; parts of k get equal numbers
 * of them. */
static void set_streaming(struct lower_job *job, const uint64_t tile[3], uint64_t a, uint64_t b,
                          uint64_t split) {
  const struct matmul *mm = job->data;
  uint64_t bk = tile[1], deeper = max_u64(a, b);
  uint64_t part = ceil_div(ceil_div(mm->k, bk), split) * bk;
  uint64_t unit = INNER_SLOTS * mm->element_bytes * (tile[0] * a + tile[2] * b);
  uint64_t room = l1_room(job->soc, mm, tile[0], tile[2]);
  uint64_t most = min_u64(room / unit, deepest_panel(mm) / deeper) / bk * bk;
  uint64_t depth = max_u64(min_u64(most, part), bk);
  uint64_t shallow = SHALLOW_STEPS * power_depth(job->soc, mm, tile[0], tile[2]);
  if (mm->shallow)
    depth = max_u64(min_u64(depth, shallow / deeper / bk * bk), bk);
  if (split > 1)
    depth = round_up(ceil_div(part, ceil_div(part, depth * deeper) * deeper), bk);
  matmul_set_tiling(job, tile, depth * a, depth * b, RESIDENT_NONE);
}

/* The held operand as deep as k, the other one as deep as what is left. */
static void set_resident(struct lower_job *job, const uint64_t tile[3],
                         enum matmul_resident resident) {
  const struct matmul *mm = job->data;
  bool a = resident == RESIDENT_A;
  uint64_t bk = tile[1], room = l1_room(job->soc, mm, tile[0], tile[2]), all = round_up(mm->k, bk);
  uint64_t held = (a ? tile[0] : tile[2]) * all * mm->element_bytes;
  uint64_t other = INNER_SLOTS * mm->element_bytes * (a ? tile[2] : tile[0]);
  uint64_t left = held < room ? (room - held) / other / bk * bk : 0;
  uint64_t depth = max_u64(min_u64(left, all), bk);
  uint64_t outer = round_up(all, depth); /* a whole number of inner panels */
  matmul_set_tiling(job, tile, a ? outer : depth, a ? depth : outer, resident);
}

/* The cores that share the columns of a flat product, see matmul_is_flat(). */
static uint64_t even_cores(const struct vinci_soc *soc, const struct matmul *mm) {
  uint64_t fractals = ceil_div(mm->n, FRACTAL_ROWS), cores = min_u64(matmul_cores(soc), fractals);
  while (fractals % cores)
    cores--;
  return cores;
}

/* Kinds of depth: panels in the ratio 1:1, 2:1 and 1:2, A resident, B resident. */
static void set_panels(struct lower_job *job, const uint64_t tile[3], size_t kind, uint64_t split) {
  static const uint8_t ratio_a[STREAMING_COUNT] = {1, 2, 1};
  static const uint8_t ratio_b[STREAMING_COUNT] = {1, 1, 2};
  if (kind < STREAMING_COUNT)
    set_streaming(job, tile, ratio_a[kind], ratio_b[kind], split);
  else
    set_resident(job, tile, (enum matmul_resident)(kind - STREAMING_COUNT + RESIDENT_A));
  if (!((const struct matmul *)job->data)->alone)
    *matmul_key(job, MATMUL_SPLIT) = matmul_size(split);
  if (split > 1)
    matmul_key(job, MATMUL_CORES)->size = matmul_cores(job->soc);
  else if (matmul_is_flat(job->data))
    matmul_key(job, MATMUL_CORES)->size = even_cores(job->soc, job->data);
}

uint64_t matmul_even(uint64_t extent, uint64_t side, uint64_t unit) {
  return round_up(ceil_div(extent, ceil_div(extent, side)), unit);
}

/* Rows of blocks such that the blocks of all cores together are near a square of elements. */
static uint64_t band_of(uint64_t cores, uint64_t bm, uint64_t bn, uint64_t mt) {
  uint64_t band = 1;
  while (band < mt && (band + 1) * (band + 1) * bm <= cores * bn)
    band++;
  return band;
}

/* The rest follows: all cores, or as many as there are blocks. */
void matmul_set_tiling(struct lower_job *job, const uint64_t tile[3], uint64_t ka, uint64_t kb,
                       enum matmul_resident resident) {
  const struct matmul *mm = job->data;
  uint64_t cores = matmul_cores(job->soc);
  uint64_t mt = ceil_div(mm->m, tile[0]);
  cores = min_u64(cores, mm->batch * mt * ceil_div(mm->n, tile[2]));
  *matmul_key(job, MATMUL_TILE) = matmul_shape(3, tile[0], tile[1], tile[2]);
  *matmul_key(job, MATMUL_PANEL) = matmul_shape(2, ka, kb, 0);
  *matmul_key(job, MATMUL_RESIDENT) = (struct lower_value){.present = true, .word = resident};
  *matmul_key(job, MATMUL_CORES) = matmul_size(cores);
  *matmul_key(job, MATMUL_BAND) = matmul_size(band_of(cores, tile[0], tile[2], mt));
}

/* Columns of a block: where cores share columns evenly, a part of a core's share. */
static uint64_t columns_of(const struct vinci_soc *soc, const struct matmul *mm, uint64_t side) {
  uint64_t unit = matmul_unit(mm);
  if (!matmul_is_flat(mm))
    return matmul_even(mm->n, side, unit);
  uint64_t share = round_up(mm->n, FRACTAL_ROWS) / even_cores(soc, mm);
  uint64_t columns = matmul_even(share, side, unit);
  while (columns > unit && share % columns)
    columns -= unit;
  return columns;
}

static void tile_of(const struct lower_job *job, uint64_t m_side, uint64_t n_side,
                    uint64_t tile[3]) {
  const struct matmul *mm = job->data;
  tile[0] = matmul_even(mm->m, m_side, m_unit(mm));
  tile[2] = columns_of(job->soc, mm, n_side);
  tile[1] = step_depth(job->soc, mm, tile[0], tile[2]);
}

static void add_once(uint64_t *extents, size_t *count, uint64_t extent) {
  for (size_t i = 0; i < *count; i++)
    if (extents[i] == extent)
      return;
  extents[(*count)++] = extent;
}

void matmul_set_sides(const struct vinci_soc *soc, struct matmul *mm) {
  size_t count = is_large(soc, mm) ? LARGE_SIDES : SIDE_COUNT;
  for (size_t i = 0; i < count; i++) {
    add_once(mm->tile_m, &mm->tile_m_count, matmul_even(mm->m, sides[i], m_unit(mm)));
    add_once(mm->tile_n, &mm->tile_n_count, columns_of(soc, mm, sides[i]));
  }
}

/* Where blocks leave cores idle: as many parts of k as fill them, or half as many. */
static bool split_candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  const struct lower_value *given = matmul_key(job, MATMUL_SPLIT);
  bool chosen = given->given;
  uint64_t split = given->size, cores = matmul_cores(job->soc), tile[3];
  if (index >= (size_t)SPLIT_SIDES * SPLIT_SIDES * STREAMING_COUNT * SPLIT_KINDS)
    return false;
  size_t pair = index / STREAMING_COUNT / SPLIT_KINDS;
  tile_of(job, split_sides[pair / SPLIT_SIDES], split_sides[pair % SPLIT_SIDES], tile);
  uint64_t blocks = mm->batch * ceil_div(mm->m, tile[0]) * ceil_div(mm->n, tile[2]);
  if (!chosen)
    split = max_u64(1, cores / blocks / (1 + index / STREAMING_COUNT % SPLIT_KINDS));
  /* Parts are whole steps: several of them, so that parts are about equal. */
  uint64_t unit = matmul_unit(mm);
  while (tile[1] > unit && ceil_div(mm->k, tile[1]) < split * PART_STEPS)
    tile[1] /= 2;
  set_panels(job, tile, mm->shallow ? 0 : index % STREAMING_COUNT, split);
  return true;
}

/*
 * The library's only tiling: the operand with the shorter side comes in panels twice as deep, and
 * four rows of blocks are walked together. False where the chip has not the buffers.
 */
static bool library_candidate(struct lower_job *job) {
  enum { EVEN, DEEP_A, DEEP_B }; /* kinds of set_panels() */
  const struct matmul *mm = job->data;
  uint64_t tile[3];
  if (!library_tile(job->soc, mm, tile))
    return false;
  set_panels(job, tile, mm->bias ? EVEN : tile[0] < tile[2] ? DEEP_A : DEEP_B, 1);
  uint64_t *band = &matmul_key(job, MATMUL_BAND)->size;
  *band = min_u64(LIBRARY_BAND, ceil_div(mm->m, tile[0]));
  return true;
}

bool matmul_candidate(struct lower_job *job, size_t index) {
  const struct matmul *mm = job->data;
  bool large = is_large(job->soc, mm), split = !mm->alone && matmul_key(job, MATMUL_SPLIT)->given;
  bool asked =
      split || matmul_key(job, MATMUL_TILE)->given || matmul_key(job, MATMUL_RESIDENT)->given;
  if (mm->library_block && !asked) /* no other, of chips with smaller buffers either */
    return index == 0 && library_candidate(job);
  bool all = mm->shallow ? is_short(mm, matmul_unit(mm)) : !large;
  size_t depths = all || matmul_key(job, MATMUL_RESIDENT)->given ? DEPTH_COUNT
                  : mm->shallow                                  ? EVEN_COUNT
                                                                 : STREAMING_COUNT;
  size_t whole = split && matmul_key(job, MATMUL_SPLIT)->size > 1
                     ? 0
                     : mm->tile_m_count * mm->tile_n_count * depths;
  if (index >= whole)
    return !mm->alone && ((!large && !matmul_is_flat(mm)) || split) &&
           split_candidate(job, index - whole);
  uint64_t tile[3] = {mm->tile_m[index / depths / mm->tile_n_count], 0,
                      mm->tile_n[index / depths % mm->tile_n_count]};
  tile[1] = step_depth(job->soc, mm, tile[0], tile[2]);
  set_panels(job, tile, index % depths, 1);
  return true;
}
