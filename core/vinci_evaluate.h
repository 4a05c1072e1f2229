/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: how long does each of these operators take? The question of a tuner, in batches:
 *
 *     const char *args[] = {"m=256", "k=256", "n=256", "tile=128x128x64"};
 *     struct vinci_evaluation one = {.op = "matmul", .args = args, .arg_count = 4};
 *     if (vinci_evaluate(soc, &one, 1, NULL, &diag) == VINCI_OK && one.status == VINCI_OK)
 *       printf("%" PRIu64 " cycles\n", one.total_cycles);
 *
 * Questions run in threads of this process, and several threads may ask at a time.
 */
#ifndef VINCI_EVALUATE_H
#define VINCI_EVALUATE_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One question, and the answer. */
struct vinci_evaluation {
  const char *op; /* as of vinci_compile(), with its tiling keys; NULL, of a sequence: communication
                     with other devices, which takes no time here */
  const char *const *args;
  size_t arg_count;
  /* Of a sequence, not 0: the operator is not simulated and takes this time; its tensors pass
   * through L2. */
  uint64_t given_ps;
  /* VINCI_E_USAGE: no such operator, or a tiling that does not fit. VINCI_E_LIMIT: more than
   * max_cycles. text says why. */
  enum vinci_status status;
  char text[240];
  uint64_t total_cycles; /* 0 unless status is VINCI_OK */
  uint64_t duration_ps;
  uint64_t program_digest; /* of the text of the trace that was simulated */
  char program[300]; /* "lowering", "library", "lowering: why not of the library"; "": none ran */
};

struct vinci_evaluate_options {
  size_t struct_size; /* sizeof(struct vinci_evaluate_options) */
  unsigned jobs;      /* threads, at most 256, of which one is the caller's; 0: one per processor */
  enum vinci_memory memory;
  enum vinci_network network;
  enum vinci_l2 l2_start;
  uint32_t code_found_ppm;
  uint64_t max_cycles; /* 0: no limit */
  /* The list runs in its order on one chip, in one thread: each operator finds in L2 and in the
   * instruction caches what those before have left, as `vinci run --ops LIST --sequence`.
   * Communication has L2 write back what is dirty, which stays there. Not with an l2_start. */
  bool sequence;
  /* Folders of a user's library, "DIR:DIR": its kernels run where it has the operator, in one
   * thread. NULL: those of $VINCI_LIBRARY, in sequences, for operators that vinci does not have. */
  const char *library;
};

/*
 * Lowers and simulates operators on one chip that stays loaded, each on a fresh state of that chip:
 * the question of a tuner, hundreds of times a second. The answers do not depend on jobs. Failures
 * are answers; the call itself fails with VINCI_E_USAGE for wrong options, and for a library
 * without operators. Fewer threads than jobs work where no more can be made.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_evaluate(const vinci_soc *soc, struct vinci_evaluation *list, size_t count,
               const struct vinci_evaluate_options *options, struct vinci_diag *diag);

/* ---- what a list of operators asks for ---- */

/*
 * A kind of operator in a list of calls, such as a profiler's kernel_details.csv, and how much of
 * that kind is modelled. The texts live as long as the call of visit.
 */
struct vinci_ops_kind {
  const char *type;                 /* as the list says */
  size_t rows, missing_rows;        /* each as often as its weight says */
  uint64_t measured_ps, missing_ps; /* durations that the list has, likewise */
  bool elsewhere;     /* not on AI Cores: a transfer between chips; nothing is missing */
  const char *reason; /* why the first row that is missing is missing; "" when none is */
  bool known;         /* an operator stands for the type, but not for that row */
  const char *in_shapes, *in_types, *out_shapes; /* of that row, as the list says */
  const char *nearest, *nearest_op; /* of an unknown type: the nearest known, its operator; or "" */
  bool by_name; /* the list has no shapes: whether these are modelled is not known */
};
/* Which kinds of a list can be lowered for a chip; most missing time first. Nothing is simulated.
 * visit returns false to stop. VINCI_E_INPUT for what is no list of operators. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_ops_kinds(const vinci_soc *soc, const char *list,
                bool (*visit)(void *context, const struct vinci_ops_kind *kind), void *context,
                struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
