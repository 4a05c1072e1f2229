/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci stream network: synthetic traffic over the network alone, so that it can be
 * compared with other network simulators. A run comes from the options or from a row
 * of a CSV file; both fill the same struct through the same table of columns.
 */
#include "cli/stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "noc/stream.h"
#include "noc/transport.h"
#include "traces/export/export.h"

/* A run as asked for. */
struct request {
  const char *topology;
  const char *level;
  const char *traffic;
  const char *rate;
  uint64_t columns, rows, terminals;
  uint64_t routing_cycles, link_cycles, credit_cycles;
  uint64_t vcs, buffer_flits, flits;
  uint64_t cycles, seed;
  bool overload;
};

struct network_settings {
  struct request request;
  const char *data;
  bool *headed; /* whether the names of the columns have been printed */
  bool csv;
  FILE *out; /* of the rows */
};

/* The configuration of the published BookSim 2 comparison: tests/reference/noc. */
static const struct request reference = {
    .topology = "mesh",
    .level = "packet",
    .traffic = "uniform",
    .rate = "0.1",
    .columns = 4,
    .rows = 4,
    .terminals = 16,
    .routing_cycles = 1,
    .link_cycles = 1,
    .credit_cycles = 1,
    .vcs = 4,
    .buffer_flits = 8,
    .flits = 1,
    .cycles = 30000,
    .seed = 1,
};

enum {
  TERMINALS_MAX = NOC_TERMINALS_MAX,
  CYCLES_MAX = 1000000000,
  LINK_CYCLES_MAX = 1000,
  VCS_MAX = 16,
  BUFFER_MAX = 256,
  FLITS_MAX = 1024,
};

#define TEXT(name, field, value, help)                                                             \
  OPTION_TEXT_ROW(name, 0, struct network_settings, request.field, value, help)
#define NUMBER(name, field, minimum, maximum, help)                                                \
  OPTION_NUMBER_ROW(name, 0, struct network_settings, request.field, "N", minimum, maximum, help)

static const struct option_row network_options[] = {
    TEXT("topology", topology, "NAME", "mesh (default), ring or crossbar; a file of noc/"),
    NUMBER("columns", columns, 1, TERMINALS_MAX, "of a mesh (default 4)"),
    NUMBER("rows", rows, 1, TERMINALS_MAX, "of a mesh (default 4)"),
    NUMBER("terminals", terminals, 1, TERMINALS_MAX, "of a ring or crossbar (default 16)"),
    TEXT("level", level, "NAME",
         "packet (default): one reservation per packet and hop; flit: routers cycle by cycle"),
    NUMBER("routing-cycles", routing_cycles, 0, 1,
           "route computation in a router (default 1); 0 = done by the router before"),
    NUMBER("link-cycles", link_cycles, 1, LINK_CYCLES_MAX, "of a link (default 1)"),
    NUMBER("credit-cycles", credit_cycles, 0, LINK_CYCLES_MAX,
           "handling of a returned credit (default 1)"),
    NUMBER("vcs", vcs, 1, VCS_MAX, "virtual channels of a link (default 4)"),
    NUMBER("buffer-flits", buffer_flits, 1, BUFFER_MAX, "buffer of each (default 8)"),
    TEXT("traffic", traffic, "NAME", "uniform (default), transpose, hotspot1 or hotspot4"),
    NUMBER("flits", flits, 1, FLITS_MAX, "of a packet (default 1)"),
    TEXT("rate", rate, "R", "flits per terminal and cycle, at most 1 (default 0.1)"),
    NUMBER("cycles", cycles, 1, CYCLES_MAX, "measured, after 9000 to warm up (default 30000)"),
    NUMBER("seed", seed, 0, UINT32_MAX, "of the traffic (default 1)"),
    OPTION_FLAG_ROW("overload", 0, struct network_settings, request.overload,
                    "measure what is accepted: go on when latency grows without bound"),
    OPTION_TEXT_ROW("data", 0, struct network_settings, data, "DIR",
                    "the folder that holds noc/ with the topologies"),
    OPTION_FLAG_ROW("csv", 0, struct network_settings, csv,
                    "print CSV on a terminal too, as in a pipe"),
};
enum { OPTION_COUNT = sizeof network_options / sizeof *network_options };

/* ---- a run -------------------------------------------------------------------------- */

/* "0.25" in millionths, exactly: at most six decimals. */
static bool parse_rate(const char *text, uint32_t *ppm) {
  uint32_t value = 0, scale = NOC_RATE_ONE;
  const char *c = text;
  for (; *c >= '0' && *c <= '9' && value <= NOC_RATE_ONE; c++)
    value = value * 10 + (uint32_t)(*c - '0') * scale;
  if (*c == '.')
    for (c++; *c >= '0' && *c <= '9' && (scale > 1 || *c == '0'); c++) {
      scale /= 10;
      value += (uint32_t)(*c - '0') * scale;
    }
  *ppm = value;
  return c > text && *c == '\0' && value > 0 && value <= NOC_RATE_ONE;
}

static enum vinci_status load_graph(const struct request *request, const char *data,
                                    struct arena *arena, struct noc_graph *graph,
                                    struct vinci_diag *diag) {
  const struct noc_parameter parameters[] = {{"columns", (uint32_t)request->columns},
                                             {"rows", (uint32_t)request->rows},
                                             {"terminals", (uint32_t)request->terminals}};
  return noc_graph_load(data, request->topology, parameters, sizeof parameters / sizeof *parameters,
                        arena, graph, diag);
}

static enum vinci_status read_stream(const struct request *request, struct noc_stream *stream,
                                     struct vinci_diag *diag) {
  *stream = (struct noc_stream){.level = noc_level_by_name(request->level),
                                .traffic = noc_traffic_by_name(request->traffic),
                                .flits = (uint32_t)request->flits,
                                .cycles = request->cycles,
                                .seed = request->seed,
                                .overload = request->overload};
  if (stream->level == NOC_LEVEL_COUNT)
    return diag_error(diag, VINCI_E_USAGE, "unknown level '%s': packet or flit", request->level);
  if (stream->traffic == NOC_TRAFFIC_COUNT)
    return diag_error(diag, VINCI_E_USAGE,
                      "unknown traffic '%s': uniform, transpose, hotspot1 or hotspot4",
                      request->traffic);
  if (!parse_rate(request->rate, &stream->rate_ppm))
    return diag_error(diag, VINCI_E_USAGE,
                      "the rate '%s' is not above 0 and at most 1, to six decimals", request->rate);
  return VINCI_OK;
}

static void print_head(const struct network_settings *settings) {
  if (*settings->headed)
    return;
  *settings->headed = true;
  fputs("topology,columns,rows,terminals,level,routing_cycles,link_cycles,credit_cycles,vcs,"
        "buffer_flits,traffic,packet_flits,offered_flits_node_cycle,status,packet_lat,"
        "accepted_flit,hops,busiest_link,cycles,seed\n",
        settings->out);
}

static void print_row(const struct request *request, const struct noc_config *config,
                      const struct noc_stream *stream, const struct noc_stream_result *result,
                      FILE *out) {
  enum { DECIMALS = 4, RATE_DECIMALS = 6 };
  bool is_mesh = strcmp(request->topology, "mesh") == 0;
  fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%u,%u,%u,%u,%u,%s,%u,%s,%s,",
          request->topology, is_mesh ? request->columns : 0, is_mesh ? request->rows : 0,
          result->terminals, request->level, config->routing_cycles, config->link_cycles,
          config->credit_cycles, config->vcs, config->vc_flits, request->traffic, stream->flits,
          decimal_exact(stream->rate_ppm, RATE_DECIMALS).text, result->stable ? "ok" : "unstable");
  fprintf(out, "%s,%s,%s,%s,%" PRIu64 ",%" PRIu64 "\n",
          decimal_ratio(result->latency_cycles, result->packets, DECIMALS).text,
          decimal_ratio(result->accepted_flits, (uint128)result->cycles * result->terminals,
                        RATE_DECIMALS)
              .text,
          decimal_ratio(result->hops, result->packets, DECIMALS).text,
          decimal_ratio(result->busiest_link_flits, result->total_cycles, DECIMALS).text,
          result->cycles, stream->seed);
}

/* Above this load of a link the packet level is too optimistic. */
static void warn_of_load(const struct noc_stream *stream, const struct noc_stream_result *result) {
  enum { PPM = 1000000, PERCENT_PPM = 10000 };
  uint64_t ppm = result->busiest_link_flits * PPM / result->total_cycles;
  if (stream->level != NOC_LEVEL_FLIT && ppm > NOC_PACKET_LEVEL_MAX_PPM)
    fprintf(stderr,
            "warning: a link is busy %" PRIu64 "%% of the time; above %d%% the packet level "
            "is too optimistic, --level=flit is not\n",
            ppm / PERCENT_PPM, NOC_PACKET_LEVEL_MAX_PPM / PERCENT_PPM);
}

static enum vinci_status run_request(const struct network_settings *settings,
                                     struct vinci_diag *diag) {
  const struct request *request = &settings->request;
  struct arena arena = {0};
  struct noc_stream stream;
  struct noc_stream_result result;
  struct noc_config config = {
      .clock_hz = 1, /* times are in cycles throughout, and sizes in flits */
      .flit_bytes = 1,
      .routing_cycles = (uint32_t)request->routing_cycles,
      .link_cycles = (uint32_t)request->link_cycles,
      .credit_cycles = (uint32_t)request->credit_cycles,
      .vcs = (uint32_t)request->vcs,
      .vc_flits = (uint32_t)request->buffer_flits,
  };
  enum vinci_status status = read_stream(request, &stream, diag);
  if (status == VINCI_OK)
    status = load_graph(request, settings->data, &arena, &config.graph, diag);
  if (status == VINCI_OK)
    status = noc_stream_run(&config, &stream, &result, diag);
  if (status == VINCI_OK) {
    print_head(settings);
    print_row(request, &config, &stream, &result, settings->out);
    warn_of_load(&stream, &result);
  }
  arena_free(&arena);
  return status;
}

/* ---- runs from a file --------------------------------------------------------------- */

/* Names of columns that are options under another name. */
static const char *const other_names[][2] = {
    {"packet_flits", "flits"},
    {"offered_flits_node_cycle", "rate"},
};
/* Columns that hold results, as in the output of this command and of the reference files. */
static const char *const result_columns[] = {
    "frac_of_bound", "status", "packet_lat", "network_lat", "flit_lat",          "accepted_flit",
    "busiest_link",  "cpu_s",  "wall_s",     "hops",        "accepted_flit_min",
};

static bool is_result(const char *name) {
  for (size_t i = 0; i < sizeof result_columns / sizeof *result_columns; i++)
    if (strcmp(result_columns[i], name) == 0)
      return true;
  return false;
}

/* Compares a column with an option: '_' and '-' are the same. */
static bool same_name(const char *column, const char *option) {
  for (; *column && *option; column++, option++)
    if (*column != *option && !(*column == '_' && *option == '-'))
      return false;
  return *column == *option;
}

static const struct option_row *find_option(const char *name) {
  for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
    if (strcmp(other_names[i][0], name) == 0)
      name = other_names[i][1];
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (!option_is_flag(&network_options[i]) && strcmp(network_options[i].name, "data") != 0 &&
        same_name(name, network_options[i].name))
      return &network_options[i];
  return NULL;
}

static bool is_column(const char *name) {
  return strcmp(name, "k") == 0 || strcmp(name, "router") == 0 || is_result(name) ||
         find_option(name) != NULL;
}

static bool parse_number(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value < minimum || value > maximum)
    return false;
  *out = value;
  return true;
}

/* One cell into the request. Empty cells leave the default; so do sizes of 0. */
static bool take_cell(struct network_settings *settings, const char *column, char *cell) {
  struct request *request = &settings->request;
  if (*cell == '\0' || is_result(column))
    return true;
  if (strcmp(column, "router") == 0) { /* R4, R3: stages of the router's pipeline */
    request->routing_cycles = cell[1] == '3' ? 0 : 1;
    return cell[0] == 'R' && (cell[1] == '3' || cell[1] == '4');
  }
  if (strcmp(column, "k") == 0) {
    bool ok = parse_number(cell, 1, TERMINALS_MAX, &request->columns);
    request->rows = request->columns;
    return ok;
  }
  if (strcmp(column, "traffic") == 0)
    cell[strcspn(cell, ":")] = '\0'; /* "hotspot1:{0}" */
  const struct option_row *option = find_option(column);
  char *place = (char *)settings + option->offset;
  if (option->kind == OPTION_TEXT) {
    memcpy(place, &(const char *){cell}, sizeof(const char *));
    return true;
  }
  uint64_t value;
  if (strcmp(cell, "0") == 0 && option->minimum > 0)
    return true;
  if (!parse_number(cell, option->minimum, option->maximum, &value))
    return false;
  memcpy(place, &value, sizeof value);
  return true;
}

enum { COLUMNS_MAX = 64, LINE_MAX_BYTES = 4096 };

struct table {
  const char *path;
  unsigned long line;
  char head[LINE_MAX_BYTES];
  const char *columns[COLUMNS_MAX];
  size_t count;
};

static size_t split(char *line, const char **cells) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  while (line && count < COLUMNS_MAX)
    cells[count++] = strsep(&line, ",");
  return count;
}

static enum vinci_status refuse(const struct table *table, struct vinci_diag *diag,
                                const char *what, const char *text) {
  struct diag_position position = {.path = table->path, .line = table->line};
  return diag_error_at(diag, VINCI_E_INPUT, position, "%s '%s'", what, text);
}

static enum vinci_status take_head(struct table *table, struct vinci_diag *diag) {
  table->count = split(table->head, table->columns);
  for (size_t i = 0; i < table->count; i++)
    if (!is_column(table->columns[i]))
      return refuse(table, diag, "unknown column", table->columns[i]);
  return VINCI_OK;
}

static enum vinci_status run_line(const struct table *table, char *line,
                                  const struct network_settings *defaults,
                                  struct vinci_diag *diag) {
  struct network_settings settings = *defaults;
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *rest = line; rest; count++) {
    char *cell = strsep(&rest, ",");
    if (count >= table->count)
      return refuse(table, diag, "more cells than columns:", cell);
    if (!take_cell(&settings, table->columns[count], cell))
      return refuse(table, diag, "value out of range:", cell);
  }
  struct vinci_diag problem = {0};
  enum vinci_status status = run_request(&settings, &problem);
  if (status == VINCI_E_USAGE)
    return refuse(table, diag, "cannot be run:", problem.text);
  return status == VINCI_OK ? status : diag_error(diag, status, "%s", problem.text);
}

static enum vinci_status run_file(FILE *file, const char *path,
                                  const struct network_settings *defaults,
                                  struct vinci_diag *diag) {
  struct table table = {.path = path};
  char line[LINE_MAX_BYTES];
  enum vinci_status status = VINCI_OK;
  while (status == VINCI_OK && fgets(line, sizeof line, file)) {
    table.line++;
    if (line[0] == '#' || line[strspn(line, " \r\n")] == '\0')
      continue;
    if (table.count > 0) {
      status = run_line(&table, line, defaults, diag);
    } else {
      memcpy(table.head, line, sizeof line);
      status = take_head(&table, diag);
    }
  }
  if (status == VINCI_OK && ferror(file))
    status = diag_error(diag, VINCI_E_IO, "%s: read error", path);
  if (status == VINCI_OK && table.count == 0)
    status = refuse(&table, diag, "no row of column names in", path);
  return status;
}

static enum vinci_status run_path(const char *path, const struct network_settings *defaults,
                                  struct vinci_diag *diag) {
  if (strcmp(path, "-") == 0)
    return run_file(stdin, "standard input", defaults, diag);
  FILE *file = fopen(path, "r");
  if (!file)
    return diag_error_at(diag, diag_status_of(errno), (struct diag_position){.path = path},
                         "cannot be read: %s", strerror(errno));
  enum vinci_status status = run_file(file, path, defaults, diag);
  fclose(file);
  return status;
}

/* ---- the command -------------------------------------------------------------------- */

static int stream_network(const struct cli_verb *verb, int argc, char **argv) {
  bool headed = false;
  struct network_settings settings = {.request = reference, .headed = &headed};
  struct text_list files = {0};
  struct vinci_diag diag = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &files, &exit_code)) {
    struct stream_rows rows;
    settings.out = stream_rows_begin(&rows, settings.csv);
    enum vinci_status status = VINCI_OK;
    if (files.count == 0)
      status = run_request(&settings, &diag);
    for (size_t i = 0; status == VINCI_OK && i < files.count; i++)
      status = run_path(files.items[i], &settings, &diag);
    stream_rows_end(&rows, "traffic offered_flits_node_cycle status packet_lat accepted_flit");
    exit_code = cli_end(status == VINCI_OK ? 0 : cli_fail(&diag));
  }
  text_list_free(&files);
  return exit_code;
}

const struct cli_verb cli_stream_network = {
    .name = "stream network",
    .arguments = "[FILE]...",
    .summary = "Run synthetic traffic over the network alone",
    .details =
        "Prints one CSV row per run, on a terminal a table. Terminals create packets by\n"
        "independent trials each cycle; packet_lat counts from creation to the last flit's\n"
        "arrival; a run is unstable when its mean passes 500 cycles. FILE holds rows with options\n"
        "as columns (the columns of the output do); results in it are passed over, so files of\n"
        "other simulators with these columns can be run as they are. '-' reads standard input.\n"
        "Example:\n"
        "  vinci stream network --traffic=hotspot1 --rate=0.2\n",
    .options = {network_options, OPTION_COUNT},
    .run = stream_network,
};
