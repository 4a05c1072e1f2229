/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar unit's cache of device memory: lines of 64 bytes, one cache for each core, which
 * hears of no other core and of no transfer, its own core's included. A load brings a line, which
 * stays until `dcci` gives the line up; a store is in the line, and others see the store behind
 * `dcci` (Ascend C, DataCacheCleanAndInvalid and GlobalTensor SetValue). So what is in order may
 * still be wrong:
 * - a load sees a line that is older than what was written before the load;
 * - a read finds nothing of a store that is still in a line of another core, or of its own core
 *   for transfers and `ld_dev`;
 * - a line that goes back takes along what others have written beside: a warning.
 * A cache may give up lines by itself, so a board shows such values now and then. Lines begin and
 * end with the block (assumed: kernels give up their cache at both ends). What is not in order is
 * a race, and told as such.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/check/check_run.h"
#include "core/isa/aligned.h"

enum { LINE_BYTES = 64, NO_LINE = UINT32_MAX };

/* What a core has of a line, or has had. */
struct cached_line {
  uint64_t line;       /* address through 64 */
  uint64_t dirty;      /* bytes that only this core sees */
  uint64_t old;        /* bytes that others have written since */
  uint32_t core, life; /* other than cache_core.life: given up */
  uint32_t next_dirty;
  struct order_tag store, other; /* who made the last of these bytes so */
};

struct cache_core {
  uint32_t life, first_dirty;
};

struct check_cache {
  struct cached_line *lines;
  size_t count, capacity;
  struct lookup table; /* of lines, by line */
  struct cache_core *cores;
};

/* One access to one line. */
struct line_access {
  const struct machine_step *step;
  uint64_t line, bytes; /* of the 64 */
};

bool check_cache_create(struct check_run *run) {
  run->cache = NULL;
  if (!run->trace->source)
    return true;
  struct check_cache *cache = ARENA_NEW(&run->arena, struct check_cache);
  if (!cache)
    return false;
  cache->cores = ARENA_ARRAY(&run->arena, struct cache_core, run->placement.core_count);
  for (uint32_t i = 0; cache->cores && i < run->placement.core_count; i++)
    cache->cores[i] = (struct cache_core){.life = 1, .first_dirty = NO_LINE};
  run->cache = cache;
  return cache->cores != NULL;
}

void check_cache_free(struct check_run *run) {
  if (!run->cache)
    return;
  free(run->cache->lines);
  lookup_free(&run->cache->table);
  run->cache = NULL;
}

/* ---- lines ---- */

static bool is_held(const struct check_cache *cache, const struct cached_line *line) {
  return line->life == cache->cores[line->core].life;
}

/* What a core has had of a line; NULL: nothing. */
static struct cached_line *find(const struct check_cache *cache, uint64_t line, uint32_t core) {
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&cache->table, line, &looked)) != LOOKUP_NONE;)
    if (cache->lines[at].line == line && cache->lines[at].core == core)
      return &cache->lines[at];
  return NULL;
}

/* The line in the cache of a core, brought when it is not there; NULL: memory is short. */
static struct cached_line *hold(struct check_run *run, uint64_t line, uint32_t core) {
  struct check_cache *cache = run->cache;
  struct cached_line *found = find(cache, line, core);
  if (found && is_held(cache, found))
    return found;
  if (!found && cache->count == cache->capacity) {
    size_t capacity = 2 * cache->capacity + LINE_BYTES;
    struct cached_line *more = realloc(cache->lines, capacity * sizeof *more);
    run->findings->failed |= !more;
    if (!more)
      return NULL;
    cache->lines = more;
    cache->capacity = capacity;
  }
  if (!found && !lookup_add(&cache->table, NULL, line, cache->count)) {
    run->findings->failed = true;
    return NULL;
  }
  if (!found)
    found = &cache->lines[cache->count++];
  *found = (struct cached_line){.line = line, .core = core, .life = cache->cores[core].life};
  return found;
}

/* ---- findings ---- */

static void report(struct check_run *run, const struct line_access *access, enum finding_kind kind,
                   struct order_tag earlier, uint64_t bytes) {
  struct check_finding finding = check_finding_of(run, kind, access->step);
  if (!check_wants(run, VINCI_CHECK_RACECHECK))
    return;
  finding.space = SPACE_GM;
  finding.event[0] = check_event_of_tag(run, earlier, true);
  finding.event[1].write = kind == FINDING_SHARED_LINE;
  finding.has_range = true;
  finding.address = (int64_t)(access->line * LINE_BYTES) + __builtin_ctzll(bytes);
  finding.bytes = (uint64_t)__builtin_popcountll(bytes);
  const char *text =
      kind == FINDING_STALE_LINE
          ? "the line is in the cache of the core since before that write: dcci before the load"
      : kind == FINDING_UNSEEN_STORE
          ? "the store is in the cache of its core: dcci behind the store, before the flag or "
            "signal"
          : "lines have 64 bytes and go back whole, over what another core has written beside: "
            "st_dev, or results 64 bytes apart";
  findings_detail(run->findings, findings_add(run->findings, &finding), "%s", text);
}

static bool same_block(const struct check_run *run, const struct machine_step *step,
                       struct order_tag tag) {
  return tag.core == step->core && tag.block == order_block(run->order, step->core);
}

/* Whether an access comes certainly behind what a tag stands for; where cores wait for each other
 * through memory, that is not known of other cores. */
static bool comes_behind(const struct check_run *run, const struct machine_step *step,
                         struct order_tag tag) {
  return order_before(run->order, step, tag) &&
         (same_block(run, step, tag) || !program_waits_in_memory(run->trace->source));
}

/* ---- events ---- */

/* A read of memory itself: nothing of it may still be in a cache. `own`: of this core neither. */
static void look_for_stores(struct check_run *run, const struct line_access *access, bool own) {
  const struct check_cache *cache = run->cache;
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&cache->table, access->line, &looked)) != LOOKUP_NONE;) {
    const struct cached_line *line = &cache->lines[at];
    uint64_t bytes = line->dirty & access->bytes;
    if (line->line == access->line && bytes && is_held(cache, line) &&
        (own || line->core != access->step->core) && comes_behind(run, access->step, line->store))
      report(run, access, FINDING_UNSEEN_STORE, line->store, bytes);
  }
}

/* Bytes of memory are written: caches that hold them are old from now on. */
static void make_old(const struct check_cache *cache, uint64_t line, uint64_t bytes, uint32_t but,
                     struct order_tag tag) {
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&cache->table, line, &looked)) != LOOKUP_NONE;) {
    struct cached_line *held = &cache->lines[at];
    if (held->line != line || held->core == but || !is_held(cache, held))
      continue;
    held->old |= bytes & ~held->dirty;
    held->other = tag;
  }
}

static void load_line(struct check_run *run, const struct line_access *access) {
  uint32_t core = access->step->core;
  look_for_stores(run, access, false);
  const struct cached_line *line = hold(run, access->line, core);
  if (line && line->old & access->bytes && comes_behind(run, access->step, line->other))
    report(run, access, FINDING_STALE_LINE, line->other, line->old & access->bytes);
}

/* Another core has stores in the same line, or has had them since this core has the line. */
static void look_beside(struct check_run *run, const struct line_access *access,
                        const struct cached_line *own) {
  const struct check_cache *cache = run->cache;
  size_t looked = 0;
  if (own->old & ~access->bytes && !same_block(run, access->step, own->other))
    report(run, access, FINDING_SHARED_LINE, own->other, access->bytes);
  for (size_t at; (at = lookup_next(&cache->table, access->line, &looked)) != LOOKUP_NONE;) {
    const struct cached_line *line = &cache->lines[at];
    if (line->line == access->line && line->core != own->core && is_held(cache, line) &&
        line->dirty & ~access->bytes)
      report(run, access, FINDING_SHARED_LINE, line->store, access->bytes);
  }
}

static void store_line(struct check_run *run, const struct line_access *access) {
  struct check_cache *cache = run->cache;
  struct cached_line *line = hold(run, access->line, access->step->core);
  if (!line)
    return;
  look_beside(run, access, line);
  if (line->dirty == 0) {
    line->next_dirty = cache->cores[line->core].first_dirty;
    cache->cores[line->core].first_dirty = (uint32_t)(line - cache->lines);
  }
  line->dirty |= access->bytes;
  line->old &= ~access->bytes;
  line->store = order_tag(run->order, access->step);
}

static void give_up(struct check_run *run, struct cached_line *line) {
  if (line->dirty)
    make_old(run->cache, line->line, line->dirty, line->core, line->store);
  line->dirty = line->old = 0;
}

/* All lines of a core. */
static void give_all_up(struct check_run *run, uint32_t core) {
  struct check_cache *cache = run->cache;
  struct cache_core *of = &cache->cores[core];
  for (uint32_t at = of->first_dirty; at != NO_LINE;) {
    struct cached_line *line = &cache->lines[at];
    at = line->next_dirty;
    give_up(run, line);
  }
  of->first_dirty = NO_LINE;
  of->life++;
}

void check_cache_begin_block(struct check_run *run, uint32_t core) {
  if (run->cache)
    give_all_up(run, core);
}

void check_cache_clean(struct check_run *run, const struct machine_step *step) {
  const int64_t *arg = step->inst->arg;
  if (!run->cache)
    return;
  if (arg[ACCESS_BYTES] == 0) {
    give_all_up(run, step->core);
    return;
  }
  struct cached_line *line =
      find(run->cache, (uint64_t)arg[ACCESS_ADDRESS] / LINE_BYTES, step->core);
  if (!line || !is_held(run->cache, line))
    return;
  bool listed = line->dirty != 0;
  give_up(run, line);
  line->life = 0; /* of no cache */
  if (!listed)
    return;
  struct cache_core *of = &run->cache->cores[step->core];
  uint32_t index = (uint32_t)(line - run->cache->lines), *link = &of->first_dirty;
  while (*link != index)
    link = &run->cache->lines[*link].next_dirty;
  *link = line->next_dirty;
}

/* ---- accesses ---- */

/* The bytes of a run in the line that it begins in; moves on behind them. */
static uint64_t next_bytes(int64_t *address, uint64_t *bytes) {
  uint64_t first = (uint64_t)*address % LINE_BYTES;
  uint64_t count = *bytes < LINE_BYTES - first ? *bytes : LINE_BYTES - first;
  uint64_t mask = count == LINE_BYTES ? UINT64_MAX : ((UINT64_C(1) << count) - 1) << first;
  *address += (int64_t)count;
  *bytes -= count;
  return mask;
}

void check_cache_scalar(struct check_run *run, const struct machine_step *step) {
  const struct inst *inst = step->inst;
  int64_t address = inst->arg[ACCESS_ADDRESS];
  uint64_t bytes = (uint64_t)inst->arg[ACCESS_BYTES];
  bool writes = isa_is_store((enum isa_op)inst->op);
  bool passes = run->trace->rows[inst->row].partner == PROGRAM_PASSES_CACHE ||
                isa_is_of_threads((enum isa_op)inst->op); /* their cache is another */
  if (!run->cache || (inst->arg[ACCESS_SPACE] & ACCESS_SPACES) != SPACE_GM)
    return;
  while (bytes > 0) {
    struct line_access access = {.step = step, .line = (uint64_t)address / LINE_BYTES};
    access.bytes = next_bytes(&address, &bytes);
    if (inst->arg[ACCESS_MASK] != 0)
      access.bytes = (uint64_t)inst->arg[ACCESS_MASK];
    if (passes && writes)
      make_old(run->cache, access.line, access.bytes, NO_LINE, order_tag(run->order, step));
    else if (passes)
      look_for_stores(run, &access, true);
    else if (writes)
      store_line(run, &access);
    else
      load_line(run, &access);
  }
}

struct transfer {
  struct check_run *run;
  const struct machine_step *step;
  bool writes;
};

static bool transfer_run(void *context, int64_t address, uint64_t bytes) {
  const struct transfer *transfer = context;
  struct check_run *run = transfer->run;
  while (bytes > 0) {
    struct line_access access = {.step = transfer->step, .line = (uint64_t)address / LINE_BYTES};
    access.bytes = next_bytes(&address, &bytes);
    if (transfer->writes)
      make_old(run->cache, access.line, access.bytes, NO_LINE,
               order_tag(run->order, transfer->step));
    else
      look_for_stores(run, &access, true);
  }
  return true;
}

void check_cache_transfer(struct check_run *run, const struct machine_step *step,
                          const struct inst_access *access) {
  struct transfer transfer = {run, step, access->write};
  if (!run->cache || access->space != SPACE_GM || access->bytes == 0 || run->cache->count == 0)
    return;
  if (access->runs.bytes == 0)
    (void)transfer_run(&transfer, access->address, access->bytes);
  else
    (void)inst_each_run(access, transfer_run, &transfer);
}
