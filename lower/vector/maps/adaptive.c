/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_avg_pool: maps of up to three dimensions in a given size, channels last
 * as the vendor's kernels have them. Windows of one size, which is where the result divides the
 * map, are means of a dimension after the other, and maps of the same size a copy.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/plan/composite.h"
#include "lower/vector/maps/adaptive.h"

static const struct lower_key keys[] = {ADAPTIVE_KEYS};

enum vinci_status adaptive_check(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  if (shape->rank != ADAPTIVE_RANK || out->rank != ADAPTIVE_MAPS)
    return lower_error(job, "shape has 5 extents and out 3");
  for (unsigned i = 0; i < ADAPTIVE_MAPS; i++)
    if (shape->shape[ADAPTIVE_FIRST + i] % out->shape[i] != 0)
      return lower_error(job,
                         "windows of one size are modelled: %" PRIu64 " does not divide %" PRIu64,
                         out->shape[i], shape->shape[ADAPTIVE_FIRST + i]);
  return VINCI_OK;
}

/* Dimensions whose windows are more than one element; the last of them. */
static unsigned pooled(const struct lower_job *job, unsigned *last) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  unsigned count = 0;
  for (unsigned i = 0; i < ADAPTIVE_MAPS; i++)
    if (shape->shape[ADAPTIVE_FIRST + i] != out->shape[i]) {
      count++;
      *last = i;
    }
  return count;
}

static const char *type_of(const struct lower_job *job) {
  return dtype_name(lower_get(job, "dtype")->dtype);
}

/* Maps of the size that is wanted. */
static enum vinci_status add_copy(struct lower_job *job, const struct emit_name *names) {
  const struct lower_value *s = lower_get(job, "shape");
  return composite_add(job, "copy", names,
                       "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64 " dtype=%s",
                       s->shape[0], s->shape[1], s->shape[2], s->shape[3], s->shape[4],
                       type_of(job));
}

/* What a stage calls its input and its result: those of the operator at the ends, else workspaces.
 */
struct stage_names {
  struct emit_name names[3];
};

static const struct emit_name *stage(struct lower_job *job, const char *x, bool is_input,
                                     const char *y, bool is_result) {
  struct stage_names *stage = ARENA_NEW(job->arena, struct stage_names);
  if (!stage)
    return NULL;
  *stage = (struct stage_names){{{"x", x, is_input ? EMIT_FLAT : EMIT_HIDDEN},
                                 {"y", y, is_result ? EMIT_FLAT : EMIT_HIDDEN},
                                 {0}}};
  return stage->names;
}

static enum vinci_status no_memory(struct lower_job *job) {
  return diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
}

static const char *const workspaces[ADAPTIVE_MAPS] = {"stage1", "stage2", "stage3"};

/* Means along one dimension after the other, those between in single precision. What is behind a
 * dimension is as large as in the map. */
static enum vinci_status pool_setup(struct lower_job *job) {
  static const struct emit_name copied[] = {{"x", "x", EMIT_FLAT}, {"y", "y", EMIT_FLAT}, {0}};
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  unsigned last = 0, done = 0;
  enum vinci_status status = adaptive_check(job);
  if (status != VINCI_OK)
    return status;
  if (pooled(job, &last) == 0)
    return add_copy(job, copied);
  for (unsigned i = 0; i < ADAPTIVE_MAPS && status == VINCI_OK; i++) {
    uint64_t window = shape->shape[ADAPTIVE_FIRST + i] / out->shape[i];
    if (window == 1)
      continue;
    uint64_t before = shape->shape[0] * lower_elements(out->shape, i + 1);
    uint64_t behind = lower_elements(shape->shape + ADAPTIVE_FIRST + i + 1,
                                     ADAPTIVE_CHANNELS - ADAPTIVE_FIRST - i);
    const struct emit_name *names = stage(job, done ? workspaces[done - 1] : "x", done == 0,
                                          i == last ? "y" : workspaces[done], i == last);
    if (!names)
      return no_memory(job);
    status = composite_add(job, "reduce_mean", names,
                           "shape=%" PRIu64 "x%" PRIu64 "x%" PRIu64 " axis=1 dtype=%s out=%s",
                           before, window, behind, done ? "fp32" : type_of(job),
                           i == last ? type_of(job) : "fp32");
    done++;
  }
  return status;
}

/* Images, depth, height, width, channels on both sides. */
static bool call_pool(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank != ADAPTIVE_RANK ||
      y->rank != ADAPTIVE_RANK)
    return lower_cannot(call, "a map and a result of 5 dimensions are needed");
  lower_arg_tensor(call, x);
  lower_arg_shape(call, "out", y->shape + ADAPTIVE_FIRST, ADAPTIVE_MAPS);
  return true;
}

static const struct lower_template pool_template = COMPOSITE_TEMPLATE(pool_setup);
LOWER_OPERATOR(adaptive_avg_pool, "AdaptiveAvgPool3d",
               "y = mean of each of the equal windows that the map has for the size of y", keys,
               &pool_template, NULL, call_pool)
