/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the report share. */
#ifndef VINCI_TRACES_EXPORT_TEXT_H
#define VINCI_TRACES_EXPORT_TEXT_H

#include "core/base/sheet.h"
#include "core/result/critical.h"
#include "traces/export/export.h"

/* Why a run took its time: the critical path and its causes. */
struct text_causes {
  struct critical_path path;
  struct critical_turn turns[CRITICAL_TURNS_MAX];
  size_t count; /* 0: no instructions were kept */
};

/* "label: text" in lines that begin under the label. */
/* How exact the duration is (text_exact.c). */
void text_exactness(const struct vinci_result *result, FILE *out);
void text_wrapped(const char *label, const char *text, FILE *out);
/* A cell "61.2 %". */
void text_percent(struct sheet *sheet, uint64_t part, uint64_t whole);

VINCI_MUST_CHECK enum vinci_status text_find_causes(const struct vinci_result *result,
                                                    struct text_causes *causes,
                                                    struct vinci_diag *diag);
/* The line behind the bound: the largest cause, the number to turn, what that is expected to save.
 */
void text_cause(const struct vinci_result *result, const struct text_causes *causes, FILE *out);
/* Tables: causes on the critical path, and of the busy cycles of each pipe. */
void text_causes(const struct vinci_result *result, const struct text_causes *causes, FILE *out);
/* What the cubes or the vector units of a chip did in the type that took most of their cycles. */
struct text_unit {
  enum dtype type;
  uint64_t units;      /* of the whole chip */
  uint64_t operations; /* a multiply-accumulate counts as 2 */
  uint128 peak;        /* operations per second of all units */
};
/* False when the units of the pipe did nothing. */
bool text_find_unit(const struct vinci_result *result, enum pipe pipe, struct text_unit *unit);
/* Arithmetic of the run against the peak of the whole chip. */
void text_compute(const struct vinci_result *result, FILE *out);

#endif
