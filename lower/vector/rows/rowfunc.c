/* SPDX-License-Identifier: Apache-2.0 */
/* A vector function of steps on rows: rowfunc.h says what goes where. */
#include "lower/vector/rows/rowfunc.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum {
  LANES = REPEAT_BYTES / (int)sizeof(float),
  /* Widths of a register side by side, at most: their sums do not wait for each other, and rows as
   * short as this stay in registers. */
  SIDES_MAX = 4,
  ALL_MASK = 1,
  TAIL_MASK,
  COLUMNS_MAX = 24,
  COLUMNS_AT = VREGS * SIDES_MAX,
  ACCUMULATORS_AT = COLUMNS_AT + COLUMNS_MAX * SIDES_MAX,
  REDUCTIONS_MAX = 4,
  NARROW_AT = ACCUMULATORS_AT + REDUCTIONS_MAX * SIDES_MAX
};
static const uint32_t all_results = V(Y0) | V(Y1) | V(Y2);

/* ---- steps ----------------------------------------------------------------------------------- */

static bool is_of_column(const struct vstep *step) {
  return step->column || step->form == VFORM_SPREAD;
}

static const char *register_name(char name[24], const char *inst) {
  snprintf(name, 24, "reg_%s", strcmp(inst, "vector_dup") == 0 ? "vbr" : inst);
  return name;
}

static bool knows_step(const struct vstep *step) {
  char name[24];
  switch (step->form) {
  case VFORM_REDUCE:
  case VFORM_SPREAD:
  case VFORM_TILE_COLUMN:
    return true;
  case VFORM_UNARY:
  case VFORM_BINARY:
  case VFORM_SCALAR:
  case VFORM_FILL:
  case VFORM_WITH_COLUMN:
  case VFORM_WITH_ROW:
    register_name(name, step->inst);
    return !step->type && isa_find(name, strlen(name)) != OP_COUNT;
  default:
    return false;
  }
}

bool rowfunc_knows(const struct vinci_soc *soc, const struct vstep *steps) {
  unsigned columns = 0, reductions = 0;
  if (soc->vf_physical == 0)
    return false;
  for (; steps->form != VFORM_END; steps++) {
    columns += steps->column || steps->form == VFORM_REDUCE;
    reductions += steps->form == VFORM_REDUCE;
    if (!knows_step(steps))
      return false;
  }
  return columns <= COLUMNS_MAX && reductions <= REDUCTIONS_MAX;
}

/* Rows of 8 to 64 columns: layer_norm, which has six numbers of a row, takes 9 to 42 % longer as a
 * function, softmax with two and rms_norm with four take 7 to 33 % less. */
bool rowfunc_pays(const struct vstep *steps, uint64_t cols) {
  const unsigned numbers_of_short_rows = 5;
  unsigned numbers = 0;
  for (; steps->form != VFORM_END; steps++)
    numbers += steps->column || steps->form == VFORM_REDUCE;
  return cols > LANES || numbers <= numbers_of_short_rows;
}

/* Registers of tiles that a step reads; rows of weights are among these. */
static uint32_t reads_of(const struct vstep *step) {
  return is_of_column(step) ? 0 : vstep_reads(step);
}

static uint32_t writes_of(const struct vstep *step) {
  return is_of_column(step) || step->form == VFORM_REDUCE ? 0 : V(step->dst);
}

/* Registers of tiles that are read from a step on, before they are written. */
static uint32_t read_from(const struct vstep *step) {
  uint32_t read = 0, written = 0;
  for (; step->form != VFORM_END; step++) {
    read |= reads_of(step) & ~written;
    written |= writes_of(step);
  }
  return read;
}

static uint32_t written_from(const struct vstep *step) {
  uint32_t written = 0;
  for (; step->form != VFORM_END; step++)
    written |= writes_of(step);
  return written;
}

struct pass {
  const struct vstep *first, *end;
  uint32_t written, keeps, results; /* keeps, results: registers that go to UB */
};

/* Registers that stand side by side: of turns of one row, and of rows of which each stays in
 * registers. As many as code can name hold values, sums, and the numbers of rows. */
struct sides {
  unsigned turns, rows;
};

static struct sides sides_of(const struct vinci_soc *soc, const struct vstep *steps,
                             uint64_t cols) {
  uint32_t used = 0;
  unsigned reductions = 0, numbers = 0;
  const unsigned narrow = 1;
  for (; steps->form != VFORM_END; steps++) {
    used |= reads_of(steps) | writes_of(steps);
    reductions += steps->form == VFORM_REDUCE;
    numbers += steps->form == VFORM_SPREAD;
  }
  unsigned each = (unsigned)__builtin_popcount(used) + narrow + (reductions > 0);
  struct sides sides = {SIDES_MAX, 1};
  while (sides.turns > 1 && each * sides.turns + numbers > (unsigned)soc->vf_registers)
    sides.turns /= 2;
  unsigned turns = (unsigned)min_u64(ceil_div(cols, LANES), SIDES_MAX + 1);
  while (2 * sides.rows * turns <= sides.turns &&
         (each * turns + numbers) * 2 * sides.rows <= (unsigned)soc->vf_registers)
    sides.rows *= 2;
  return sides;
}

static bool is_resident(struct sides sides, uint64_t cols) {
  return cols <= (uint64_t)sides.turns * LANES;
}

/* A pass ends where the number of its reduction is asked for. */
static struct pass pass_at(const struct vstep *first, bool resident) {
  struct pass pass = {.first = first, .end = first};
  for (; pass.end->form != VFORM_END && !is_of_column(pass.end); pass.end++)
    pass.written |= writes_of(pass.end);
  pass.keeps = resident ? 0 : pass.written & read_from(pass.end);
  pass.results = pass.written & all_results & ~written_from(pass.end);
  return pass;
}

uint32_t rowfunc_keeps(const struct vinci_soc *soc, const struct vstep *steps, uint64_t cols) {
  bool resident = is_resident(sides_of(soc, steps, cols), cols);
  uint32_t keeps = 0;
  while (steps->form != VFORM_END) {
    struct pass pass = pass_at(steps, resident);
    keeps |= pass.keeps;
    for (steps = pass.end; is_of_column(steps);)
      steps++;
  }
  return keeps;
}

/* ---- rows of the function -------------------------------------------------------------------- */

struct writer {
  const struct rowfunc *function;
  struct emit *emit;
  struct expr line;                                    /* the first row of those side by side */
  int64_t column[SIDES_MAX][VREGS], spread[SIDES_MAX]; /* registers of the numbers of each row */
  uint32_t held; /* tile registers that hold the row, when it stays in these */
  uint32_t kept; /* since the last barrier */
  struct sides sides;
  unsigned columns, loops;
  bool resident;
};

/* Where one turn is: its row, its first column, its place among those side by side, its mask. */
struct turn {
  unsigned row;
  struct expr col;
  unsigned side, lanes;
};

static int64_t at_register(unsigned number) { return (int64_t)number * REPEAT_BYTES; }

static int64_t tile_register(unsigned reg, unsigned side) {
  return at_register(reg * SIDES_MAX + side);
}

/* The words of a mask, a bit for each byte. */
static int64_t mask_word(unsigned lanes, unsigned word) {
  const unsigned word_lanes = LANES / 4, bytes = sizeof(float);
  unsigned begin = word * word_lanes;
  unsigned here = lanes <= begin ? 0 : lanes - begin;
  return here >= word_lanes ? -1 : (int64_t)((UINT64_C(1) << (here * bytes)) - 1);
}

/* All fields of an instruction under a mask. */
#define MASKED(emit_, inst_, lanes_, merge_, ...)                                                  \
  EMIT(emit_, inst_, F_IF((lanes_) < LANES, "m0", mask_word(lanes_, 0)),                           \
       F_IF((lanes_) < LANES, "m1", mask_word(lanes_, 1)),                                         \
       F_IF((lanes_) < LANES, "m2", mask_word(lanes_, 2)),                                         \
       F_IF((lanes_) < LANES, "m3", mask_word(lanes_, 3)),                                         \
       F("pg", (lanes_) < LANES ? TAIL_MASK : ALL_MASK), F_IF(merge_, "merge", 1), __VA_ARGS__)

static struct expr address_of(const struct writer *w, const struct rowfunc_rows *rows,
                              const struct turn *turn) {
  return x_add(x_add(rows->at, x_mul(x_add(w->line, turn->row), rows->row_bytes)),
               x_mul(turn->col, vtile_bytes(rows->type)));
}

/* Narrow numbers come in lanes of 32 bits. */
static void put_load(struct writer *w, unsigned reg, const struct turn *turn) {
  const struct rowfunc_rows *rows = &w->function->value[reg];
  int64_t to = tile_register(reg, turn->side), narrow = at_register(NARROW_AT + turn->side);
  if (rows->type == DTYPE_FP32) {
    EMIT(w->emit, "reg_vlds", F("dst", to), F("src", address_of(w, rows, turn)),
         W("type", "uint32"));
    return;
  }
  EMIT(w->emit, "reg_vlds", F("dst", narrow), F("src", address_of(w, rows, turn)),
       W("dist", "unpk"), W("type", "uint16"));
  MASKED(w->emit, "reg_vcvt", LANES, false, F("dst", to), F("src", narrow), W("to", "fp32"),
         W("type", dtype_name(rows->type)));
}

static void put_store(struct writer *w, const struct rowfunc_rows *rows, unsigned reg,
                      const struct turn *turn) {
  bool narrow = rows->type != DTYPE_FP32;
  int64_t from = tile_register(reg, turn->side), to = at_register(NARROW_AT + turn->side);
  if (narrow)
    MASKED(w->emit, "reg_vcvt", LANES, false, F("dst", to), F("src", from),
           W("to", dtype_name(rows->type)), W("type", "fp32"));
  MASKED(w->emit, "reg_vsts", turn->lanes, false, F("dst", address_of(w, rows, turn)),
         F("src", narrow ? to : from), W_IF(narrow, "dist", "pk"), W("type", "uint32"));
}

static void put_stores(struct writer *w, const struct pass *pass, const struct turn *turn) {
  const struct rowfunc *function = w->function;
  for (uint32_t rest = pass->results; rest != 0; rest &= rest - 1) {
    unsigned reg = (unsigned)__builtin_ctz(rest);
    put_store(w, &function->result[reg - Y0], reg, turn);
  }
  for (uint32_t rest = pass->keeps; rest != 0; rest &= rest - 1) {
    unsigned reg = (unsigned)__builtin_ctz(rest);
    bool is_there = pass->results & V(reg) && function->result[reg - Y0].type == DTYPE_FP32;
    if (!is_there)
      put_store(w, &function->value[reg], reg, turn);
  }
}

static int64_t scalar_of(const struct rowfunc *function, const struct vstep *step) {
  double factor = step->parameter ? function->parameter[step->parameter - 1] : 1.0;
  return vscalar(DTYPE_FP32, step->scalar * factor);
}

/* A step on registers: of one turn, or of columns. */
static void put_step(struct writer *w, const struct vstep *step, int64_t dst, int64_t a,
                     int64_t b) {
  char name[24];
  bool fill = step->form == VFORM_FILL;
  bool two =
      step->form == VFORM_BINARY || step->form == VFORM_WITH_COLUMN || step->form == VFORM_WITH_ROW;
  if (step->form == VFORM_TILE_COLUMN) {
    MASKED(w->emit, "reg_vmov", LANES, false, F("dst", dst), F("src", b), W("type", "fp32"));
    return;
  }
  MASKED(w->emit, register_name(name, step->inst), LANES, false, F("dst", dst),
         F_IF(two, "src0", a), F_IF(two, "src1", b), F_IF(!two && !fill, "src", a),
         F_IF(fill || step->form == VFORM_SCALAR, "scalar", scalar_of(w->function, step)),
         W("type", "fp32"));
}

/* ---- reductions ------------------------------------------------------------------------------ */

static int64_t accumulator(unsigned reduction, unsigned side) {
  return at_register(ACCUMULATORS_AT + reduction * SIDES_MAX + side);
}

static void put_accumulated(struct writer *w, const struct vstep *step, unsigned reduction,
                            const struct turn *turn) {
  char name[24];
  int64_t sum = accumulator(reduction, turn->side);
  MASKED(w->emit, register_name(name, vreduction_inst(step->reduction)), turn->lanes,
         turn->lanes < LANES, F("dst", sum), F("src0", sum),
         F("src1", tile_register(step->a, turn->side)), W("type", "fp32"));
}

static void put_cleared(struct writer *w, const struct pass *pass, unsigned sides) {
  unsigned reduction = 0;
  for (const struct vstep *step = pass->first; step < pass->end; step++) {
    if (step->form != VFORM_REDUCE)
      continue;
    for (unsigned side = 0; side < sides; side++)
      EMIT(w->emit, "reg_vbr", F("dst", accumulator(reduction, side)),
           F("scalar", vscalar(DTYPE_FP32, vreduction_identity(step->reduction))),
           W("type", "fp32"));
    reduction++;
  }
}

static int64_t next_column(struct writer *w) { return at_register(COLUMNS_AT + w->columns++); }

/* The sums of a row, side by side from `first` on, into one number in all lanes of a register. */
static void put_folded(struct writer *w, const struct vstep *step, unsigned reduction, unsigned row,
                       struct sides sums) {
  static const char *const folds[] = {"reg_vcadd", "reg_vcmax", "reg_vcmin"};
  char name[24];
  unsigned first = row * sums.turns;
  int64_t column = w->column[row][step->dst] = next_column(w);
  register_name(name, vreduction_inst(step->reduction));
  for (unsigned apart = 1; apart < sums.turns; apart *= 2)
    for (unsigned side = 0; side + apart < sums.turns; side += 2 * apart)
      MASKED(w->emit, name, LANES, false, F("dst", accumulator(reduction, first + side)),
             F("src0", accumulator(reduction, first + side)),
             F("src1", accumulator(reduction, first + side + apart)), W("type", "fp32"));
  MASKED(w->emit, folds[step->reduction], LANES, false, F("dst", column),
         F("src", accumulator(reduction, first)), W("type", "fp32"));
  MASKED(w->emit, "reg_vdupr", LANES, false, F("dst", column), F("src", column), W("type", "fp32"));
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* One register's width of a pass. Of a row that stays in registers, what is there is not loaded. */
static void put_turn(struct writer *w, const struct pass *pass, const struct turn *turn) {
  uint32_t held = w->held;
  unsigned reduction = 0;
  for (const struct vstep *step = pass->first; step < pass->end; step++) {
    for (uint32_t rest = reads_of(step) & ~held; rest != 0; rest &= rest - 1)
      put_load(w, (unsigned)__builtin_ctz(rest), turn);
    held |= reads_of(step) | writes_of(step);
    if (step->form == VFORM_REDUCE) {
      put_accumulated(w, step, reduction++, turn);
      continue;
    }
    bool column = step->form == VFORM_WITH_COLUMN || step->form == VFORM_TILE_COLUMN;
    put_step(w, step, tile_register(step->dst, turn->side), tile_register(step->a, turn->side),
             column ? w->spread[turn->row] : tile_register(step->b, turn->side));
  }
  put_stores(w, pass, turn);
}

/* All of a row that stays in registers, of which others may stand beside. */
static void put_short_row(struct writer *w, const struct pass *pass, unsigned row, unsigned turns) {
  uint64_t cols = w->function->cols;
  for (unsigned i = 0; i < turns; i++) {
    unsigned lanes = (unsigned)min_u64(cols - (uint64_t)i * LANES, LANES);
    put_turn(w, pass, &(struct turn){row, EXPR(i * LANES), row * turns + i, lanes});
  }
}

static void put_long_row(struct writer *w, const struct pass *pass) {
  unsigned sides = w->sides.turns;
  uint64_t whole = w->function->cols / LANES, groups = whole / sides, left = whole % sides;
  unsigned rest = (unsigned)(w->function->cols % LANES);
  struct expr col = EXPR(0);
  if (groups > 1) {
    char name[16];
    snprintf(name, sizeof name, "group%u", w->loops++);
    col = x_mul(emit_for(w->emit, name, groups), sides * LANES);
  }
  for (unsigned side = 0; side < sides && groups > 0; side++)
    put_turn(w, pass, &(struct turn){0, x_add(col, side * LANES), side, LANES});
  if (groups > 1)
    emit_end(w->emit);
  for (unsigned side = 0; side < left; side++)
    put_turn(w, pass, &(struct turn){0, EXPR((groups * sides + side) * LANES), side, LANES});
  if (rest > 0)
    put_turn(w, pass, &(struct turn){0, EXPR(whole * LANES), (unsigned)left, rest});
}

static void put_pass(struct writer *w, const struct pass *pass) {
  uint64_t turns = ceil_div(w->function->cols, LANES);
  struct sides sums = {(unsigned)min_u64(turns, w->sides.turns), w->sides.rows};
  unsigned reduction = 0;
  if (w->kept & read_from(pass->first)) {
    EMIT(w->emit, "reg_mem_bar", W("waits", "stores"), W("for", "loads"));
    w->kept = 0;
  }
  w->kept |= pass->keeps;
  put_cleared(w, pass, sums.turns * sums.rows);
  if (!w->resident)
    put_long_row(w, pass);
  for (unsigned row = 0; row < sums.rows && w->resident; row++)
    put_short_row(w, pass, row, sums.turns);
  for (const struct vstep *step = pass->first; step < pass->end; step++) {
    if (w->resident)
      w->held |= reads_of(step) | writes_of(step);
    for (unsigned row = 0; row < sums.rows && step->form == VFORM_REDUCE; row++)
      put_folded(w, step, reduction, row, sums);
    reduction += step->form == VFORM_REDUCE;
  }
}

/* Numbers of rows, each in all lanes of a register of its own. */
static void put_column(struct writer *w, const struct vstep *step) {
  for (unsigned row = 0; row < w->sides.rows; row++) {
    int64_t *column = w->column[row], a = column[step->a], b = column[step->b];
    if (step->form == VFORM_SPREAD) {
      w->spread[row] = a;
      continue;
    }
    column[step->dst] = next_column(w);
    put_step(w, step, column[step->dst], a, b);
  }
}

/* The rows that stand side by side, `count` times, from a row on. */
static void put_lines(struct writer *w, const char *name, struct expr count, struct expr first) {
  const struct rowfunc *function = w->function;
  bool many = !x_is(count, 1);
  w->columns = 0;
  w->held = w->kept = 0;
  w->line = first;
  if (x_is(count, 0))
    return;
  if (many)
    w->line = x_add(first, x_mul(emit_for(w->emit, name, count), w->sides.rows));
  for (const struct vstep *step = function->steps; step->form != VFORM_END;) {
    if (is_of_column(step)) {
      put_column(w, step++);
      continue;
    }
    struct pass pass = pass_at(step, w->resident);
    put_pass(w, &pass);
    step = pass.end;
  }
  if (many)
    emit_end(w->emit);
}

void rowfunc_put(const struct rowfunc *function) {
  struct writer w = {.function = function, .emit = function->emit};
  w.sides = sides_of(w.emit->soc, function->steps, function->cols);
  w.resident = is_resident(w.sides, function->cols);
  unsigned together = w.sides.rows;
  struct expr rest = x_mod(function->n_rows, together);
  emit_plain(w.emit, "vf_begin");
  EMIT(w.emit, "reg_pset", F("pd", ALL_MASK));
  if (function->cols % LANES != 0)
    EMIT(w.emit, "reg_plt", F("pd", TAIL_MASK));
  put_lines(&w, "lines", x_div(function->n_rows, together), EXPR(0));
  w.sides.rows = 1;
  if (together > 1)
    put_lines(&w, "line", rest, x_sub(function->n_rows, rest));
  emit_plain(w.emit, "vf_call");
}
