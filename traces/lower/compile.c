/* SPDX-License-Identifier: Apache-2.0 */
/* The public side: an operator and its arguments become text, a trace, or a list of tilings. */
#include <stdlib.h>
#include <string.h>

#include "traces/lower/plan.h"

static const char *op_name(const void *context, size_t index) {
  (void)context;
  return lower_op(index)->name;
}

static enum vinci_status start(struct lower_job *job, const vinci_soc *soc, const char *op,
                               struct arena *arena, struct vinci_diag *diag) {
  *job = (struct lower_job){.soc = soc, .op = lower_find(op), .arena = arena, .diag = diag};
  if (job->op)
    return VINCI_OK;
  enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "unknown operator '%s'", op);
  const char *near = diag_nearest(op, lower_op_count(), op_name, NULL);
  const struct lower_op *vendor = lower_find_vendor(op);
  if (vendor)
    diag_hint(diag, "%s is what profiles call the operator '%s'", op, vendor->name);
  else if (near)
    diag_hint(diag, "did you mean '%s'?", near);
  else
    diag_hint(diag, "'vinci compile --list' shows all of them");
  return status;
}

/* What was asked for and what was chosen, at the head of the text. */
static void emit_request(const struct lower_job *job, struct emit *emit) {
  char line[1024] = "", arg[256];
  size_t at = 0;
  for (size_t i = 0; i < job->op->key_count; i++)
    if (lower_format_arg(&job->op->keys[i], &job->value[i], arg, sizeof arg) &&
        at + strlen(arg) + 2 < sizeof line)
      at += (size_t)snprintf(line + at, sizeof line - at, " %s", arg);
  emit_comment(emit, "%s%s, for %s", job->op->name, line, job->soc->name);
}

static enum vinci_status make_text(const vinci_soc *soc, const char *op, const char *const *args,
                                   size_t count, struct emit *emit, struct arena *arena,
                                   struct vinci_diag *diag) {
  struct lower_job job;
  emit_start(emit, soc, arena, diag);
  enum vinci_status status = start(&job, soc, op, arena, diag);
  if (status == VINCI_OK)
    status = lower_plan(&job, args, count);
  if (status != VINCI_OK)
    return status;
  emit_request(&job, emit);
  job.op->template->emit(&job, emit);
  return emit->status;
}

enum vinci_status vinci_compile_text(const vinci_soc *soc, const char *op, const char *const *args,
                                     size_t arg_count, char **text, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct emit emit;
  *text = NULL;
  enum vinci_status status = make_text(soc, op, args, arg_count, &emit, &arena, diag);
  if (status == VINCI_OK)
    *text = emit.text;
  else
    emit_free(&emit);
  arena_free(&arena);
  return status;
}

void vinci_text_free(char *text) { free(text); }

enum vinci_status vinci_compile(const vinci_soc *soc, const char *op, const char *const *args,
                                size_t arg_count, vinci_trace **out, struct vinci_diag *diag) {
  char *text;
  *out = NULL;
  enum vinci_status status = vinci_compile_text(soc, op, args, arg_count, &text, diag);
  if (status == VINCI_OK)
    status = vinci_trace_parse(op, text, strlen(text), soc, out, diag);
  if (status == VINCI_OK)
    (*out)->op = lower_find(op)->name;
  vinci_text_free(text);
  return status;
}

/* ---- tilings ---- */

static void fill_tiling(const struct lower_job *job, char *text, size_t size,
                        struct vinci_tiling *tiling) {
  char arg[256];
  size_t at = 0;
  text[0] = '\0';
  for (size_t i = 0; i < job->op->key_count; i++)
    if (job->op->keys[i].tiling &&
        lower_format_arg(&job->op->keys[i], &job->value[i], arg, sizeof arg) &&
        at + strlen(arg) + 2 < size)
      at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "", arg);
  const struct lower_cost *cost = &job->cost;
  *tiling = (struct vinci_tiling){
      .args = text,
      .blocks = cost->blocks,
      .total_cycles = cost->total_cycles,
      .cube_cycles = cost->cube_cycles,
      .vector_cycles = cost->vector_cycles,
      .mte1_cycles = cost->mte1_cycles,
      .mte2_cycles = cost->mte2_cycles,
      .mte3_cycles = cost->mte3_cycles,
      .fix_cycles = cost->fix_cycles,
      .gm_bytes = cost->gm_bytes,
  };
}

struct visitor {
  bool (*visit)(void *context, const struct vinci_tiling *tiling);
  void *context;
};

static bool pass_on(struct lower_job *job, void *context) {
  const struct visitor *visitor = context;
  struct vinci_tiling tiling;
  char text[512];
  fill_tiling(job, text, sizeof text, &tiling);
  return visitor->visit(visitor->context, &tiling);
}

enum vinci_status vinci_op_tilings(const vinci_soc *soc, const char *op, const char *const *args,
                                   size_t arg_count,
                                   bool (*visit)(void *context, const struct vinci_tiling *tiling),
                                   void *context, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct lower_job job;
  struct visitor visitor = {visit, context};
  enum vinci_status status = start(&job, soc, op, &arena, diag);
  if (status == VINCI_OK)
    status = lower_prepare(&job, args, arg_count);
  if (status == VINCI_OK)
    lower_each_tiling(&job, false, pass_on, &visitor);
  arena_free(&arena);
  return status;
}

enum vinci_status vinci_op_tiling(const vinci_soc *soc, const char *op, const char *const *args,
                                  size_t arg_count, char *text, size_t text_size,
                                  struct vinci_tiling *out, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct lower_job job;
  enum vinci_status status = start(&job, soc, op, &arena, diag);
  if (status == VINCI_OK)
    status = lower_plan(&job, args, arg_count);
  if (status == VINCI_OK)
    fill_tiling(&job, text, text_size, out);
  arena_free(&arena);
  return status;
}
