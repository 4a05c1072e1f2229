/* SPDX-License-Identifier: Apache-2.0 */
/* Groupings of gradients: the best of all, that with fewest sums, all by enumeration. */
#include "devices/plan/buckets.h"

#include "core/base/arith.h"

void buckets_fixed(const struct bucket_step *step, uint64_t most_bytes, bool *ends) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < step->count; i++) {
    bytes += step->bytes[i + 1] - step->bytes[i];
    ends[i] = bytes >= most_bytes || i + 1 == step->count;
    bytes = ends[i] ? 0 : bytes;
  }
}

/* When the sums of the first i gradients end at the earliest; from[i]: where the last one begins.
 */
static enum vinci_status find_ends(const struct bucket_step *step, bucket_cost *cost, void *context,
                                   uint64_t *ended, size_t *from, struct vinci_diag *diag) {
  for (size_t i = 1; i <= step->count; i++) {
    ended[i] = UINT64_MAX;
    for (size_t j = 0; j < i; j++) {
      uint64_t ps;
      enum vinci_status status = cost(context, step->bytes[i] - step->bytes[j], &ps, diag);
      if (status != VINCI_OK)
        return status;
      uint64_t at = max_u64(step->ready_ps[i], ended[j]) + ps;
      if (at < ended[i]) {
        ended[i] = at;
        from[i] = j;
      }
    }
  }
  return VINCI_OK;
}

enum vinci_status buckets_best(const struct bucket_step *step, bucket_cost *cost, void *context,
                               struct arena *arena, bool *ends, uint64_t *end_ps,
                               struct vinci_diag *diag) {
  uint64_t *ended = ARENA_ARRAY(arena, uint64_t, step->count + 1);
  size_t *from = ARENA_ARRAY(arena, size_t, step->count + 1);
  if (!ended || !from)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
  enum vinci_status status = find_ends(step, cost, context, ended, from, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; i < step->count; i++)
    ends[i] = false;
  for (size_t i = step->count; i > 0; i = from[i])
    ends[i - 1] = true;
  *end_ps = ended[step->count];
  return VINCI_OK;
}

/* ---- fewest sums ---------------------------------------------------------------------------- */

/* Groupings with the same number of sums at the end. */
struct layer {
  const struct layer *after; /* with a sum less */
  uint64_t *limit_ps;        /* before which the sums of the first i have to end; 0: impossible */
  size_t *to;                /* where the sum that begins at i ends */
};

static struct layer *new_layer(const struct bucket_step *step, const struct layer *after,
                               struct arena *arena) {
  struct layer *layer = ARENA_NEW(arena, struct layer);
  if (!layer)
    return NULL;
  layer->after = after;
  layer->limit_ps = ARENA_ARRAY(arena, uint64_t, step->count + 1);
  layer->to = ARENA_ARRAY(arena, size_t, step->count + 1);
  return layer->limit_ps && layer->to ? layer : NULL;
}

/* One more sum before those of layer->after: from each j to each i. */
static enum vinci_status fill_layer(const struct bucket_step *step, bucket_cost *cost,
                                    void *context, const uint64_t *ended, struct layer *layer,
                                    struct vinci_diag *diag) {
  for (size_t i = 1; i <= step->count; i++) {
    uint64_t limit = layer->after->limit_ps[i];
    for (size_t j = 0; limit > 0 && j < i; j++) {
      uint64_t ps;
      enum vinci_status status = cost(context, step->bytes[i] - step->bytes[j], &ps, diag);
      if (status != VINCI_OK)
        return status;
      if (limit <= ps || limit - ps <= max_u64(step->ready_ps[i], ended[j]) ||
          limit - ps <= layer->limit_ps[j])
        continue;
      layer->limit_ps[j] = limit - ps;
      layer->to[j] = i;
    }
  }
  return VINCI_OK;
}

enum vinci_status buckets_fewest(const struct bucket_step *step, bucket_cost *cost, void *context,
                                 uint64_t end_ps, struct arena *arena, bool *ends,
                                 struct vinci_diag *diag) {
  uint64_t *ended = ARENA_ARRAY(arena, uint64_t, step->count + 1);
  size_t *from = ARENA_ARRAY(arena, size_t, step->count + 1);
  struct layer *layer = new_layer(step, NULL, arena);
  if (!ended || !from || !layer)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
  enum vinci_status status = find_ends(step, cost, context, ended, from, diag);
  layer->limit_ps[step->count] = end_ps + 1;
  for (size_t sums = 0; status == VINCI_OK && layer->to[0] == 0 && sums < step->count; sums++) {
    layer = new_layer(step, layer, arena);
    if (!layer)
      return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
    status = fill_layer(step, cost, context, ended, layer, diag);
  }
  if (status != VINCI_OK || layer->to[0] == 0)
    return status; /* no grouping ends by then: that of the caller stays */
  for (size_t i = 0; i < step->count; i++)
    ends[i] = false;
  const struct layer *at = layer;
  for (size_t i = 0; i < step->count; at = at->after) {
    i = at->to[i];
    ends[i - 1] = true;
  }
  return VINCI_OK;
}

enum vinci_status buckets_enumerate(const struct bucket_step *step, bucket_cost *cost,
                                    void *context, uint64_t *end_ps, struct vinci_diag *diag) {
  *end_ps = UINT64_MAX;
  for (uint32_t cuts = 0; cuts < UINT32_C(1) << (step->count - 1); cuts++) {
    uint64_t at = 0;
    for (size_t i = 1, j = 0; i <= step->count; i++) {
      uint64_t ps;
      if (i < step->count && !((cuts >> (i - 1)) & 1))
        continue;
      enum vinci_status status = cost(context, step->bytes[i] - step->bytes[j], &ps, diag);
      if (status != VINCI_OK)
        return status;
      at = max_u64(at, step->ready_ps[i]) + ps;
      j = i;
    }
    *end_ps = min_u64(*end_ps, at);
  }
  return VINCI_OK;
}

enum vinci_status buckets_place(const struct bucket_step *step, const bool *ends, bucket_cost *cost,
                                void *context, struct vinci_bucket *out, size_t *count,
                                struct vinci_diag *diag) {
  uint64_t at = 0;
  *count = 0;
  for (size_t i = 0, first = 0; i < step->count; i++) {
    uint64_t ps;
    if (!ends[i])
      continue;
    struct vinci_bucket *bucket = &out[(*count)++];
    *bucket = (struct vinci_bucket){.first = first,
                                    .count = i + 1 - first,
                                    .bytes = step->bytes[i + 1] - step->bytes[first],
                                    .ready_ps = step->ready_ps[i + 1]};
    enum vinci_status status = cost(context, bucket->bytes, &ps, diag);
    if (status != VINCI_OK)
      return status;
    bucket->start_ps = max_u64(at, bucket->ready_ps);
    at = bucket->end_ps = bucket->start_ps + ps;
    first = i + 1;
  }
  return VINCI_OK;
}
