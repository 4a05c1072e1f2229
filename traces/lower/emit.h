/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace as text, row by row, indented by its loops. The first failure (memory, a
 * buffer that does not fit) is kept and later calls do nothing, so that operators need not
 * check after each row.
 */
#ifndef VINCI_TRACES_LOWER_EMIT_H
#define VINCI_TRACES_LOWER_EMIT_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"

struct emit {
  const struct vinci_soc *soc;
  struct arena *arena; /* for emit_text */
  struct vinci_diag *diag;
  char *text; /* on the heap, zero-terminated */
  size_t length;
  size_t capacity;
  unsigned depth;
  bool started;               /* the trace row is written */
  uint64_t used[SPACE_COUNT]; /* bytes allotted by emit_buffer in this kernel */
  enum vinci_status status;
};

void emit_start(struct emit *emit, const struct vinci_soc *soc, struct arena *arena,
                struct vinci_diag *diag);
void emit_free(struct emit *emit);

/* An expression or name for use in rows, in the arena; never NULL. */
const char *emit_text(struct emit *emit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line of comment. Long ones are wrapped by the caller. */
void emit_comment(struct emit *emit, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * One row: fields separated by commas, as "mad,c=%s,a=%s,m=min(16,%u)". Fields with commas inside
 * parentheses are put in quotes.
 */
void emit_row(struct emit *emit, const char *format, ...) __attribute__((format(printf, 2, 3)));

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

/*
 * What a core of a kernel of this kind does before its first copy, from the chip's kernel.*
 * numbers: a start of its own, and code that all cores fetch from the same addresses, one after the
 * other.
 */
void emit_kernel_start(struct emit *emit, enum kernel_code code, uint64_t blocks);

void emit_loop(struct emit *emit, const char *variable, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void emit_endloop(struct emit *emit);
void emit_let(struct emit *emit, const char *variable, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Flags; the id is an expression. */
void emit_set_flag(struct emit *emit, enum pipe src, enum pipe dst, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void emit_wait_flag(struct emit *emit, enum pipe src, enum pipe dst, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void emit_barrier(struct emit *emit, enum pipe pipe);

#endif
