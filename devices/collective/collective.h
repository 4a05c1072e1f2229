/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives as lists of steps. A step list is a pure function of the call, the rank and a number,
 * so that nothing is stored for the steps of a thousand ranks.
 *
 * The steps of a rank lie on planes, which run side by side; those of a plane run in order. The
 * algorithms have the names of the vendor's library (HCCL); the rows are in
 * algorithms.def.
 */
#ifndef VINCI_DEVICES_COLLECTIVE_COLLECTIVE_H
#define VINCI_DEVICES_COLLECTIVE_COLLECTIVE_H

#include "core/base/diag.h"

/* X(id, name, text); bytes as the closed forms count them. */
#define COLLECTIVE_OP_LIST(X)                                                                      \
  X(ALL_REDUCE, "all_reduce", "each rank gets the sum; bytes: of each rank's buffer")              \
  X(REDUCE_SCATTER, "reduce_scatter", "each rank gets a part of the sum; bytes: of the input")     \
  X(ALL_GATHER, "all_gather", "each rank gets all parts; bytes: of the output")                    \
  X(BROADCAST, "broadcast", "each rank gets the root's buffer")                                    \
  X(REDUCE, "reduce", "the root gets the sum")                                                     \
  X(SCATTER, "scatter", "each rank gets a part of the root's buffer; bytes: of that buffer")       \
  X(GATHER, "gather", "the root gets all parts; bytes: of all parts")                              \
  X(ALL_TO_ALL, "all_to_all", "each rank sends a part to each; bytes: that a rank sends")          \
  X(SEND_RECV, "send_recv", "rank 0 sends to rank 1")                                              \
  X(BARRIER, "barrier", "nobody goes on before all have come")

enum collective_op {
#define X(id, name, text) COLLECTIVE_##id,
  COLLECTIVE_OP_LIST(X)
#undef X
      COLLECTIVE_OPS
};

struct collective_call {
  enum collective_op op;
  const struct collective_algorithm *algorithm;
  uint32_t ranks;
  uint32_t inner; /* ranks that follow each other within a server; 1: none do */
  uint32_t root;
  uint64_t bytes;
  uint64_t slice_bytes; /* parts are multiples of this, but for the last; 0: not said */
  bool adds_inline;
  bool resident; /* a part of a larger one: what is own lies in the library's buffer already */
  /* Of ALL_TO_ALL with unequal parts: bytes from rank to rank, ranks x ranks, NULL: equal parts. */
  const uint64_t *counts;
};

enum step_kind { STEP_END, STEP_NOTHING, STEP_EXCHANGE, STEP_COPY, STEP_ADD, STEP_JOIN };

#define STEP_NOBODY UINT32_MAX

struct group_step {
  enum step_kind kind;
  uint32_t to, from; /* EXCHANGE: ranks, or STEP_NOBODY */
  uint64_t bytes;    /* EXCHANGE: that go out; COPY, ADD: within the device */
  bool adds;         /* EXCHANGE: the other's memory adds */
  bool alone;        /* EXCHANGE: a send between two */
  bool fresh;        /* COPY: of what transfers have just brought */
};

enum collective_needs {
  COLLECTIVE_NEEDS_SERVERS = 1, /* ranks are whole servers */
  COLLECTIVE_NEEDS_INLINE = 2,  /* where there is something to add, transfers add on the way */
  COLLECTIVE_NEEDS_POWER =
      4 /* a power of two, where a part of the sum is wanted, or parts of all */
};

/* A row of algorithms.def. */
struct collective_algorithm {
  const char *name;
  const struct collective_algorithm *outer; /* between servers, where that is another */
  const char *text;
  unsigned needs; /* enum collective_needs; those of `outer` are about servers */
  uint32_t (*planes)(const struct collective_call *call);
  /* Step number `index` of a plane of a rank; STEP_END behind the last. JOIN: all planes of the
   * rank wait for each other; each plane has the same number of those. */
  struct group_step (*step)(const struct collective_call *call, uint32_t rank, uint32_t plane,
                            uint32_t index);
};

const char *collective_op_name(enum collective_op op);
/* COLLECTIVE_OPS when there is none of this name. */
enum collective_op collective_op_find(const char *name, size_t length);

/*
 * Whether the caller says how large a part is, the same for all ranks (a count of the library's
 * interface: HcclAlltoAll, HcclAllGather, HcclReduceScatter, HcclScatter). Other parts are cut by
 * the library, in whole slices.
 */
bool collective_gives_parts(enum collective_op op);
/* Where part i of p of a buffer begins; part p begins at its end. */
uint64_t collective_part_at(const struct collective_call *call, uint64_t i);
static inline uint64_t collective_part(const struct collective_call *call, uint64_t i) {
  return collective_part_at(call, i + 1) - collective_part_at(call, i);
}

/* All algorithms; *count of them. */
const struct collective_algorithm *collective_algorithms(size_t *count);
/* Whether an algorithm can do an operation. */
bool collective_can(const struct collective_algorithm *algorithm, enum collective_op op);
/* That of a name which can do the operation; otherwise an error that lists those that can. */
VINCI_MUST_CHECK enum vinci_status collective_find(enum collective_op op, const char *name,
                                                   const struct collective_algorithm **out,
                                                   struct vinci_diag *diag);
/*
 * The algorithm that the library would take, as its documentation has the rules: a mesh within a
 * server, and between servers by the number of servers and the size of the data.
 */
const struct collective_algorithm *collective_choose(const struct collective_call *call);
/*
 * Of an algorithm with a mesh within servers and another algorithm between these, the two apart.
 * collective_within(): the call of the ranks of one server, a reduce-scatter that all planes leave
 * together, or an all-gather. collective_between(): the steps of a rank between servers.
 */
bool collective_has_levels(const struct collective_algorithm *algorithm);
struct collective_call collective_within(const struct collective_call *call, enum collective_op op);
struct group_step collective_between(const struct collective_call *call, uint32_t rank,
                                     uint32_t index);
/* Whether the call can be made: ranks, root, bytes. */
VINCI_MUST_CHECK enum vinci_status collective_check(const struct collective_call *call,
                                                    struct vinci_diag *diag);

#endif
