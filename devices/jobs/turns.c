/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a job: other algorithms of collectives, sums that are made together. */
#include "devices/jobs/turns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/shell.h"

#define MIB (UINT64_C(1) << 20)
enum { MESH_RANKS_MAX = 64 }; /* where parts are not equal, a mesh of more takes minutes */

/* ---- the operations of a job ---------------------------------------------------------------- */

/* Each stream of each program once; `next` continues where the last call ended. */
struct walk {
  uint32_t rank, stream;
};

static bool is_first_of_program(const struct group_job *job, uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++)
    if (job->programs[i] == job->programs[rank])
      return false;
  return true;
}

/* The operations belong to the job, which is not const here. */
static struct group_op *next_stream(const struct job *whole, struct walk *walk, uint32_t *count) {
  const struct group_job *job = &whole->job;
  for (; walk->rank < job->ranks; walk->rank++, walk->stream = 0) {
    const struct group_program *program = job->programs[walk->rank];
    if (walk->stream == 0 && !is_first_of_program(job, walk->rank))
      continue;
    if (walk->stream < program->stream_count) {
      const struct group_stream *stream = &program->streams[walk->stream++];
      *count = stream->count;
      return (struct group_op *)(uintptr_t)stream->ops;
    }
  }
  return NULL;
}

static const char *family_name(const struct job *job, const struct group_op *op) {
  const char *name = job->job.families[op->family].name;
  return name ? name : "";
}

/* "all_reduce@dp", "all_reduce" or the name of the operation. */
static bool is_meant(const struct job *job, const struct group_op *op, const char *which,
                     size_t length) {
  const char *kind = collective_op_name(op->call.op), *family = family_name(job, op);
  size_t first = strlen(kind);
  if (op->kind != GROUP_COLLECTIVE)
    return false;
  if (op->name && strlen(op->name) == length && memcmp(op->name, which, length) == 0)
    return true;
  if (length < first || memcmp(which, kind, first) != 0)
    return false;
  return length == first || (which[first] == '@' && length - first - 1 == strlen(family) &&
                             memcmp(which + first + 1, family, length - first - 1) == 0);
}

enum vinci_status job_turn_algorithm(struct job *job, const char *text, struct vinci_diag *diag) {
  const char *name = strrchr(text, '=');
  struct walk walk = {0};
  uint32_t count, found = 0;
  if (!name || name == text || !name[1]) {
    diag_error(diag, VINCI_E_USAGE, "'%s' names no algorithm", text);
    diag_hint(diag, "such as all_reduce@GROUP=ring");
    return VINCI_E_USAGE;
  }
  for (struct group_op *ops; (ops = next_stream(job, &walk, &count));)
    for (uint32_t i = 0; i < count; i++) {
      if (!is_meant(job, &ops[i], text, (size_t)(name - text)))
        continue;
      enum vinci_status status =
          collective_find(ops[i].call.op, name + 1, &ops[i].call.algorithm, diag);
      if (status != VINCI_OK)
        return diag_error(diag, VINCI_E_USAGE, "%s", diag->text);
      found++;
    }
  if (found > 0)
    return VINCI_OK;
  diag_error(diag, VINCI_E_USAGE, "the job has no collective '%.*s'", (int)(name - text), text);
  diag_hint(diag, "the name of a row collective, its op, or OP@GROUP");
  return VINCI_E_USAGE;
}

/* ---- sums together -------------------------------------------------------------------------- */

static bool may_join(const struct group_op *one, const struct group_op *next, uint64_t bytes) {
  return one && one->call.op == next->call.op && one->family == next->family &&
         one->call.algorithm == next->call.algorithm && one->call.bytes + next->call.bytes <= bytes;
}

/* The first becomes a time of the host without length, so that all others stay where they are. */
static void join(struct group_op *one, struct group_op *next) {
  next->call.bytes += one->call.bytes;
  if (one->earliest_ps > next->earliest_ps)
    next->earliest_ps = one->earliest_ps;
  one->kind = GROUP_HOST;
  one->duration_ps = 0;
}

size_t job_turn_buckets(struct job *job, uint64_t bytes) {
  struct walk walk = {0};
  uint32_t count;
  size_t joined = 0;
  for (struct group_op *ops; (ops = next_stream(job, &walk, &count));) {
    struct group_op *before = NULL;
    for (uint32_t i = 0; i < count; i++) {
      struct group_op *op = &ops[i];
      bool sums = op->kind == GROUP_COLLECTIVE && op->call.op == COLLECTIVE_ALL_REDUCE;
      if (sums && may_join(before, op, bytes)) {
        join(before, op);
        joined++;
      }
      if (sums)
        before = op;
      else if (op->kind != GROUP_WAIT && op->kind != GROUP_ALLOCATE && op->kind != GROUP_FREE)
        before = NULL;
    }
  }
  return joined;
}

/* ---- levers --------------------------------------------------------------------------------- */

struct trying {
  struct job *job;
  uint64_t end_ps;
  struct group_op *kept; /* all operations as they were */
  struct proven_list *out;
  struct vinci_diag *diag;
};

static bool keep(struct trying *trying) {
  struct walk walk = {0};
  uint32_t count;
  size_t all = 1, at = 0;
  while (next_stream(trying->job, &walk, &count))
    all += count;
  trying->kept = malloc(all * sizeof *trying->kept);
  walk = (struct walk){0};
  for (struct group_op *ops; trying->kept && (ops = next_stream(trying->job, &walk, &count));) {
    memcpy(trying->kept + at, ops, count * sizeof *ops);
    at += count;
  }
  return trying->kept != NULL;
}

static void restore(struct trying *trying) {
  struct walk walk = {0};
  uint32_t count;
  size_t at = 0;
  for (struct group_op *ops; (ops = next_stream(trying->job, &walk, &count)); at += count)
    memcpy(ops, trying->kept + at, count * sizeof *ops);
}

/* 0: the job does not run so, for example with an algorithm that needs whole servers; or it meets a
 * limit, which is kept with the lever. */
static enum vinci_status run(struct trying *trying, const struct proven *lever, uint64_t *end_ps) {
  struct arena arena = {0};
  struct group_result result = {0};
  struct vinci_diag refused = {0};
  enum vinci_status status = group_run(&trying->job->job, NULL, &arena, &result, &refused);
  *end_ps = status == VINCI_OK ? result.end_ps : 0;
  arena_free(&arena);
  restore(trying);
  if (status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(trying->diag, status, "%s", refused.text);
  if (status == VINCI_E_LIMIT)
    proven_limit(trying->out, lever, refused.text);
  return VINCI_OK;
}

/* The best of what one lever can be set to. */
struct best {
  struct proven lever;
  uint64_t end_ps; /* 0: none yet */
};

/* Runs the job as it is turned now, by the lever. */
static enum vinci_status run_for(struct trying *trying, const struct proven *lever,
                                 struct best *best) {
  uint64_t end_ps;
  enum vinci_status status = run(trying, lever, &end_ps);
  if (status == VINCI_OK && end_ps > 0 && (best->end_ps == 0 || end_ps < best->end_ps))
    *best = (struct best){*lever, end_ps};
  return status;
}

static bool takes_minutes(struct trying *trying, const struct group_op *of,
                          const struct collective_algorithm *algorithm) {
  const struct group_family *family = &trying->job->job.families[of->family];
  uint32_t most = 0;
  for (uint32_t i = 0; i < family->count; i++)
    most = family->groups[i].count > most ? family->groups[i].count : most;
  if (most <= MESH_RANKS_MAX || strcmp(algorithm->name, "mesh") != 0)
    return false;
  trying->out->untried = "algorithm mesh for groups of more than 64 devices, which takes minutes";
  return true;
}

static void keep_best(struct trying *trying, struct best *best) {
  if (best->end_ps > 0 && best->end_ps < trying->end_ps)
    proven_add(trying->out, &best->lever, trying->end_ps, best->end_ps);
}

/* "all_reduce@GROUP=NAME", and the same as an option; false: the name of the group is too long. */
static bool write_algorithm(const struct collective_algorithm *algorithm, enum collective_op op,
                            const char *family, char turn[PROVEN_CHANGE_BYTES],
                            struct proven *lever) {
  static const char option[] = "--algorithm=";
  int length = snprintf(turn, PROVEN_CHANGE_BYTES, "%s@%s=%s", collective_op_name(op), family,
                        algorithm->name);
  *lever = (struct proven){.lever = "algorithm", .origin = "measured"};
  snprintf(lever->text, sizeof lever->text, "with algorithm %s (%s) for %s of group %.64s",
           algorithm->name, algorithm->text, collective_op_name(op), family);
  memcpy(lever->change, option, sizeof option);
  return length > 0 && length < PROVEN_CHANGE_BYTES &&
         shell_write_word(lever->change + sizeof option - 1, sizeof lever->change - sizeof option,
                          turn);
}

/* The best algorithm for the collectives of one operation and group. */
static enum vinci_status try_algorithms(struct trying *trying, const struct group_op *of) {
  struct best best = {0};
  size_t count;
  enum vinci_status status = VINCI_OK;
  const struct collective_algorithm *all = collective_algorithms(&count);
  for (size_t i = 0; status == VINCI_OK && i < count; i++) {
    char turn[PROVEN_CHANGE_BYTES];
    struct vinci_diag refused = {0};
    struct proven lever;
    if (!collective_can(&all[i], of->call.op) || takes_minutes(trying, of, &all[i]) ||
        !write_algorithm(&all[i], of->call.op, family_name(trying->job, of), turn, &lever))
      continue;
    if (job_turn_algorithm(trying->job, turn, &refused) == VINCI_OK)
      status = run_for(trying, &lever, &best);
    else
      restore(trying);
  }
  keep_best(trying, &best);
  return status;
}

static bool is_seen(const struct trying *trying, const struct group_op *op, size_t before) {
  for (size_t i = 0; i < before; i++)
    if (trying->kept[i].kind == GROUP_COLLECTIVE && trying->kept[i].call.op == op->call.op &&
        trying->kept[i].family == op->family)
      return true;
  return false;
}

static enum vinci_status try_all_algorithms(struct trying *trying) {
  struct walk walk = {0};
  uint32_t count;
  size_t at = 0;
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && next_stream(trying->job, &walk, &count))
    for (uint32_t i = 0; status == VINCI_OK && i < count; i++, at++)
      if (trying->kept[at].kind == GROUP_COLLECTIVE && !is_seen(trying, &trying->kept[at], at))
        status = try_algorithms(trying, &trying->kept[at]);
  return status;
}

/* Sizes between which the best of a step lies, by the buckets of usual frameworks. */
static enum vinci_status try_buckets(struct trying *trying) {
  static const unsigned sizes[] = {4, 25, 100, 400, 1600};
  struct best best = {0};
  enum vinci_status status = VINCI_OK;
  size_t before = 0;
  for (size_t i = 0; status == VINCI_OK && i < sizeof sizes / sizeof *sizes; i++) {
    struct proven lever = {.lever = "buckets", .origin = "measured"};
    size_t joined = job_turn_buckets(trying->job, sizes[i] * MIB);
    if (joined == before) { /* the same job as that of the size before */
      restore(trying);
      continue;
    }
    before = joined;
    snprintf(lever.text, sizeof lever.text,
             "with neighbouring sums together up to %u MiB (%zu fewer)", sizes[i], joined);
    snprintf(lever.change, sizeof lever.change, "--bucket=%uMiB", sizes[i]);
    status = run_for(trying, &lever, &best);
  }
  keep_best(trying, &best);
  return status;
}

enum vinci_status job_levers_find(struct job *job, uint64_t end_ps, struct proven_list *out,
                                  struct vinci_diag *diag) {
  struct trying trying = {.job = job, .end_ps = end_ps, .out = out, .diag = diag};
  *out = (struct proven_list){0};
  if (!keep(&trying))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = try_all_algorithms(&trying);
  if (status == VINCI_OK)
    status = try_buckets(&trying);
  free(trying.kept);
  return status;
}
