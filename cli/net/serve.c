/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net serve: a family of graphs, one for each batch, and a stream of requests. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/vinci_net.h"

enum { GEARS_MAX = 64, BATCH_MAX = 1 << 20, PATH_BYTES = 4096, MAX_WAIT_US = 1000000000 };
enum { SHARE_DECIMALS = 4, PS_DIGITS = 6 };
#define PS_PER_US UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)

struct serve_settings {
  struct net_run_settings run;
  const char *gears, *requests;
  uint64_t max_wait_us;
  bool json;
};

/* Rows of NET_OPTION_ROWS are of what run points to: the first member. */
static const struct option_row serve_options[] = {
    NET_OPTION_ROWS(struct net_run_settings),
    NET_COMPILE_OPTION_ROWS(struct net_run_settings),
    OPTION_TEXT_ROW("gears", 0, struct serve_settings, gears, "LIST",
                    "batches of the family, such as 1,4,8,16"),
    OPTION_TEXT_ROW("requests", 0, struct serve_settings, requests, "FILE",
                    "CSV with arrival_us,size, or poisson:rate=R,count=N,seed=S,size=K with R "
                    "requests a second"),
    OPTION_NUMBER_ROW("max-wait", 0, struct serve_settings, max_wait_us, "US", 0, MAX_WAIT_US,
                      "a batch begins at the latest when its oldest request has waited this long "
                      "and the chip is free (default 0)"),
    OPTION_FLAG_ROW("json", 0, struct serve_settings, json, "print the summary as JSON"),
};

/* What a gear did. */
struct gear {
  uint64_t memory_bytes, batches, samples;
};

struct serve {
  const struct serve_settings *settings;
  struct vinci_net_gear gears[GEARS_MAX];
  struct gear done[GEARS_MAX];
  size_t gear_count, request_count;
  struct vinci_net_request *requests;
  uint64_t *latencies;
  struct vinci_net_batch *batches;
  size_t batch_count, batch_room;
  struct vinci_net_served result;
};

/* ---- gears ---------------------------------------------------------------------------------- */

static enum vinci_status parse_gears(struct serve *serve, struct vinci_diag *diag) {
  uint64_t last = 0;
  for (const char *at = serve->settings->gears; *at;) {
    char *end;
    uint64_t batch = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
    if (batch <= last || batch > BATCH_MAX || (*end != ',' && *end != '\0') ||
        serve->gear_count == GEARS_MAX) {
      (void)diag_error(diag, VINCI_E_USAGE, "--gears=%s is not a list of growing batches",
                       serve->settings->gears);
      diag_hint(diag, "up to %d of them, each at most %d, such as 1,4,8,16", GEARS_MAX, BATCH_MAX);
      return VINCI_E_USAGE;
    }
    serve->gears[serve->gear_count++].batch = last = batch;
    at = end + (*end == ',');
  }
  return VINCI_OK;
}

static enum vinci_status simulate_gear(struct serve *serve, const char *path, size_t index,
                                       const struct vinci_soc *soc, struct vinci_diag *diag) {
  struct net_run_settings settings = serve->settings->run;
  struct graph graph = {0};
  struct compiled compiled = {0};
  struct net_result result = {0};
  struct estimates estimates;
  char folder[PATH_BYTES];
  settings.quiet = true;
  settings.estimates = &estimates;
  estimates_start(&estimates, soc);
  if (settings.output) {
    snprintf(folder, sizeof folder, "%s/gear_%llu", settings.output,
             (unsigned long long)serve->gears[index].batch);
    settings.output = folder;
  }
  enum vinci_status status = net_load_gear(path, serve->gears[index].batch, &graph, diag);
  bool layers = status == VINCI_OK && graph_has_layers(&graph);
  if (status == VINCI_OK)
    status = net_check_layer_options(&settings, &graph, diag);
  if (status == VINCI_OK && layers)
    status = net_compile_layers(&settings, soc, &graph, &compiled, diag);
  if (status == VINCI_OK)
    status = net_simulate(&settings, path, layers ? &compiled.graph : &graph, soc, &result, diag);
  serve->gears[index].duration_ps = result.queue.end_ps;
  serve->done[index].memory_bytes = result.plan.bytes;
  arena_free(&result.arena);
  estimates_free(&estimates);
  compiled_free(&compiled);
  graph_free(&graph);
  return status;
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool note_batch(void *context, const struct vinci_net_batch *batch) {
  struct serve *serve = context;
  if (serve->batch_count == serve->batch_room) {
    size_t room = serve->batch_room ? 2 * serve->batch_room : 1024;
    struct vinci_net_batch *grown = realloc(serve->batches, room * sizeof *grown);
    if (!grown)
      return false;
    serve->batches = grown;
    serve->batch_room = room;
  }
  serve->batches[serve->batch_count++] = *batch;
  serve->done[batch->gear].batches++;
  serve->done[batch->gear].samples += batch->samples;
  return true;
}

static enum vinci_status serve_requests(struct serve *serve, struct vinci_diag *diag) {
  serve->latencies = calloc(serve->request_count, sizeof *serve->latencies);
  if (!serve->latencies)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for requests");
  enum vinci_status status =
      vinci_net_serve(serve->gears, serve->gear_count, serve->requests, serve->request_count,
                      serve->settings->max_wait_us * PS_PER_US, serve->latencies, note_batch, serve,
                      &serve->result, diag);
  if (status == VINCI_OK && serve->batch_count != serve->result.batches)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for batches");
  return status;
}

/* ---- results -------------------------------------------------------------------------------- */

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, PS_PER_US, 3); }

static struct decimal exact_us(uint64_t ps) { return decimal_exact(ps, PS_DIGITS); }

static struct decimal share(uint64_t part, uint64_t whole) {
  return decimal_ratio(part, whole, SHARE_DECIMALS);
}

/* Samples a second. */
static struct decimal rate(uint64_t samples, uint64_t ps) {
  return decimal_ratio((uint128)samples * PS_PER_SECOND, ps, 1);
}

/* The gear that moves most samples a second when it is full. */
static size_t best_gear(const struct serve *serve) {
  size_t best = 0;
  for (size_t i = 1; i < serve->gear_count; i++)
    if ((uint128)serve->gears[i].batch * serve->gears[best].duration_ps >
        (uint128)serve->gears[best].batch * serve->gears[i].duration_ps)
      best = i;
  return best;
}

static uint64_t unused(const struct serve *serve, size_t gear) {
  return serve->done[gear].batches * serve->gears[gear].batch - serve->done[gear].samples;
}

static void put_gears(void *context, FILE *out) {
  const struct serve *serve = context;
  fputs("gear,us,samples_per_second,memory_bytes,batches,samples,waste\n", out);
  for (size_t i = 0; i < serve->gear_count; i++) {
    const struct vinci_net_gear *gear = &serve->gears[i];
    fprintf(out, "%llu,%s,%s", (unsigned long long)gear->batch, exact_us(gear->duration_ps).text,
            rate(gear->batch, gear->duration_ps).text);
    fprintf(out, ",%llu,%llu,%llu,%s\n", (unsigned long long)serve->done[i].memory_bytes,
            (unsigned long long)serve->done[i].batches, (unsigned long long)serve->done[i].samples,
            share(unused(serve, i), serve->done[i].batches * gear->batch).text);
  }
}

static void put_batches(void *context, FILE *out) {
  const struct serve *serve = context;
  fputs("start_us,end_us,gear,samples\n", out);
  for (size_t i = 0; i < serve->batch_count; i++) {
    const struct vinci_net_batch *batch = &serve->batches[i];
    fprintf(out, "%s,%s,%llu,%llu\n", exact_us(batch->start_ps).text, exact_us(batch->end_ps).text,
            (unsigned long long)serve->gears[batch->gear].batch,
            (unsigned long long)batch->samples);
  }
}

static void put_requests(void *context, FILE *out) {
  const struct serve *serve = context;
  fputs("arrival_us,size,latency_us\n", out);
  for (size_t i = 0; i < serve->request_count; i++)
    fprintf(out, "%s,%llu,%s\n", exact_us(serve->requests[i].arrival_ps).text,
            (unsigned long long)serve->requests[i].size, exact_us(serve->latencies[i]).text);
}

/* Keys never change their meaning. */
static void put_summary(void *context, FILE *out) {
  const struct serve *serve = context;
  const struct vinci_net_served *result = &serve->result;
  fprintf(out,
          "{\n  \"schema\": 1,\n  \"requests\": %zu,\n  \"samples\": %llu,\n  \"batches\": %llu,\n",
          serve->request_count, (unsigned long long)result->samples,
          (unsigned long long)result->batches);
  fprintf(out, "  \"p50_us\": %s,\n  \"p90_us\": %s", exact_us(result->p50_ps).text,
          exact_us(result->p90_ps).text);
  fprintf(out, ",\n  \"p99_us\": %s,\n  \"max_us\": %s", exact_us(result->p99_ps).text,
          exact_us(result->max_ps).text);
  fprintf(out, ",\n  \"span_us\": %s,\n  \"samples_per_second\": %s",
          exact_us(result->span_ps).text, rate(result->samples, result->span_ps).text);
  fprintf(out, ",\n  \"busy_share\": %s", share(result->busy_ps, result->span_ps).text);
  fprintf(out, ",\n  \"waste\": %s", share(result->slots - result->samples, result->slots).text);
  fprintf(out, ",\n  \"best_gear\": %llu\n}\n",
          (unsigned long long)serve->gears[best_gear(serve)].batch);
}

static void report(const struct serve *serve, const struct vinci_soc *soc) {
  const struct vinci_net_served *result = &serve->result;
  printf("%zu requests with %llu samples on %s, a batch waits at most %llu us\n",
         serve->request_count, (unsigned long long)result->samples, vinci_soc_name(soc),
         (unsigned long long)serve->settings->max_wait_us);
  printf("Latency   50 %% %s us", us(result->p50_ps).text);
  printf(", 90 %% %s us, 99 %%", us(result->p90_ps).text);
  printf(" %s us, longest", us(result->p99_ps).text);
  printf(" %s us\n", us(result->max_ps).text);
  printf("Rate      %s samples/s; the chip is busy", rate(result->samples, result->span_ps).text);
  printf(" %s %% of the time\n",
         decimal_ratio((uint128)result->busy_ps * 100, result->span_ps, 1).text);
  printf("Waste     %llu of %llu places of %llu batches are empty (%s %%)\n",
         (unsigned long long)(result->slots - result->samples), (unsigned long long)result->slots,
         (unsigned long long)result->batches,
         decimal_ratio((uint128)(result->slots - result->samples) * 100, result->slots, 1).text);
  printf("\n%8s %12s %12s %12s %9s %9s %8s\n", "gear", "us", "samples/s", "MiB", "batches",
         "samples", "waste");
  for (size_t i = 0; i < serve->gear_count; i++) {
    const struct vinci_net_gear *gear = &serve->gears[i];
    printf("%8llu %12s", (unsigned long long)gear->batch, us(gear->duration_ps).text);
    printf(" %12s", rate(gear->batch, gear->duration_ps).text);
    printf(" %12s", decimal_ratio(serve->done[i].memory_bytes, MIB, 3).text);
    printf(" %9llu %9llu %6s %%%s\n", (unsigned long long)serve->done[i].batches,
           (unsigned long long)serve->done[i].samples,
           decimal_ratio((uint128)unused(serve, i) * 100, serve->done[i].batches * gear->batch, 1)
               .text,
           i == best_gear(serve) ? "  most samples/s" : "");
  }
  cli_summary("net serve requests=%zu p50_us=%s p99_us=%s samples_per_second=%s best_gear=%llu",
              serve->request_count, exact_us(result->p50_ps).text, exact_us(result->p99_ps).text,
              rate(result->samples, result->span_ps).text,
              (unsigned long long)serve->gears[best_gear(serve)].batch);
}

static enum vinci_status write_folder(struct serve *serve, const char *folder,
                                      struct vinci_diag *diag) {
  static const struct {
    const char *name;
    void (*write)(void *context, FILE *out);
  } files[] = {{"gears.csv", put_gears},
               {"batches.csv", put_batches},
               {"requests.csv", put_requests},
               {"summary.json", put_summary}};
  char path[PATH_BYTES];
  enum vinci_status status = folder_make(folder, diag);
  if (status == VINCI_OK)
    status = folder_remove_command(folder, diag);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VINCI_OK; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
    status = file_replace(path, files[i].write, serve, diag);
  }
  return status;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static enum vinci_status check_words(const struct serve_settings *settings,
                                     const struct text_list *words, struct vinci_diag *diag) {
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one graph, not %zu", words->count);
  if (settings->gears && settings->requests)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "give --gears and --requests");
  diag_hint(diag, "such as --gears=1,4,8,16 --requests=poisson:rate=2000,count=1000");
  return VINCI_E_USAGE;
}

static enum vinci_status serve_words(struct serve *serve, const struct text_list *words,
                                     struct vinci_diag *diag) {
  const struct serve_settings *settings = serve->settings;
  vinci_soc *soc = NULL;
  enum vinci_status status = check_words(settings, words, diag);
  if (status == VINCI_OK)
    status = parse_gears(serve, diag);
  if (status == VINCI_OK)
    status = vinci_net_requests(settings->requests, &serve->requests, &serve->request_count, diag);
  if (status == VINCI_OK)
    status = cli_load_soc(settings->run.soc, settings->run.data, &settings->run.sets, &soc, diag);
  for (size_t i = 0; i < serve->gear_count && status == VINCI_OK; i++)
    status = simulate_gear(serve, words->items[0], i, soc, diag);
  if (status == VINCI_OK)
    status = serve_requests(serve, diag);
  if (status == VINCI_OK && settings->run.output)
    status = write_folder(serve, settings->run.output, diag);
  if (status == VINCI_OK && settings->run.output)
    cli_keep_command(&settings->run.command, settings->run.output);
  if (status == VINCI_OK && settings->json)
    put_summary(serve, stdout);
  else if (status == VINCI_OK && !settings->run.quiet)
    report(serve, soc);
  vinci_soc_free(soc);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct serve_settings settings = {.run = {.command = {verb, argc, argv}, .repeat = 2}};
  struct serve *serve = calloc(1, sizeof *serve);
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status = VINCI_E_NOMEM;
    if (serve) {
      serve->settings = &settings;
      status = serve_words(serve, &words, &diag);
    }
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  if (serve) {
    free(serve->requests);
    free(serve->latencies);
    free(serve->batches);
  }
  free(serve);
  text_list_free(&settings.run.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_net_serve = {
    .name = "net serve",
    .arguments = "GRAPH",
    .summary = "Serve requests with a family of graphs, one for each batch",
    .details =
        "GRAPH is a graph in which {batch} and expressions such as {batch*32} stand for numbers.\n"
        "A batch begins when the chip is free and the largest gear is full, or the oldest request\n"
        "has waited for --max-wait; it takes the smallest gear that holds what waits. --output\n"
        "writes gears.csv, batches.csv, requests.csv, summary.json, and a folder for each gear.\n"
        "Example:\n"
        "  vinci net serve traces/examples/gears.graph.csv -s Ascend910B4 --gears=1,4,8,16\n"
        "    --requests=poisson:rate=20000,count=1000 --max-wait=100\n",
    .options = {serve_options, sizeof serve_options / sizeof *serve_options},
    .run = run,
};
