/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps behind a product on coupled cores (matmul_tail.h). The copy out of L0C rounds sums to fp16
 * where the steps compute in fp16; where they compute in fp32, sums stay as they are.
 *
 * Flags between MTE2 and V: 0, the operands of a block are there, and have been used; 2, of the
 * start, as in matmul_coupled.c.
 */
#include "lower/cube/matmul_tail.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "lower/cube/matmul_writer.h"
#include "lower/vector/elementwise/chain.h"
#include "lower/vector/tiles.h"

enum {
  TILE_ELEMENTS = FRACTAL_ROWS * FRACTAL_ROWS,
  REGISTER_BYTES = 64 * 1024, /* of all registers, as far as parts are not shorter or longer */
  PART_LEAST = 8,             /* fractals */
  PART_MOST = 32,
  USED_FLAG = 0,
  START_FLAG = 2,
  ALIGNMENT = 512, /* of buffers */
  /* Of a number: as it is loaded, converted, as the blocks that all lanes read. */
  NUMBER_CONVERTED = 256,
  NUMBER_BLOCKS = 512,
  NUMBER_BYTES = 1024,
  NUMBER_ELEMENTS = 16,
};

/* ---- what the steps are ---------------------------------------------------------------------- */

static bool is_float(enum dtype type) { return type == DTYPE_FP16 || type == DTYPE_FP32; }

static enum dtype float_named(const char *word, size_t length) {
  static const enum dtype types[] = {DTYPE_FP16, DTYPE_FP32};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(dtype_name(types[i])) == length && strncmp(dtype_name(types[i]), word, length) == 0)
      return types[i];
  return DTYPE_COUNT;
}

static enum vinci_status no_operand(struct lower_job *job, const char *text, size_t length) {
  return lower_error(job, "operand '%.*s' of the steps is not a type, fp16 or fp32, or one:fp16",
                     (int)length, text);
}

/* "fp16,one:fp32" */
static enum vinci_status read_operands(struct lower_job *job, const char *text,
                                       struct matmul_tail *tail, struct chain *chain) {
  const struct matmul *mm = job->data;
  static const char *const names[TAIL_INPUTS] = {"x1", "x2", "x3"};
  while (*text) {
    size_t length = strcspn(text, ",");
    bool number = strncmp(text, "one:", 4) == 0;
    const char *word = number ? text + 4 : text;
    enum dtype type = float_named(word, length - (size_t)(word - text));
    if (type == DTYPE_COUNT)
      return no_operand(job, text, length);
    if (tail->inputs == TAIL_INPUTS)
      return lower_error(job, "steps take at most %d tensors beside the product", TAIL_INPUTS);
    struct matmul_tail_input *in = &tail->in[tail->inputs];
    in->number = number;
    in->tensor = mm->r;
    if (number)
      in->tensor = (struct matmul_tensor){.rank = 1, .shape = {1}};
    in->tensor.name = names[tail->inputs++];
    in->tensor.type = type;
    chain->type[tail->inputs] = type;
    chain->reusable[tail->inputs] = !number;
    text += length + (text[length] == ',');
  }
  return VINCI_OK;
}

static enum vinci_status check_product(struct lower_job *job) {
  const struct matmul *mm = job->data;
  if (!mm->coupled)
    return lower_error(job, "steps are for cores that are cube and vector core in one, not for %s",
                       job->soc->name);
  if (mm->type != DTYPE_FP16 || !is_float(mm->out_type))
    return lower_error(job, "steps are for products of fp16, as fp16 or fp32");
  return VINCI_OK;
}

static enum vinci_status check_rows(struct lower_job *job, const struct matmul_tail *tail) {
  const struct matmul *mm = job->data;
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number && !mm->nz_c &&
        mm->n * vtile_bytes(tail->in[k].tensor.type) % BLOCK_BYTES != 0)
      return lower_error(job,
                         "rows of a result with operands in its shape are whole blocks of %d "
                         "bytes on %s",
                         BLOCK_BYTES, job->soc->name);
  return VINCI_OK;
}

static enum vinci_status set(struct lower_job *job, const char *text, const char *operands,
                             struct matmul_tail *tail, struct chain *chain) {
  struct matmul *mm = job->data;
  chain->type[0] = mm->out_type;
  chain->reusable[0] = true;
  enum vinci_status status = check_product(job);
  if (status == VINCI_OK)
    status = chain_read(job, text, &chain->text);
  if (status == VINCI_OK)
    status = read_operands(job, operands, tail, chain);
  if (status == VINCI_OK)
    status = check_rows(job, tail);
  if (status != VINCI_OK)
    return status;
  if (chain->text.outputs > 1)
    return lower_error(job, "steps behind a product have one result, and not %u",
                       chain->text.outputs);
  if (chain->text.inputs != tail->inputs + 1)
    return lower_error(job, "the steps name %u tensors beside the product, operands=%s has %u",
                       chain->text.inputs - 1, operands, tail->inputs);
  status = chain_on_registers(job, chain, &tail->steps, &tail->count);
  tail->type = chain->computed;
  tail->held = chain->value[chain->output[0]].held;
  enum dtype result = chain->type[chain->text.output[0]];
  if (status == VINCI_OK &&
      (!is_float(result) || !is_float(tail->type) || tail->held != tail->type))
    return lower_error(job, "steps behind a product compute in fp16 or fp32, and so is the result");
  mm->out_type = mm->c.type = result;
  mm->out_bytes = vtile_bytes(result);
  mm->tail = tail;
  return status;
}

static enum vinci_status make(struct lower_job *job, const char *steps, const char *operands,
                              const char *first) {
  struct matmul_tail *tail = ARENA_NEW(job->arena, struct matmul_tail);
  struct chain *chain = ARENA_NEW(job->arena, struct chain);
  if (!tail || !chain)
    return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  *tail = (struct matmul_tail){.inputs = 0};
  memset(chain, 0, sizeof *chain);
  enum vinci_status status = set(job, steps, operands, tail, chain);
  tail->in[0].tensor.name = first;
  return status;
}

enum vinci_status matmul_tail_set(struct lower_job *job, const char *steps, const char *operands) {
  return make(job, steps, operands, "x1");
}

enum vinci_status matmul_tail_residual(struct lower_job *job) {
  struct matmul *mm = job->data;
  bool relu = mm->relu;
  mm->residual = mm->relu = false;
  return make(job, relu ? "add:x1,relu" : "add:x1", dtype_name(mm->type), "residual");
}

/* ---- UB, and cycles -------------------------------------------------------------------------- */

/* Registers behind the buffers: those that steps write, the product's, converted operands. */
static uint32_t scratch_of(const struct matmul *mm) {
  const struct matmul_tail *tail = mm->tail;
  uint32_t regs = V(X0);
  for (unsigned i = 0; i < tail->count; i++)
    regs |= V(tail->steps[i].dst);
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number)
      regs = tail->in[k].tensor.type != tail->type ? regs | V(X1 + k) : regs & ~V(X1 + k);
  return mm->out_type == tail->held ? regs & ~V(Y0) : regs;
}

/* Fractals that the vector unit takes at a time: many, as each instruction is an issue. */
static uint64_t part_tiles(const struct matmul *mm) {
  uint64_t registers = (uint64_t)__builtin_popcount(scratch_of(mm));
  uint64_t room = REGISTER_BYTES / (registers * TILE_ELEMENTS * vtile_bytes(mm->tail->type));
  return min_u64(max_u64(PART_LEAST, room), PART_MOST);
}

static uint64_t part_elements(const struct matmul *mm) { return part_tiles(mm) * TILE_ELEMENTS; }

static uint64_t scratch_bytes(const struct matmul *mm) {
  return (uint64_t)__builtin_popcount(scratch_of(mm)) * part_elements(mm) *
         vtile_bytes(mm->tail->type);
}

static bool has_blocks(const struct matmul_tail *tail) {
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number)
      return true;
  return false;
}

static unsigned numbers_of(const struct matmul_tail *tail) {
  unsigned count = 0;
  for (unsigned k = 0; k < tail->inputs; k++)
    count += tail->in[k].number;
  return count;
}

uint64_t matmul_tail_read_bytes(const struct matmul *mm) {
  uint64_t bytes = 0;
  for (unsigned k = 0; mm->tail && k < mm->tail->inputs; k++)
    bytes += mm->tail->in[k].number ? 0 : vtile_bytes(mm->tail->in[k].tensor.type);
  return bytes;
}

uint64_t matmul_tail_ub_bytes(const struct matmul *mm, uint64_t elements) {
  if (!mm->tail)
    return 0;
  return elements * matmul_tail_read_bytes(mm) + scratch_bytes(mm) +
         (uint64_t)numbers_of(mm->tail) * NUMBER_BYTES + (TAIL_INPUTS + 2) * ALIGNMENT;
}

uint64_t matmul_tail_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                            uint64_t elements) {
  enum { REPEAT_CYCLES = 2, START_CYCLES = 24 };
  if (!mm->tail)
    return 0;
  uint64_t repeats = elements * vtile_bytes(mm->tail->type) / (uint64_t)soc->vector_bytes;
  uint64_t parts = ceil_div(elements, part_elements(mm));
  return (mm->tail->count + mm->tail->inputs) * (repeats * REPEAT_CYCLES + parts * START_CYCLES);
}

/* ---- the head of the kernel ------------------------------------------------------------------ */

static const char *block_name(unsigned k) {
  static const char *const names[TAIL_INPUTS] = {"block1", "block2", "block3"};
  return names[k];
}

static uint64_t block_elements(const struct writer *w) {
  return round_up(w->t.bm, FRACTAL_ROWS) * round_up(w->t.bn, FRACTAL_ROWS);
}

void matmul_tail_tensors(const struct writer *w) {
  for (unsigned k = 0; k < w->mm->tail->inputs; k++)
    matmul_put_tensor(w->e, &w->mm->tail->in[k].tensor, TENSOR_IN);
}

void matmul_tail_buffers(const struct writer *w) {
  const struct matmul_tail *tail = w->mm->tail;
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number)
      emit_buffer(w->e, block_name(k), SPACE_UB,
                  block_elements(w) * vtile_bytes(tail->in[k].tensor.type));
  if (numbers_of(tail) > 0)
    emit_buffer(w->e, "numbers", SPACE_UB, (uint64_t)numbers_of(tail) * NUMBER_BYTES);
  emit_buffer(w->e, "registers", SPACE_UB, scratch_bytes(w->mm));
}

static void zeros(const struct writer *w, const char *buffer, uint64_t bytes) {
  vmask_count(w->e, bytes / sizeof(float));
  vfill(w->e, x_name(w->e, buffer), 0, "fp32");
}

/* Where the number of an operand lies among those. */
static struct expr number_at(const struct writer *w, unsigned k, uint64_t part) {
  unsigned before = 0;
  for (unsigned i = 0; i < k; i++)
    before += w->mm->tail->in[i].number;
  return x_add(x_name(w->e, "numbers"), (uint64_t)before * NUMBER_BYTES + part);
}

/* A number in the type of registers, in all lanes of a block. */
static void spread(const struct writer *w, unsigned k) {
  const struct matmul_tail *tail = w->mm->tail;
  struct vunit unit = {.emit = w->e, .type = tail->type, .written = V_ALL};
  enum dtype from = tail->in[k].tensor.type;
  struct expr at = number_at(w, k, 0);
  if (from != tail->type) {
    struct expr to = number_at(w, k, NUMBER_CONVERTED);
    vunit_count(&unit, NUMBER_ELEMENTS);
    vunit_convert(&unit, V(X0), V(X0), from, tail->type, to, at);
    at = to;
  }
  vunit_count(&unit, VBRCB_ELEMENTS);
  VROW(&unit, V(X0), V(X0), "vbrcb", F("dst", number_at(w, k, NUMBER_BLOCKS)), F("src", at),
       F("repeat", 1), W("type", vtile_bytes(tail->type) == sizeof(float) ? "uint32" : "uint16"));
  vunit_rest(&unit);
}

void matmul_tail_start(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tail *tail = w->mm->tail;
  unsigned numbers = numbers_of(tail);
  if (tail->inputs == 0)
    return;
  emit_comment(e, "What the steps take beside the product.");
  emit_plain(e, "set_mask_count");
  if (numbers > 0)
    zeros(w, "numbers", (uint64_t)numbers * NUMBER_BYTES);
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number)
      zeros(w, block_name(k), block_elements(w) * vtile_bytes(tail->in[k].tensor.type));
  emit_handshake(e, PIPE_V, PIPE_MTE2, START_FLAG);
  for (unsigned k = 0; k < tail->inputs && numbers > 0; k++)
    if (tail->in[k].number)
      EMIT(e, vtile_copy_name(false, tail->in[k].tensor.type), F("dst", number_at(w, k, 0)),
           F("src", x_name(e, tail->in[k].tensor.name)),
           F("len_burst", vtile_bytes(tail->in[k].tensor.type)));
  if (numbers > 0)
    emit_handshake(e, PIPE_MTE2, PIPE_V, START_FLAG);
  for (unsigned k = 0; k < tail->inputs && numbers > 0; k++)
    if (tail->in[k].number)
      spread(w, k);
  emit_plain(e, "set_mask_norm");
}

void matmul_tail_flags(const struct writer *w, bool set) {
  if (has_blocks(w->mm->tail))
    emit_flag_of(w->e, set, PIPE_V, PIPE_MTE2, EXPR(USED_FLAG));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Of a result in columns of blocks: whole columns, or one after the other where rows are many. */
static void load_columns(const struct writer *w, const struct matmul_tensor *tensor,
                         struct expr dst) {
  const struct matmul *mm = w->mm;
  uint64_t bytes = vtile_bytes(tensor->type), point = FRACTAL_ROWS * bytes / BLOCK_BYTES;
  struct expr high = padded(w->now.cm), cm = mm->conv ? w->now.cm : high;
  uint64_t rows = matmul_out_rows(mm);
  struct expr src = matmul_place_in(w, x_name(w->e, tensor->name), w->now.n, bytes);
  struct expr columns = fractals(w->now.cn);
  bool at_once = rows * point <= UINT16_MAX;
  struct expr column = at_once ? EXPR(0) : emit_for(w->e, "operand_column", columns);
  EMIT(w->e, "copy_gm_to_ubuf", F("dst", x_at(dst, x_mul(column, high), point * BLOCK_BYTES)),
       F("src", x_at(src, column, rows * point * BLOCK_BYTES)),
       F("n_burst", at_once ? columns : EXPR(1)), F("len_burst", x_mul(cm, point)),
       F_IF(at_once, "src_gap", x_mul(x_sub(rows, cm), point)),
       F_IF(at_once && mm->conv, "dst_gap", x_mul(x_sub(high, cm), point)));
  if (!at_once)
    emit_end(w->e);
}

/* Of a result in rows: what each row has of 16 columns. */
static void load_rows(const struct writer *w, const struct matmul_tensor *tensor, struct expr dst) {
  struct emit *e = w->e;
  uint64_t bytes = vtile_bytes(tensor->type), point = FRACTAL_ROWS * bytes / BLOCK_BYTES;
  struct expr column = emit_for(e, "operand_column", fractals(w->now.cn));
  struct expr first = x_mul(column, FRACTAL_ROWS);
  struct expr columns = x_min(FRACTAL_ROWS, x_sub(w->now.cn, first));
  struct expr blocks = emit_assigned(e, "blocks_in", x_div(x_mul(columns, bytes), BLOCK_BYTES));
  EMIT(e, "copy_gm_to_ubuf",
       F("dst", x_at(dst, x_mul(column, padded(w->now.cm)), point * BLOCK_BYTES)),
       F("src", matmul_place_in(w, x_name(e, tensor->name), x_add(w->now.n, first), bytes)),
       F("n_burst", w->now.cm), F("len_burst", blocks),
       F("src_gap", x_sub(w->mm->n * bytes / BLOCK_BYTES, blocks)),
       F("dst_gap", x_sub(point, blocks)));
  emit_end(e);
}

void matmul_tail_load(const struct writer *w) {
  const struct matmul_tail *tail = w->mm->tail;
  if (!has_blocks(tail))
    return;
  emit_if(w->e, "operands", x_eq(x_add(w->ku, w->du), w->now.depth));
  emit_wait(w->e, PIPE_V, PIPE_MTE2, USED_FLAG);
  for (unsigned k = 0; k < tail->inputs; k++)
    if (!tail->in[k].number)
      (w->mm->nz_c ? load_columns : load_rows)(w, &tail->in[k].tensor, x_name(w->e, block_name(k)));
  emit_set(w->e, PIPE_MTE2, PIPE_V, USED_FLAG);
  emit_end(w->e);
}

/* Where the registers of a part lie; `from` elements are in front of the part. */
static void place(const struct writer *w, struct vunit *unit, struct expr from, struct expr out) {
  const struct matmul_tail *tail = w->mm->tail;
  uint32_t scratch = scratch_of(w->mm);
  uint64_t used = 0;
  for (unsigned r = 0; r < VREGS; r++) {
    if (!(scratch & V(r)))
      continue;
    unit->reg[r] = x_add(x_name(w->e, "registers"), used);
    used += part_elements(w->mm) * vtile_bytes(tail->type);
  }
  if (!(scratch & V(Y0)))
    unit->reg[Y0] = x_at(out, from, w->mm->out_bytes);
  for (unsigned k = 0; k < tail->inputs; k++) {
    const struct matmul_tail_input *in = &tail->in[k];
    if (in->number) {
      unit->reg[X1 + k] = number_at(w, k, NUMBER_BLOCKS);
      unit->scalars |= V(X1 + k);
    } else if (in->tensor.type == tail->type) {
      unit->reg[X1 + k] = x_at(x_name(w->e, block_name(k)), from, vtile_bytes(in->tensor.type));
    }
  }
}

static void convert_operands(const struct writer *w, struct vunit *unit, struct expr from) {
  const struct matmul_tail *tail = w->mm->tail;
  for (unsigned k = 0; k < tail->inputs; k++) {
    const struct matmul_tail_input *in = &tail->in[k];
    enum dtype type = in->tensor.type;
    if (!in->number && type != tail->type)
      vunit_convert(unit, 0, V(X1 + k), type, tail->type, unit->reg[X1 + k],
                    x_at(x_name(w->e, block_name(k)), from, vtile_bytes(type)));
  }
}

void matmul_tail_put(const struct writer *w, struct expr out, struct expr sums) {
  struct emit *e = w->e;
  const struct matmul_tail *tail = w->mm->tail;
  struct expr tiles = x_mul(fractals(w->now.cm), fractals(w->now.cn));
  if (has_blocks(tail))
    emit_wait(e, PIPE_MTE2, PIPE_V, USED_FLAG);
  emit_plain(e, "set_mask_count");
  uint64_t most = part_tiles(w->mm);
  struct expr part = emit_for(e, "part", x_ceil_div(tiles, most));
  struct expr from = x_mul(part, most * TILE_ELEMENTS);
  struct expr taken = emit_assigned(e, "taken", x_rest(most, tiles, x_mul(part, most)));
  struct expr count = x_mul(taken, TILE_ELEMENTS);
  struct vunit unit = {.emit = e, .type = tail->type, .written = V_ALL};
  place(w, &unit, from, out);
  VROW(&unit, 0, V(X0), "copy_matrix_cc_to_ubuf", F("dst", unit.reg[X0]),
       F("src", x_at(sums, from, ACCUMULATOR_BYTES)), F("len_burst", taken),
       W_IF(tail->type == DTYPE_FP16, "convert", "f322f16"), F_IF(w->mm->relu, "relu", 1),
       W("type", "fp32"));
  vunit_count_of(&unit, count);
  convert_operands(w, &unit, from);
  for (unsigned i = 0; i < tail->count; i++) {
    vunit_count(&unit, x_mul(count, max_u64(tail->steps[i].per, 1)));
    vunit_step(&unit, &tail->steps[i]);
  }
  vunit_count_of(&unit, count);
  if (w->mm->out_type != tail->held)
    vunit_convert(&unit, V(Y0), 0, tail->held, w->mm->out_type, x_at(out, from, w->mm->out_bytes),
                  unit.reg[Y0]);
  vunit_rest(&unit);
  emit_end(e);
  emit_plain(e, "set_mask_norm");
  if (has_blocks(tail))
    emit_set(e, PIPE_V, PIPE_MTE2, USED_FLAG);
}
