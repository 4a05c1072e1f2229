/* SPDX-License-Identifier: Apache-2.0 */
/* The loads of conv2d_backprop_filter (conv2d_filter.c). */
#include "core/base/arith.h"
#include "lower/cube/conv2d_filter.h"

/* From a point on of a block of channels of the group, of which there are c1. */
static struct expr source(const struct filter_writer *f, const char *name, uint64_t c1,
                          struct expr block, uint64_t map, struct expr point) {
  struct expr group = x_add(x_mul(f->w.now.z, f->op->conv.groups), f->group);
  struct expr first = x_mul(x_add(x_mul(group, c1), block), map);
  return x_add(x_name(f->w.e, name), x_mul(x_add(first, point), BLOCK_BYTES));
}

/* Blocks of channels of dy, each at whole fractals. */
static void load_fractals(const struct filter_writer *f, struct expr to, struct expr from,
                          struct expr count, uint64_t map) {
  struct expr channel = group_for(&f->w.now, "channel_dy", count);
  EMIT(f->w.e, "copy_gm_to_cbuf",
       F("dst", x_add(to, x_mul(x_mul(channel, padded(f->points)), BLOCK_BYTES))),
       F("src", x_add(from, x_mul(channel, map * BLOCK_BYTES))), F("len_burst", f->points));
  emit_end(f->w.e);
}

void filter_load(const struct filter_writer *f, struct expr slot) {
  struct emit *e = f->w.e;
  const struct conv *conv = &f->op->conv;
  const struct group *g = &f->w.now;
  uint64_t c0 = f->op->mm.c0, points = conv->ho * conv->wo, map = conv->h * conv->w;
  struct expr a1 = matmul_panel_slot(&f->w, true, slot), block = x_div(g->m, c0);
  struct expr count = x_div(g->cm, c0);
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, slot);
  struct expr dy = source(f, "dy", f->op->k1, block, points, x_mul(g->oy, conv->wo));
  if (f->op->by_row)
    load_fractals(f, a1, dy, count, points);
  else
    conv_copy_lines(g, "channel", a1, dy, count, f->points, 1, points);
  if (f->op->mm.m % FRACTAL_ROWS) { /* half a fractal of channels */
    emit_if(e, "odd", x_div(x_mod(g->cm, FRACTAL_ROWS), c0));
    matmul_zeros(e, x_add(a1, x_mul(x_mul(count, f->points), BLOCK_BYTES)), f->points);
    emit_end(e);
  }
  conv_copy_lines(g, "channel", matmul_panel_slot(&f->w, false, slot),
                  source(f, "x", conv->c1, f->first, map, x_mul(g->up, conv->w)), f->groups,
                  g->height, conv->w, map);
  emit_set(e, PIPE_MTE2, PIPE_MTE1, slot);
}

/*
 * A row of fractals at a time: 16 channels of dy, transposed; 16 points with all windows' columns.
 * Points behind the last one count for nothing.
 */
static void to_l0_by_row(const struct filter_writer *f) {
  const struct writer *w = &f->w;
  const struct conv *conv = &f->op->conv;
  const struct group *g = &w->now;
  struct emit *e = w->e;
  uint64_t c0 = f->op->mm.c0;
  struct expr deep = x_div(padded(w->kk), FRACTAL_ROWS), at = x_mul(w->s, w->t.bk);
  struct expr columns = x_div(f->cn16, FRACTAL_ROWS);
  struct expr mi = emit_for(e, "mi", x_div(f->cm16, FRACTAL_ROWS));
  struct expr dy = x_add(x_mul(mi, padded(f->points)), at);
  EMIT(e, "load_cbuf_to_ca", F("dst", x_at(w->a_dst, x_mul(mi, deep), FRACTAL_BYTES)),
       F("src", x_at(w->a_src, dy, BLOCK_BYTES)), F("repeat", deep), F("src_stride", 1),
       F("transpose", 1));
  emit_end(e);
  struct expr ki = emit_for(e, "ki", deep);
  struct expr point = emit_assigned(e, "point", x_add(at, x_mul(ki, FRACTAL_ROWS)));
  struct expr block =
      emit_assigned(e, "block", x_div(x_sub(g->n, x_mul(f->first, conv->window)), c0));
  struct expr above = x_max(0, x_sub(conv->top, x_mul(g->oy, conv->sh)));
  EMIT(e, "img2col_cbuf_to_cb", F("dst", x_at(w->b_dst, x_mul(ki, columns), FRACTAL_BYTES)),
       F("src", w->b_src), F("repeat", columns), LOAD3D_ONE(conv, g, above, point, block),
       LOAD3D_TYPE(w->mm));
  emit_end(e);
}

static void to_l0_at_once(const struct filter_writer *f) {
  const struct writer *w = &f->w;
  const struct conv *conv = &f->op->conv;
  struct expr deep = padded(w->kk), at = x_mul(w->s, w->t.bk);
  EMIT(w->e, "img2colv2_cbuf_to_ca", LOAD3D_PART(w->a_dst, w->a_src, f->cm16, deep),
       F("m_start", at), LOAD3D_MATRIX(f->points, f->cm16), F("transpose", 1), LOAD3D_TYPE(w->mm));
  EMIT(w->e, "img2colv2_cbuf_to_cb", LOAD3D_PART(w->b_dst, w->b_src, f->cn16, deep),
       F("k_start", x_sub(w->now.n, x_mul(f->first, conv->window))), F("m_start", at),
       LOAD3D_WINDOWS(conv, &w->now, x_mul(f->groups, w->mm->c0)), LOAD3D_TYPE(w->mm));
}

void filter_to_l0(const struct filter_writer *f) {
  (f->op->by_row ? to_l0_by_row : to_l0_at_once)(f);
}
