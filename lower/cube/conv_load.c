/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writer of matmul traces: the loads of a convolution, whose A is a feature map.
 *
 * A gradient with respect to the map is the convolution of the result's gradient, its points spread
 * by the stride with zeros between them, with the weights turned by half a turn, k and c changed;
 * the way of the vendor's library.
 */
#include "core/base/arith.h"
#include "lower/cube/matmul_writer.h"
#include "lower/select/select.h"

struct expr conv_weights_of(const struct conv *conv, struct expr z) {
  return x_mod(z, conv->groups);
}

void conv_padding(const struct writer *w) {
  if (w->mm->conv && w->mm->conv->pad_bits != 0)
    EMIT(w->e, "set_padding", F("value", w->mm->conv->pad_bits));
}

void conv_put_map(const struct conv *conv, struct group *g, struct expr last_row) {
  uint64_t last = conv->h - 1;
  struct expr reach = x_add(x_mul(last_row, conv->sh), (conv->kh - 1) * conv->dh);
  g->low = group_let(g, "low", x_sub(reach, conv->top));
  struct expr first = x_max(0, x_sub(x_mul(g->oy, conv->sh), conv->top));
  g->up = group_let(g, "up", x_min(last, first));
  struct expr height = x_add(x_sub(x_min(last, g->low), g->up), 1);
  g->height = group_let(g, "height", x_max(1, height));
}

/* ---- GM to L1 ---- */

/* Where an image's blocks of channels begin that belong to k, from a point of them on. */
static struct expr map_source(const struct matmul_panel *p, struct expr k, uint64_t points,
                              struct expr point) {
  const struct matmul *mm = p->w->mm;
  struct expr image =
      matmul_slot(p->w->e, mm->a.name, p->g->z, mm->conv->c1 * points * BLOCK_BYTES);
  return x_at(image, x_add(x_mul(x_div(k, mm->conv->window), points), point), BLOCK_BYTES);
}

uint64_t conv_map_blocks(const struct conv *conv) {
  uint64_t points = conv->gradient ? conv->given_h * conv->given_w : conv->h * conv->w;
  return points * conv->point_bytes / BLOCK_BYTES;
}

void conv_copy_lines(const struct group *g, const char *name, struct expr dst, struct expr src,
                     struct expr channels, struct expr lines, uint64_t line, uint64_t map) {
  struct expr blocks = x_mul(lines, line);
  if (!conv_is_large(map)) {
    EMIT(g->e, "copy_gm_to_cbuf", F("dst", dst), F("src", src), F("n_burst", channels),
         F("len_burst", blocks), F("src_gap", x_sub(map, blocks)));
    return;
  }
  struct expr channel = group_for(g, name, channels);
  EMIT(g->e, "copy_gm_to_cbuf", F("dst", x_at(dst, x_mul(channel, blocks), BLOCK_BYTES)),
       F("src", x_at(src, channel, map * BLOCK_BYTES)), F("len_burst", blocks));
  emit_end(g->e);
}

/* Rows of a feature map, of the channels that belong to k, under the windows of the block. */
static void load_map(const struct matmul_panel *p, struct expr k, struct expr depth) {
  const struct conv *conv = p->w->mm->conv;
  uint64_t line = conv->w * conv->point_bytes / BLOCK_BYTES, map = conv->h * line;
  if (p->w->t.by_rows) {
    struct expr blocks = x_mul(p->g->height, line);
    matmul_copy_blocks(p, map_source(p, k, map, x_mul(p->g->up, line)),
                       x_ceil_div(depth, conv->window), blocks, map, blocks);
    return;
  }
  conv_copy_lines(p->g, "channel", p->dst, map_source(p, k, map, x_mul(p->g->up, line)),
                  x_ceil_div(depth, conv->window), p->g->height, line, map);
}

/* Points that are apart: zeros, and lines between them, each block of channels on its own. */
static void spread_lines(const struct matmul_panel *p, struct expr src, struct expr channels,
                         struct expr first, struct expr lines) {
  struct emit *e = p->w->e;
  const struct conv *conv = p->w->mm->conv;
  uint64_t high = conv->spread_h, wide = conv->spread_w, given = conv->given_w;
  uint64_t points = conv->given_h * given, line_bytes = conv->w * BLOCK_BYTES;
  matmul_zeros(e, p->dst, EXPR(p->w->t.a_panel_bytes / BLOCK_BYTES));
  emit_barrier(e, PIPE_MTE2);
  struct expr group = group_for(p->g, "group", channels);
  struct expr top = x_sub(x_add(x_mul(group, p->g->height), x_mul(first, high)), p->g->up);
  struct expr to = x_at(p->dst, top, line_bytes), from = x_at(src, group, points * BLOCK_BYTES);
  bool whole = wide == 1; /* lines */
  struct expr line = group_for(p->g, whole ? "any" : "line", whole ? x_gt(lines, 0) : lines);
  if (whole)
    line = EXPR(0);
  EMIT(e, "copy_gm_to_cbuf", F("dst", x_at(to, line, high * line_bytes)),
       F("src", x_at(from, line, given * BLOCK_BYTES)), F("n_burst", whole ? lines : EXPR(given)),
       F("len_burst", whole ? given : 1), F("dst_gap", whole ? conv->w * (high - 1) : wide - 1));
  emit_end(e);
  emit_end(e);
}

/*
 * Rows of the spread map from `up` on, `height` of them: of those only every spread_h-th is in GM,
 * and of its points every spread_w-th.
 */
static void load_spread(const struct matmul_panel *p, struct expr k, struct expr depth) {
  const struct conv *conv = p->w->mm->conv;
  const struct group *g = p->g;
  uint64_t high = conv->spread_h, points = conv->given_h * conv->given_w;
  group_for(g, "spread", EXPR(1));
  struct expr first = group_let(g, "line0", x_ceil_div(g->up, high));
  struct expr last = x_div(x_sub(x_add(g->up, g->height), 1), high);
  struct expr lines = group_let(g, "given", x_add(x_sub(last, first), 1));
  struct expr src = map_source(p, k, points, x_mul(first, conv->given_w));
  struct expr channels = x_ceil_div(depth, conv->window);
  if (high == 1 && conv->spread_w == 1)
    conv_copy_lines(g, "channel", p->dst, src, channels, lines, conv->w, points);
  else
    spread_lines(p, src, channels, first, lines);
  emit_end(g->e);
}

/* Rows of k (whole fractals) that a panel `depth` deep has. */
static struct expr panel_rows(const struct writer *w, struct expr depth) {
  return padded(x_mul(x_ceil_div(depth, w->mm->conv->window), w->mm->c0));
}

/* Weights lie as [c1, kh * kw, rows of k, c0]; so do panels, with fewer rows. */
static void load_turned(const struct matmul_panel *p, struct expr k, struct expr depth) {
  const struct matmul *mm = p->w->mm;
  const struct conv *conv = mm->conv;
  uint64_t c0 = mm->c0, points = conv->kh * conv->kw;
  uint64_t all = round_up(conv->c1 * c0, FRACTAL_ROWS);
  struct expr rows = panel_rows(p->w, depth);
  struct expr group = x_mul(conv_weights_of(conv, p->g->z), ceil_div(mm->n, c0) * points * all);
  struct expr block = x_at(group, x_div(p->g->n, c0), points * all);
  struct expr row = x_at(block, x_div(k, conv->window), c0);
  EMIT(p->w->e, "copy_gm_to_cbuf", F("dst", p->dst),
       F("src", matmul_slot(p->w->e, mm->b.name, row, BLOCK_BYTES)),
       F("n_burst", x_mul(x_ceil_div(p->g->cn, c0), points)), F("len_burst", rows),
       F("src_gap", x_sub(all, rows)));
}

void conv_load_panel(const struct matmul_panel *p, struct expr k, struct expr depth) {
  bool gradient = p->w->mm->conv->gradient;
  (!gradient ? load_map : p->is_a ? load_spread : load_turned)(p, k, depth);
}

/* ---- L1 to L0 ---- */

/*
 * With load3d of the first version: a row of fractals of 16 windows after the other, along k in
 * each. Windows are counted from the first row of the result on that the block has.
 */
static void windows_by_row(const struct writer *w) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  const struct group *g = &w->now;
  uint64_t c0 = w->mm->c0;
  struct expr deep = emit_assigned(e, "kf", x_ceil_div(w->kk, c0));
  struct expr block = emit_assigned(e, "kblock", x_div(w->a_at, c0));
  struct expr mi = emit_for(e, "mi", fractals(g->cm));
  struct expr from = x_sub(x_add(g->m, x_mul(mi, FRACTAL_ROWS)), x_mul(g->oy, conv->wo));
  struct expr window = emit_assigned(e, "window", from);
  struct expr above = x_max(0, x_sub(conv->top, x_mul(g->oy, conv->sh)));
  EMIT(e, "img2col_cbuf_to_ca", F("dst", x_at(w->a_dst, x_mul(mi, deep), FRACTAL_BYTES)),
       F("src", w->a_src), F("repeat", deep), LOAD3D_ONE(conv, g, above, window, block),
       LOAD3D_TYPE(w->mm));
  emit_end(e);
}

void conv_windows_to_l0a(const struct writer *w) {
  const struct conv *conv = w->mm->conv;
  if (!select_has(w->e->soc, OP_IMG2COLV2_CBUF_TO_CA)) {
    windows_by_row(w);
    return;
  }
  const struct group *g = &w->now;
  struct expr channels = x_mul(x_ceil_div(w->da, conv->window), conv->block);
  EMIT(w->e, "img2colv2_cbuf_to_ca",
       LOAD3D_PART(w->a_dst, w->a_src, x_round_up(w->kk, w->mm->c0), padded(g->cm)),
       F("k_start", w->a_at), F("m_start", x_sub(g->m, x_mul(g->oy, conv->wo))),
       LOAD3D_WINDOWS(conv, g, channels), LOAD3D_TYPE(w->mm));
}

/*
 * A step of k is blocks of c0 values of k at a point of the window, points in reverse order; each
 * block comes with one load that transposes. Of 32 bits load3d brings 16 values of k, twice as many
 * as a block has; the next block takes the place of the second half.
 */
void conv_turned_to_l0b(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t c0 = w->mm->c0, points = w->mm->conv->kh * w->mm->conv->kw;
  struct expr nf = fractals(w->now.cn);
  struct expr piece = emit_for(e, "piece", x_ceil_div(w->kk, c0));
  struct expr block = emit_assigned(e, "block", x_add(x_div(w->b_at, c0), piece));
  struct expr deep = emit_assigned(e, "deep", panel_rows(w, w->db));
  struct expr dst = x_add(w->b_dst, x_mul(x_mul(piece, nf), FRACTAL_BYTES));
  struct expr point = x_sub(points - 1, x_mod(block, points)), k = x_div(block, points);
  if (w->mm->element_bytes == sizeof(uint16_t)) {
    struct expr fractals = x_div(deep, FRACTAL_ROWS);
    EMIT(e, "load_cbuf_to_cb", F("dst", dst), F("src", w->b_src),
         F("base", x_add(x_mul(point, fractals), k)), F("repeat", nf),
         F("src_stride", x_mul(fractals, points)), F("transpose", 1));
  } else {
    emit_if(e, "again", x_gt(piece, 0));
    emit_barrier(e, PIPE_MTE1);
    emit_end(e);
    EMIT(e, "img2colv2_cbuf_to_cb", LOAD3D_PART(dst, w->b_src, padded(w->now.cn), FRACTAL_ROWS),
         F("m_start", x_add(x_mul(point, deep), x_mul(k, c0))),
         LOAD3D_MATRIX(x_mul(deep, points), x_round_up(w->now.cn, c0)), LOAD3D_TYPE(w->mm));
  }
  emit_end(e);
}
