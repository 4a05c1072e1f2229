/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operators as data: a program over up to VFUNC_INPUTS inputs with numpy's broadcast.
 * The template is in elementwise.c, the operators in unary.c and its like.
 */
#ifndef VINCI_LOWER_VECTOR_ELEMENTWISE_ELEMENTWISE_H
#define VINCI_LOWER_VECTOR_ELEMENTWISE_ELEMENTWISE_H

#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { VBRCB_ELEMENTS = 8, VFUNC_INPUTS = VKERNEL_INPUTS, VFUNC_OUTPUTS = VKERNEL_OUTPUTS };

/* Types that are computed in as they are, beside fp32; others are converted on the way. */
enum {
  VTYPES_FP32 = 0,
  VTYPES_FP16 = 1,
  VTYPES_INT32 = 2,
  VTYPES_INT16 = 4,
  VTYPES_BYTES = 8, /* 8-bit integers, in fp16 */
  /* All as they are but bf16, which no fill of the vector unit is seen in; bytes in fp16; and what
   * is filled with int64, in int32. */
  VTYPES_ANY = 16,
  VTYPES_PAIRS = 32, /* int64 as pairs of int32, see pairs.c */
  VTYPES_BF16 = 64,  /* with ANY: bf16 as it is too, where bits are moved alone */
};

struct vew;

/* A function of an operator: lower_op.spec. */
struct vfunc {
  unsigned inputs, outputs;
  unsigned types;
  bool in_place;         /* output i is input i */
  bool as_first;         /* the result has the type of the first input */
  bool casts;            /* the program is the conversion to the key `to` */
  bool serial;           /* each step waits for the one before */
  bool blocks;           /* numbers of rows stay blocks that all lanes read, in tiles of one row */
  enum kernel_code code; /* kind of the vendor's kernel */
  uint64_t tile;         /* elements of a tile of the vendor's kernel; 0: what UB holds */
  uint8_t boolean;       /* bit per input: a condition, an 8-bit integer, as fp16 */
  uint8_t bits;          /* bit per input: one bit for each element, packed */
  bool indexed;          /* T0 begins as the places of the elements, int32, by the table in T3 */
  bool words;            /* int64 is walked as two words, which are an innermost dimension more */
  bool truth;            /* the result is 0 or 1, computed in fp16, stored as uint8 */
  bool bytes;            /* the result is of 8 bits, computed in fp16, stored as int8 */
  const struct vstep *steps;     /* up to VFORM_END */
  const struct vstep *chained;   /* the same in a chain, where steps hold registers; or NULL */
  const char *const *names;      /* of inputs, then outputs; NULL: x, x1 ..., y, y1 ... */
  const char *const *parameters; /* keys of the numbers, NULL-terminated */
  /* Checks the keys, and completes the function by them; may be NULL. */
  enum vinci_status (*choose)(struct lower_job *job, struct vfunc *func);
  /* Fills in, out, shapes and the space of tiles, which may follow from the shapes. NULL: from the
   * keys shape, shape1.. (default: shape), dtype, dtype1.. (default: dtype) and out (default: the
   * widest of the inputs). */
  enum vinci_status (*operands)(struct lower_job *job, struct vew *ew);
  /* Numbers computed from the keys instead; may be NULL. */
  void (*numbers)(const struct lower_job *job, double parameter[VPARAM_MAX]);
  /* Rows that fill the registers that are held, before the tiles; may be NULL. */
  void (*start)(struct emit *emit, const struct vew *ew);
};

/* An operand, and where its parts lie in UB. */
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
  struct vkernel kernel; /* first */
  struct vfunc func;
  const struct vstep *steps;
  unsigned step_count;
  enum dtype type;
  uint64_t out_shape[TENSOR_RANK_MAX];
  unsigned out_rank;
  unsigned rank[VFUNC_INPUTS];
  uint64_t shape[VFUNC_INPUTS][TENSOR_RANK_MAX];
  struct vew_operand in[VFUNC_INPUTS], out[VFUNC_OUTPUTS];
  uint64_t temp[VREGS]; /* addresses of registers behind the buffers; 0: none */
  uint64_t pitch;
  uint64_t whole; /* elements that registers are whole numbers of; 0: any */
  bool halved;    /* int64 as words: tensors have no innermost dimension of 2 */
};

/* Operators whose spec is a vfunc. */
extern const struct lower_template vew_template;
/* VEW_OPERATOR(relu, "Relu", "y = max(x, 0)", keys, call, .inputs = 1, .outputs = 1, ...) */
#define VEW_OPERATOR(id_, vendor_, text_, keys_, from_tensors_, ...)                               \
  LOWER_OPERATOR(id_, vendor_, text_, keys_, &vew_template, VFUNC(__VA_ARGS__), from_tensors_)
/* The function as a literal: VFUNC(.inputs = 1, ...). */
#define VFUNC(...) (&(const struct vfunc){__VA_ARGS__})

/* Parts of the setup: the kernel in job->data, or NULL with an error; names of tensors; shapes and
 * types from the keys; broadcast and space. */
struct vew *vew_new(struct lower_job *job);
void vew_name_operands(struct vew *ew);
/* Whether a function of VTYPES computes in a type as it is. */
bool vew_computes_in(unsigned types, enum dtype type);
enum vinci_status vew_read_operands(struct lower_job *job, struct vew *ew);
/* The program of a conversion to the key `to` (words.c). */
enum vinci_status vew_set_cast(struct lower_job *job, struct vew *ew);
enum vinci_status vew_set_space(struct lower_job *job, struct vew *ew);

/* Of the kind of kernel (elementwise_rows.c). */
void vew_tensors(struct emit *emit, struct vkernel *kernel);
void vew_rows(struct emit *emit, struct vkernel *kernel);
void vew_compute(struct emit *emit, struct vkernel *kernel);
/* Tiles of one row see rows of operands as whole operands. */
enum vkind vew_kind(const struct vew *ew, const struct vew_operand *operand);
/* Whether a row that tiles have in all of their rows is spread over one repeat of the vector unit
 * alone, which its steps then read with a stride of 0: short rows on coupled cores. */
bool vew_is_pattern(const struct vew *ew, unsigned input);
/* Sums and differences of 64-bit integers: their functions. */
extern const struct vfunc vew_add_pairs, vew_sub_pairs;
/* How many of the keys dtype, dtype1 and out say int64; an error unless all that are given do and
 * the shapes are the same, which is all that pairs can do. */
unsigned vew_longs(const struct lower_job *job);
enum vinci_status vew_same_longs(struct lower_job *job);

/* The key shape1, and the call of an operator of two inputs with dtype and dtype1 (binary.c). */
#define SHAPE1_KEY LOWER_KEY("shape1", SHAPE, "", NULL, "extents of x1; those of x")
bool vew_call_binary(struct lower_call *call);
/* The call of an operator of one input, as one row of its elements (unary.c). */
bool vew_call_x(struct lower_call *call);
/* Whether a call is one of the vendor's kernels over lists of tensors, Foreach... Such calls are
 * one tensor of as many elements as a list has; behind the lists may be one number (unary.c). */
bool vew_is_list(const struct lower_call *call);
bool vew_call_lists(struct lower_call *call, unsigned lists);

#endif
