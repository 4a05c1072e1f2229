/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are several others (composite.h). */
#include "lower/plan/composite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/plan/plan.h"

enum { PARTS = 20, WORDS_MAX = 16, TEXT_BYTES = 1024 };

struct part {
  struct lower_job job;
  const struct emit_name *names;
};

struct composite {
  unsigned count;
  struct part part[PARTS];
};

static size_t split(char *text, const char *words[WORDS_MAX]) {
  size_t count = 0;
  for (char *next = text; *next && count < WORDS_MAX;) {
    size_t length = strcspn(next, " ");
    words[count++] = next;
    next += length;
    if (*next)
      *next++ = '\0';
  }
  return count;
}

/* The part is there when it can be planned. */
static enum vinci_status add(struct lower_job *job, const char *op, const struct emit_name *names,
                             const char *format, va_list arguments, struct vinci_diag *diag) {
  const char *words[WORDS_MAX];
  char text[TEXT_BYTES];
  if (!job->data && !lower_data(job, sizeof(struct composite)))
    return VINCI_E_NOMEM;
  struct composite *all = job->data;
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (all->count == PARTS || length < 0 || length >= TEXT_BYTES)
    vinci_bug("%s has more parts, or longer ones, than are expected", job->op->name);
  struct part *part = &all->part[all->count];
  part->names = names;
  part->job =
      (struct lower_job){.soc = job->soc, .op = lower_find(op), .arena = job->arena, .diag = diag};
  enum vinci_status status = lower_plan(&part->job, words, split(text, words));
  part->job.diag = job->diag;
  all->count += status == VINCI_OK;
  return status;
}

enum vinci_status composite_add(struct lower_job *job, const char *op,
                                const struct emit_name *names, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  enum vinci_status status = add(job, op, names, format, arguments, job->diag);
  va_end(arguments);
  return status;
}

bool composite_try(struct lower_job *job, const char *op, const struct emit_name *names,
                   const char *format, ...) {
  struct vinci_diag none = {0};
  va_list arguments;
  va_start(arguments, format);
  enum vinci_status status = add(job, op, names, format, arguments, &none);
  va_end(arguments);
  return status == VINCI_OK;
}

bool composite_cost(struct lower_job *job) {
  const struct composite *all = job->data;
  struct lower_cost *sum = &job->cost;
  *sum = (struct lower_cost){0};
  for (unsigned i = 0; i < all->count; i++) {
    const struct lower_cost *cost = &all->part[i].job.cost;
    sum->total_cycles += cost->total_cycles;
    sum->cube_cycles += cost->cube_cycles;
    sum->vector_cycles += cost->vector_cycles;
    sum->mte1_cycles += cost->mte1_cycles;
    sum->scalar_cycles += cost->scalar_cycles;
    sum->mte2_cycles += cost->mte2_cycles;
    sum->mte3_cycles += cost->mte3_cycles;
    sum->fix_cycles += cost->fix_cycles;
    sum->gm_bytes += cost->gm_bytes;
    sum->blocks = cost->blocks > sum->blocks ? cost->blocks : sum->blocks;
  }
  return true;
}

void composite_emit(const struct lower_job *job, struct emit *e) {
  const struct composite *all = job->data;
  e->shared = true;
  for (unsigned i = 0; i < all->count; i++) {
    const struct part *part = &all->part[i];
    e->names = part->names;
    part->job.op->template->emit(&part->job, e);
  }
  e->names = NULL;
}
