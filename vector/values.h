/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the values of vector instructions are computed: repeat by repeat, in each of them first
 * all sources are read, then the active lanes are written. So an instruction may work in place,
 * and one whose repeats overlap gives what its repeats one after the other give.
 *
 * A repeat is computed on whole blocks around its active lanes: "slots" are the lanes from
 * `first` on, in arrays of their own, whatever the strides in UB.
 */
#ifndef VINCI_VECTOR_VALUES_H
#define VINCI_VECTOR_VALUES_H

#include "core/number.h"
#include "core/values.h"
#include "vector/vector.h"

/* vector.repeat_bytes is at most 4096, and elements have 16 bits at least. */
enum { SLOTS_MAX = 2048 };

/* The slots of an operand, as what the instruction takes them for. */
union slots {
  float fp32[SLOTS_MAX];
  uint32_t u32[SLOTS_MAX];
  int32_t i32[SLOTS_MAX];
  uint16_t u16[SLOTS_MAX];
  int16_t i16[SLOTS_MAX];
  uint64_t u64[SLOTS_MAX / 2];
  int64_t i64[SLOTS_MAX / 2];
  uint8_t bytes[SLOTS_MAX * sizeof(uint32_t)];
};

/* The lanes of one repeat. */
struct repeat_lanes {
  const struct vector_mask *mask; /* NULL: all lanes from 0 to end */
  uint64_t repeat;
  uint64_t end;   /* one past the last active lane */
  uint64_t first; /* slot 0: the first active lane or one before it, at the start of a block */
  size_t slots;   /* whole blocks of every operand whose elements have `bits` at most */
};

/*
 * The lanes of repeat number `repeat`; bits: of the widest element among the operands. False
 * when no lane is active.
 */
bool repeat_lanes(const struct vector_walks *walks, const struct inst *inst, uint64_t repeat,
                  unsigned bits, enum vector_masking masking, struct repeat_lanes *lanes);
/* Which of the lanes from `lane` on are active, up to 64 of one 64-bit word of the mask. */
uint64_t repeat_active(const struct repeat_lanes *lanes, uint64_t lane, unsigned count);

/* Reads the slots of an operand, as they are in UB. */
void slots_load(const struct inst *inst, const struct value_core *core,
                const struct vector_operand *operand, const struct repeat_lanes *lanes,
                void *slots);
/* Writes the active ones. */
void slots_store(const struct inst *inst, const struct value_core *core,
                 const struct vector_operand *operand, const struct repeat_lanes *lanes,
                 const void *slots);
/* The same for fp16, bf16 and fp32 as fp32; results are rounded to nearest even. */
void slots_load_float(const struct inst *inst, const struct value_core *core,
                      const struct vector_operand *operand, const struct repeat_lanes *lanes,
                      enum dtype type, float *slots);
void slots_store_float(const struct inst *inst, const struct value_core *core,
                       const struct vector_operand *operand, const struct repeat_lanes *lanes,
                       enum dtype type, const float *slots);

/* Whole arrays from and to fp32. */
void floats_from(enum dtype type, const void *codes, float *values, size_t count);
void floats_to(enum dtype type, enum arch arch, const float *values, void *codes, size_t count);
/* A scalar operand: the bit pattern of a floating-point type. */
float scalar_float(enum dtype type, int64_t bits);

#endif
