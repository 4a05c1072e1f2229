/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing a tiling: every candidate of the operator, with the keys that were given in place of
 * its own, is judged by the closed-form cost; the first of the cheapest legal ones stays.
 */
#include <string.h>

#include "core/base/arith.h"
#include "lower/estimate/estimate.h"
#include "lower/plan/plan.h"

/* ---- tilings that were tried ---- */

/*
 * Different candidates often end in one tiling, as blocks are made even. Those tried before are
 * passed over; a full set only means that some are tried again.
 */
enum { TRIED_SLOTS = 4096, TRIED_MAX = TRIED_SLOTS / 2 };

struct tried {
  uint64_t digest[TRIED_SLOTS]; /* 0: free */
  unsigned count;
};

static uint64_t mix(uint64_t digest, uint64_t value) {
  digest = (digest ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return digest ^ digest >> 29;
}

static uint64_t mix_value(uint64_t digest, const struct lower_key *key,
                          const struct lower_value *value) {
  if (!value->present)
    return mix(digest, 0);
  uint64_t number;
  switch (key->kind) {
  case LOWER_SIZE:
    return mix(digest, value->size + 1);
  case LOWER_SHAPE:
    for (unsigned i = 0; i < value->rank; i++)
      digest = mix(digest, value->shape[i]);
    return mix(digest, value->rank + 1);
  case LOWER_NUMBER:
    memcpy(&number, &value->number, sizeof number);
    return mix(digest, number);
  default:
    return mix(digest, value->word + 1);
  }
}

/* Whether a tiling comes for the first time. */
static bool is_new(struct tried *tried, uint64_t digest) {
  size_t slot = digest % TRIED_SLOTS;
  for (; tried->digest[slot]; slot = (slot + 1) % TRIED_SLOTS)
    if (tried->digest[slot] == digest)
      return false;
  if (tried->count < TRIED_MAX) {
    tried->digest[slot] = digest;
    tried->count++;
  }
  return true;
}

/* The key that says how many cores, of the cube or of the vector unit, share the work; key_count:
 * there is none. */
static size_t cores_key(const struct lower_op *op, bool of_cube) {
  size_t i = 0;
  while (i < op->key_count && !(of_cube ? op->keys[i].cube_cores : op->keys[i].cores))
    i++;
  return i;
}

/* The tilings of one operator as they are visited. */
struct walk {
  const struct lower_value *given;
  lower_visit visit;
  void *context;
  size_t tiling[LOWER_KEYS_MAX], tiling_count; /* the keys that make a tiling */
  bool cheaper_only;                           /* what is not the cheapest may be passed over */
  bool stopped;                                /* the visitor has seen enough */
  bool in_steps; /* with cheaper_only: a tiling has to be cheaper by a part, 1 / WORTH_IT */
  uint64_t cheapest_cycles;
  struct tried tried;
};

/* A tiling of a candidate, one with fewer cores, which gets no fewer ones of its own, and one that
 * was passed on, whatever the number of cores that was asked for. */
enum { AS_CANDIDATE = 1, WITH_FEWER_CORES = 2, AS_VISITED = 3 };

static uint64_t tiling_digest(const struct lower_job *job, const struct walk *walk,
                              uint64_t start) {
  uint64_t digest = mix(start, start == AS_VISITED ? 0 : job->cores);
  for (size_t i = 0; i < walk->tiling_count; i++)
    digest = mix_value(digest, &job->op->keys[walk->tiling[i]], &job->value[walk->tiling[i]]);
  return digest ? digest : 1;
}

/* The keys that were given win over a candidate's; 0 blocks are as many as the candidate has. */
static void keep_given(struct lower_job *job, const struct walk *walk) {
  const struct lower_value *given = walk->given;
  for (size_t k = 0; k < walk->tiling_count; k++) {
    size_t i = walk->tiling[k];
    const struct lower_key *key = &job->op->keys[i];
    if (!given[i].given)
      continue;
    if (key->kind == LOWER_SIZE && key->choices && given[i].size == 0)
      job->value[i].given = true;
    else
      job->value[i] = given[i];
  }
}

/*
 * With in_steps, the first tilings are those that one would rather have: of many cores, with large
 * tiles. Others are chosen where they save half a per cent: estimates of work that waits for device
 * memory hardly differ.
 */
enum { WORTH_IT = 100 };

static uint64_t enough_cycles(const struct walk *walk) {
  uint64_t cheapest = walk->cheapest_cycles;
  if (!walk->cheaper_only || cheapest == UINT64_MAX)
    return UINT64_MAX;
  return walk->in_steps ? cheapest - cheapest / WORTH_IT : cheapest;
}

static void consider(struct lower_job *job, struct walk *walk) {
  job->cost = (struct lower_cost){0};
  job->enough_cycles = enough_cycles(walk);
  if (!job->op->template->cost(job) || job->cost.total_cycles >= job->enough_cycles)
    return;
  /* Numbers of cores that all have too many for the work end in one tiling. */
  if (!walk->cheaper_only && !is_new(&walk->tried, tiling_digest(job, walk, AS_VISITED)))
    return;
  walk->cheapest_cycles = min_u64(walk->cheapest_cycles, job->cost.total_cycles);
  walk->stopped = !walk->visit(job, walk->context);
}

/* ---- cube operators: shares that cores take in turns ---- */

/* Where the launch of all cores takes less than this part of the time, none is left out. */
enum { LAUNCH_SHARE = 50 };

/*
 * As many cores as take the shares in whole turns, which does not depend on how many the chip has:
 * a larger chip has every choice of a smaller chip.
 */
static void consider_fewer_turns(struct lower_job *job, struct walk *walk) {
  size_t key = cores_key(job->op, true);
  uint64_t shares = job->cost.shares, all = job->cost.blocks;
  uint64_t share_cycles = job->cost.share_cycles;
  uint64_t launch = start_spread_cycles(job->soc, KERNEL_CUBE, all), total = job->cost.total_cycles;
  if (key == job->op->key_count || walk->given[key].given || shares == 0 || all < 2 ||
      launch * LAUNCH_SHARE < total)
    return;
  for (uint64_t turns = ceil_div(shares, all); turns <= shares && !walk->stopped;
       turns += 1 + turns / 4) {
    uint64_t cores = ceil_div(shares, turns);
    if (walk->cheaper_only && ceil_div(shares, cores) * share_cycles >= walk->cheapest_cycles)
      return;
    job->value[key].size = cores;
    if (cores < all && is_new(&walk->tried, tiling_digest(job, walk, WITH_FEWER_CORES)))
      consider(job, walk);
  }
}

/* ---- candidates ---- */

/*
 * Candidates fill buffers: of the chip, and with operators of the cube of chips whose buffers are a
 * half and a quarter.
 */
enum { SMALLER_CHIPS = 2 };

static void halve_buffers(struct vinci_soc *soc) {
  int64_t *const sizes[] = {&soc->l1_bytes,  &soc->l0a_bytes, &soc->l0b_bytes,
                            &soc->l0c_bytes, &soc->ub_bytes,  &soc->bt_bytes};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    *sizes[i] /= 2;
}

/* The candidate of a chip; false behind the last. */
static bool set_candidate(struct lower_job *job, const struct walk *walk,
                          const struct vinci_soc *chip, size_t index) {
  const struct vinci_soc *own = job->soc;
  job->soc = chip;
  bool more = job->op->template->candidate ? job->op->template->candidate(job, index) : index == 0;
  job->soc = own;
  if (more)
    keep_given(job, walk);
  return more;
}

/*
 * The first candidates of a chip, at most `most`; returns their number. What fits a smaller chip
 * fits this one, and where little is to be done its smaller first pieces come in sooner: no chip is
 * to be slower for its larger buffers. A smaller one ends with the candidates of the chip before.
 */
static size_t visit_candidates(struct lower_job *job, struct walk *walk,
                               const struct vinci_soc *chip, size_t most) {
  size_t index = 0;
  for (; !walk->stopped && index < most && set_candidate(job, walk, chip, index); index++) {
    /* As long as none is legal, the last refusal is the one that is told. */
    if (!is_new(&walk->tried, tiling_digest(job, walk, AS_CANDIDATE)) &&
        walk->cheapest_cycles != UINT64_MAX)
      continue;
    consider(job, walk);
    if (!walk->stopped)
      consider_fewer_turns(job, walk);
  }
  return index;
}

static void visit_smaller_chips(struct lower_job *job, struct walk *walk, size_t most) {
  struct vinci_soc smaller = *job->soc;
  for (unsigned i = 0; !walk->stopped && i < SMALLER_CHIPS; i++) {
    halve_buffers(&smaller);
    most = visit_candidates(job, walk, &smaller, most);
  }
}

/* ---- vector operators: fewer cores ---- */

/* The next number below of a row: with 8 parts 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40 ...; with
 * 4 parts every other one of these. */
enum { FINE_PARTS = 8, COARSE_PARTS = 4 };

static uint64_t fewer_cores(uint64_t cores, unsigned parts) {
  uint64_t step = 1;
  while (step * parts < cores)
    step *= 2;
  return (cores - 1) / step * step;
}

static void visit_cores(struct lower_job *job, struct walk *walk, uint64_t cores) {
  if (walk->stopped || cores == 0)
    return;
  memcpy(job->value, walk->given, sizeof job->value);
  job->cores = cores;
  (void)visit_candidates(job, walk, job->soc, SIZE_MAX);
}

static void visit_all_fewer_cores(struct lower_job *job, struct walk *walk, uint64_t all) {
  for (uint64_t cores = fewer_cores(all, FINE_PARTS); cores > 0;
       cores = fewer_cores(cores, FINE_PARTS))
    visit_cores(job, walk, cores);
}

/* Every other number, then those on both sides of the best: times fall, then rise with the number
 * of cores. What was tried is passed over. */
static void visit_best_fewer_cores(struct lower_job *job, struct walk *walk, uint64_t all) {
  uint64_t best = all, above = all;
  for (uint64_t cores = fewer_cores(all, COARSE_PARTS); cores > 0;
       cores = fewer_cores(cores, COARSE_PARTS)) {
    uint64_t cheapest = walk->cheapest_cycles;
    visit_cores(job, walk, cores);
    if (walk->cheapest_cycles < cheapest)
      best = cores;
  }
  while (fewer_cores(above, FINE_PARTS) > best)
    above = fewer_cores(above, FINE_PARTS);
  if (above < all)
    visit_cores(job, walk, above);
  visit_cores(job, walk, fewer_cores(best, FINE_PARTS));
}

/*
 * All cores first, then fewer: each core more takes its time to be started and to fetch its code,
 * so that little work is done sooner by few, whose larger tiles are candidates of their own. The
 * numbers tried do not depend on the chip's, so that a chip with more cores finds what a smaller
 * one takes. Returns the number of candidates for all cores.
 */
static size_t visit_core_counts(struct lower_job *job, struct walk *walk) {
  size_t key = cores_key(job->op, false);
  bool chooses = key < job->op->key_count, open = chooses && !walk->given[key].given;
  uint64_t all = job->cores;
  if (chooses && !open && walk->given[key].size > 0)
    job->cores = min_u64(all, walk->given[key].size);
  walk->in_steps = chooses;
  size_t count = visit_candidates(job, walk, job->soc, SIZE_MAX);
  if (open)
    (walk->cheaper_only ? visit_best_fewer_cores : visit_all_fewer_cores)(job, walk, all);
  job->cores = all;
  return count;
}

enum vinci_status lower_each_tiling(struct lower_job *job, bool cheaper_only, lower_visit visit,
                                    void *context) {
  struct lower_value given[LOWER_KEYS_MAX];
  memcpy(given, job->value, sizeof given);
  struct walk walk = {.given = given,
                      .visit = visit,
                      .context = context,
                      .cheaper_only = cheaper_only,
                      .cheapest_cycles = UINT64_MAX};
  for (size_t i = 0; i < job->op->key_count; i++)
    if (job->op->keys[i].tiling)
      walk.tiling[walk.tiling_count++] = i;
  size_t count = visit_core_counts(job, &walk);
  if (cores_key(job->op, true) < job->op->key_count)
    visit_smaller_chips(job, &walk, count);
  memcpy(job->value, given, sizeof given);
  if (job->arena->short_of_memory)
    return diag_error(job->diag, VINCI_E_NOMEM, "%s: out of memory for its tilings", job->op->name);
  return VINCI_OK;
}

struct best {
  bool found;
  struct lower_value value[LOWER_KEYS_MAX];
  struct lower_cost cost;
};

static bool keep_best(struct lower_job *job, void *context) {
  struct best *best = context;
  if (best->found && job->cost.total_cycles >= best->cost.total_cycles)
    return true;
  best->found = true;
  best->cost = job->cost;
  memcpy(best->value, job->value, sizeof best->value);
  return true;
}

/* What every template takes for granted; a what-if may have taken it away. */
static enum vinci_status check_chip(struct lower_job *job) {
  enum { FLAG_IDS = 4 }; /* as many as the chip with the fewest has */
  static const enum path paths[] = {PATH_GM_UB, PATH_UB_GM};
  const struct vinci_soc *soc = job->soc;
  const enum core_kind kinds[] = {emit_cube_core(soc), emit_vector_core(soc)};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (soc_core_count(soc, kinds[i]) == 0)
      return lower_error(job, "%s has no %s cores", soc->name, core_kind_name(kinds[i]));
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (soc->path[paths[i]].mbytes_per_cycle == 0)
      return lower_error(job, "%s has no path %s", soc->name, path_name(paths[i]));
  if (soc->flag_ids < FLAG_IDS)
    return lower_error(job, "operators take %d flag ids between two pipes, %s has %d", FLAG_IDS,
                       soc->name, (int)soc->flag_ids);
  return VINCI_OK;
}

enum vinci_status lower_prepare(struct lower_job *job, const char *const *args, size_t count) {
  enum vinci_status status = check_chip(job);
  job->cores = soc_core_count(job->soc, emit_vector_core(job->soc));
  if (status == VINCI_OK)
    status = lower_parse_args(job, args, count);
  if (status == VINCI_OK && job->op->template->setup)
    status = job->op->template->setup(job);
  return status;
}

enum vinci_status lower_plan(struct lower_job *job, const char *const *args, size_t count) {
  struct best best = {.found = false};
  enum vinci_status status = lower_prepare(job, args, count);
  if (status != VINCI_OK)
    return status;
  status = lower_each_tiling(job, true, keep_best, &best);
  if (status != VINCI_OK)
    return status;
  if (!best.found)
    return lower_error(job, "no legal tiling: %s", *job->reason ? job->reason : "none is known");
  memcpy(job->value, best.value, sizeof job->value);
  job->cost = best.cost;
  return VINCI_OK;
}
