/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts, by as many conversions as the chip takes. Chips that do not convert int64 go by way of
 * int32: the lower word of each number, or the number and its sign as two words. Numbers beyond
 * int32 keep their lower word. Where no instruction takes every second word, squares of 16 blocks
 * are transposed, in which words are pairs of rows: the pairs are sorted, and transposed back.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/elementwise/elementwise.h"

enum {
  SIDE = 16,        /* blocks of a square */
  PAIR = 2,         /* rows of a square that are a word */
  LONGS = 2 * SIDE, /* blocks of int64 in a turn: even ones and odd ones, a square each */
  CAST_HOPS = VCONVERT_HOPS + 1, /* one between int64 and int32 */
  PAIRS = LONGS / PAIR / 2       /* of lower words in a turn */
};

/* The elements that the registers of a step are whole numbers of: those of a turn of squares. */
static uint64_t elements_of(const struct vinci_soc *soc, const struct vstep *step) {
  bool squares = step->form == VFORM_TO_LONGS ||
                 (step->form == VFORM_LOW_WORDS && !select_has(soc, OP_VREDUCE));
  return squares ? LONGS * BLOCK_BYTES / sizeof(int64_t) : 1;
}

static struct vstep words_step(const struct vinci_soc *soc, enum dtype to, uint8_t dst, uint8_t a) {
  struct vstep step = {.form = to == DTYPE_INT32 ? VFORM_LOW_WORDS : VFORM_TO_LONGS,
                       .dst = dst,
                       .a = a,
                       .b = T0 + CAST_HOPS,
                       .c = T0 + CAST_HOPS + 1};
  bool squares = elements_of(soc, &step) > 1;
  step.inst = squares ? "scatter_vnchwconv_b16" : "vreduce";
  step.per = squares ? 1 : 2;
  return step;
}

/* Blocks of a square: block i of turn r lies at i * step + r * next. */
struct square {
  uint8_t reg;
  unsigned block, step, next;
};

static void transpose(struct vunit *unit, struct expr turns, struct square dst, struct square src) {
  /* The strides of a single repeat would be added to its addresses. */
  struct expr more = x_gt(turns, 1);
  VROW(unit, V(src.reg), V(dst.reg), "scatter_vnchwconv_b16",
       F("dst", x_add(unit->reg[dst.reg], dst.block * BLOCK_BYTES)),
       F("src", x_add(unit->reg[src.reg], src.block * BLOCK_BYTES)), F("repeat", turns),
       F("dst_step", dst.step), F("src_step", src.step), F("dst_repeat", x_mul(more, dst.next)),
       F("src_repeat", x_mul(more, src.next)));
}

/* Pairs of rows; those of one side have a gap of a pair behind each. */
static void sort_pairs(struct vunit *unit, struct expr turns, struct square dst,
                       struct square src) {
  VROW(unit, V(src.reg), V(dst.reg), "copy_ubuf_to_ubuf",
       F("dst", x_add(unit->reg[dst.reg], dst.block * BLOCK_BYTES)),
       F("src", x_add(unit->reg[src.reg], src.block * BLOCK_BYTES)),
       F("n_burst", x_mul(turns, PAIRS)), F("len_burst", PAIR), F("src_gap", src.step),
       F("dst_gap", dst.step));
}

static void take_squares(struct vunit *unit, const struct vstep *step, struct expr turns) {
  for (unsigned odd = 0; odd < 2; odd++)
    transpose(unit, turns, (struct square){step->b, odd * SIDE, 1, LONGS},
              (struct square){step->a, odd, 2, LONGS});
  sort_pairs(unit, turns, (struct square){.reg = step->c},
             (struct square){.reg = step->b, .step = PAIR});
  transpose(unit, turns, (struct square){step->dst, 0, 1, SIDE},
            (struct square){step->c, 0, 1, SIDE});
}

/* The same backwards, with all bits of a word for its sign beside the word. */
static void make_longs(struct vunit *unit, const struct vstep *step, struct expr turns) {
  for (unsigned sign = 0; sign < 2; sign++) {
    if (sign) {
      vunit_step(unit, &(struct vstep)AS(DTYPE_INT32, 1, S_("vmins", step->dst, step->a, 0)));
      vunit_step(unit, &(struct vstep)AS(DTYPE_INT32, 1, S_("vmaxs", step->dst, step->dst, -1)));
    }
    transpose(unit, turns, (struct square){step->b, 0, 1, SIDE},
              (struct square){sign ? step->dst : step->a, 0, 1, SIDE});
    sort_pairs(unit, turns, (struct square){.reg = step->c, .block = sign * PAIR, .step = PAIR},
               (struct square){.reg = step->b});
  }
  for (unsigned odd = 0; odd < 2; odd++)
    transpose(unit, turns, (struct square){step->dst, odd, 2, LONGS},
              (struct square){step->c, odd * SIDE, 1, LONGS});
}

void vwords_put(struct vunit *unit, const struct vstep *step) {
  uint64_t elements = elements_of(unit->emit->soc, step);
  if (elements == 1) {
    struct expr src = unit->reg[step->a];
    VROW(unit, V(step->a), V(step->dst), "vreduce", F("dst", unit->reg[step->dst]), F("src0", src),
         F("src1", src), F("repeat", 1), F("pattern", 1), W("type", "uint32"));
    return;
  }
  struct expr turns = x_ceil_div(unit->count, elements);
  if (step->form == VFORM_LOW_WORDS)
    take_squares(unit, step, turns);
  else
    make_longs(unit, step, turns);
}

/* ---- casts ----------------------------------------------------------------------------------- */

/* The types after each hop; chips that do not convert int64 go by way of int32. 0: there is no way.
 */
static unsigned find_hops(const struct vinci_soc *soc, enum dtype from, enum dtype to,
                          enum dtype hops[CAST_HOPS]) {
  unsigned count = vconversion_chain(soc, from, to, hops);
  bool from_long = from == DTYPE_INT64 && !vconversion(soc, from, DTYPE_INT32);
  bool to_long = to == DTYPE_INT64 && !vconversion(soc, DTYPE_INT32, to);
  if (count > 0 || from_long == to_long)
    return count;
  if (from_long) {
    hops[0] = DTYPE_INT32;
    count = to == DTYPE_INT32 ? 0 : vconversion_chain(soc, DTYPE_INT32, to, hops + 1);
    return to == DTYPE_INT32 || count > 0 ? count + 1 : 0;
  }
  count = from == DTYPE_INT32 ? 0 : vconversion_chain(soc, from, DTYPE_INT32, hops);
  hops[count] = to;
  return from == DTYPE_INT32 || count > 0 ? count + 1 : 0;
}

/* A conversion is a program of one step per hop. */
enum vinci_status vew_set_cast(struct lower_job *job, struct vew *ew) {
  enum dtype hops[CAST_HOPS], from = ew->in[0].type, to = lower_get(job, "to")->dtype;
  unsigned count = from == to ? 0 : find_hops(job->soc, from, to, hops);
  struct vstep *steps = ARENA_ARRAY(job->arena, struct vstep, CAST_HOPS);
  if (!steps)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  if (count == 0)
    return lower_error(job, "there is no conversion from %s to %s on %s", dtype_name(from),
                       dtype_name(to), job->soc->name);
  for (unsigned i = 0; i < count; i++) {
    const struct vconversion *hop = vconversion(job->soc, from, hops[i]);
    /* A detour to an integer must not round up on the way; to odd does as well as towards zero. */
    bool detour = i + 1 < count && from == DTYPE_FP32 && hops[i] == DTYPE_FP16;
    const char *down = select_has(job->soc, OP_VCONV_F322F32) ? "z" : "o";
    uint8_t dst = (uint8_t)(i + 1 == count ? Y0 : T0 + i), a = (uint8_t)(i == 0 ? X0 : T0 + i - 1);
    if (hop)
      steps[i] = (struct vstep)C(hop->inst, detour ? down : hop->round, dst, a);
    else
      steps[i] = words_step(job->soc, hops[i], dst, a);
    ew->whole = max_u64(ew->whole, elements_of(job->soc, &steps[i]));
    from = hops[i];
  }
  ew->steps = steps;
  ew->step_count = count;
  ew->type = vtile_bytes(to) > vtile_bytes(ew->in[0].type) ? to : ew->in[0].type;
  ew->in[0].computed = ew->in[0].type;
  ew->out[0].type = ew->out[0].computed = to;
  return VINCI_OK;
}
