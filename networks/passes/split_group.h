/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that follow one another and can run in parts of their rows (rows.h), all kernels on a
 * part before any on the next, so that what lies between stays in L2. What pass split and the
 * search of cuts (cuts.h) share.
 */
#ifndef VINCI_NETWORKS_PASSES_SPLIT_GROUP_H
#define VINCI_NETWORKS_PASSES_SPLIT_GROUP_H

#include "networks/passes/pass.h"
#include "networks/passes/rows.h"

enum {
  SPLIT_MEMBERS_MAX = 16,
  SPLIT_TENSORS_MAX = 64,
  SPLIT_PARTS_MAX = 256,
  SPLIT_ARGS_BYTES = 2048
};

/* A tensor of the kernels, or a view. */
struct split_tensor {
  uint32_t tensor;
  uint32_t part;        /* while parts are made: that of the rows in question */
  unsigned first, last; /* members that touch the tensor */
  bool split, inner;    /* inner: a member writes this */
};

struct split_group {
  unsigned count;
  uint32_t node[SPLIT_MEMBERS_MAX];
  struct rows rows[SPLIT_MEMBERS_MAX];
  struct split_tensor touched[SPLIT_TENSORS_MAX];
  unsigned touched_count;
  uint64_t all;  /* rows that all members have in common */
  uint64_t unit; /* rows of a part are a multiple of this, as tensors lie at multiples of 512 */
};

struct splitting {
  struct pass_context *pass;
  struct rewrite *rewrite;
  bool *pinned; /* by tensor: others that are no views lie in its memory */
  bool *used;   /* by node: belongs to kernels that are split */
};

/* False when memory is short, which the rewrite notes; splitting_free() is needed all the same. */
bool splitting_start(struct splitting *splitting, struct pass_context *pass);
void splitting_free(struct splitting *splitting);

struct graph_node *split_node(const struct splitting *splitting, uint32_t index);
/* The tensor of a group, or NULL. */
struct split_tensor *split_find(struct split_group *group, uint32_t tensor);
/* Adds a member that reads, in rows, what the group writes; the first member reads anything. False:
 * the node cannot. */
bool split_add(const struct splitting *splitting, struct split_group *group, uint32_t index);
/* Whether nobody else reads what members but the last write. */
bool split_is_closed(const struct splitting *splitting, const struct split_group *group);

/* Bytes of a tensor of the group in a part of `rows` rows. */
uint64_t split_part_bytes(const struct splitting *splitting, const struct split_group *group,
                          const struct split_tensor *touched, uint64_t rows);
/* The most bytes that are in use from one member to the next, in parts of `rows` rows; `all`: with
 * those of others that pass by until the next part. */
uint64_t split_bytes_in_use(const struct splitting *splitting, const struct split_group *group,
                            uint64_t rows, bool all);
/* Bytes that L2 holds of parts from one kernel to the next. */
uint64_t split_held_bytes(const struct vinci_soc *soc);
/* Whether what lies between whole kernels, or between those of a part, stays in L2. */
bool split_fits(const struct splitting *splitting, const struct split_group *group, uint64_t rows);
/* The time of all rows in parts of `rows`, by estimate; UINT64_MAX: an operator refuses a part. */
uint64_t split_ps(const struct splitting *splitting, struct split_group *group, uint64_t rows);
/* Sets the unit of rows. */
void split_set_unit(const struct splitting *splitting, struct split_group *group);
/* The rows of the largest parts that fit into L2, 0: none do. Needs the unit. */
uint64_t split_largest(const struct splitting *splitting, const struct split_group *group);
/* Rows of each of some parts, a multiple of the unit. */
uint64_t split_rows(const struct split_group *group, uint64_t parts);
/* The rows of a part that are fastest by estimate, 0: to split does not pay. *gain_ps is what it
 * saves. */
uint64_t split_choose(const struct splitting *splitting, struct split_group *group,
                      uint64_t *gain_ps);
/* The group from a node on that gains most by estimate, with its rows; 0: none. *longest: the
 * closed one with most members, whether it gains or not; its count is 0 when there is none. */
uint64_t split_from(const struct splitting *splitting, uint32_t start, struct split_group *best,
                    struct split_group *longest);

/* Puts parts of `rows` rows in place of the members (split.c). */
void split_put_parts(const struct splitting *splitting, struct split_group *group, uint64_t rows);

#endif
