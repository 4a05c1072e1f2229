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

#include "core/base/number.h"
#include "core/machine/values.h"
#include "vector/vector.h"

/*
 * Loops that values spend their time in are compiled twice, where that is known to work: for
 * any x86-64, and for those with AVX2. Neither fuses operations, so both give the same bits. The
 * thread sanitizer does not live with functions that are chosen while the library is loaded.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_THREAD__)
#define LOOP __attribute__((target_clones("avx2", "default")))
#else
#define LOOP
#endif

/* The set of types that the operand `type` of an instruction may have, by the instruction. */
enum {
#define ISA(id, name, pipe, archs, signature, dtypes, ...) TYPES_##id = (int)(dtypes),
#include "core/isa/isa.def"
#undef ISA
};
/* Stands beside what computes an instruction: the compiler refuses a type that is left out. */
#define COVERS(id, types)                                                                          \
  _Static_assert((TYPES_##id & ~(int)(types)) == 0, #id " has a type without values")
/* In place of a function for types that an instruction does not have. */
#define NO_OP NULL
enum { NO_OP_types = 0 };

/* vector.repeat_bytes is at most 4096, and elements have 16 bits at least. */
enum { SLOTS_MAX = 2048 };
enum { SLOTS_JOINED = 1024 }; /* of joined repeats: few enough for the first cache of a host */

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

/* An instruction at work, and its current repeat. */
struct values {
  const struct inst *inst;
  uint8_t *ub;
  struct vector_walks walks;
  const struct vector_mask *mask; /* NULL: lanes are active up to the end */
  unsigned widest;                /* bits of the widest element among the operands */
  uint64_t repeat;
  uint64_t end;   /* one past the last active lane */
  uint64_t first; /* slot 0: the first active lane or one before it, at the start of a block */
  size_t slots;   /* whole blocks of the widest operand */
};

void values_start(struct values *values, const struct inst *inst, const struct value_core *core,
                  struct vector_walks walks, enum vector_masking masking);
/* Whether all that lies at an operand is apart from what is written, or the same. */
bool values_apart(const struct values *values, struct vector_operand written,
                  struct vector_operand read);
/*
 * Makes fewer and longer repeats of many where that changes no result: all lanes active, all
 * walks without gaps, none of them reading what an earlier repeat has written. For instructions
 * that treat every lane alike.
 */
void values_join(struct values *values, struct vector_operand written);
/* Turns to a repeat; false when no lane is active. */
bool values_repeat(struct values *values, uint64_t repeat);
/* Which of the lanes from `lane` on are active, up to 64 of one 64-bit word of the mask. */
uint64_t values_active(const struct values *values, uint64_t lane, unsigned count);

/* Reads the slots of a walk, as they are in UB; writes the active ones. */
void slots_load(const struct values *values, unsigned walk, void *slots);
void slots_store(const struct values *values, unsigned walk, const void *slots);
/* The same for fp16, bf16 and fp32 as fp32; results are rounded to nearest even. */
void slots_load_float(const struct values *values, unsigned walk, enum dtype type, float *slots);
void slots_store_float(const struct values *values, unsigned walk, enum dtype type,
                       const float *slots);

/* Whole arrays from and to fp32. */
void floats_from(enum dtype type, const union slots *codes, float *values, size_t count);
void floats_to(enum dtype type, bool saturates, const float *values, union slots *codes,
               size_t count);
/* fp32 to integers of up to 32 bits, cut to low..high; NaN is 0. Not rounded to odd. */
void floats_to_integers(const float *values, enum number_round round, int64_t low, int64_t high,
                        int32_t *out, size_t count);
/* Stores the low bits of integers. */
void integers_narrow(const int32_t *values, unsigned bits, union slots *out, size_t count);
/* Integers of up to 32 bits to fp32, those of more than 24 bits rounded to nearest even. */
void integers_to_floats(enum dtype type, const union slots *values, float *out, size_t count);
/* A scalar operand: the bit pattern of a floating-point type. */
float scalar_float(enum dtype type, int64_t bits);

#endif
