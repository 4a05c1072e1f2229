/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics become instructions: names are looked up in the instruction table, once each. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "kernels/source/source.h"

/* ---- places in the code ------------------------------------------------------------------- */

/* `place` tells rows apart. */
static uint32_t row_of_place(struct source *source, enum core_kind kind, uint64_t place,
                             uint64_t address, enum isa_op op) {
  struct vinci_trace *trace = source->trace;
  /* A table of its own, made for all rows at once: in a kernel there is no way to tell that memory
   * is short. */
  enum { SLOTS = 2 * SOURCE_ROWS_MAX, WORDS = 2 };
  /* Compilers fold equal ends of functions: one call may issue several instructions. */
  uint64_t key = (place << 2 | (uint64_t)kind) << 16 | (uint64_t)op;
  size_t slot = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SLOTS;
  for (; source->place_of_row[slot * WORDS + 1] != 0; slot = (slot + 1) % SLOTS)
    if (source->place_of_row[slot * WORDS] == key)
      return (uint32_t)source->place_of_row[slot * WORDS + 1] - 1;
  if (trace->row_count == SOURCE_ROWS_MAX)
    return SOURCE_ROWS_MAX;
  uint32_t line = source_line(&source->image[kind], trace->path, address);
  uint32_t row = (uint32_t)trace->row_count++;
  trace->rows[row] = (struct program_row){
      .kind = op < OP_COUNT ? ROW_INST : ROW_ACCESS,
      .arg_count = isa_row(op)->arg_count,
      .op = (uint16_t)op,
      .line = line != 0 ? line : 1, /* a row has a line, also where that is not known */
  };
  source->place_of_row[slot * WORDS] = key;
  source->place_of_row[slot * WORDS + 1] = row + 1;
  return row;
}

uint32_t source_row(struct source *source, enum core_kind kind, uint64_t address, enum isa_op op) {
  return row_of_place(source, kind, address, address, op);
}

uint32_t source_access_row(struct source *source, enum core_kind kind, uint64_t address,
                           enum isa_op op, bool passes) {
  enum { OF_A_LINE = 44, LINE = 1 };
  uint64_t line = source_line(&source->image[kind], source->trace->path, address);
  uint64_t place = line << LINE | UINT64_C(1) << OF_A_LINE | passes;
  return row_of_place(source, kind, line ? place : address, address, op);
}

/* ---- names -------------------------------------------------------------------------------- */

static bool refuse(struct source_core *core, const char *format, const char *name,
                   const char *other) {
  (void)diag_error_at(core->diag, VINCI_E_INPUT,
                      program_position(core->source->trace, core->inst->line), format, name, other);
  return false;
}

static bool is(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* One word of the operands of an intrinsic: NAME, NAME:KIND or NAME=VALUE. */
static bool take_operand(struct source_core *core, struct source_form *form, const char *word,
                         size_t length) {
  const struct isa_row *isa = isa_row(form->op);
  const char *equals = memchr(word, '=', length), *colon = memchr(word, ':', length);
  size_t name = equals ? (size_t)(equals - word) : colon ? (size_t)(colon - word) : length;
  int arg = isa_arg_find(isa, word, name);
  if (arg < 0)
    return refuse(core, "the header gives '%s' operands that the instruction does not have: %s",
                  form->name, form->operands);
  if (equals) {
    size_t size = length - name - 1;
    const struct isa_arg *operand = &isa->arg[arg];
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)size, equals + 1);
    form->arg[arg] = operand->kind == ARG_WORD    ? isa_word_find(operand, text, size)
                     : operand->kind == ARG_DTYPE ? (int64_t)dtype_by_name(text)
                                                  : strtoll(text, NULL, 10);
    return true;
  }
  size_t rest = length - name;
  form->value[form->count].arg = (uint8_t)arg;
  if (rest > 2 && word[name + 1] == 'u')
    form->value[form->count].bits = (uint8_t)strtoul(word + name + 2, NULL, 10);
  form->value[form->count++].kind =
      isa->arg[arg].kind == ARG_ADDRESS && isa->arg[arg].space == SPACE_GM ? VALUE_GM
      : is(word + name, rest, ":pipe")                                     ? VALUE_PIPE
      : is(word + name, rest, ":quant")                                    ? VALUE_QUANT
                                                                           : VALUE_PLAIN;
  return true;
}

/* Looks up an intrinsic by its names; NULL with a diagnostic. */
static const struct source_form *find_form(struct source_core *core,
                                           const struct vinci_cce_inst *inst) {
  struct source *source = core->source;
  for (const struct source_form *form = source->forms; form; form = form->next)
    if (strcmp(form->name, inst->name) == 0 && strcmp(form->operands, inst->operands) == 0)
      return form;
  enum isa_op op = isa_find(inst->name, strlen(inst->name));
  enum arch arch = source->trace->kernels[0].arch;
  if (op == OP_COUNT || !(isa_row(op)->archs & 1u << arch)) {
    (void)refuse(core, "%s has no instruction \"%s\"", arch_name(arch), inst->name);
    return NULL;
  }
  struct arena *arena = &source->arena;
  struct source_form *form = ARENA_NEW(arena, struct source_form);
  char *name = arena_strdup(arena, inst->name), *operands = arena_strdup(arena, inst->operands);
  if (!form || !name || !operands) {
    (void)diag_error(core->diag, VINCI_E_NOMEM, "out of memory for an instruction");
    return NULL;
  }
  *form = (struct source_form){.next = source->forms, .name = name, .operands = operands, .op = op};
  for (unsigned i = 0; i < isa_row(op)->arg_count; i++)
    form->arg[i] = isa_row(op)->arg[i].default_value;
  for (const char *at = operands; *at;) {
    size_t length = strcspn(at, " ");
    if (!take_operand(core, form, at, length))
      return NULL;
    at += length + strspn(at + length, " ");
  }
  source->forms = form;
  return form;
}

/* ---- values ------------------------------------------------------------------------------- */

enum pipe source_issue_pipe(int64_t number) {
  static const uint8_t pipes[] = {PIPE_S,    PIPE_V,    PIPE_M,  PIPE_MTE1,
                                  PIPE_MTE2, PIPE_MTE3, PIPE_ALL};
  enum { FIX = 10 };
  if (number == FIX)
    return PIPE_FIX;
  return number >= 0 && number < (int64_t)sizeof pipes ? (enum pipe)pipes[number] : PIPE_COUNT;
}

/* The numbers of QuantMode_t in the order of the words of the operand `quant`. */
static int64_t quant_of(int64_t number) {
  enum { NONE, F322F16, VREQ8 = 7, REQ8, VDEQF16, DEQF16, F322BF16 = 16, VQF322B8 = 23, QF322B8 };
  static const int8_t modes[] = {NONE,    F322F16,  F322BF16, DEQF16, VDEQF16,
                                 QF322B8, VQF322B8, REQ8,     VREQ8};
  for (unsigned i = 0; i < sizeof modes; i++)
    if (modes[i] == number)
      return i;
  return -1;
}

/*
 * An intrinsic of the header stores each operand, then calls by way of a pointer: what the host
 * executes there stands for one instruction of a chip, whose time is that of its issue.
 */
enum { CALL_INSTRUCTIONS = 5, CYCLES_MAX = 1000000000 /* of one instruction */ };

/* What a vector function does between its instructions is done by the vector unit itself. */
static bool is_in_function(const char *name) {
  return strncmp(name, "reg_", 4) == 0 || strcmp(name, "vf_call") == 0 ||
         strcmp(name, "simt_call") == 0;
}

/* The row of an intrinsic that the code calls. */
static uint32_t row_of_call(struct source_core *core, uint64_t address, enum isa_op op) {
  struct vinci_trace *trace = core->source->trace;
  uint64_t rows = trace->row_count;
  uint32_t row = source_row(core->source, core->place.kind, address, op);
  if (trace->row_count == rows ||
      source_line(&core->source->image[core->place.kind], trace->path, address) != 0)
    return row;
  uint32_t line = source_line_of_callers(core);
  trace->rows[row].line = line != 0 ? line : trace->rows[row].line;
  return row;
}

uint32_t source_issue_row(struct source_core *core, uint64_t address, enum isa_op op) {
  return row_of_call(core, address - core->base, op);
}

bool source_issue_scalar(struct source_core *core, const struct vinci_cce_inst *inst,
                         uint64_t address) {
  const struct source_form *form = inst->found;
  if (!core->counter)
    return false;
  uint64_t count = *core->counter - core->counted;
  if (is_in_function(inst->name)) {
    core->counted += count;
    return false;
  }
  uint64_t call = CALL_INSTRUCTIONS + (form ? form->count : 0);
  uint64_t cycles = (count > call ? count - call : 0) *
                    (uint64_t)core->source->soc->scalar_counted_mcycles / MILLI;
  uint32_t row = cycles > 0 ? row_of_call(core, address - core->base, OP_SCALAR) : SOURCE_ROWS_MAX;
  core->counted += count;
  if (row == SOURCE_ROWS_MAX)
    return false;
  core->inst->op = OP_SCALAR;
  core->inst->row = row;
  core->inst->line = core->source->trace->rows[row].line;
  core->inst->arg[SCALAR_WORK_CYCLES] = (int64_t)min_u64(cycles, CYCLES_MAX);
  return true;
}

/* ---- code that a block fetches ------------------------------------------------------------ */

enum { BYTES_MAX = 1000000000 /* of a row */ };

/*
 * Of vector functions the host executes what writes them down, where the chip has one instruction
 * for each. So what is executed for the first time there counts by its register instructions: of 32
 * bits, as those of the scalar unit (assumed; nothing is published).
 */
enum { TOUCHED = 1, OF_FUNCTION = 1 << 8, OUTSIDE = 1 << 9, FUNCTION_INSTRUCTION_BYTES = 4 };

static void mark_touched(struct source_core *core, uint16_t mark) {
  for (size_t i = 0; i < core->block_count; i++)
    if (core->blocks[i].touched == TOUCHED)
      core->blocks[i].touched |= mark;
}

static uint64_t register_bytes(const struct vinci_trace *trace) {
  uint64_t bytes = 0;
  for (uint64_t row = 0; row < trace->row_count; row++)
    if (trace->rows[row].kind == ROW_INST && isa_is_register((enum isa_op)trace->rows[row].op))
      bytes += FUNCTION_INSTRUCTION_BYTES;
  return bytes;
}

void source_issue_touched(struct source_core *core) {
  struct source *source = core->source;
  enum core_kind kind = core->place.kind;
  uint64_t counted = (uint64_t)source->soc->code_counted_instructions, instructions = 0;
  bool functions = false;
  for (size_t i = 0; i < core->block_count; i++) {
    const struct vinci_cce_block *block = &core->blocks[i];
    bool inside = (block->touched & OF_FUNCTION) != 0;
    functions |= inside;
    instructions += block->touched && !inside ? block->instructions : 0;
  }
  if (source->recorded || counted == 0 || instructions == 0)
    return;
  uint64_t bytes = ceil_div(instructions, counted) * (uint64_t)source->soc->code_line_bytes +
                   (functions ? register_bytes(source->trace) : 0);
  if (bytes <= source->touched_bytes[kind])
    return;
  if (source->touched_bytes[kind] == 0)
    source->fetch_row[kind] = source_row(source, kind, core->entry, OP_CODE_FETCH);
  source->touched_bytes[kind] = bytes;
}

bool source_issue_fetch(const struct source *source, enum core_kind kind, struct inst *inst) {
  uint64_t bytes = source->touched_bytes[kind];
  uint32_t row = source->fetch_row[kind];
  if (bytes == 0 || row == SOURCE_ROWS_MAX)
    return false;
  inst->op = OP_CODE_FETCH; /* the rest is state, such as the mask */
  inst->row = row;
  inst->line = source->trace->rows[row].line;
  inst->arg[CODE_BYTES] = (int64_t)min_u64(bytes, BYTES_MAX);
  inst->arg[CODE_LINE_CYCLES] = source->soc->code_counted_line_cycles;
  return true;
}

/* Notes an operand that its field cuts, when the code is executed for the first time. */
static bool note_cut(struct source_core *core, const struct program_cut *cut) {
  struct source *source = core->source;
  struct program_source *program = &source->program;
  for (uint32_t i = 0; i < program->cut_count; i++)
    if (source->cuts[i].row == cut->row && source->cuts[i].arg == cut->arg) {
      source->cuts[i].count += !source->recorded;
      return true;
    }
  if (program->cut_count == source->cut_capacity) {
    uint32_t capacity = 2 * source->cut_capacity + 16;
    struct program_cut *more = realloc(source->cuts, capacity * sizeof *more);
    if (!more)
      return false;
    source->cuts = more;
    program->cuts = more;
    source->cut_capacity = capacity;
  }
  source->cuts[program->cut_count++] = *cut;
  return true;
}

/* What an operand's field takes of a value. */
static bool take_low_bits(struct source_core *core, unsigned arg, unsigned bits, int64_t *value) {
  int64_t taken = (int64_t)((uint64_t)*value & ((UINT64_C(1) << bits) - 1));
  const struct program_cut cut = {.row = core->inst->row,
                                  .block = core->place.blk,
                                  .arg = (uint8_t)arg,
                                  .bits = (uint8_t)bits,
                                  .core_kind = (uint8_t)core->place.kind,
                                  .sub = (uint8_t)core->place.sub,
                                  .value = *value,
                                  .taken = taken,
                                  .count = 1};
  *value = taken;
  if (taken == cut.value || note_cut(core, &cut))
    return true;
  (void)diag_error(core->diag, VINCI_E_NOMEM, "out of memory for an instruction");
  return false;
}

/* The header's VINCI_CCE_PASSES_L2: what the instruction touches takes no room in L2. Traces say
 * that of tensors, so here the tensor is one that passes L2 from then on. */
static int64_t take_gm(struct source_core *core, int64_t pointer) {
  struct vinci_trace *trace = core->source->trace;
  uint64_t value = (uint64_t)pointer;
  uint64_t address = (value & ~VINCI_CCE_PASSES_L2) - (uint64_t)(uintptr_t)core->gm;
  if (value & VINCI_CCE_PASSES_L2)
    for (uint32_t i = 0; i < trace->tensor_count; i++) {
      struct program_tensor *tensor = &trace->tensors[i];
      tensor->passes_l2 |= address - tensor->address < tensor->bytes + tensor->tail;
      trace->any_passes_l2 |= tensor->passes_l2;
    }
  return (int64_t)address;
}

bool source_issue(struct source_core *core, struct vinci_cce_inst *inst, const int64_t *values,
                  uint64_t address) {
  const struct source_form *form = inst->found;
  struct inst *out = core->inst;
  out->line = 0;
  if (!form) {
    form = find_form(core, inst);
    if (!form) {
      if (core->diag->line == 0)
        core->diag->line = source_line(&core->source->image[core->place.kind],
                                       core->source->trace->path, address - core->base);
      return false;
    }
    inst->found = (void *)(uintptr_t)form;
  }
  out->op = (uint16_t)form->op;
  if (form->op == OP_VF_BEGIN || form->op == OP_VF_CALL)
    mark_touched(core, form->op == OP_VF_BEGIN ? OUTSIDE : OF_FUNCTION);
  core->sync.code = address - core->base;
  out->row = row_of_call(core, address - core->base, form->op);
  if (out->row == SOURCE_ROWS_MAX)
    return refuse(core, "%s issues instructions from more places than %s", core->source->kernel,
                  "65536");
  out->line = core->source->trace->rows[out->row].line;
  if (core->in_threads)
    return refuse(core, "%s stands in a function of threads (%s)", inst->name,
                  "instructions are those of vector functions and of the core");
  memcpy(out->arg, form->arg, isa_row(form->op)->arg_count * sizeof *out->arg);
  for (unsigned i = 0; i < form->count; i++) {
    int64_t value = values[i];
    switch ((enum source_value)form->value[i].kind) {
    case VALUE_PIPE:
      value = source_issue_pipe(value);
      break;
    case VALUE_QUANT:
      value = quant_of(value);
      break;
    case VALUE_GM:
      value = take_gm(core, value);
      break;
    case VALUE_PLAIN:
      if (form->value[i].bits > 0 &&
          !take_low_bits(core, form->value[i].arg, form->value[i].bits, &value))
        return false;
      break;
    }
    out->arg[form->value[i].arg] = value;
  }
  core->instructions++;
  if (form->op == OP_SET_FLAG && !source_tokens_flag(core, out))
    return refuse(
        core, "%s: %s", inst->name,
        "tokens of buffers (get_buf) use this flag between the two pipes; another id is free");
  if (form->op == OP_SET_CTRL)
    core->ctrl = (uint64_t)out->arg[REGISTER_VALUE];
  return true;
}
