/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of the profiler: what a run tells is sorted by rank, and each rank is written alone. */
#include "devices/exchange/profiler.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "traces/export/export.h"

enum { PATH_BYTES = 4096, HASH_TAIL = 1000 };

const char *const profile_link_names[LINKS + 1] = {
    [LINK_RDMA] = "RDMA", [LINK_HCCS] = "HCCS", [LINK_PCIE] = "PCIE",
    [LINK_SDMA] = "SDMA", [LINK_SIO] = "SIO",   [LINK_LOCAL] = "LOCAL"};

/* ---- what a run tells ------------------------------------------------------------------------ */

void profile_keep_moment(void *context, const struct group_moment *moment) {
  struct job_profile *profile = context;
  job_keep_moment(&profile->moments, moment);
}

void profile_keep_move(void *context, const struct group_transfer *moved) {
  struct job_profile *profile = context;
  if (profile->move_count == profile->move_capacity) {
    size_t capacity = profile->move_capacity ? 2 * profile->move_capacity : 1024;
    struct profile_move *moves = realloc(profile->moves, capacity * sizeof *moves);
    if (!moves) {
      profile->moments.short_of_memory = true;
      return;
    }
    profile->moves = moves;
    profile->move_capacity = capacity;
  }
  profile->moves[profile->move_count++] = (struct profile_move){.rank = moved->from,
                                                                .group = moved->group,
                                                                .turn = moved->turn,
                                                                .peer = moved->to,
                                                                .bytes = moved->step->bytes,
                                                                .start_ps = moved->start_ps,
                                                                .end_ps = moved->end_ps};
}

void profile_free(struct job_profile *profile) {
  free(profile->moments.items);
  free(profile->moves);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_moments(const void *left, const void *right) {
  const struct group_moment *a = left, *b = right;
  int by = order(a->rank, b->rank);
  by = by ? by : order(a->start_ps, b->start_ps);
  by = by ? by : order(a->stream, b->stream);
  return by ? by : order(a->end_ps, b->end_ps);
}

static int compare_call_of(const struct profile_move *a, const struct profile_move *b) {
  int by = order(a->rank, b->rank);
  by = by ? by : order(a->group, b->group);
  return by ? by : order(a->turn, b->turn);
}

static int compare_moves(const void *left, const void *right) {
  const struct profile_move *a = left, *b = right;
  int by = compare_call_of(a, b);
  by = by ? by : order(a->start_ps, b->start_ps);
  by = by ? by : order(a->peer, b->peer);
  by = by ? by : order(a->end_ps, b->end_ps);
  return by ? by : order(a->bytes, b->bytes);
}

/* The first move that does not stand before the key. */
static size_t first_move(const struct job_profile *profile, const struct profile_move *key) {
  size_t low = 0, high = profile->move_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_call_of(&profile->moves[middle], key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

enum profile_link profile_link_of(const struct group_job *job, const struct profile_move *move) {
  static const char *const names[LINKS] = {
      [LINK_RDMA] = "rdma", [LINK_HCCS] = "hccs", [LINK_PCIE] = "pcie", [LINK_SIO] = "sio"};
  if (move->rank == move->peer)
    return LINK_LOCAL;
  uint32_t level = group_level_of(job->system, group_device_of(job, move->rank),
                                  group_device_of(job, move->peer));
  for (unsigned i = 0; i < LINKS; i++)
    if (names[i] && strcmp(names[i], job->system->levels[level].name) == 0)
      return (enum profile_link)i;
  return LINK_SDMA; /* a level of another name: in the sum alone */
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const char *vendor_name(const struct group_moment *moment, uint32_t member) {
  static const char *const names[COLLECTIVE_OPS] = {
      [COLLECTIVE_ALL_REDUCE] = "allReduce", [COLLECTIVE_REDUCE_SCATTER] = "reduceScatter",
      [COLLECTIVE_ALL_GATHER] = "allGather", [COLLECTIVE_BROADCAST] = "broadcast",
      [COLLECTIVE_REDUCE] = "reduce",        [COLLECTIVE_SCATTER] = "scatter",
      [COLLECTIVE_GATHER] = "gather",        [COLLECTIVE_ALL_TO_ALL] = "alltoall",
      [COLLECTIVE_SEND_RECV] = "send",       [COLLECTIVE_BARRIER] = "barrier"};
  bool receives = moment->op->call.op == COLLECTIVE_SEND_RECV && member == 1;
  return receives ? "receive" : names[moment->op->call.op];
}

/* The group of a moment by its number, and its family. */
static const struct group_ranks *group_at(const struct group_job *job, uint32_t number,
                                          const struct group_family **family) {
  *family = job->families;
  for (; number >= (*family)->count; ++*family)
    number -= (*family)->count;
  return &(*family)->groups[number];
}

/* The same number on all ranks of the group, and on every host. */
static uint64_t hash_of(const struct group_family *family, const struct group_ranks *group) {
  uint64_t hash = digest_word(digest_string(DIGEST_SEED, family->name), group->ranks[0]);
  return hash >> 1; /* as in profiles, below 2^63 */
}

static void fill_call(const struct job_profile *profile, const struct group_job *job,
                      const struct group_moment *moment, struct profile_call *call) {
  const struct group_family *family;
  struct profile_move key = {.rank = moment->rank, .group = moment->group, .turn = moment->turn};
  size_t first = first_move(profile, &key);
  key.turn++;
  *call = (struct profile_call){.moment = moment,
                                .moves = profile->moves + first,
                                .move_count = first_move(profile, &key) - first,
                                .group = group_at(job, moment->group, &family),
                                .p2p = moment->op->call.op == COLLECTIVE_SEND_RECV};
  while (call->group->ranks[call->member] != moment->rank)
    call->member++;
  call->hash = hash_of(family, call->group);
  const char *name = vendor_name(moment, call->member);
  snprintf(call->name, sizeof call->name, "hcom_%s__%03" PRIu64 "_%" PRIu32 "_1", name,
           call->hash % HASH_TAIL, moment->turn);
  for (size_t i = 0; name[i] && i < sizeof call->type - 1; i++)
    call->type[i] = (char)tolower((unsigned char)name[i]);
}

/* ---- folders --------------------------------------------------------------------------------- */

struct rank_files {
  struct profile_rank rank;
  bool short_of_memory;
};

static void write_communication(void *context, FILE *out) {
  profile_put_communication(&((struct rank_files *)context)->rank, out);
}
static void write_matrix(void *context, FILE *out) {
  struct rank_files *files = context;
  profile_put_matrix(&files->rank, out, &files->short_of_memory);
}
static void write_steps(void *context, FILE *out) {
  profile_put_steps(&((struct rank_files *)context)->rank, out);
}

/* The groups that the rank is in, as the profiler has them for its analysers. */
static void write_metadata(void *context, FILE *out) {
  const struct profile_rank *rank = &((struct rank_files *)context)->rank;
  const char *separator = "";
  fprintf(out, "{\"distributed_args\": {\"rank\": %" PRIu32 ", \"world_size\": %" PRIu32 "}, ",
          rank->rank, rank->job->ranks);
  fputs("\"parallel_group_info\": {", out);
  for (uint32_t f = 0; f < rank->job->family_count; f++)
    for (uint32_t g = 0; g < rank->job->families[f].count; g++) {
      const struct group_ranks *group = &rank->job->families[f].groups[g];
      uint32_t member = 0;
      while (member < group->count && group->ranks[member] != rank->rank)
        member++;
      if (member == group->count)
        continue;
      fprintf(out, "%s\"%" PRIu64 "\": {\"group_name\": ", separator,
              hash_of(&rank->job->families[f], group));
      json_string(out, rank->job->families[f].name);
      fprintf(out, ", \"group_rank\": %" PRIu32 ", \"global_ranks\": [", member);
      for (uint32_t i = 0; i < group->count; i++)
        fprintf(out, "%s%" PRIu32, i ? ", " : "", group->ranks[i]);
      fputs("]}", out);
      separator = ", ";
    }
  fputs("}}\n", out);
}

/* Analysers take the number of the rank from the name of this file. */
static void write_info(void *context, FILE *out) {
  const struct profile_rank *rank = &((struct rank_files *)context)->rank;
  fprintf(out, "{\"rank_id\": %" PRIu32 "}\n", rank->rank);
}

static enum vinci_status write_folder(struct rank_files *files, const char *folder,
                                      struct vinci_diag *diag) {
  char info[32], path[PATH_BYTES];
  const struct {
    const char *name;
    void (*write)(void *context, FILE *out);
  } list[] = {{"ASCEND_PROFILER_OUTPUT/communication.json", write_communication},
              {"ASCEND_PROFILER_OUTPUT/communication_matrix.json", write_matrix},
              {"ASCEND_PROFILER_OUTPUT/step_trace_time.csv", write_steps},
              {"profiler_metadata.json", write_metadata},
              {info, write_info}};
  snprintf(info, sizeof info, "profiler_info_%" PRIu32 ".json", files->rank.rank);
  int length = snprintf(path, sizeof path, "%s/%" PRIu32 "_ascend_pt/", folder, files->rank.rank);
  if (length >= (int)sizeof path - (int)sizeof "ASCEND_PROFILER_OUTPUT/communication_matrix.json")
    return diag_error(diag, VINCI_E_USAGE, "the name of the folder is too long");
  stpcpy(path + length, "ASCEND_PROFILER_OUTPUT");
  enum vinci_status status = folder_make(path, diag);
  for (size_t i = 0; status == VINCI_OK && i < sizeof list / sizeof *list; i++) {
    stpcpy(path + length, list[i].name);
    status = file_replace(path, list[i].write, files, diag);
    if (status == VINCI_OK && files->short_of_memory)
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  return status;
}

/* A rank, whose moments begin at *at. */
static enum vinci_status write_rank(const struct job_profile *profile, const char *folder,
                                    struct profile_rank rank, size_t *at, struct vinci_diag *diag) {
  const struct job_moments *moments = &profile->moments;
  rank.moments = moments->items + *at;
  for (; *at < moments->count && moments->items[*at].rank == rank.rank; ++*at)
    rank.moment_count++;
  rank.calls = calloc(rank.moment_count + 1, sizeof *rank.calls);
  if (!rank.calls)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < rank.moment_count; i++)
    if (rank.moments[i].op->kind == GROUP_COLLECTIVE)
      fill_call(profile, rank.job, &rank.moments[i], &rank.calls[rank.call_count++]);
  enum vinci_status status = write_folder(&(struct rank_files){.rank = rank}, folder, diag);
  free(rank.calls);
  return status;
}

enum vinci_status profile_write(struct job_profile *profile, const char *folder,
                                const struct group_job *job, const struct group_result *result,
                                struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  size_t at = 0;
  if (profile->moments.short_of_memory)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (profile->moments.count)
    qsort(profile->moments.items, profile->moments.count, sizeof *profile->moments.items,
          compare_moments);
  if (profile->move_count)
    qsort(profile->moves, profile->move_count, sizeof *profile->moves, compare_moves);
  for (uint32_t i = 0; status == VINCI_OK && i < job->ranks; i++)
    status = write_rank(profile, folder,
                        (struct profile_rank){.job = job, .result = result, .rank = i}, &at, diag);
  return status;
}
