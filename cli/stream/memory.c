/* SPDX-License-Identifier: Apache-2.0 */
/* vinci stream memory: synthetic request streams on the DRAM model. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stream/stream.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "memhier/dram/hbm_stream.h"
#include "scripts/host/mem_host.h"

enum {
  CYCLES = 400000,
  FIELD_MAX = 64,
  LINE_BYTES = 1024,
  COLUMNS_MAX = 32,
  CHANNELS_MAX = 1024,
  MEGABITS_PS = 2000000, /* two beats a cycle: Mbit/s = 2000000 / tCK in ps */
};

struct memory_settings {
  const char *memory;
  const char *map;
  const char *stream;
  const char *mode;
  const char *data;
  struct text_list sets;
  uint64_t cycles;
  uint64_t channels;
  bool csv, head_printed;
  FILE *out; /* of the rows */
};

static const struct option_row memory_options[] = {
    OPTION_TEXT_ROW("memory", 'm', struct memory_settings, memory, "NAME",
                    "memory technology of the folder mem/ (default hbm2_2000)"),
    OPTION_TEXT_ROW("map", 0, struct memory_settings, map, "MAP",
                    "address mapping: a name of the technology (default M3) or its text, such as "
                    "\"ro ba2 co4 bg2 co1\""),
    OPTION_TEXT_ROW("stream", 0, struct memory_settings, stream, "STREAM",
                    "seqr, seqw, rand, randw, stride:BYTES, mix21, add3, rmix21 (default seqr)"),
    OPTION_TEXT_ROW("mode", 0, struct memory_settings, mode, "MODE",
                    "sat, load:CYCLES between requests, or chase (default sat)"),
    OPTION_NUMBER_ROW("cycles", 0, struct memory_settings, cycles, "N", 1, UINT64_C(1) << 40,
                      "cycles of the memory clock to simulate (default 400000)"),
    OPTION_NUMBER_ROW("channels", 0, struct memory_settings, channels, "N", 1, CHANNELS_MAX,
                      "pseudo-channels under the stream (default 1)"),
    OPTION_LIST_ROW("set", 0, struct memory_settings, sets, "KEY=VALUE",
                    "change a number of the technology, such as timing.RP=15; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct memory_settings, data, "DIR",
                    "the folder that holds mem/ and soc/"),
    OPTION_FLAG_ROW("csv", 0, struct memory_settings, csv,
                    "print CSV on a terminal too, as in a pipe"),
};

/* One run as asked for: by options, or by options and a row of a file. */
struct run_case {
  char memory[FIELD_MAX];
  char map[2 * FIELD_MAX];
  char stream[FIELD_MAX];
  char stride[FIELD_MAX]; /* bytes, for a stream called just "stride" */
  char mode[FIELD_MAX];
  uint64_t cycles;
  uint64_t channels;
};

static const char *text_or(const char *text, const char *instead) { return text ? text : instead; }

static struct run_case case_of(const struct memory_settings *settings) {
  struct run_case item = {.cycles = settings->cycles, .channels = settings->channels};
  snprintf(item.memory, sizeof item.memory, "%s", text_or(settings->memory, "hbm2_2000"));
  snprintf(item.map, sizeof item.map, "%s", text_or(settings->map, "M3"));
  snprintf(item.stream, sizeof item.stream, "%s", text_or(settings->stream, "seqr"));
  snprintf(item.mode, sizeof item.mode, "%s", text_or(settings->mode, "sat"));
  return item;
}

/* ---- one run -------------------------------------------------------------------------- */

/* A mapping by name, over several channels by name and number ("M3x16"), else its text. */
static enum vinci_status find_map(const struct mem_spec *mem, const struct run_case *item,
                                  struct hbm_map *map, struct vinci_diag *diag) {
  char wide[3 * FIELD_MAX];
  snprintf(wide, sizeof wide, "%sx%" PRIu64, item->map, item->channels);
  const char *text = item->channels > 1 ? mem_map_text(mem, wide) : NULL;
  if (!text)
    text = mem_map_text(mem, item->map);
  return hbm_map_parse(map, text ? text : item->map, mem, (unsigned)item->channels, diag);
}

static enum vinci_status parse_stream(const struct run_case *item, struct hbm_stream *stream,
                                      struct vinci_diag *diag) {
  char kind[2 * FIELD_MAX + 2];
  *stream = (struct hbm_stream){.stride_bytes = HBM_REQUEST_BYTES,
                                .cycles = item->cycles,
                                .channels = (unsigned)item->channels};
  bool strided = strcmp(item->stream, "stride") == 0 && item->stride[0];
  snprintf(kind, sizeof kind, strided ? "%s:%s" : "%s", item->stream, item->stride);
  enum vinci_status status = hbm_stream_parse_kind(stream, kind, diag);
  return status == VINCI_OK ? hbm_stream_parse_feed(stream, item->mode, diag) : status;
}

static void print_head(struct memory_settings *settings) {
  if (settings->head_printed)
    return;
  settings->head_printed = true;
  fputs("memory,rate_mbps,npc,map,stream,stride_B,mode,cycles,rd_bursts,wr_bursts,frac_peak,GBps,"
        "act,refab,row_hit_rate_1_minus_act_per_burst,avg_read_latency_ns,min_read_latency_cycles,"
        "max_read_latency_cycles,backlog_bursts\n",
        settings->out);
}

static void print_result(const struct mem_spec *mem, const struct run_case *item,
                         const struct hbm_stream *stream, const struct hbm_stream_result *result,
                         FILE *out) {
  const struct hbm_counters *commands = &result->commands;
  uint64_t bursts = commands->reads + commands->writes;
  double channel_cycles = (double)result->cycles * (double)item->channels;
  double run_ns = (double)result->cycles * (double)mem->tck_ps / 1000;
  fprintf(out, "%s,%" PRId64 ",%" PRIu64 ",%s,%s,%" PRIu64 ",%s,%" PRIu64 ",", item->memory,
          MEGABITS_PS / mem->tck_ps, item->channels, item->map, hbm_stream_name(stream->kind),
          stream->kind == HBM_STREAM_STRIDE ? stream->stride_bytes : HBM_REQUEST_BYTES, item->mode,
          result->cycles);
  fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.4f,%.3f,%" PRIu64 ",%" PRIu64 ",%.4f,", commands->reads,
          commands->writes, (double)bursts * (double)mem->burst_cycles / channel_cycles,
          (double)bursts * (double)mem->burst_bytes / run_ns, commands->activates,
          commands->refreshes, bursts ? 1 - (double)commands->activates / (double)bursts : 0.0);
  if (result->ended_reads)
    fprintf(out, "%.2f,%" PRIu64 ",%" PRIu64,
            (double)result->latency_sum_cycles / (double)result->ended_reads * (double)mem->tck_ps /
                1000,
            result->latency_min_cycles, result->latency_max_cycles);
  else
    fputs(",,", out);
  if (stream->feed == HBM_FEED_LOAD)
    fprintf(out, ",%" PRIu64 "\n", result->backlog_bursts);
  else
    fputs(",\n", out);
}

static enum vinci_status run_one(struct memory_settings *settings, const struct run_case *item,
                                 struct vinci_diag *diag) {
  struct mem_spec *mem;
  struct hbm_map map;
  struct hbm_stream stream;
  struct hbm_stream_result result;
  enum vinci_status status = mem_host_load(item->memory, settings->data, &mem, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; status == VINCI_OK && i < settings->sets.count; i++)
    status = mem_set(mem, settings->sets.items[i], diag);
  if (status == VINCI_OK)
    status = mem_validate(mem, diag);
  if (status == VINCI_OK)
    status = find_map(mem, item, &map, diag);
  if (status == VINCI_OK)
    status = parse_stream(item, &stream, diag);
  if (status == VINCI_OK)
    status = hbm_stream_run(mem, &map, &stream, NULL, &result, diag);
  if (status == VINCI_OK) {
    print_head(settings);
    print_result(mem, item, &stream, &result, settings->out);
  }
  mem_host_free(mem);
  return status;
}

/* ---- files of runs -------------------------------------------------------------------- */

enum column { MEMORY, CHANNELS, MAP, STREAM, STRIDE, MODE, CYCLE_COUNT, COLUMN_KINDS };

static const char *const column_names[COLUMN_KINDS] = {"memory",   "npc",  "map",   "stream",
                                                       "stride_B", "mode", "cycles"};

/* A file being read: which of its columns are used, the others may hold anything. */
struct case_file {
  FILE *in;
  const char *path;
  unsigned long line;
  char text[LINE_BYTES];
  enum column column[COLUMNS_MAX];
  unsigned column_count;
};

static enum vinci_status refuse(const struct case_file *file, struct vinci_diag *diag,
                                const char *why) {
  struct diag_position position = {.path = file->path, .line = file->line};
  return diag_error_at(diag, VINCI_E_INPUT, position, "%s", why);
}

/* Reads the next line that is not empty and not a comment; *more is false at the end. */
static enum vinci_status next_line(struct case_file *file, bool *more, struct vinci_diag *diag) {
  for (;;) {
    *more = fgets(file->text, sizeof file->text, file->in) != NULL;
    if (!*more)
      return ferror(file->in) ? diag_error(diag, diag_status_of(errno), "cannot read '%s': %s",
                                           file->path, strerror(errno))
                              : VINCI_OK;
    file->line++;
    size_t length = strlen(file->text);
    if (length + 1 == sizeof file->text && file->text[length - 1] != '\n')
      return refuse(file, diag, "the line is too long");
    file->text[strcspn(file->text, "\r\n")] = '\0';
    if (file->text[0] != '\0' && file->text[0] != '#')
      return VINCI_OK;
  }
}

/* Cuts the next cell off *rest; NULL when the line is used up. */
static char *next_cell(char **rest) { return *rest ? strsep(rest, ",") : NULL; }

static enum vinci_status read_head(struct case_file *file, struct vinci_diag *diag) {
  bool more, any = false;
  enum vinci_status status = next_line(file, &more, diag);
  if (status != VINCI_OK || !more)
    return status;
  char *rest = file->text, *cell;
  while ((cell = next_cell(&rest)) != NULL) {
    if (file->column_count == COLUMNS_MAX)
      return refuse(file, diag, "too many columns");
    unsigned i = 0;
    while (i < COLUMN_KINDS && strcmp(column_names[i], cell) != 0)
      i++;
    file->column[file->column_count++] = (enum column)i;
    any = any || i < COLUMN_KINDS;
  }
  return any ? VINCI_OK
             : refuse(file, diag,
                      "none of the columns memory, npc, map, stream, stride_B, mode, cycles");
}

static bool set_text(char *field, size_t size, const char *cell) {
  return (size_t)snprintf(field, size, "%s", cell) < size;
}

static bool set_number(uint64_t *field, const char *cell) {
  return decimal_whole(cell, field) && *field > 0;
}

static bool set_cell(struct run_case *item, enum column column, const char *cell) {
  switch (column) {
  case MEMORY:
    return set_text(item->memory, sizeof item->memory, cell);
  case CHANNELS:
    return set_number(&item->channels, cell) && item->channels <= CHANNELS_MAX;
  case MAP:
    return set_text(item->map, sizeof item->map, cell);
  case STREAM:
    return set_text(item->stream, sizeof item->stream, cell);
  case STRIDE:
    return set_text(item->stride, sizeof item->stride, cell);
  case MODE:
    return set_text(item->mode, sizeof item->mode, cell);
  case CYCLE_COUNT:
    return set_number(&item->cycles, cell);
  case COLUMN_KINDS:
    break;
  }
  return true;
}

static enum vinci_status run_rows(struct memory_settings *settings, struct case_file *file,
                                  struct vinci_diag *diag) {
  enum vinci_status status = read_head(file, diag);
  bool more = status == VINCI_OK;
  while (status == VINCI_OK) {
    status = next_line(file, &more, diag);
    if (status != VINCI_OK || !more)
      break;
    struct run_case item = case_of(settings);
    char *rest = file->text, *cell;
    for (unsigned i = 0; i < file->column_count && (cell = next_cell(&rest)) != NULL; i++)
      if (*cell && !set_cell(&item, file->column[i], cell))
        return refuse(file, diag, "a cell has no value of its column");
    struct vinci_diag problem = {0};
    status = run_one(settings, &item, &problem);
    if (status != VINCI_OK) {
      status = refuse(file, diag, problem.text);
      if (problem.hint[0])
        diag_hint(diag, "%s", problem.hint);
    }
  }
  return status;
}

static enum vinci_status run_file(struct memory_settings *settings, const char *path,
                                  struct vinci_diag *diag) {
  struct case_file file = {.path = path, .in = strcmp(path, "-") ? fopen(path, "r") : stdin};
  if (!file.in)
    return diag_error(diag, diag_status_of(errno), "cannot open '%s': %s", path, strerror(errno));
  enum vinci_status status = run_rows(settings, &file, diag);
  if (file.in != stdin)
    fclose(file.in);
  return status;
}

/* ---- the verb ------------------------------------------------------------------------- */

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct memory_settings settings = {.cycles = CYCLES, .channels = 1};
  struct text_list arguments = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &arguments, &exit_code)) {
    struct vinci_diag diag = {0};
    enum vinci_status status = VINCI_OK;
    struct run_case item = case_of(&settings);
    struct stream_rows rows;
    settings.out = stream_rows_begin(&rows, settings.csv);
    if (arguments.count == 0)
      status = run_one(&settings, &item, &diag);
    for (size_t i = 0; status == VINCI_OK && i < arguments.count; i++)
      status = run_file(&settings, arguments.items[i], &diag);
    stream_rows_end(&rows, "stream mode frac_peak GBps avg_read_latency_ns");
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  text_list_free(&settings.sets);
  text_list_free(&arguments);
  return exit_code;
}

const struct cli_verb cli_stream_memory = {
    .name = "stream memory",
    .arguments = "[FILE]...",
    .summary = "Drive the DRAM controller with one in-order stream of 64-byte requests",
    .details =
        "Prints one CSV row a run, on a terminal a table. A FILE is a CSV table with a head line;\n"
        "each row is a run and the columns memory, npc (channels), map, stream, stride_B, mode,\n"
        "cycles take the place of the options. Other columns are ignored, lines that begin with\n"
        "# too.\n\n"
        "Streams: request j is 64*j (seqr, seqw, mix21: every third a write), a random address\n"
        "(rand, randw, rmix21: a random third are writes), stride*j (stride), or three arrays in\n"
        "turn, the third written (add3). Modes: sat offers bursts each cycle until one is refused\n"
        "or two per channel are taken; load:T queues a request every T cycles; chase has one "
        "burst\n"
        "outstanding. Latency counts from taking into the controller to the last data beat.\n"
        "Example:\n"
        "  vinci stream memory --stream=mix21 --channels=2\n",
    .options = {memory_options, sizeof memory_options / sizeof *memory_options},
    .run = run,
};
