/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: two runs side by side, and where their difference comes from, as by `vinci diff`. The
 * shortest use:
 *
 *     const char *a[] = {"matmul", "m=512", "k=512", "n=512"}, *b[] = {"matmul", "m=512", "k=512",
 * "n=1024"}; struct vinci_diff_side one = {a, 4, {.soc = "Ascend910B4"}}, other = {b, 4, {.soc =
 * "Ascend910B4"}}; vinci_diff *diff = NULL; if (vinci_diff_run(&one, &other, NULL, &diff, &diag) !=
 * VINCI_OK) vinci_diag_print(&diag, stderr); vinci_diff_free(diff);
 *
 * Lists of operators run in processes of their own, as those of vinci_ops_run().
 */
#ifndef VINCI_DIFF_H
#define VINCI_DIFF_H

#include "vinci_study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vinci_diff vinci_diff;

/*
 * What is compared. Words: a trace; an operator with its arguments "key=value"; a result folder, or
 * the summary.json of one; a list of operators, or the folder or table of its results; a network
 * with arguments of studies (host=eager ...), or the result folder of its run; a job of several
 * devices (GROUP.md) with system=, bucket=, fault=, algorithm.WHICH= and numbers of its system
 * (hccs.copy=25GB/s) or of its chip, or the result folder of its run. The overrides are for what is
 * simulated: a kept result with overrides is VINCI_E_USAGE, unless the other side is simulated with
 * the same.
 */
struct vinci_diff_side {
  const char *const *words;
  size_t word_count;
  struct vinci_overrides overrides;
};

struct vinci_diff_options {
  size_t struct_size;  /* sizeof(struct vinci_diff_options) */
  uint64_t max_cycles; /* a run that takes more core cycles fails; 0: no limit */
  unsigned jobs; /* of lists: operators that run at a time, at most 256; 0: one per processor */
};

/* Runs both sides, A first, and compares them. VINCI_E_USAGE when one is a list, a
 * network or a job and the other is none. The caller frees the result. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_diff_run(const struct vinci_diff_side *a, const struct vinci_diff_side *b,
               const struct vinci_diff_options *options, vinci_diff **out, struct vinci_diag *diag);

/* Texts of all functions below live until vinci_diff_free(). */
struct vinci_diff_end {
  const char *name;      /* "matmul m=512 k=512 n=512", or the path */
  const char *soc;       /* "" for a list; the system of a job */
  uint64_t total_cycles; /* of the run; 0 for a list and a job */
  uint64_t duration_ps;  /* of the run, of the job; of a list the sum of its operators */
  size_t left_out;       /* operators of a list without a time */
};
/* side: 0 is A, 1 is B. */
VINCI_API struct vinci_diff_end vinci_diff_end(const vinci_diff *diff, unsigned side);
/* Of lists, and of networks: lists of their nodes. */
VINCI_API bool vinci_diff_is_list(const vinci_diff *diff);
/* Of jobs of several devices. */
VINCI_API bool vinci_diff_is_job(const vinci_diff *diff);

/* Rows come by the size of their change, those of one group together; counters come in their order.
 */
enum vinci_diff_table {
  /* What the critical paths are made of: pipes, and what lies between instructions. The changes sum
   * to that of total_cycles. Without rows when a kept result has no critical.csv. */
  VINCI_DIFF_GROUPS,
  VINCI_DIFF_CAUSES,       /* of each pipe, by cause: the changes sum to that of the pipe */
  VINCI_DIFF_INSTRUCTIONS, /* of each pipe, by instruction: the same sum */
  VINCI_DIFF_COUNTERS,     /* that both sides have; group is "pipe", "bytes", "l2" ... */
  /* Of lists, which have no other table: the changes sum to that of both. Of networks by node: each
   * instant belongs to the node that began first of those that run, or to "(no node runs)". */
  VINCI_DIFF_OPERATORS,
  VINCI_DIFF_CLASSES, /* of networks, by class of kernel, launch, host ...: the same sum */
  /* Of jobs, which have counters ("job") and these four. Ranks that do the same in the same time on
   * both sides are one group ("0-3 8"). What the time of each of its ranks is made of: the changes
   * of a group sum to that of the job. In a fixed order, groups by their first ranks. */
  VINCI_DIFF_RANKS,
  /* The collectives of a rank of each group, those of one name, operation (text) and size together;
   * a_count and b_count say how many. The same rows in three tables: the time in them; of that the
   * exposed time, while the rank is not at work; the bytes of a call. By the change of exposed
   * time, then of time. */
  VINCI_DIFF_COLLECTIVES,
  VINCI_DIFF_EXPOSED,
  VINCI_DIFF_BYTES,
};
struct vinci_diff_row {
  const char *group; /* the pipe; of an operator what it was lowered from, in A if it is there */
  const char *name;
  const char *unit; /* "cycle", "byte", "ps", "1", "ppm", "word" */
  const char
      *text; /* what is counted; of an operator what it was lowered from in B, if other than in A */
  const char *better; /* of counters: "lower", "higher", "neutral" */
  bool in_a, in_b;    /* an operator, a rank or a collective may be in one only */
  uint64_t a, b;
  int64_t change;              /* b - a */
  const char *a_word, *b_word; /* of the unit "word": "memory"; else NULL */
  /* Of instructions on the critical path, how many; and of the change, what their number explains:
   * the rest is that each takes longer or shorter. */
  uint64_t a_count, b_count;
  int64_t count_change;
};
VINCI_API size_t vinci_diff_row_count(const vinci_diff *diff, enum vinci_diff_table table);
/* False behind the last row. */
VINCI_API bool vinci_diff_row(const vinci_diff *diff, enum vinci_diff_table table, size_t index,
                              struct vinci_diff_row *out);

/* Where two runs part. */
enum vinci_diff_parting {
  VINCI_DIFF_PROGRAM, /* the first rows of the traces that differ; core is NULL */
  VINCI_DIFF_TIME, /* the first instructions that differ in start or end; core has executed them */
};
struct vinci_diff_point {
  const char *core;             /* "core0.veccore0" */
  const char *a, *b;            /* NULL: that side has nothing there */
  unsigned long a_line, b_line; /* of the traces; 0: not known */
};
/* False when nothing differs, or when one side is a kept result. */
VINCI_API bool vinci_diff_parting(const vinci_diff *diff, enum vinci_diff_parting which,
                                  struct vinci_diff_point *out);
/* What a reader has to know of the comparison, by index; NULL behind the last. */
VINCI_API const char *vinci_diff_note(const vinci_diff *diff, size_t index);

VINCI_API void vinci_diff_free(vinci_diff *diff);

#ifdef __cplusplus
}
#endif

#endif
