/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets of gradients for callers of the library: opens the system, and keeps what is found. */
#include <stdlib.h>
#include <string.h>

#include "devices/plan/buckets.h"
#include "scripts/systems/group_host.h"

struct vinci_buckets {
  struct arena arena;
  struct vinci_buckets_result result;
  const char *jobs[VINCI_BUCKET_PLANS];
};

static enum vinci_status check(const struct vinci_buckets_options *options,
                               struct vinci_diag *diag) {
  if (!options->system) {
    (void)diag_error(diag, VINCI_E_USAGE, "give the system of devices");
    diag_hint(diag, "'vinci group show' lists the systems");
    return VINCI_E_USAGE;
  }
  if (options->ranks < 2 || options->ranks > GROUP_DEVICES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "ranks are 2 to %u, not %u", (unsigned)GROUP_DEVICES_MAX,
                      options->ranks);
  return VINCI_OK;
}

enum vinci_status vinci_buckets_open(const char *name, const char *text, size_t length,
                                     const struct vinci_buckets_options *options,
                                     vinci_buckets **out, struct vinci_diag *diag) {
  struct group_opening opening = {.system = options->system,
                                  .data = options->data,
                                  .sets = options->sets,
                                  .set_count = options->set_count};
  *out = NULL;
  enum vinci_status status = check(options, diag);
  if (status != VINCI_OK)
    return status;
  vinci_buckets *buckets = calloc(1, sizeof *buckets);
  if (!buckets)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
  status = group_buckets_text(name, text, length, options, group_opening_find, &opening,
                              &buckets->arena, &buckets->result, buckets->jobs, diag);
  group_opening_free(&opening);
  if (status == VINCI_OK)
    *out = buckets;
  else
    vinci_buckets_free(buckets);
  return status;
}

const struct vinci_buckets_result *vinci_buckets_result(const vinci_buckets *buckets) {
  return &buckets->result;
}

const char *vinci_buckets_job(const vinci_buckets *buckets, enum vinci_bucket_plan_id plan) {
  return buckets->jobs[plan];
}

void vinci_buckets_free(vinci_buckets *buckets) {
  if (!buckets)
    return;
  arena_free(&buckets->arena);
  free(buckets);
}
