/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DRAM model against Ramulator 2.1 (tests/reference/memory): one line a row with both
 * figures, the error and a verdict. A row is "timing" bound when DRAMsim3 and Ramulator
 * agree on it within 1 %, else "scheduler" bound. Nothing is fitted: the model has one
 * fixed overhead, the cycle in which a request enters the controller.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "memhier/dram/hbm_stream.h"
#include "scripts/host/mem_host.h"

enum { ROWS_MAX = 512, CELL_MAX = 128, CELLS_MAX = 24, LINE_MAX_BYTES = 1024, FIRST = 20 };

static const double timing_limit = 0.01, scheduler_limit = 0.03, latency_limit = 0.05;
static const double load_max = 0.8; /* latencies are compared up to this share of the peak */

/* Columns of the reference files. */
enum { SIM, RATE, NPC, MAP, STREAM, STRIDE, MODE, CYCLES, READS, WRITES, FRACTION, GBPS, ACT };
enum { LATENCY = 16 };
enum {
  SINGLE_REFRESH = 1,
  SINGLE_CASE,
  SINGLE_MAP,
  SINGLE_STREAM,
  SINGLE_AVERAGE,
  SINGLE_MIN,
  SINGLE_MAX,
  SINGLE_FIRST
};

struct row {
  char cell[CELLS_MAX][CELL_MAX];
};

struct table {
  struct row row[ROWS_MAX];
  size_t count;
};

struct tally {
  unsigned rows;
  unsigned missed;
  unsigned equal; /* of rows with bandwidth: bursts and ACTs to the last */
  double worst;
};

static void fail(const struct vinci_diag *diag) {
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

static void read_table(struct table *table, const char *name) {
  char path[4096], line[LINE_MAX_BYTES];
  const char *folder = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/tests/reference/memory/%s.csv", folder ? folder : ".", name);
  FILE *in = fopen(path, "r");
  if (!in) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  table->count = 0;
  while (fgets(line, sizeof line, in) && table->count < ROWS_MAX) {
    if (line[0] == '#')
      continue;
    char *rest = line, *cell;
    struct row *row = &table->row[table->count++];
    memset(row, 0, sizeof *row);
    line[strcspn(line, "\r\n")] = '\0';
    for (unsigned i = 0; i < CELLS_MAX && (cell = strsep(&rest, ",")) != NULL; i++)
      snprintf(row->cell[i], CELL_MAX, "%s", cell);
  }
  fclose(in);
}

static struct mem_spec *load_memory(void) {
  struct vinci_diag diag = {0};
  struct mem_spec *mem;
  if (mem_host_load("hbm2_2000", NULL, &mem, &diag) != VINCI_OK)
    fail(&diag);
  return mem;
}

static struct hbm_stream_result run(const struct mem_spec *mem, const char *map_name,
                                    const char *kind, const char *stride, const char *feed,
                                    struct hbm_stream *stream,
                                    const struct hbm_stream_hooks *hooks) {
  struct vinci_diag diag = {0};
  char name[CELL_MAX + 8], text[2 * CELL_MAX + 2];
  struct hbm_map map;
  struct hbm_stream_result result;
  snprintf(name, sizeof name, stream->channels > 1 ? "%sx16" : "%s", map_name);
  snprintf(text, sizeof text, strcmp(kind, "stride") ? "%s" : "%s:%s", kind, stride);
  if (hbm_stream_parse_kind(stream, text, &diag) != VINCI_OK ||
      hbm_stream_parse_feed(stream, feed, &diag) != VINCI_OK ||
      hbm_map_parse(&map, mem_map_text(mem, name), mem, stream->channels, &diag) != VINCI_OK ||
      hbm_stream_run(mem, &map, stream, hooks, &result, &diag) != VINCI_OK)
    fail(&diag);
  return result;
}

static struct hbm_stream_result run_row(const struct mem_spec *mem, const struct row *row) {
  struct hbm_stream stream = {.cycles = strtoull(row->cell[CYCLES], NULL, 10),
                              .channels = (unsigned)strtoul(row->cell[NPC], NULL, 10)};
  return run(mem, row->cell[MAP], row->cell[STREAM], row->cell[STRIDE], row->cell[MODE], &stream,
             NULL);
}

static double gb_per_s(const struct mem_spec *mem, const struct hbm_stream_result *result) {
  double bytes =
      (double)(result->commands.reads + result->commands.writes) * (double)mem->burst_bytes;
  return bytes / ((double)result->cycles * (double)mem->tck_ps / 1000);
}

static double reference_gb_per_s(const struct mem_spec *mem, const struct row *row) {
  double bursts = strtod(row->cell[READS], NULL) + strtod(row->cell[WRITES], NULL);
  double ns = strtod(row->cell[CYCLES], NULL) * (double)mem->tck_ps / 1000;
  return bursts * (double)mem->burst_bytes / ns;
}

static double error_of(double ours, double reference) {
  double error = ours / reference - 1;
  return error < 0 ? -error : error;
}

/* The row of DRAMsim3 for the same run. */
static const struct row *second_opinion(const struct table *table, const struct row *row) {
  for (size_t i = 0; i < table->count; i++) {
    const struct row *other = &table->row[i];
    bool same = strcmp(other->cell[SIM], "DRAMsim3") == 0;
    for (unsigned c = NPC; c <= MODE; c++)
      same = same && strcmp(other->cell[c], row->cell[c]) == 0;
    if (same)
      return other;
  }
  return NULL;
}

static void count(struct tally *tally, double error, double limit) {
  tally->rows++;
  tally->missed += error > limit;
  tally->worst = error > tally->worst ? error : tally->worst;
}

static void print_row_name(const struct row *row) {
  printf("%-3s %-7s %6s %-12s", row->cell[MAP], row->cell[STREAM], row->cell[STRIDE],
         row->cell[MODE]);
}

static bool same_count(uint64_t ours, const char *cell) { return ours == strtoull(cell, NULL, 10); }

/* Bandwidth of the rows of one simulator. */
static void compare_bandwidth(const struct mem_spec *mem, const struct table *table,
                              const char *sim, struct tally *tally) {
  printf("%-31s %10s %10s %8s %8s  %s\n", "map stream  stride mode", "ours GB/s", "reference",
         "error", "bound by", "verdict");
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->row[i];
    if (strcmp(row->cell[SIM], sim) != 0)
      continue;
    struct hbm_stream_result result = run_row(mem, row);
    double ours = gb_per_s(mem, &result), theirs = reference_gb_per_s(mem, row);
    const struct row *other = second_opinion(table, row);
    bool timing = other && error_of(reference_gb_per_s(mem, other), theirs) <= timing_limit;
    double limit = timing ? timing_limit : scheduler_limit, error = error_of(ours, theirs);
    print_row_name(row);
    printf(" %10.3f %10.3f %7.2f%% %8s  %s\n", ours, theirs, 100 * error,
           timing ? "timing" : "schedul.", error <= limit ? "ok" : "MISSED");
    count(tally, error, limit);
    tally->equal += same_count(result.commands.reads, row->cell[READS]) &&
                    same_count(result.commands.writes, row->cell[WRITES]) &&
                    same_count(result.commands.activates, row->cell[ACT]);
  }
}

static void compare_load_latency(const struct mem_spec *mem, const struct table *table,
                                 struct tally *tally) {
  printf("%-31s %10s %10s %8s  %s\n", "map stream  stride mode", "ours ns", "reference", "error",
         "verdict");
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->row[i];
    if (strcmp(row->cell[SIM], "Ramulator2.1-FRFCFS") != 0)
      continue;
    struct hbm_stream_result result = run_row(mem, row);
    double ours =
        (double)result.latency_sum_cycles / (double)result.ended_reads * (double)mem->tck_ps / 1000;
    double theirs = strtod(row->cell[LATENCY], NULL), error = error_of(ours, theirs);
    /* Offered load: two bursts of 2 data cycles every T cycles. */
    bool counts = 4 / strtod(strchr(row->cell[MODE], ':') + 1, NULL) <= load_max + 1e-9;
    print_row_name(row);
    printf(" %10.2f %10.2f %7.2f%%  %s\n", ours, theirs, 100 * error,
           !counts                  ? "(above 80 % load)"
           : error <= latency_limit ? "ok"
                                    : "MISSED");
    if (counts)
      count(tally, error, latency_limit);
  }
}

/* ---- one burst at a time -------------------------------------------------------------- */

struct latencies {
  uint64_t first[FIRST];
  uint64_t count;
};

static void note_latency(void *context, uint64_t cycles) {
  struct latencies *latencies = context;
  if (latencies->count < FIRST)
    latencies->first[latencies->count] = cycles;
  latencies->count++;
}

/* Whether the first latencies are those of the list "32 17 17 ...". */
static bool same_first(const struct latencies *latencies, const char *list, unsigned *listed) {
  char *end;
  *listed = 0;
  for (unsigned i = 0; i < FIRST; i++, list = end) {
    uint64_t cycles = strtoull(list, &end, 10);
    if (end == list)
      break;
    ++*listed;
    if (cycles != latencies->first[i])
      return false;
  }
  return *listed > 0;
}

static void compare_single(struct mem_spec *mem, const struct table *table, struct tally *tally) {
  enum { RUN_CYCLES = 1000000 };
  int64_t refi = mem->refi_cycles;
  printf("%-8s %-27s %-8s %-10s %s\n", "refresh", "one burst at a time", "first 20", "average",
         "verdict");
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->row[i];
    if (strcmp(row->cell[SIM], "Ramulator2.1") != 0)
      continue;
    char kind[CELL_MAX], *stride = kind;
    snprintf(kind, sizeof kind, "%s", row->cell[SINGLE_STREAM]);
    strsep(&stride, ":");
    struct latencies latencies = {0};
    const struct hbm_stream_hooks hooks = {.context = &latencies, .latency = note_latency};
    unsigned banks = 16;
    bool closed_only = strcmp(row->cell[SINGLE_CASE], "first16_closed_banks") == 0;
    struct hbm_stream stream = {
        .cycles = RUN_CYCLES, .channels = 1, .requests_max = closed_only ? banks : 0};
    mem->refi_cycles = strcmp(row->cell[SINGLE_REFRESH], "on") == 0 ? refi : 0;
    struct hbm_stream_result result =
        run(mem, row->cell[SINGLE_MAP], kind, stride, "chase", &stream, &hooks);
    unsigned listed;
    bool same = same_first(&latencies, row->cell[SINGLE_FIRST], &listed);
    double average = (double)result.latency_sum_cycles / (double)result.ended_reads;
    double error = error_of(average, strtod(row->cell[SINGLE_AVERAGE], NULL));
    bool ok = same && result.latency_min_cycles == strtoull(row->cell[SINGLE_MIN], NULL, 10);
    printf("%-8s %-27s %-8s %9.2f%% %s\n", row->cell[SINGLE_REFRESH], row->cell[SINGLE_CASE],
           same ? "equal" : "DIFFER", 100 * error, ok ? "ok" : "MISSED");
    count(tally, ok ? 0 : 1, 0);
  }
  mem->refi_cycles = refi;
}

static void print_equal(const struct tally *tally) {
  printf("%u of %u rows are equal to the last burst and ACT\n", tally->equal, tally->rows);
}

static bool conclude(const char *what, const struct tally *tally) {
  printf("%-40s %3u rows, worst error %.2f%%, %u missed: %s\n", what, tally->rows,
         100 * tally->worst, tally->missed, tally->missed || !tally->rows ? "MISSED" : "met");
  return tally->missed == 0 && tally->rows > 0;
}

int main(void) {
  static struct table table;
  struct tally sat = {0}, stack = {0}, load = {0}, load_latency = {0}, single = {0};
  struct mem_spec *mem = load_memory();
  printf("One pseudo-channel, saturated: Ramulator 2.1 FR-FCFS-RowHit\n");
  read_table(&table, "hbm2_saturating_1pc");
  compare_bandwidth(mem, &table, "Ramulator2.1-FRFCFSRowHit", &sat);
  print_equal(&sat);
  printf("\nOne burst at a time: Ramulator 2.1\n");
  read_table(&table, "hbm2_single_outstanding");
  compare_single(mem, &table, &single);
  mem->protect_row_hits = 0;
  printf("\nOne pseudo-channel under load: Ramulator 2.1 FR-FCFS\n");
  read_table(&table, "hbm2_load_latency_1pc");
  compare_bandwidth(mem, &table, "Ramulator2.1-FRFCFS", &load);
  print_equal(&load);
  compare_load_latency(mem, &table, &load_latency);
  printf("\nStack of 16 pseudo-channels behind 8 controllers: Ramulator 2.1 FR-FCFS-q64\n");
  mem->pseudo_channels = 2;
  mem->read_queue = mem->write_queue = 64;
  read_table(&table, "hbm2_stack_16pc");
  compare_bandwidth(mem, &table, "Ramulator2.1-FRFCFS-q64", &stack);
  print_equal(&stack);
  mem_host_free(mem);
  printf("\n");
  bool met = conclude("saturated bandwidth, 1 % and 3 %", &sat);
  met = conclude("one burst at a time, to the cycle", &single) && met;
  met = conclude("bandwidth under load, 1 % and 3 %", &load) && met;
  met = conclude("latency up to 80 % load, 5 %", &load_latency) && met;
  met = conclude("bandwidth of a stack, 1 % and 3 %", &stack) && met;
  return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
