/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writer of matmul traces: the loads of a convolution, whose A is a feature map.
 *
 * A gradient with respect to the map is the convolution of the result's gradient, its points spread
 * by the stride with zeros between them, with the weights turned by half a turn, k and c changed;
 * the way of the vendor's library.
 */
#include "core/base/arith.h"
#include "traces/lower/cube/matmul_writer.h"

struct expr conv_weights_of(const struct conv *conv, struct expr z) {
  return x_mod(z, conv->groups);
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

/* Where an image's blocks of channels begin that belong to k, `line` lines from the top. */
static struct expr map_source(const struct writer *w, const struct group *g, struct expr k,
                              uint64_t points, struct expr line_points) {
  const struct conv *conv = w->mm->conv;
  struct expr image = x_mul(g->z, conv->c1 * points * BLOCK_BYTES);
  struct expr point = x_add(x_mul(x_div(k, conv->window), points), line_points);
  return x_add(x_add(x_name(w->e, w->mm->a.name), image), x_mul(point, BLOCK_BYTES));
}

void conv_copy_lines(struct emit *e, struct expr dst, struct expr src, struct expr channels,
                     struct expr lines, uint64_t line, uint64_t map) {
  EMIT(e, "copy_gm_to_cbuf", F("dst", dst), F("src", src), F("n_burst", channels),
       F("len_burst", x_mul(lines, line)), F("src_gap", x_sub(map, x_mul(lines, line))));
}

/* Rows of a feature map, of the channels that belong to k and N columns of windows. */
static void load_map(const struct writer *w, const struct group *g, struct expr dst, struct expr k,
                     struct expr depth) {
  const struct conv *conv = w->mm->conv;
  uint64_t line = conv->w * conv->point_bytes / BLOCK_BYTES, map = conv->h * line;
  conv_copy_lines(w->e, dst, map_source(w, g, k, map, x_mul(g->up, line)),
                  x_ceil_div(depth, conv->window), g->height, line, map);
}

/* Points that are apart: zeros, and lines between them, each group of channels on its own. */
static void spread_lines(const struct writer *w, const struct group *g, struct expr dst,
                         struct expr src, struct expr channels, struct expr first,
                         struct expr lines) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  uint64_t high = conv->spread_h, wide = conv->spread_w, given = conv->given_w;
  uint64_t points = conv->given_h * given, line_bytes = conv->w * BLOCK_BYTES;
  matmul_zeros(e, dst, EXPR(w->t.a_panel_bytes / BLOCK_BYTES));
  emit_barrier(e, PIPE_MTE2);
  struct expr group = group_for(g, "group", channels);
  struct expr line = x_sub(x_add(x_mul(group, g->height), x_mul(first, high)), g->up);
  struct expr to = x_add(dst, x_mul(line, line_bytes));
  struct expr from = x_add(src, x_mul(group, points * BLOCK_BYTES));
  if (wide == 1) {
    group_for(g, "any", x_gt(lines, 0));
    EMIT(e, "copy_gm_to_cbuf", F("dst", to), F("src", from), F("n_burst", lines),
         F("len_burst", given), F("dst_gap", conv->w * (high - 1)));
  } else {
    line = group_for(g, "line", lines);
    EMIT(e, "copy_gm_to_cbuf", F("dst", x_add(to, x_mul(line, high * line_bytes))),
         F("src", x_add(from, x_mul(line, given * BLOCK_BYTES))), F("n_burst", given),
         F("len_burst", 1), F("dst_gap", wide - 1));
  }
  emit_end(e);
  emit_end(e);
}

/*
 * Rows of the spread map from `up` on, `height` of them: of those only every spread_h-th is in GM,
 * and of its points every spread_w-th.
 */
static void load_spread(const struct writer *w, const struct group *g, struct expr dst,
                        struct expr k, struct expr depth) {
  const struct conv *conv = w->mm->conv;
  uint64_t high = conv->spread_h, points = conv->given_h * conv->given_w;
  group_for(g, "spread", EXPR(1));
  struct expr first = group_let(g, "line0", x_ceil_div(g->up, high));
  struct expr last = x_div(x_sub(x_add(g->up, g->height), 1), high);
  struct expr lines = group_let(g, "given", x_add(x_sub(last, first), 1));
  struct expr src = map_source(w, g, k, points, x_mul(first, conv->given_w));
  struct expr channels = x_ceil_div(depth, conv->window);
  if (high == 1 && conv->spread_w == 1)
    conv_copy_lines(w->e, dst, src, channels, lines, conv->w, points);
  else
    spread_lines(w, g, dst, src, channels, first, lines);
  emit_end(w->e);
}

/* Rows of k (whole fractals) that a panel `depth` deep has. */
static struct expr panel_rows(const struct writer *w, struct expr depth) {
  return x_round_up(x_mul(x_ceil_div(depth, w->mm->conv->window), w->mm->c0), FRACTAL_ROWS);
}

/* Weights lie as [c1, kh * kw, rows of k, c0]; so do panels, with fewer rows. */
static void load_turned(const struct writer *w, const struct group *g, struct expr dst,
                        struct expr k, struct expr depth) {
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  uint64_t c0 = mm->c0, points = conv->kh * conv->kw;
  uint64_t all = round_up(conv->c1 * c0, FRACTAL_ROWS);
  struct expr rows = panel_rows(w, depth);
  struct expr group = x_mul(conv_weights_of(conv, g->z), ceil_div(mm->n, c0) * points * all);
  struct expr block = x_add(group, x_mul(x_div(g->n, c0), points * all));
  struct expr row = x_add(block, x_mul(x_div(k, conv->window), c0));
  EMIT(w->e, "copy_gm_to_cbuf", F("dst", dst),
       F("src", x_add(x_name(w->e, mm->b.name), x_mul(row, BLOCK_BYTES))),
       F("n_burst", x_mul(x_ceil_div(g->cn, c0), points)), F("len_burst", rows),
       F("src_gap", x_sub(all, rows)));
}

void conv_load_panel(const struct writer *w, const struct group *g, bool is_a, struct expr dst,
                     struct expr k, struct expr depth) {
  bool gradient = w->mm->conv->gradient;
  (!gradient ? load_map : is_a ? load_spread : load_turned)(w, g, dst, k, depth);
}

/* ---- L1 to L0 ---- */

void conv_windows_to_l0a(const struct writer *w) {
  const struct conv *conv = w->mm->conv;
  const struct group *g = &w->now;
  struct expr channels = x_mul(x_ceil_div(w->da, conv->window), conv->block);
  EMIT(w->e, "img2colv2_cbuf_to_ca",
       LOAD3D_PART(w->a_dst, w->a_src, x_round_up(w->kk, w->mm->c0),
                   x_round_up(g->cm, FRACTAL_ROWS)),
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
  struct expr nf = x_ceil_div(w->now.cn, FRACTAL_ROWS);
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
    EMIT(e, "img2colv2_cbuf_to_cb",
         LOAD3D_PART(dst, w->b_src, x_round_up(w->now.cn, FRACTAL_ROWS), FRACTAL_ROWS),
         F("m_start", x_add(x_mul(point, deep), x_mul(k, c0))),
         LOAD3D_MATRIX(x_mul(deep, points), x_round_up(w->now.cn, c0)), LOAD3D_TYPE(w->mm));
  }
  emit_end(e);
}
