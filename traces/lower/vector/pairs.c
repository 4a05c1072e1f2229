/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of 64-bit integers on a vector unit of 32 bits. */
#include "core/base/arith.h"
#include "traces/lower/vector/elementwise.h"

typedef unsigned long long ull;

enum { WORD_BYTES = 4, BY_HAND = 8, CARRY_SHIFT = 31 };

/* Eight words by hand, then twice as many again and again. */
void vew_put_pair_tables(struct emit *e, const struct vew *ew) {
  ull lower = (ull)ew->temp[T2], other = (ull)ew->temp[T3], words = 2 * ew->tile.cols;
  emit_comment(e, "1 at the lower halves; where the other half of each is.");
  emit_row(e, "set_mask_norm");
  for (ull lane = 0; lane < BY_HAND; lane++) {
    emit_row(e, "set_vector_mask,high=0,low=%llu", 1ull << lane);
    emit_row(e, "vector_dup,dst=%llu,scalar=%d,repeat=1,type=int32", lower, lane % 2 == 0);
    emit_row(e, "vector_dup,dst=%llu,scalar=%llu,repeat=1,type=int32", other,
             (lane ^ 1) * WORD_BYTES);
  }
  emit_row(e, "set_mask_count");
  for (ull count = BY_HAND; count < words; count *= 2) {
    emit_barrier(e, PIPE_V);
    emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)min_u64(count, words - count));
    emit_row(e, "vadds,dst=%llu,src=%llu,scalar=0,repeat=1,type=int32", lower + count * WORD_BYTES,
             lower);
    emit_row(e, "vadds,dst=%llu,src=%llu,scalar=%llu,repeat=1,type=int32",
             other + count * WORD_BYTES, other, count * WORD_BYTES);
  }
  emit_barrier(e, PIPE_V);
}

static void put(struct vmachine *machine, const char *inst, unsigned dst, unsigned a, unsigned b,
                const char *type) {
  emit_barrier(machine->emit, PIPE_V);
  emit_row(machine->emit, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=%s", inst, machine->reg[dst],
           machine->reg[a], machine->reg[b], type);
}

/* A half carries where both addends have its highest bit, or one has and the sum has not. */
void vew_put_pairs(struct vmachine *machine, const char *count) {
  struct emit *e = machine->emit;
  const char *words = emit_text(e, "(%s)*2", count), *halves = emit_text(e, "(%s)*4", count);
  vmachine_count(machine, words);
  put(machine, "vadd", Y0, X0, X1, "int32");
  vmachine_count(machine, halves);
  put(machine, "vor", T0, X0, X1, "uint16");
  emit_barrier(e, PIPE_V);
  emit_row(e, "vnot,dst=%s,src=%s,repeat=1,type=uint16", machine->reg[T1], machine->reg[Y0]);
  put(machine, "vand", T0, T0, T1, "uint16");
  put(machine, "vand", T1, X0, X1, "uint16");
  put(machine, "vor", T0, T0, T1, "uint16");
  vmachine_count(machine, words);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vshr,dst=%s,src=%s,scalar=%d,repeat=1,type=uint32", machine->reg[T0],
           machine->reg[T0], CARRY_SHIFT);
  put(machine, "vmul", T0, T0, T2, "int32");
  emit_barrier(e, PIPE_V);
  emit_row(e, "vgather,dst=%s,offset=%s,src=%s,repeat=1,type=int32", machine->reg[T1],
           machine->reg[T3], machine->reg[T0]);
  put(machine, "vadd", Y0, Y0, T1, "int32");
}
