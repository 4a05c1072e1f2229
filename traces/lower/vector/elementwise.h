/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators as data: a program over one to four inputs with numpy's broadcast. The
 * template is in elementwise.c, the operators in unary.c and its like.
 */
#ifndef VINCI_TRACES_LOWER_VECTOR_ELEMENTWISE_H
#define VINCI_TRACES_LOWER_VECTOR_ELEMENTWISE_H

#include "traces/lower/vector/program.h"
#include "traces/lower/vector/tiles.h"

enum { VBRCB_ELEMENTS = 8, VFUNC_INPUTS = 6, VFUNC_OUTPUTS = 3, VFUNC_STEPS = 40 };

/* Types that are computed in as they are, beside fp32; others are converted on the way. */
enum {
  VTYPES_FP32 = 0,
  VTYPES_FP16 = 1,
  VTYPES_INT32 = 2,
  VTYPES_INT16 = 4,
  VTYPES_BYTES = 8,  /* 8-bit integers, in fp16 */
  VTYPES_ANY = 16,   /* all as they are */
  VTYPES_PAIRS = 32, /* int64 as pairs of int32, see vew_put_pairs() */
};

struct vfunc {
  const char *name;
  unsigned inputs, outputs;
  unsigned types;
  bool in_place;                 /* output i is input i */
  bool casts;                    /* the program is the conversion to the key `to` */
  uint8_t boolean;               /* bit per input: a condition, an 8-bit integer */
  uint8_t bits;                  /* bit per input: one bit for each element, packed */
  const struct vstep *steps;     /* up to VFORM_END */
  const char *const *parameters; /* keys of the numbers, NULL-terminated */
  /* Numbers computed from the keys instead; may be NULL. */
  void (*numbers)(const struct lower_job *job, double parameter[VPARAM_MAX]);
};

/* One operand as the template sees it. */
enum vkind { VKIND_FULL, VKIND_ROW, VKIND_COLUMN, VKIND_SCALAR };
struct vew_operand {
  enum vkind kind;
  enum dtype type;     /* in device memory */
  enum dtype computed; /* in registers */
  struct vtile_operand tile;
  uint64_t compact; /* address of the converted operand before it is spread */
  uint64_t block;   /* address of 32-byte blocks, one per row */
  uint64_t spread;  /* address of the register, when it is not the buffer itself */
};

struct vew {
  struct vfunc func;
  struct vstep steps[VFUNC_STEPS];
  unsigned step_count;
  enum dtype type;
  uint64_t out_shape[TENSOR_RANK_MAX];
  unsigned out_rank;
  unsigned rank[VFUNC_INPUTS];
  uint64_t shape[VFUNC_INPUTS][TENSOR_RANK_MAX];
  struct vew_operand in[VFUNC_INPUTS], out[VFUNC_OUTPUTS];
  struct vtile tile;
  uint64_t temp[VREGS]; /* addresses of registers behind the buffers; 0: none */
  uint64_t pitch;
  uint64_t ub_bytes; /* what the layout needs */
};

/*
 * For setup(): the function over job's keys shape, shape1.. (default: shape), dtype, dtype1..
 * (default: dtype) and out (default: the widest of the inputs).
 */
enum vinci_status vew_setup(struct lower_job *job, const struct vfunc *func);
/* The rest of it, for operators that fill ew->in, ew->out and ew->tile.space themselves. */
struct vew *vew_new(struct lower_job *job, const struct vfunc *func);
enum vinci_status vew_program(struct lower_job *job, struct vew *ew);
bool vew_candidate(struct lower_job *job, size_t index);
bool vew_cost(struct lower_job *job);
void vew_emit(const struct lower_job *job, struct emit *emit);
/* The row of an operator of this template, whose setup function is id_setup. */
#define VEW_OP(id, vendor, summary, table, count, call)                                            \
  const struct lower_op lower_##id = {                                                             \
      .name = #id,                                                                                 \
      .vendor_types = vendor,                                                                      \
      .text = summary,                                                                             \
      .keys = table,                                                                               \
      .key_count = count,                                                                          \
      .setup = id##_setup,                                                                         \
      .candidate = vew_candidate,                                                                  \
      .cost = vew_cost,                                                                            \
      .emit = vew_emit,                                                                            \
      .from_tensors = call,                                                                        \
  };

/* Tiles of one row see rows and columns of operands as whole operands and scalars. */
enum vkind vew_kind(const struct vew *ew, const struct vew_operand *operand);
/* Addresses in UB for the tiling in ew->tile. */
void vew_lay_out(struct vew *ew);
/*
 * The sum of 64-bit integers, as the vector unit has none: halves are added as 32-bit integers, and
 * carries move from the lower halves to the upper ones. The tables say which halves are
 * lower ones, and where the other half of each is; they are the same for all tiles.
 */
void vew_put_pair_tables(struct emit *emit, const struct vew *ew);
void vew_put_pairs(struct vmachine *machine, const char *count);
/* The tiling keys are the last ones. */
size_t vew_tiling_keys(const struct lower_job *job);

/* Value of a key by name; NULL when the operator has none or it is absent. */
const struct lower_value *vkey(const struct lower_job *job, const char *name);

#endif
