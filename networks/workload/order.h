/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators in their order on one chip: what is asked of the engine of lists, and what it tells.
 * The engine is ops_order_run() of studies/ops; rooms below that get it from their callers.
 */
#ifndef VINCI_NETWORKS_WORKLOAD_ORDER_H
#define VINCI_NETWORKS_WORKLOAD_ORDER_H

#include "core/vinci.h"

struct order_row {
  const char *op;   /* NULL: communication, for which L2 writes back what is dirty and keeps that */
  const char *args; /* "m=4 k=4 n=4"; of an operator of a library also "x=fp16:4x4" */
  uint64_t given_ps; /* not 0: is not simulated, takes that time, and its tensors pass through L2 */
};

/* Of a row; all of that lives as long as the call. */
struct order_answer {
  enum vinci_status status;
  const char *text;    /* why there is no result; "" of VINCI_OK */
  const char *hint;    /* how to mend that; may be "" */
  const char *program; /* "library", "lowering", "lowering: why not of the library" */
  uint64_t program_digest;
  const struct vinci_result *result; /* NULL: nothing was simulated, or not to its end */
};

struct order {
  const vinci_soc *soc;
  enum vinci_memory memory;
  enum vinci_network network;
  uint64_t max_cycles; /* of a row; 0: no limit */
  /* Each row finds in L2 and in the instruction caches what those before have left; else each has
   * a fresh chip, with this state. */
  bool sequence;
  enum vinci_l2 l2_start;
  uint32_t code_found_ppm;
  /* Folders of a user's library, "DIR:DIR", whose kernels run where it has the operator. NULL:
   * those of $VINCI_LIBRARY, for operators that vinci does not have. */
  const char *library;
  const char *data; /* the folder of the program's data; NULL: the usual */
  const struct order_row *rows;
  size_t count;
  /* Gets the rows in their order; false ends the run with VINCI_E_LIMIT. */
  bool (*answer)(void *context, size_t row, const struct order_answer *answer);
  void *context;
};

typedef enum vinci_status order_engine(const struct order *order, struct vinci_diag *diag);

#endif
