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

struct opening {
  const struct vinci_buckets_options *options;
  struct group_description *group;
  vinci_soc *soc;
};

static enum vinci_status find_system(void *context, const char *name, uint32_t devices,
                                     const struct group_system **out, const vinci_soc **soc,
                                     struct vinci_diag *diag) {
  struct opening *opening = context;
  const struct vinci_buckets_options *options = opening->options;
  (void)name;
  enum vinci_status status = group_host_open(options->system, options->data, options->sets,
                                             options->set_count, devices, &opening->group, diag);
  if (status == VINCI_OK && soc)
    status = vinci_soc_load(opening->group->chip, options->data, &opening->soc, diag);
  if (status != VINCI_OK)
    return status;
  *out = &opening->group->system;
  if (soc)
    *soc = opening->soc;
  return VINCI_OK;
}

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
  struct opening opening = {.options = options};
  *out = NULL;
  enum vinci_status status = check(options, diag);
  if (status != VINCI_OK)
    return status;
  vinci_buckets *buckets = calloc(1, sizeof *buckets);
  if (!buckets)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for buckets");
  status = group_buckets_text(name, text, length, options, find_system, &opening, &buckets->arena,
                              &buckets->result, buckets->jobs, diag);
  group_host_free(opening.group);
  vinci_soc_free(opening.soc);
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
