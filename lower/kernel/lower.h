/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an operator and its shapes to a trace. Each operator is a row LOWER_OPERATOR in the file of
 * its family and one line of ops.def. What happens to a request:
 *
 *   args.c     "m=4096 dtype=fp16" is checked against the operator's table of keys
 *   plan.c     setup(); then every candidate tiling (the given keys win over the candidate's)
 *              goes through cost(), and the cheapest legal one stays
 *   compile.c  emit() writes the text; the trace reader reads it back, so that every check of
 *              traces applies to lowered ones too
 *   list.c     the tables as data and as text
 *
 * All of it is a pure function of the request and the chip: same input, same text.
 */
#ifndef VINCI_LOWER_KERNEL_LOWER_H
#define VINCI_LOWER_KERNEL_LOWER_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"
#include "lower/kernel/emit.h"
#include "lower/kernel/key.h"

/* Closed-form estimate. Pipes overlap, so total is no sum. Cycles of the core clock. */
struct lower_cost {
  uint64_t total_cycles;
  uint64_t cube_cycles; /* busiest core */
  uint64_t vector_cycles;
  uint64_t mte1_cycles;
  uint64_t scalar_cycles; /* of the instructions of tiles; 0 where a template does not count */
  uint64_t mte2_cycles;
  uint64_t mte3_cycles;
  uint64_t fix_cycles;
  uint64_t gm_bytes; /* all cores */
  uint32_t blocks;
  uint64_t shares; /* equal parts of the work, which cores take in turns; 0: all cores are needed */
  bool wasteful;   /* holds more of an operand than there is: the same with less is as fast */
  uint64_t share_cycles; /* a part takes no less, however many cores there are; 0: not known */
};

struct lower_op;

/* A request on its way to a trace. */
struct lower_job {
  const struct vinci_soc *soc;
  const struct lower_op *op;
  struct lower_value value[LOWER_KEYS_MAX]; /* in the order of op->keys */
  uint64_t cores; /* of the chip, or the most for a candidate in lower_each_tiling() */
  struct arena *arena;
  struct vinci_diag *diag;
  void *data;                    /* the operator's own, from setup() */
  struct lower_cost cost;        /* of the tiling in value[] */
  struct lower_program *program; /* of program_cost(): what is used again; NULL: nothing yet */
  uint64_t enough_cycles;        /* cost() may stop once a tiling takes at least as many */
  char reason[160];              /* why cost() refused a tiling */
};

/* One tensor of a row of a profile or shape list. */
struct lower_tensor {
  enum dtype dtype;
  unsigned rank; /* 0: absent, or a scalar */
  uint64_t shape[TENSOR_RANK_MAX];
  char format[24]; /* "ND", "NC1HWC0"; upper case */
  bool typed;      /* results: dtype was given; else it is that of the first input */
};

/* Whether a row says that the cube computed its fp32 operands in hf32. Source: msprof,
 * profile_data_file_references, HF32 Eligible: whether the flag of HF32 precision is used. */
enum lower_hf32 { LOWER_HF32_UNTOLD, LOWER_HF32_ON, LOWER_HF32_OFF };

/* A call as a profiler records it: the vendor's type and tensors. */
struct lower_call {
  char type[WORD_BYTES_MAX];
  uint64_t blocks; /* it was launched with; 0: not known */
  unsigned input_count, output_count;
  struct lower_tensor input[LOWER_TENSORS_MAX], output[LOWER_TENSORS_MAX];
  const struct vinci_soc *soc;
  struct arena *arena;
  const char *given; /* arguments that the row has beside its tensors; "": none */
  /* Result: another operator, to which the arguments belong; NULL: the one that was asked. */
  const struct lower_op *op;
  /* Arguments "key=value" for the operator, or why there are none. */
  const char *args[LOWER_KEYS_MAX];
  size_t arg_count;
  enum lower_hf32 hf32;
  bool untyped; /* an argument wants the type of a tensor whose type is not known */
  char reason[160];
};

/* What the operators of a family share: how arguments become a trace. */
struct lower_template {
  /* Checks the arguments together and fills job->data; NULL: nothing to do. */
  enum vinci_status (*setup)(struct lower_job *job);
  /* Puts the index-th candidate into the tiling keys of job->value; false: there are no more.
   * NULL: the operator has no tiling keys. */
  bool (*candidate)(struct lower_job *job, size_t index);
  /* Fills job->cost for the tiling in job->value; false, with a reason, when it is not legal. */
  bool (*cost)(struct lower_job *job);
  /* Writes the trace for the tiling in job->value. */
  void (*emit)(const struct lower_job *job, struct emit *emit);
};

struct lower_op {
  const char *name;
  const char *vendor_types; /* "MatMulV2|MatMulV3", "" when none */
  const char *text;         /* one line */
  const struct lower_key *keys;
  size_t key_count;
  const struct lower_template *template;
  const void *spec; /* the operator's table in its template; NULL: none */
  /* Turns a call into arguments; false, with a reason, when it cannot. NULL: never. */
  bool (*from_tensors)(struct lower_call *call);
};

/* LOWER_OPERATOR(relu, "Relu", "y = max(x, 0)", keys, &template, &spec, from_tensors); _OF: with
 * the first keys of a table alone. */
#define LOWER_OPERATOR(id_, vendor_types_, text_, keys_, template_, spec_, from_tensors_)          \
  LOWER_OPERATOR_OF(id_, vendor_types_, text_, keys_, sizeof(keys_) / sizeof *(keys_), template_,  \
                    spec_, from_tensors_)
#define LOWER_OPERATOR_OF(id_, vendor_types_, text_, keys_, count_, template_, spec_,              \
                          from_tensors_)                                                           \
  const struct lower_op lower_##id_ = {.name = #id_,                                               \
                                       .vendor_types = (vendor_types_),                            \
                                       .text = (text_),                                            \
                                       .keys = (keys_),                                            \
                                       .key_count = (count_),                                      \
                                       .template = (template_),                                    \
                                       .spec = (spec_),                                            \
                                       .from_tensors = (from_tensors_)};

#define LOWER_OP(name) extern const struct lower_op lower_##name;
#include "lower/ops.def"
#undef LOWER_OP

/* ---- the table (list.c) ---- */

size_t lower_op_count(void);
const struct lower_op *lower_op(size_t index);
/* By name; by a word of vendor_types, letter case counts. NULL when there is none. */
const struct lower_op *lower_find(const char *name);
const struct lower_op *lower_find_vendor(const char *type);
const char *lower_kind_name(enum lower_kind kind);

/*
 * What the simulated time of each operator is compared with (compared.def,
 * tests/lower/test_bounds.c): rows of measurements, and for one large shape a closed-form bound.
 */
enum lower_bound {
  LOWER_BOUND_BYTES,  /* each tensor moves once; amount: vector cycles of 64 lanes per element */
  LOWER_BOUND_RESULT, /* the same, as many bytes in as out */
  LOWER_BOUND_MACS,   /* amount: multiply-accumulates of the cube */
};
struct lower_compared {
  const char *op;
  const char *formats;   /* of its tensors */
  unsigned silicon_rows; /* of tests/reference/silicon_calibration.csv */
  enum lower_bound kind;
  double amount;
  unsigned percent; /* of the bound, at most */
  const char *args;
};
const struct lower_compared *lower_compared(const char *op); /* NULL: nothing */

/* ---- arguments (args.c) ---- */

/* Fills job->value from "key=value" texts and defaults. */
VINCI_MUST_CHECK enum vinci_status lower_parse_args(struct lower_job *job, const char *const *args,
                                                    size_t count);
/* "key=value" of one key as it stands; false when it is absent. */
bool lower_format_arg(const struct lower_key *key, const struct lower_value *value, char *text,
                      size_t size);

/* Value of a key by name; NULL when the operator has none or it is absent. */
const struct lower_value *lower_get(const struct lower_job *job, const char *name);
/* Sets a tiling key that candidate() chooses. */
void lower_choose(struct lower_job *job, const char *name, uint64_t size);
/* Zeroed memory of the request in job->data; NULL, with an error, when there is none. */
void *lower_data(struct lower_job *job, size_t size);

/* For setup() and cost(): reports a usage error; stores a reason and returns false. */
enum vinci_status lower_error(struct lower_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool lower_refuse(struct lower_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* True, or false with the reason "more cores than the chip has: M and N". */
bool lower_has_cores(struct lower_job *job, uint64_t blocks, enum core_kind kind);
/* A usage error unless a type can hold a number: its range, and of integers, that it is whole. */
VINCI_MUST_CHECK enum vinci_status lower_fits(struct lower_job *job, const char *key,
                                              enum dtype dtype, double number);
/* The same for from_tensors(), and one argument of its result. */
bool lower_cannot(struct lower_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lower_arg(struct lower_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* key=fp16 of a tensor; a type that is not known leaves the call without one and untyped. */
void lower_arg_dtype(struct lower_call *call, const char *key, const struct lower_tensor *tensor);
/* key=8x128 of a tensor's extents, or other numbers of its rank; without any it is 1. */
void lower_arg_shape(struct lower_call *call, const char *key, const uint64_t *extents,
                     unsigned rank);
/* Tensors in FRACTAL_NZ become the rows and columns that they hold, padding included. */
void lower_as_rows(struct lower_call *call);
/* shape=8x128 dtype=fp16 of a tensor; shape=1024 dtype=fp16, as one row of its elements. */
void lower_arg_tensor(struct lower_call *call, const struct lower_tensor *tensor);
void lower_arg_elements(struct lower_call *call, const struct lower_tensor *tensor);

/* ---- choosing a tiling (plan.c) ---- */

/* Arguments, setup and tiling; the job is ready for emit() on VINCI_OK. */
VINCI_MUST_CHECK enum vinci_status lower_plan(struct lower_job *job, const char *const *args,
                                              size_t count);

/* The most elements of a tensor: sums of bytes of several tensors fit 64 bits. */
#define LOWER_ELEMENTS_MAX (UINT64_C(1) << 40)
/* A usage error when a result, whose shape follows from several others, has more. */
VINCI_MUST_CHECK enum vinci_status lower_bounded(struct lower_job *job, const uint64_t *shape,
                                                 unsigned rank);
/* Product of a shape. */
static inline uint64_t lower_elements(const uint64_t *shape, unsigned rank) {
  uint64_t count = 1;
  for (unsigned i = 0; i < rank; i++)
    count *= shape[i];
  return count;
}

#endif
