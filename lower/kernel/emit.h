/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace, row by row, as text, indented by its loops, or into a record (emit_record.h).
 * The first failure (memory, a buffer that does not fit) is kept and later calls do nothing, so
 * that operators need not check after each row.
 */
#ifndef VINCI_LOWER_KERNEL_EMIT_H
#define VINCI_LOWER_KERNEL_EMIT_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"
#include "lower/kernel/expr.h"

enum { EMIT_TENSORS_MAX = 64 };

struct emit;
struct field;
struct record;
/* Of a chip without instructions that operators take for granted (select.h). */
struct emit_selection {
  /* Writes other rows in place of this row; false: the row may stay as it is. */
  bool (*rows)(struct emit *emit, const char *inst, const struct field *fields, size_t count);
  /* At the end of a kernel: what those rows ask its head for. */
  void (*finish)(struct emit *emit);
};

/* Another name for a tensor of an operator that is a part of another. `as`: EMIT_HIDDEN, or true: a
 * workspace there; EMIT_FLAT: a tensor as it is. Both are one row of elements, the latter where the
 * format is ND, as parts see the tensor in several shapes.
 */
enum { EMIT_HIDDEN = 1, EMIT_FLAT = 2 };
struct emit_name {
  const char *from, *to;
  unsigned as;
};

struct emit {
  const struct vinci_soc *soc;
  struct arena *arena; /* of expressions */
  struct vinci_diag *diag;
  char *text; /* on the heap, zero-terminated */
  size_t length;
  size_t capacity;
  unsigned depth;
  bool started;                  /* the trace row is written */
  const struct emit_name *names; /* up to one without `from`; NULL: names are as they are given */
  uint64_t used[SPACE_COUNT];    /* bytes allotted by emit_buffer in this kernel */
  enum vinci_status status;
  const struct emit_selection *selection; /* NULL: all rows stay */
  /* Of this kernel: what replaced rows ask for; its number and blocks; where its tensor rows end,
   * its first stream and the work of that begin. */
  bool seam, tails, cuts, packs;
  bool shared; /* kernels share tensors, so that all give them the same tail */
  uint32_t kernels, blocks;
  size_t stream_at, body_at, tensor_ends[EMIT_TENSORS_MAX];
  unsigned tensor_count;
  struct record *record; /* takes the rows; NULL: they are written as text */
};

void emit_start(struct emit *emit, const struct vinci_soc *soc, struct arena *arena,
                struct vinci_diag *diag);
void emit_free(struct emit *emit);
/* Behind the last row. */
void emit_finish(struct emit *emit);
/* Puts text before what stands at a place. */
void emit_insert(struct emit *emit, size_t at, const char *text);
/* What a tensor is called; NULL: as it is given. */
const struct emit_name *emit_name_of(const struct emit *emit, const char *name);
/* Keeps "out of memory" as the failure. */
void emit_no_memory(struct emit *emit);

/* A line of comment. Long ones are wrapped by the caller. */
void emit_comment(struct emit *emit, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ---- rows of a stream ---- */

/* A field of a row: an expression, or a word. Fields without a name are left out. */
struct field {
  const char *name;
  struct expr value;
  const char *word; /* NULL: the value */
};
/* clang-format off */
#define F(name_, value_) {.name = (name_), .value = EXPR(value_)}
#define W(name_, word_) {.name = (name_), .word = (word_)}
/* A field that is there under a condition. */
#define F_IF(condition_, name_, value_) {.name = (condition_) ? (name_) : NULL, .value = EXPR(value_)}
#define W_IF(condition_, name_, word_) {.name = (condition_) ? (name_) : NULL, .word = (word_)}
/* clang-format on */
/* EMIT(e, "vadds", F("dst", a), F("src", b), F("scalar", 1), F("repeat", 1), W("type", "fp32")) */
#define EMIT(emit_, inst_, ...)                                                                    \
  emit_fields(emit_, inst_, (const struct field[]){__VA_ARGS__},                                   \
              sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field))
void emit_fields(struct emit *emit, const char *inst, const struct field *fields, size_t count);
/* A row without fields. */
void emit_plain(struct emit *emit, const char *inst);

/* Opens a loop, which emit_end() closes, and gives its counter. A condition is a loop of 0 or 1
 * turns, whose counter says what holds. */
#define emit_for(emit_, name_, count_) emit_for_of(emit_, name_, EXPR(count_))
#define emit_if(emit_, name_, condition_) ((void)emit_for_of(emit_, name_, EXPR(condition_)))
struct expr emit_for_of(struct emit *emit, const char *name, struct expr count);
void emit_end(struct emit *emit);
/* Opens the loop over slots that sets flags before the work ("PREFIXfirst") or takes them back
 * behind it ("PREFIXlast"), and gives the slot. */
struct expr emit_slots(struct emit *emit, bool set, const char *prefix, uint64_t slots);
/* Gives an expression a name, so that rows stay short; a number stays a number. */
struct expr emit_named(struct emit *emit, const char *name, struct expr value);
/* The same, but a number gets its row and name too. */
struct expr emit_assigned(struct emit *emit, const char *name, struct expr value);
/* The number of lanes that the last vreducev2 has taken, or an int32 or int64 of UB or of the
 * tensor that the address names, which the scalar unit reads where values are computed, and which
 * is `value` where they are not. */
struct expr emit_read_taken(struct emit *emit, const char *name, struct expr value);
struct expr emit_read_word(struct emit *emit, const char *name, struct expr value,
                           struct expr address, enum dtype type);
/* The same of a number from 0 to end - 1; another one ends the run. */
struct expr emit_read_index(struct emit *emit, const char *name, struct expr value,
                            struct expr address, enum dtype type, uint64_t end);
/* Gives a name another value; ends the run where a name has not a value. */
void emit_change(struct emit *emit, const char *name, struct expr value);
#define emit_expect(emit_, name_, value_) EMIT(emit_, "expect", W("", name_), F("", value_))
#define emit_set(emit_, src_, dst_, id_) emit_flag_of(emit_, true, src_, dst_, EXPR(id_))
#define emit_wait(emit_, src_, dst_, id_) emit_flag_of(emit_, false, src_, dst_, EXPR(id_))
void emit_flag_of(struct emit *emit, bool set, enum pipe src, enum pipe dst, struct expr id);
/* Sets or waits for the flag of each buffer, in a loop of its own. */
void emit_flags(struct emit *emit, const char *counter, bool set, enum pipe src, enum pipe dst,
                uint64_t buffers);
/* All vector cores signal behind MTE3, and wait for each other. */
void emit_meet(struct emit *emit, unsigned id);
/* Opens the loop over this block's share of pieces of work that blocks take in turns ("u"); gives
 * the number of the piece. */
struct expr emit_units(struct emit *emit, uint64_t pieces, const char *name);
/* Sets the flag and waits for it: dst goes on when src has come here. */
#define emit_handshake(emit_, src_, dst_, id_)                                                     \
  do {                                                                                             \
    emit_set(emit_, src_, dst_, id_);                                                              \
    emit_wait(emit_, src_, dst_, id_);                                                             \
  } while (0)

/* Rows kernel (of the chip's architecture), tensor, buffer, stream. */
void emit_kernel(struct emit *emit, const char *name, uint32_t blocks);
/* Mixed kernels: AIV per block. */
void emit_mixed_kernel(struct emit *emit, const char *name, uint32_t blocks, unsigned vectors);
void emit_tensor(struct emit *emit, const char *name, enum dtype dtype, enum tensor_io io,
                 const uint64_t *shape, unsigned rank, const char *format);
/* One extent. */
void emit_vector(struct emit *emit, const char *name, enum dtype dtype, enum tensor_io io,
                 uint64_t elements);
/*
 * The next bytes of a space, at a multiple of its alignment (at least 32, and 512 in L1 and UB,
 * where banks repeat); returns the address. More than the space holds is an error.
 */
uint64_t emit_buffer(struct emit *emit, const char *name, enum space space, uint64_t bytes);
/* A name for bytes at an address the operator has chosen itself. */
void emit_buffer_at(struct emit *emit, const char *name, enum space space, uint64_t address,
                    uint64_t bytes);
void emit_stream(struct emit *emit, enum core_kind kind);

/* The core type that runs vector or cube work on this chip (AICORE where they are one). */
enum core_kind emit_vector_core(const struct vinci_soc *soc);
enum core_kind emit_cube_core(const struct vinci_soc *soc);

/* What a block of a kernel of this kind does before its first copy, from the chip's kernel.*
 * numbers: its core waits for the code, and the scalar unit reads arguments and computes. Then what
 * each instruction of the stream takes the scalar unit. */
void emit_kernel_start(struct emit *emit, enum kernel_code code);
/* Its two halves, for kernels that put instructions between the code and the scalar work. */
void emit_kernel_code(struct emit *emit, enum kernel_code code);
void emit_kernel_head(struct emit *emit, enum kernel_code code);

void emit_barrier(struct emit *emit, enum pipe pipe);

#endif
