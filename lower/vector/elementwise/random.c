/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dropout_mask: random bits for dropout. The counter-based generator Philox-4x32 with ten rounds
 * (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011) makes four words of 32 bits
 * from each counter; a bit is set where the upper 24 bits of a word, as a fraction, are below
 * `keep`.
 *
 * Which generator the vendor's kernels use, and which words make which bits, is not published. This
 * order is chosen: counter i * 256 + j makes the bits j, j + 256, j + 512, j + 768 of the i-th 1024
 * bits, so that the bits do not depend on the tiling. The counter's second and last words are 0,
 * the third is `offset`. The vector unit multiplies no words of 32 bits to 64: halves are
 * multiplied.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum {
  WORD_BYTES = 4,
  LANES = 64,
  ROUNDS = 10,
  WORDS = 4,      /* of a counter */
  COUNTERS = 256, /* of a group: a block of 32 bytes of each word's bits */
  GROUP_BYTES = WORDS * COUNTERS / BITS_PER_BYTE, /* of the mask */
  MASK_UNIT_BYTES = 16,                           /* masks are whole 128 bits, as the vendor's */
  FRACTION_BITS = 24,                             /* exact in single precision */
  GROUPS_MAX = 63,                                /* whose counters are repeats of an instruction */
  HALF = 16
};
/* Registers: the counters; of each of two products: upper half, lower half, and two more. */
enum {
  C0,
  C1,
  C2,
  C3,
  HIGH,
  LOW,
  PRODUCT,
  CARRY,
  SECOND = WORDS,
  REGISTERS = 12,
  TABLE = REGISTERS
};

static const uint32_t factors[] = {0xD2511F53, 0xCD9E8D57}, key_steps[] = {0x9E3779B9, 0xBB67AE85};

static const struct lower_key keys[] = {
    SHAPE_KEY("bits, one for each element; y has whole 128 bits"),
    NUMBER_KEY("keep", "0.5", "probability that a bit is set"),
    LOWER_KEY("seed", SIZE, "0", "0", "first word of the generator's key"),
    LOWER_KEY("seed1", SIZE, "0", "0", "second word of the generator's key"),
    LOWER_KEY("offset", SIZE, "0", "0", "third word of all counters"),
    VTILE_KEYS_TABLE};

struct masks {
  struct vkernel kernel; /* first */
  uint64_t bytes;        /* of y */
  uint64_t reg[REGISTERS + 1], bits, y;
};

struct generator {
  struct vunit unit;
  const struct masks *masks;
  uint64_t repeat;
  unsigned turn; /* rounds so far; each moves the words on by a register */
};

static void lay_out(struct vtile *tile) {
  struct masks *m = (struct masks *)tile;
  uint64_t slot = 0;
  m->y = vtile_reserve(&slot, tile->cols * GROUP_BYTES);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  m->bits = vtile_reserve(&used, tile->cols * COUNTERS / BITS_PER_BYTE);
  for (unsigned i = 0; i <= REGISTERS; i++)
    m->reg[i] = vtile_reserve(&used, tile->cols * COUNTERS * WORD_BYTES);
  tile->ub_bytes = used;
}

/* All cores get groups, as it is computing that takes the time. */
static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  uint64_t all = tile->space.cols,
           most = vtile_most_cols(job, tile, 1, 1, min_u64(all, GROUPS_MAX));
  uint64_t run = ceil_div(all, min_u64(all, job->cores));
  uint64_t turns = ceil_div(run, max_u64(most >> halvings, 1));
  tile->cols = ceil_div(run, turns);
  tile->blocks = ceil_div(ceil_div(all, tile->cols), turns);
  vtile_fit(job, tile);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  return kernel->tile.cols <= GROUPS_MAX ||
         lower_refuse(job, "a tile has at most %d columns of 1024 bits", GROUPS_MAX);
}

/* ---- the generator --------------------------------------------------------------------------- */

/* The register of a word. */
static unsigned word_at(const struct generator *g, unsigned word) {
  return (word + g->turn) % WORDS;
}

static struct expr at(const struct generator *g, unsigned reg) { return EXPR(g->masks->reg[reg]); }

static void by_scalar(struct generator *g, const char *inst, unsigned dst, unsigned src,
                      int64_t scalar) {
  const char *type = inst[1] == 's' ? "uint32" : "int32"; /* vshl, vshr */
  VROW(&g->unit, V(src), V(dst), inst, F("dst", at(g, dst)), F("src", at(g, src)),
       F("scalar", scalar), F("repeat", g->repeat), W("type", type));
}

static void of_two(struct generator *g, const char *inst, unsigned dst, unsigned a, unsigned b,
                   const char *type) {
  VROW(&g->unit, V(a) | V(b), V(dst), inst, F("dst", at(g, dst)), F("src0", at(g, a)),
       F("src1", at(g, b)), F("repeat", g->repeat), W("type", type));
}

static void set_word(struct generator *g, unsigned dst, uint32_t value) {
  VROW(&g->unit, 0, V(dst), "vector_dup", F("dst", at(g, dst)), F("scalar", (int32_t)value),
       F("repeat", g->repeat), W("type", "int32"));
}

/* dst ^= a: what either has, without what both have. */
static void exclusive_or(struct generator *g, unsigned dst, unsigned a, unsigned spare) {
  of_two(g, "vand", spare, dst, a, "uint16");
  of_two(g, "vor", dst, dst, a, "uint16");
  of_two(g, "vsub", dst, dst, spare, "int32");
}

/* Both products of a round, step by step, so that instructions of one need not wait for the other:
 * `HIGH` = upper word, the source = lower word of source * factor. With h, l the halves of the
 * source and m, n those of the factor: t = h * n + (l * n >> 16), u = l * m + (t & 0xffff), and the
 * upper word is h * m + (t >> 16) + (u >> 16). None of these sums overflows. */
static void multiply(struct generator *g) {
  enum { SOURCE, LOWER_FACTOR = 1, UPPER_FACTOR, FACTOR };
  static const struct product_step {
    const char *inst;
    uint8_t dst, a, b;  /* SOURCE: the word */
    int8_t shift, part; /* a shift, or which part of the factor; none: b */
  } steps[] = {
      {"vshr", HIGH, SOURCE, 0, HALF, 0},
      {"vshl", LOW, SOURCE, 0, HALF, 0},
      {"vshr", LOW, LOW, 0, HALF, 0},
      {"vmuls", SOURCE, SOURCE, 0, 0, FACTOR},
      {"vmuls", PRODUCT, LOW, 0, 0, LOWER_FACTOR},
      {"vmuls", CARRY, HIGH, 0, 0, LOWER_FACTOR},
      {"vshr", PRODUCT, PRODUCT, 0, HALF, 0},
      {"vmuls", LOW, LOW, 0, 0, UPPER_FACTOR},
      {"vmuls", HIGH, HIGH, 0, 0, UPPER_FACTOR},
      {"vadd", CARRY, CARRY, PRODUCT, 0, 0},
      {"vshl", PRODUCT, CARRY, 0, HALF, 0},
      {"vshr", CARRY, CARRY, 0, HALF, 0},
      {"vshr", PRODUCT, PRODUCT, 0, HALF, 0},
      {"vadd", HIGH, HIGH, CARRY, 0, 0},
      {"vadd", LOW, LOW, PRODUCT, 0, 0},
      {"vshr", LOW, LOW, 0, HALF, 0},
      {"vadd", HIGH, HIGH, LOW, 0, 0},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    for (unsigned k = 0; k < 2; k++) {
      const struct product_step *s = &steps[i];
      const unsigned source = word_at(g, k ? 2 : 0), shift = k ? SECOND : 0;
      const unsigned dst = s->dst == SOURCE ? source : s->dst + shift;
      const unsigned a = s->a == SOURCE ? source : s->a + shift;
      const uint32_t parts[] = {0, factors[k] & UINT16_MAX, factors[k] >> HALF, factors[k]};
      if (s->shift)
        by_scalar(g, s->inst, dst, a, s->shift);
      else if (s->part)
        by_scalar(g, s->inst, dst, a, (int32_t)parts[s->part]);
      else
        of_two(g, s->inst, dst, a, s->b + shift, "int32");
    }
}

/* Of words 0 to 3 with the products p of word 0 and q of word 2, the next words are: upper q ^ word
 * 1 ^ key, lower q, upper p ^ word 3 ^ second key, lower p. */
static void put_round(struct generator *g, uint32_t key, uint32_t key1) {
  const unsigned first = word_at(g, 1), second = word_at(g, 3);
  multiply(g);
  set_word(g, PRODUCT, key);
  set_word(g, PRODUCT + SECOND, key1);
  exclusive_or(g, first, HIGH + SECOND, LOW);
  exclusive_or(g, second, HIGH, LOW + SECOND);
  exclusive_or(g, first, PRODUCT, LOW);
  exclusive_or(g, second, PRODUCT + SECOND, LOW + SECOND);
  g->turn++;
}

static void put_counters(struct generator *g, const struct vtile *tile) {
  struct expr first = x_mul(tile->col, COUNTERS);
  VROW(&g->unit, 0, V(C0), "vadds", F("dst", at(g, C0)), F("src", EXPR(g->masks->reg[TABLE])),
       F("scalar", first), F("repeat", g->repeat), W("type", "int32"));
  set_word(g, C1, 0);
  set_word(g, C2, (uint32_t)lower_get(g->masks->kernel.job, "offset")->size);
  set_word(g, C3, 0);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Bits of a word to its blocks of all groups. */
static void put_bits(struct generator *g, const struct vtile *tile, unsigned word) {
  const unsigned reg = word_at(g, word);
  const struct masks *m = g->masks;
  const double keep = lower_get(m->kernel.job, "keep")->number;
  const double below = (double)(uint64_t)(keep * (1 << FRACTION_BITS) + 0.5);
  struct emit *e = g->unit.emit;
  vunit_lanes(&g->unit, 2 * LANES);
  by_scalar(g, "vshr", reg, reg, WORD_BYTES * BITS_PER_BYTE - FRACTION_BITS);
  VROW(&g->unit, V(reg), V(reg), "vconv_s322f32", F("dst", at(g, reg)), F("src", at(g, reg)),
       F("repeat", g->repeat));
  emit_barrier(e, PIPE_V); /* the bits before are read */
  EMIT(e, "vcmpvs_lt", F("dst", m->bits), F("src", at(g, reg)),
       F("scalar", vscalar(DTYPE_FP32, below)), F("repeat", g->repeat), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  vunit_count(&g->unit, tile->cols * BLOCK_BYTES / sizeof(uint16_t));
  EMIT(e, "vor", F("dst", x_add(x_add(tile->slot, m->y), word * BLOCK_BYTES)), F("src0", m->bits),
       F("src1", m->bits), F("repeat", 1), F("dst_block", WORDS),
       F("dst_repeat", WORDS * REPEAT_BYTES / BLOCK_BYTES), W("type", "uint16"));
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct masks *m = (struct masks *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct generator g = {.unit = {.emit = e, .written = V_ALL, .read = V_ALL},
                        .masks = m,
                        .repeat = tile->cols * COUNTERS / LANES};
  uint32_t key = (uint32_t)lower_get(kernel->job, "seed")->size;
  uint32_t key1 = (uint32_t)lower_get(kernel->job, "seed1")->size;
  vunit_lanes(&g.unit, 2 * LANES);
  put_counters(&g, tile);
  for (unsigned i = 0; i < ROUNDS; i++, key += key_steps[0], key1 += key_steps[1])
    put_round(&g, key, key1);
  for (unsigned word = 0; word < WORDS; word++)
    put_bits(&g, tile, word);
  vunit_rest(&g.unit);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void store(struct emit *e, struct vkernel *kernel) {
  const struct masks *m = (struct masks *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct expr begin = x_mul(tile->col, GROUP_BYTES);
  vtile_store_run(e, DTYPE_UINT8, x_add(x_name(e, "y"), begin), x_add(tile->slot, m->y),
                  x_rest(tile->cols * GROUP_BYTES, m->bytes, begin));
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  emit_vector(e, "y", DTYPE_UINT8, TENSOR_OUT, ((struct masks *)kernel)->bytes);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct masks *m = (struct masks *)kernel;
  const struct vtable table = vtable_series(m->reg[TABLE], 1);
  emit_comment(e, "0, 1, 2 ...");
  vtables_fill(e, &table, 1, kernel->tile.cols * COUNTERS);
  emit_barrier(e, PIPE_V);
  vkernel_tiles(e, kernel);
}

static enum vinci_status check(struct lower_job *job, uint64_t all) {
  const double keep = lower_get(job, "keep")->number;
  if (keep < 0 || keep > 1)
    return lower_error(job, "keep is from 0 to 1, not %.9g", keep);
  if (!(isa_row(OP_VSHR)->archs & 1u << job->soc->arch))
    return lower_error(job, "%s has no instruction that shifts", job->soc->name);
  if (all / WORDS > INT32_MAX)
    return lower_error(job, "more bits than 2^31 counters make");
  return VINCI_OK;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 3,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .compute = compute,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape");
  const uint64_t all = lower_elements(shape->shape, shape->rank);
  struct masks *m = vkernel_new(job, sizeof *m, &kind);
  if (!m)
    return VINCI_E_NOMEM;
  struct vkernel *kernel = &m->kernel;
  m->bytes = round_up(ceil_div(all, BITS_PER_BYTE), MASK_UNIT_BYTES);
  kernel->tile.space.rows = 1;
  kernel->tile.space.cols = ceil_div(m->bytes, GROUP_BYTES);
  kernel->tile.parts = VTILE_COMPUTES | VTILE_STORES;
  kernel->code = KERNEL_ELEMENTWISE;
  kernel->element_bytes = GROUP_BYTES;
  return check(job, all);
}

/* The result has the bytes of the mask; seeds and probability are values. */
static bool call_mask(struct lower_call *call) {
  const struct lower_tensor *y = &call->output[0];
  if (call->output_count == 0 || y->rank == 0)
    return lower_cannot(call, "the row names no mask, so its size is not known");
  lower_arg(call, "shape=%llu",
            (unsigned long long)lower_elements(y->shape, y->rank) * BITS_PER_BYTE);
  return true;
}

static const struct lower_template template = VKERNEL_TEMPLATE(setup);
LOWER_OPERATOR(dropout_mask,
               "DropOutGenMask|DropOutGenMaskV3|DropOutGenMaskV4|StatelessDropOutGenMask",
               "y = random bits, each set with probability keep, from Philox-4x32-10", keys,
               &template, NULL, call_mask)
