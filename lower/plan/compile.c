/* SPDX-License-Identifier: Apache-2.0 */
/* The public side: an operator and its arguments become text, a trace, or a list of tilings. */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "lower/plan/choice.h"
#include "lower/plan/plan.h"
#include "lower/select/select.h"

static const char *op_name(const void *context, size_t index) {
  (void)context;
  return lower_op(index)->name;
}

enum vinci_status lower_start(struct lower_job *job, const vinci_soc *soc, const char *op,
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
  char line[2048] = "", arg[1024];
  size_t at = 0;
  for (size_t i = 0; i < job->op->key_count; i++)
    if (lower_format_arg(&job->op->keys[i], &job->value[i], arg, sizeof arg) &&
        at + strlen(arg) + 2 < sizeof line)
      at += (size_t)snprintf(line + at, sizeof line - at, " %s", arg);
  emit_comment(emit, "%s%s, for %s", job->op->name, line, job->soc->name);
}

enum vinci_status lower_problem_text(const struct vinci_soc *soc, const char *op,
                                     const char *const *args, size_t arg_count, char *text,
                                     size_t size, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct lower_job job;
  char arg[1024];
  size_t at = 0;
  text[0] = '\0';
  enum vinci_status status = lower_start(&job, soc, op, &arena, diag);
  if (status == VINCI_OK)
    status = lower_prepare(&job, args, arg_count);
  for (size_t i = 0; status == VINCI_OK && i < job.op->key_count; i++) {
    bool chosen = job.op->keys[i].tiling && !job.value[i].given;
    if (chosen || !lower_format_arg(&job.op->keys[i], &job.value[i], arg, sizeof arg))
      continue;
    if (at + strlen(arg) + 2 > size)
      status = diag_error(diag, VINCI_E_LIMIT, "the arguments of %s are longer than %zu bytes", op,
                          size);
    else
      at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "", arg);
  }
  arena_free(&arena);
  return status;
}

static bool keep_choice(const struct lower_job *job, struct arena *arena,
                        struct lower_choice *out) {
  size_t count = 0;
  for (size_t i = 0; i < job->op->key_count; i++)
    count += job->op->keys[i].tiling;
  *out = (struct lower_choice){job->cost, ARENA_ARRAY(arena, struct lower_value, count)};
  if (!out->value)
    return false;
  count = 0;
  for (size_t i = 0; i < job->op->key_count; i++)
    if (job->op->keys[i].tiling)
      out->value[count++] = job->value[i];
  return true;
}

static void take_choice(struct lower_job *job, const struct lower_choice *choice) {
  size_t count = 0;
  job->cost = choice->cost;
  for (size_t i = 0; i < job->op->key_count; i++)
    if (job->op->keys[i].tiling)
      job->value[i] = choice->value[count++];
}

/* choice: made before for the same request; NULL: none. */
static enum vinci_status make_text(const vinci_soc *soc, const char *op, const char *const *args,
                                   size_t count, const struct lower_choice *choice,
                                   struct emit *emit, struct arena *arena,
                                   struct vinci_diag *diag) {
  struct lower_job job;
  emit_start(emit, soc, arena, diag);
  emit->selection = select_for(soc);
  enum vinci_status status = lower_start(&job, soc, op, arena, diag);
  if (status == VINCI_OK)
    status = choice ? lower_prepare(&job, args, count) : lower_plan(&job, args, count);
  if (status != VINCI_OK)
    return status;
  if (choice)
    take_choice(&job, choice);
  emit_request(&job, emit);
  job.op->template->emit(&job, emit);
  emit_finish(emit);
  return emit->status;
}

uint64_t lower_program_digest(const struct lower_job *job) {
  struct arena arena = {0};
  struct vinci_diag ignored = {0};
  struct emit emit;
  emit_start(&emit, job->soc, &arena, &ignored);
  emit.selection = select_for(job->soc);
  job->op->template->emit(job, &emit);
  emit_finish(&emit);
  uint64_t digest = emit.status == VINCI_OK ? digest_string(DIGEST_SEED, emit.text) : 0;
  emit_free(&emit);
  arena_free(&arena);
  return digest;
}

static enum vinci_status compile_text(const vinci_soc *soc, const char *op, const char *const *args,
                                      size_t arg_count, const struct lower_choice *choice,
                                      char **text, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct emit emit;
  *text = NULL;
  enum vinci_status status = make_text(soc, op, args, arg_count, choice, &emit, &arena, diag);
  if (status == VINCI_OK)
    *text = emit.text;
  else
    emit_free(&emit);
  arena_free(&arena);
  return status;
}

enum vinci_status vinci_compile_text(const vinci_soc *soc, const char *op, const char *const *args,
                                     size_t arg_count, char **text, struct vinci_diag *diag) {
  return compile_text(soc, op, args, arg_count, NULL, text, diag);
}

void vinci_text_free(char *text) { free(text); }

enum vinci_status lower_compile(const vinci_soc *soc, const char *op, const char *const *args,
                                size_t arg_count, const struct lower_choice *choice,
                                vinci_trace **out, struct vinci_diag *diag) {
  char *text;
  *out = NULL;
  enum vinci_status status = compile_text(soc, op, args, arg_count, choice, &text, diag);
  if (status == VINCI_OK)
    status = vinci_trace_parse(op, text, strlen(text), soc, out, diag);
  if (status == VINCI_OK)
    (*out)->op = lower_find(op)->name;
  vinci_text_free(text);
  return status;
}

enum vinci_status vinci_compile(const vinci_soc *soc, const char *op, const char *const *args,
                                size_t arg_count, vinci_trace **out, struct vinci_diag *diag) {
  return lower_compile(soc, op, args, arg_count, NULL, out, diag);
}

/* ---- tilings ---- */

enum vinci_status lower_choose_tiling(const struct vinci_soc *soc, const char *op,
                                      const char *const *args, size_t arg_count,
                                      struct arena *arena, struct lower_choice *out,
                                      struct vinci_diag *diag) {
  struct arena own = {0};
  struct lower_job job;
  enum vinci_status status = lower_start(&job, soc, op, &own, diag);
  if (status == VINCI_OK)
    status = lower_plan(&job, args, arg_count);
  if (status == VINCI_OK && !keep_choice(&job, arena, out))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the tiling of %s", op);
  arena_free(&own);
  return status;
}

void lower_fill_tiling(const struct lower_job *job, char *text, size_t size,
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
  lower_fill_tiling(job, text, sizeof text, &tiling);
  return visitor->visit(visitor->context, &tiling);
}

enum vinci_status vinci_op_tilings(const vinci_soc *soc, const char *op, const char *const *args,
                                   size_t arg_count,
                                   bool (*visit)(void *context, const struct vinci_tiling *tiling),
                                   void *context, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct lower_job job;
  struct visitor visitor = {visit, context};
  enum vinci_status status = lower_start(&job, soc, op, &arena, diag);
  if (status == VINCI_OK)
    status = lower_prepare(&job, args, arg_count);
  if (status == VINCI_OK)
    status = lower_each_tiling(&job, false, pass_on, &visitor);
  arena_free(&arena);
  return status;
}

enum vinci_status vinci_op_tiling(const vinci_soc *soc, const char *op, const char *const *args,
                                  size_t arg_count, char *text, size_t text_size,
                                  struct vinci_tiling *out, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct lower_job job;
  enum vinci_status status = lower_start(&job, soc, op, &arena, diag);
  if (status == VINCI_OK)
    status = lower_plan(&job, args, arg_count);
  if (status == VINCI_OK)
    lower_fill_tiling(&job, text, text_size, out);
  arena_free(&arena);
  return status;
}
