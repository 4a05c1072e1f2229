/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a rank. Of the time of a collective (Elapse): Transit, while the rank sends; Idle,
 * while it only copies or adds within its device; Wait, the rest; Synchronization, what of Wait
 * lies before the rank first sends. The vendor's Transit and Wait are those of the first of several
 * planes; ours count all planes, so that the three add up to Elapse. MB is 10^6 and GB 10^9 bytes,
 * as in communication.json.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "devices/exchange/profiler.h"
#include "traces/export/export.h"

enum { MS_DIGITS = 9, US_DIGITS = 6, MB_DIGITS = 6, RATIO_DIGITS = 4, SIZES_MAX = 64 };
/* Packets count as large from here on: profiles have 29.8 MB as small and 59.5 MB as large
 * (level 2 of Ascend/msinsight's test data); 32 MB is the power of two in between, assumed. */
#define LARGE_BYTES UINT64_C(32000000)

#define MS(ps) decimal_exact(ps, MS_DIGITS).text
#define US(ps) decimal_exact(ps, US_DIGITS).text
#define MB(bytes) decimal_exact(bytes, MB_DIGITS).text

static struct decimal gb_per_s(uint64_t bytes, uint64_t ps) {
  return decimal_ratio((uint128)bytes * 1000, ps, RATIO_DIGITS);
}

/* ---- times ----------------------------------------------------------------------------------- */

struct call_times {
  uint64_t elapse_ps, transit_ps, wait_ps, synchronization_ps, idle_ps;
};

/* How long moves of a sort last, those that overlap once; moves are sorted by start. */
static uint64_t covered(const struct profile_call *call, bool copies_too) {
  uint64_t sum = 0, until = 0;
  for (size_t i = 0; i < call->move_count; i++) {
    const struct profile_move *move = &call->moves[i];
    if (move->rank == move->peer && !copies_too)
      continue;
    uint64_t start = max_u64(move->start_ps, until);
    sum += move->end_ps > start ? move->end_ps - start : 0;
    until = max_u64(until, move->end_ps);
  }
  return sum;
}

/* Before the rank first sends: the part in which it does not copy either. */
static uint64_t waits_first(const struct profile_call *call) {
  uint64_t first = call->moment->end_ps, sum = 0, until = call->moment->start_ps;
  for (size_t i = call->move_count; i-- > 0;)
    if (call->moves[i].rank != call->moves[i].peer)
      first = call->moves[i].start_ps;
  for (size_t i = 0; i < call->move_count && call->moves[i].start_ps < first; i++) {
    const struct profile_move *move = &call->moves[i];
    sum += move->start_ps > until ? move->start_ps - until : 0;
    until = max_u64(until, min_u64(move->end_ps, first));
  }
  return sum + (first > until ? first - until : 0);
}

static struct call_times times_of(const struct profile_call *call) {
  struct call_times times = {.elapse_ps = call->moment->end_ps - call->moment->start_ps};
  uint64_t busy_ps = covered(call, true);
  times.transit_ps = covered(call, false);
  times.idle_ps = busy_ps - times.transit_ps;
  times.wait_ps = times.elapse_ps - busy_ps;
  times.synchronization_ps = waits_first(call);
  return times;
}

static void add_times(struct call_times *sum, const struct call_times *times) {
  sum->elapse_ps += times->elapse_ps;
  sum->transit_ps += times->transit_ps;
  sum->wait_ps += times->wait_ps;
  sum->synchronization_ps += times->synchronization_ps;
  sum->idle_ps += times->idle_ps;
}

static void put_times(const struct call_times *times, FILE *out) {
  uint64_t wait = times->wait_ps, first = times->synchronization_ps, transit = times->transit_ps;
  fprintf(out,
          "\"Elapse Time(ms)\": %s, \"Transit Time(ms)\": %s, \"Wait Time(ms)\": %s, "
          "\"Synchronization Time(ms)\": %s, \"Idle Time(ms)\": %s, \"Wait Time Ratio\": %s, "
          "\"Synchronization Time Ratio\": %s}",
          MS(times->elapse_ps), MS(transit), MS(wait), MS(first), MS(times->idle_ps),
          decimal_ratio(wait, wait + transit, RATIO_DIGITS).text,
          decimal_ratio(first, first + transit, RATIO_DIGITS).text);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Transfers over links of a kind; sizes in the order in which they first come. */
struct link_sum {
  uint64_t bytes, ps, count, large;
  struct {
    uint64_t bytes, count, ps;
  } sizes[SIZES_MAX];
  size_t size_count;
};

static void add_move(struct link_sum *sum, const struct profile_move *move, bool sizes) {
  uint64_t ps = move->end_ps - move->start_ps;
  size_t i = 0;
  sum->bytes += move->bytes;
  sum->ps += ps;
  sum->count++;
  sum->large += move->bytes >= LARGE_BYTES;
  while (i < sum->size_count && sum->sizes[i].bytes != move->bytes)
    i++;
  if (!sizes || i == SIZES_MAX) /* more sizes than anybody reads: in the sums alone */
    return;
  sum->size_count += i == sum->size_count;
  sum->sizes[i].bytes = move->bytes;
  sum->sizes[i].count++;
  sum->sizes[i].ps += ps;
}

static void add_moves(const struct profile_rank *rank, const struct profile_call *call,
                      struct link_sum sums[static LINKS]) {
  for (size_t i = 0; i < call->move_count; i++) {
    const struct profile_move *move = &call->moves[i];
    enum profile_link link = profile_link_of(rank->job, move);
    if (link == LINK_LOCAL || move->bytes == 0)
      continue;
    if (link != LINK_SDMA)
      add_move(&sums[link], move, true);
    if (link != LINK_RDMA) /* network cards move those bytes, not the device's SDMA engine */
      add_move(&sums[LINK_SDMA], move, false);
  }
}

static void put_sizes(const struct link_sum *sum, FILE *out) {
  fputs("\"Size Distribution\": {", out);
  for (size_t i = 0; i < sum->size_count; i++)
    fprintf(out, "%s\"%s\": [%" PRIu64 ", %s]", i ? ", " : "", MB(sum->sizes[i].bytes),
            sum->sizes[i].count, MS(sum->sizes[i].ps));
  fputs("}}", out);
}

/* Sums of all calls have times first and no rates, as in profiles. */
static void put_links(const struct link_sum sums[static LINKS], bool total, FILE *out) {
  fputs("\"Communication Bandwidth Info\": {", out);
  for (unsigned i = 0; i < LINKS; i++) {
    const struct link_sum *sum = &sums[i];
    fprintf(out, "%s\"%s\": {", i ? ", " : "", profile_link_names[i]);
    if (total)
      fprintf(out, "\"Transit Time(ms)\": %s, \"Transit Size(MB)\": %s, ", MS(sum->ps),
              MB(sum->bytes));
    else
      fprintf(out,
              "\"Transit Size(MB)\": %s, \"Transit Time(ms)\": %s, \"Bandwidth(GB/s)\": %s, "
              "\"Large Packet Ratio\": %s, ",
              MB(sum->bytes), MS(sum->ps), gb_per_s(sum->bytes, sum->ps).text,
              decimal_ratio(sum->large, sum->count, RATIO_DIGITS).text);
    put_sizes(sum, out);
  }
  fputs("}}", out);
}

/* ---- communication.json ---------------------------------------------------------------------- */

static void put_calls(const struct profile_rank *rank, bool p2p, FILE *out) {
  struct link_sum all[LINKS] = {0};
  struct call_times sum = {0};
  bool any = false;
  for (size_t i = 0; i < rank->call_count; i++) {
    const struct profile_call *call = &rank->calls[i];
    struct link_sum sums[LINKS] = {0};
    if (call->p2p != p2p)
      continue;
    struct call_times times = times_of(call);
    add_moves(rank, call, sums);
    add_moves(rank, call, all);
    add_times(&sum, &times);
    fprintf(out,
            "%s\"%s@%" PRIu64 "\": {\"Communication Time Info\": {\"Start Timestamp(us)\": %s, ",
            any ? ", " : "", call->name, call->hash, US(call->moment->start_ps));
    put_times(&times, out);
    fputs(", ", out);
    put_links(sums, false, out);
    any = true;
  }
  if (!any)
    return;
  fputs(", \"Total Op Info\": {\"Communication Time Info\": {", out);
  put_times(&sum, out);
  fputs(", ", out);
  put_links(all, true, out);
}

void profile_put_communication(const struct profile_rank *rank, FILE *out) {
  fputs("{\"step0\": {\"p2p\": {", out);
  put_calls(rank, true, out);
  fputs("}, \"collective\": {", out);
  put_calls(rank, false, out);
  fputs("}}}\n", out);
}

/* ---- communication_matrix.json --------------------------------------------------------------- */

/* What one call moved to one member of its group. */
struct cell {
  const struct profile_call *call;
  uint32_t to; /* member */
  enum profile_link link;
  uint64_t bytes, ps;
};

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* By type, group and member; the fastest first, then the first. */
static int compare_cells(const void *left, const void *right) {
  const struct cell *a = left, *b = right;
  int by = strcmp(a->call->type, b->call->type);
  by = by ? by : order(a->call->hash, b->call->hash);
  by = by ? by : order(a->to, b->to);
  uint128 a_rate = (uint128)a->bytes * max_u64(b->ps, 1);
  uint128 b_rate = (uint128)b->bytes * max_u64(a->ps, 1);
  if (!by && a_rate != b_rate)
    by = a_rate > b_rate ? -1 : 1;
  return by ? by : order((uintptr_t)a->call, (uintptr_t)b->call);
}

static uint32_t member_of(const struct group_ranks *group, uint32_t rank) {
  uint32_t member = 0;
  while (group->ranks[member] != rank)
    member++;
  return member;
}

static size_t fill_cells(const struct profile_rank *rank, bool p2p, struct cell *cells) {
  size_t count = 0;
  for (size_t i = 0; i < rank->call_count; i++) {
    const struct profile_call *call = &rank->calls[i];
    size_t first = count;
    for (size_t m = 0; call->p2p == p2p && m < call->move_count; m++) {
      const struct profile_move *move = &call->moves[m];
      uint32_t to = member_of(call->group, move->peer);
      size_t at = first;
      while (at < count && cells[at].to != to)
        at++;
      if (at == count)
        cells[count++] =
            (struct cell){.call = call, .to = to, .link = profile_link_of(rank->job, move)};
      cells[at].bytes += move->bytes;
      cells[at].ps += move->end_ps - move->start_ps;
    }
  }
  qsort(cells, count, sizeof *cells, compare_cells);
  return count;
}

static bool same_key(const struct cell *a, const struct cell *b) {
  return strcmp(a->call->type, b->call->type) == 0 && a->call->hash == b->call->hash;
}

static void put_cell(const struct cell *cell, bool total, const char *separator, FILE *out) {
  fprintf(out,
          "%s\"%" PRIu32 "-%" PRIu32 "\": {\"Transport Type\": \"%s\", \"Transit Size(MB)\": %s, "
          "\"Transit Time(ms)\": %s, \"Bandwidth(GB/s)\": %s",
          separator, cell->call->member, cell->to, profile_link_names[cell->link], MB(cell->bytes),
          MS(cell->ps), gb_per_s(cell->bytes, cell->ps).text);
  if (!total)
    fprintf(out, ", \"Op Name\": \"%s\"", cell->call->name);
  fputc('}', out);
}

/* Of the calls of a type, the fastest to each member, the middle, the three slowest, and the sum.
 */
static const char *const ranks_of_calls[] = {"top1",  "middle",  "bottom1",
                                             "total", "bottom2", "bottom3"};
enum { TOP, MIDDLE, BOTTOM, TOTAL, SECOND, THIRD, RANKS_OF_CALLS };

/* The cell of a kind among `count` to one member; false when there are too few. */
static bool pick(const struct cell *cells, size_t count, unsigned kind, struct cell *out) {
  size_t from_end = kind == THIRD ? 3 : kind == SECOND ? 2 : 1;
  if (from_end > count)
    return false;
  *out = cells[kind == TOP || kind == TOTAL ? 0 : kind == MIDDLE ? count / 2 : count - from_end];
  for (size_t i = 1; kind == TOTAL && i < count; i++) {
    out->bytes += cells[i].bytes;
    out->ps += cells[i].ps;
  }
  return true;
}

/* The cells of one type and group. */
static void put_key(const struct cell *cells, size_t count, bool first, FILE *out) {
  for (unsigned kind = 0; kind < RANKS_OF_CALLS; kind++) {
    const char *separator = "";
    for (size_t at = 0, next; at < count; at = next) {
      struct cell cell;
      for (next = at + 1; next < count && cells[next].to == cells[at].to; next++)
        ;
      if (!pick(cells + at, next - at, kind, &cell))
        continue;
      if (!*separator)
        fprintf(out, "%s\"%s-%s@%" PRIu64 "\": {", first ? "" : ", ", cells->call->type,
                ranks_of_calls[kind], cells->call->hash);
      put_cell(&cell, kind == TOTAL, separator, out);
      separator = ", ";
      first = false;
    }
    if (*separator)
      fputc('}', out);
  }
}

static void put_cells(const struct cell *cells, size_t count, FILE *out) {
  for (size_t at = 0, next; at < count; at = next) {
    for (next = at + 1; next < count && same_key(&cells[at], &cells[next]); next++)
      ;
    put_key(cells + at, next - at, at == 0, out);
  }
}

void profile_put_matrix(const struct profile_rank *rank, FILE *out, bool *short_of_memory) {
  size_t most = 1;
  for (size_t i = 0; i < rank->call_count; i++)
    most += rank->calls[i].move_count;
  struct cell *cells = calloc(most, sizeof *cells);
  *short_of_memory = cells == NULL;
  if (!cells)
    return;
  fputs("{\"step0\": {\"p2p\": {", out);
  put_cells(cells, fill_cells(rank, true, cells), out);
  fputs("}, \"collective\": {", out);
  put_cells(cells, fill_cells(rank, false, cells), out);
  fputs("}}}\n", out);
  free(cells);
}

/* ---- step_trace_time.csv --------------------------------------------------------------------- */

void profile_put_steps(const struct profile_rank *rank, FILE *out) {
  const struct group_rank_result *result = &rank->result->ranks[rank->rank];
  fputs("Step," JOB_STEP_COLUMNS ",Preparing\n0,", out);
  job_put_step(result, rank->result->end_ps, out);
  fputs(",0.0\n", out);
}
