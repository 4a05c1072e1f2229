/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that outlives a run. */
#include "core/sim/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/sim/device.h"

struct kept_memory {
  struct arena arena;
  struct arena runs; /* for the models of runs, one after another */
  const struct vinci_soc *soc;
  enum vinci_memory model;
  const struct memsys_ops *ops;
  struct memsys *tags;
  struct code_caches code;
  uint64_t digest; /* of all that has changed the tags since they were empty */
  /* What has passed and is not yet in the tags: ranges, and how many of these pass side by side. */
  struct kept_range *due;
  size_t *groups;
  size_t due_count, group_count, room;
};

/* More than a cache of 32 KiB has lines for. */
enum { KEPT_KERNELS = 4096 };

enum vinci_status kept_create(const struct vinci_soc *soc, enum vinci_memory memory,
                              struct kept_memory **out, struct vinci_diag *diag) {
  *out = NULL;
  if (memory == VINCI_MEMORY_AUTO)
    return diag_error(diag, VINCI_E_USAGE,
                      "memory that outlives a run is flat or cycle, not auto: both models would "
                      "have to keep L2");
  struct kept_memory *kept = calloc(1, sizeof *kept);
  *out = kept;
  if (kept) {
    kept->soc = soc;
    kept->model = memory;
    kept->digest = digest_word(soc_digest(soc), memory);
    kept->ops = registry_memory(memory, VINCI_NETWORK_PACKET).memory;
    kept->tags = kept->ops->create_tags(&kept->arena, soc, (uint64_t)soc->hbm_bytes);
  }
  if (kept && kept->tags && code_create(&kept->code, &kept->arena, soc, KEPT_KERNELS))
    return VINCI_OK;
  enum vinci_status status = kept ? memory_not_created(soc, &kept->arena, diag)
                                  : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  kept_free(kept);
  *out = NULL;
  return status;
}

void kept_free(struct kept_memory *kept) {
  if (kept) {
    arena_free(&kept->arena);
    arena_free(&kept->runs);
    free(kept->due);
    free(kept->groups);
  }
  free(kept);
}

/* ---- what passes: into the tags once somebody needs to know what these hold ---- */

enum { PASS_STEPS = 64 };

static void pass_now(struct kept_memory *kept, const struct kept_range *ranges, size_t count) {
  for (uint64_t step = 0; step < PASS_STEPS; step++)
    for (size_t i = 0; i < count; i++) {
      uint64_t from = ranges[i].bytes * step / PASS_STEPS;
      uint64_t to = ranges[i].bytes * (step + 1) / PASS_STEPS;
      if (to > from)
        kept->ops->pass(kept->tags, ranges[i].address + from, to - from, ranges[i].write);
    }
}

/* Brings the tags up to date. */
static void settle(struct kept_memory *kept) {
  const struct kept_range *ranges = kept->due;
  for (size_t i = 0; i < kept->group_count; ranges += kept->groups[i++])
    pass_now(kept, ranges, kept->groups[i]);
  kept->due_count = kept->group_count = 0;
}

static bool grow(struct kept_memory *kept, size_t count) {
  size_t room = 2 * (kept->room + count);
  if (kept->due_count + count <= kept->room)
    return true;
  struct kept_range *due = realloc(kept->due, room * sizeof *due);
  kept->due = due ? due : kept->due;
  size_t *groups = realloc(kept->groups, room * sizeof *groups);
  kept->groups = groups ? groups : kept->groups;
  if (!due || !groups)
    return false;
  kept->room = room;
  return true;
}

void kept_pass_ranges(struct kept_memory *kept, const struct kept_range *ranges, size_t count) {
  if (count == 0)
    return;
  uint64_t digest = digest_word(kept->digest, count);
  for (size_t i = 0; i < count; i++) {
    digest = digest_word(digest, ranges[i].address);
    digest = digest_word(digest, ranges[i].bytes * 2 + ranges[i].write);
  }
  kept->digest = digest;
  if (!grow(kept, count)) { /* slower, and no less right */
    settle(kept);
    pass_now(kept, ranges, count);
    return;
  }
  memcpy(kept->due + kept->due_count, ranges, count * sizeof *ranges);
  kept->due_count += count;
  kept->groups[kept->group_count++] = count;
}

void kept_pass(struct kept_memory *kept, uint64_t address, uint64_t bytes, bool write) {
  kept_pass_ranges(kept, &(struct kept_range){address, bytes, write}, 1);
}

struct kept_bytes kept_find(struct kept_memory *kept, uint64_t address, uint64_t bytes) {
  struct kept_bytes found = {0};
  settle(kept);
  kept->ops->find(kept->tags, address, bytes, &found.valid, &found.dirty);
  return found;
}

void kept_copy(struct kept_memory *kept, struct kept_memory *from) {
  settle(from);
  kept->ops->copy(kept->tags, from->tags);
  code_copy(&kept->code, &from->code);
  kept->digest = from->digest;
  kept->due_count = kept->group_count = 0;
}

uint64_t kept_digest(const struct kept_memory *kept) { return kept->digest; }

uint64_t kept_state(struct kept_memory *kept) {
  settle(kept);
  return code_digest(&kept->code, kept->ops->digest(kept->tags));
}

void kept_drop_code(struct kept_memory *kept) { code_clear(&kept->code); }

void kept_clean(struct kept_memory *kept) {
  settle(kept);
  kept->ops->clean(kept->tags);
  kept->digest = digest_word(kept->digest, 0); /* no range: groups have at least 1 */
}

void kept_lend(struct kept_memory *kept, const struct vinci_trace *trace, const uint64_t *addresses,
               const struct vinci_run_options *options, struct device_kept *out) {
  code_start(&kept->code, options->code_found_ppm);
  *out = (struct device_kept){
      .tags = kept->tags, .code = &kept->code, .addresses = addresses, .arena = &kept->runs};
  settle(kept);
  kept->digest = digest_word(digest_word(kept->digest, UINT64_MAX), options->network);
  kept->digest = digest_word(kept->digest, trace->digest);
  if (addresses)
    kept->digest = digest_bytes(kept->digest, addresses, trace->tensor_count * sizeof *addresses);
}

enum vinci_status kept_run(struct kept_memory *kept, const struct vinci_trace *trace,
                           const uint64_t *addresses, const struct vinci_run_options *options,
                           struct vinci_result **out, struct vinci_diag *diag) {
  struct vinci_run_options own = *options;
  own.memory = kept->model;
  own.l2_start = VINCI_L2_EMPTY;
  struct device_kept memory;
  kept_lend(kept, trace, addresses, &own, &memory);
  return device_run(kept->soc, trace, &own, &memory, out, diag);
}

/* ---- launches in a row -------------------------------------------------------------- */

/* Tells the caller how far all launches are. */
struct launches {
  const struct vinci_run_options *options;
  uint32_t done;
};

static bool tell(void *context, uint64_t cycles, unsigned done_permille) {
  const struct launches *launches = context;
  const struct vinci_run_options *options = launches->options;
  uint64_t all = (launches->done * UINT64_C(1000) + done_permille) / options->repeat;
  return options->progress(options->progress_context, cycles, (unsigned)all);
}

/* The launches before the last are not recorded. */
static enum vinci_status run_launches(struct kept_memory *kept, const struct vinci_trace *trace,
                                      const struct vinci_run_options *options,
                                      struct vinci_result **out, struct vinci_diag *diag) {
  struct launches launches = {.options = options};
  struct vinci_run_options last = *options;
  last.repeat = 1;
  last.progress = options->progress ? tell : NULL;
  last.progress_context = &launches;
  struct vinci_run_options before = last;
  before.max_events = 0;
  for (; launches.done + 1 < options->repeat; launches.done++) {
    enum vinci_status status = kept_run(kept, trace, NULL, &before, out, diag);
    if (status != VINCI_OK)
      return status;
    vinci_result_free(*out);
  }
  return kept_run(kept, trace, NULL, &last, out, diag);
}

enum vinci_status kept_repeat(const struct vinci_soc *soc, const struct vinci_trace *trace,
                              const struct vinci_run_options *options, struct vinci_result **out,
                              struct vinci_diag *diag) {
  struct kept_memory *kept;
  *out = NULL;
  if (options->l2_start != VINCI_L2_EMPTY)
    return diag_error(diag, VINCI_E_USAGE,
                      "launches in a row find in L2 what those before have left: leave out the "
                      "state of L2");
  enum vinci_status status = kept_create(soc, options->memory, &kept, diag);
  if (status != VINCI_OK)
    return status;
  status = run_launches(kept, trace, options, out, diag);
  if (*out)
    (*out)->repeat = options->repeat;
  kept_free(kept);
  return status;
}
