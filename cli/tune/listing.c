/* SPDX-License-Identifier: Apache-2.0 */
/* Which schedules of a space are shown when fewer are asked for than the space has. */
#include <stdlib.h>

#include "cli/tune/cmd_tune.h"
#include "core/base/diag.h"

struct ranked {
  uint64_t estimate;
  size_t index;
  bool is_default;
};

static int by_number(size_t one, size_t other) { return (one > other) - (one < other); }

static int by_estimate(const void *a, const void *b) {
  const struct ranked *one = a, *other = b;
  if (one->is_default != other->is_default)
    return one->is_default ? -1 : 1;
  if (one->estimate != other->estimate)
    return one->estimate < other->estimate ? -1 : 1;
  return by_number(one->index, other->index);
}

static int by_index(const void *a, const void *b) {
  return by_number(*(const size_t *)a, *(const size_t *)b);
}

enum vinci_status tune_list(const vinci_space *space, uint64_t most, struct tune_listing *out,
                            struct vinci_diag *diag) {
  size_t all = vinci_space_count(space);
  struct ranked *ranked = calloc(all + 1, sizeof *ranked);
  *out = (struct tune_listing){.index = calloc(all + 1, sizeof *out->index),
                               .count = most > 0 && most < all ? (size_t)most : all};
  if (!ranked || !out->index) {
    free(ranked);
    free(out->index);
    out->index = NULL;
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the schedules");
  }
  for (size_t i = 0; i < all; i++)
    ranked[i] = (struct ranked){vinci_space_estimate(space, i), i, i == vinci_space_default(space)};
  qsort(ranked, all, sizeof *ranked, by_estimate);
  for (size_t i = 0; i < out->count; i++)
    out->index[i] = ranked[i].index;
  free(ranked);
  qsort(out->index, out->count, sizeof *out->index, by_index);
  while (out->chosen < out->count && out->index[out->chosen] != vinci_space_default(space))
    out->chosen++;
  return VINCI_OK;
}
