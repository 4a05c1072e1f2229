/* SPDX-License-Identifier: Apache-2.0 */
/* vinci tune NETWORK --cuts: chains of kernels in parts that stay in L2, by simulation. */
#include <inttypes.h>

#include "cli/tune/cmd_tune.h"
#include "cli/tune/values.h"
#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"
#include "networks/graph/text.h"
#include "networks/run/cuts.h"
#include "traces/export/export.h"

#define MIB (UINT64_C(1) << 20)
#define PS_PER_US UINT64_C(1000000)
enum { US_DIGITS = 6, CUT_REPEAT = 2 };

struct cutting {
  const struct tune_settings *settings;
  const vinci_soc *soc;
  struct graph network;
  struct estimates estimates;
  struct compile_options options;
  struct net_options run;
  struct monitor monitor;
  struct cuts cuts;
  struct cut_form forms[CUT_RUNS];
};

/* ---- what is printed ------------------------------------------------------------------------ */

static struct decimal mib(uint64_t bytes) { return decimal_ratio(bytes, MIB, 1); }
static struct decimal us(uint64_t ps) { return decimal_ratio(ps, PS_PER_US, 1); }

static void print_trials(const struct cut *cut) {
  uint64_t whole_ps = cut->trials[0].figures.ps;
  static const struct sheet_column columns[] = {{.title = "parts"},
                                                {.title = "rows each"},
                                                {.title = "launches"},
                                                {.title = "launch us", .rank = 1},
                                                {.title = "HBM MiB", .rank = 3},
                                                {.title = "us"},
                                                {.title = "estimate us", .rank = 2},
                                                {.title = "faster"},
                                                {.title = "", .left = true}};
  struct sheet sheet;
  SHEET_BEGIN(&sheet, stdout, columns, 2, NULL);
  while (sheet_pass(&sheet))
    for (unsigned i = 0; i < cut->trial_count; i++) {
      const struct cut_trial *trial = &cut->trials[i];
      const struct cut_figures *figures = &trial->figures;
      sheet_cell(&sheet, "%" PRIu64, trial->parts);
      sheet_cell(&sheet, "%" PRIu64, trial->rows);
      sheet_cell(&sheet, "%" PRIu64, figures->launches);
      sheet_text(&sheet, us(figures->launch_ps).text);
      sheet_text(&sheet, mib(figures->hbm_bytes).text);
      sheet_text(&sheet, us(figures->ps).text);
      sheet_text(&sheet, trial->estimate_ps == UINT64_MAX ? "-" : us(trial->estimate_ps).text);
      sheet_text(&sheet, decimal_ratio(whole_ps, figures->ps ? figures->ps : 1, 2).text);
      sheet_text(&sheet, trial->parts == cut->parts ? "chosen" : "");
    }
}

static void print_cut(const struct cut *cut) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "\nChain     %s ... %s: %u kernels, %" PRIu64 " rows (%s)\n", cut->first, cut->last,
          cut->kernels, cut->rows, cut->axis);
  fprintf(out, "Bytes     %s MiB of device memory by closed form whole,",
          mib(cut->whole_bytes).text);
  fprintf(out, " %s MiB in parts;", mib(cut->closed_bytes).text);
  fprintf(out, " between kernels %s MiB at once\n", mib(cut->between_bytes).text);
  fprintf(out, "Verdict   %s: %s%s\n", cut_verdict_name(cut->verdict), cut->reason,
          cut->again ? " (as an equal chain above)" : "");
  sheet_lines_end(&lines);
  if (!cut->again)
    print_trials(cut);
}

static void print_report(const struct cutting *cutting) {
  const struct cut_form *whole = &cutting->forms[CUT_RUN_WHOLE];
  printf("%s on %s: %zu chains\n", *cutting->network.name ? cutting->network.name : "network",
         vinci_soc_name(cutting->soc), cutting->cuts.count);
  if (cutting->cuts.count == 0)
    puts("No kernels follow one another that can run in parts of common rows.");
  for (size_t i = 0; i < cutting->cuts.count; i++)
    print_cut(&cutting->cuts.items[i]);
  printf("\n%-10s %9s %11s %12s %12s %8s\n", "network", "launches", "launch us", "HBM MiB", "us",
         "faster");
  for (unsigned i = 0; i < CUT_RUNS; i++) {
    const struct cut_figures *figures = &cutting->forms[i].figures;
    printf("%-10s %9" PRIu64 " %11s %12s %12s %8s\n", cut_run_name((enum cut_run)i),
           figures->launches, us(figures->launch_ps).text, mib(figures->hbm_bytes).text,
           us(figures->ps).text,
           decimal_ratio(whole->figures.ps, figures->ps ? figures->ps : 1, 2).text);
  }
  cli_summary("tune cuts chains=%zu whole_us=%s us=%s", cutting->cuts.count,
              decimal_exact(whole->figures.ps, US_DIGITS).text,
              decimal_exact(cutting->forms[CUT_RUN_TUNED].figures.ps, US_DIGITS).text);
}

static void put_run(struct json_writer *json, const struct cut_figures *figures) {
  json_decimal(json, "us", decimal_exact(figures->ps, US_DIGITS));
  json_number(json, "launches", figures->launches);
  json_decimal(json, "launch_us", decimal_exact(figures->launch_ps, US_DIGITS));
  json_number(json, "hbm_bytes", figures->hbm_bytes);
}

static void put_cut(struct json_writer *json, const struct cut *cut) {
  json_object(json, NULL, false);
  json_text(json, "first", cut->first);
  json_text(json, "last", cut->last);
  json_number(json, "kernels", cut->kernels);
  json_number(json, "rows", cut->rows);
  json_text(json, "axis", cut->axis);
  json_number(json, "between_bytes", cut->between_bytes);
  json_number(json, "held_bytes", cut->held_bytes);
  json_number(json, "whole_bytes", cut->whole_bytes);
  json_number(json, "closed_bytes", cut->closed_bytes);
  json_text(json, "verdict", cut_verdict_name(cut->verdict));
  json_text(json, "reason", cut->reason);
  json_number(json, "parts", cut->parts);
  json_array(json, "trials", false);
  for (unsigned i = 0; i < cut->trial_count; i++) {
    const struct cut_trial *trial = &cut->trials[i];
    json_object(json, NULL, true);
    json_number(json, "parts", trial->parts);
    json_number(json, "rows", trial->rows);
    put_run(json, &trial->figures);
    json_end(json);
  }
  json_end(json);
  json_end(json);
}

static void print_json(const struct cutting *cutting) {
  struct json_writer json;
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  json_number(&json, "schema", 1);
  json_text(&json, "soc", vinci_soc_name(cutting->soc));
  json_array(&json, "chains", false);
  for (size_t i = 0; i < cutting->cuts.count; i++)
    put_cut(&json, &cutting->cuts.items[i]);
  json_end(&json);
  json_object(&json, "network", false);
  for (unsigned i = 0; i < CUT_RUNS; i++) {
    const struct cut_form *form = &cutting->forms[i];
    json_object(&json, cut_run_name((enum cut_run)i), true);
    put_run(&json, &form->figures);
    json_end(&json);
  }
  json_end(&json);
  json_end(&json);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_graph(void *context, FILE *out) { graph_text_write(context, out); }

static void write_table(void *context, FILE *out) {
  const struct cuts *cuts = context;
  fputs(
      "first,last,kernels,rows,verdict,parts,part_rows,launches,launch_us,us,hbm_bytes,whole_bytes,"
      "closed_bytes,chosen\n",
      out);
  for (size_t i = 0; i < cuts->count; i++)
    for (unsigned k = 0; k < cuts->items[i].trial_count; k++) {
      const struct cut *cut = &cuts->items[i];
      const struct cut_trial *trial = &cut->trials[k];
      const struct cut_figures *figures = &trial->figures;
      cell_write(out, cut->first);
      fputc(',', out);
      cell_write(out, cut->last);
      fprintf(out, ",%u,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, cut->kernels, cut->rows,
              cut_verdict_name(cut->verdict), trial->parts, trial->rows, figures->launches);
      fprintf(out, ",%s", decimal_exact(figures->launch_ps, US_DIGITS).text);
      fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
              decimal_exact(figures->ps, US_DIGITS).text, figures->hbm_bytes, cut->whole_bytes,
              cut->closed_bytes, trial->parts == cut->parts);
    }
}

static enum vinci_status write_files(struct cutting *cutting, struct vinci_diag *diag) {
  const struct tune_settings *settings = cutting->settings;
  enum vinci_status status = VINCI_OK;
  if (settings->output)
    status = file_replace(settings->output, write_graph,
                          &cutting->forms[CUT_RUN_TUNED].compiled.graph, diag);
  if (status == VINCI_OK && settings->table)
    status = file_replace(settings->table, write_table, &cutting->cuts, diag);
  return status;
}

/* ---- values --------------------------------------------------------------------------------- */

/* What is cut has to compute what the whole network computes. */
static enum vinci_status check_values(struct cutting *cutting, struct vinci_diag *diag) {
  const struct cut_form *whole = &cutting->forms[CUT_RUN_WHOLE];
  const struct cut_form *tuned = &cutting->forms[CUT_RUN_TUNED];
  size_t results = 0;
  enum vinci_status status = tune_compare_networks(
      cutting->soc, &(struct tune_network){&whole->compiled.graph, &whole->result.plan},
      &(struct tune_network){&tuned->compiled.graph, &tuned->result.plan}, &results, diag);
  if (status == VINCI_OK && !cutting->settings->quiet && !cutting->settings->json)
    printf("\nValues    %zu results of the network whole and cut are the same within a hundredth\n",
           results);
  return status;
}

/* ---- the search ----------------------------------------------------------------------------- */

static bool watch(void *context, size_t done, size_t all) {
  return monitor_items(context, &(struct monitor_count){.done_permille = 1000 * done, .all = all});
}

static enum vinci_status choose(struct cutting *cutting, struct vinci_diag *diag) {
  const struct tune_settings *settings = cutting->settings;
  const struct net_run_settings run = {.memory = settings->memory,
                                       .network = settings->network,
                                       .passes = settings->passes,
                                       .repeat = CUT_REPEAT,
                                       .estimates = &cutting->estimates};
  enum vinci_status status = net_check_layer_options(&run, &cutting->network, diag);
  if (status == VINCI_OK)
    status = net_compile_choose(&run, &cutting->options, diag);
  return status == VINCI_OK ? net_run_choose(&run, &cutting->run, diag) : status;
}

static enum vinci_status search(struct cutting *cutting, const char *path,
                                struct vinci_diag *diag) {
  monitor_catch_interrupt();
  monitor_start(&cutting->monitor, path, 0, cutting->settings->quiet);
  cutting->run.progress = watch;
  cutting->run.progress_context = &cutting->monitor;
  enum vinci_status status = cuts_search(&cutting->network, cutting->soc, &cutting->options,
                                         &cutting->run, &cutting->cuts, diag);
  for (unsigned i = 0; status == VINCI_OK && i < CUT_RUNS; i++)
    status = cut_form_run(&cutting->network, cutting->soc, &cutting->options, &cutting->run,
                          (enum cut_run)i, &cutting->cuts, &cutting->forms[i], diag);
  monitor_clear(&cutting->monitor);
  return status;
}

static void free_all(struct cutting *cutting) {
  for (unsigned i = 0; i < CUT_RUNS; i++)
    cut_form_free(&cutting->forms[i]);
  cuts_free(&cutting->cuts);
  estimates_free(&cutting->estimates);
  graph_free(&cutting->network);
}

enum vinci_status tune_cuts(const struct tune_settings *settings, const struct text_list *words,
                            struct vinci_diag *diag) {
  struct cutting cutting = {.settings = settings};
  vinci_soc *soc = NULL;
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "--cuts needs one network, not %zu", words->count);
  enum vinci_status status =
      cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, diag);
  cutting.soc = soc;
  estimates_start(&cutting.estimates, soc);
  if (status == VINCI_OK)
    status = net_load(words->items[0], &settings->model, &cutting.network, diag);
  if (status == VINCI_OK)
    status = choose(&cutting, diag);
  if (status == VINCI_OK)
    status = search(&cutting, words->items[0], diag);
  if (status == VINCI_OK)
    status = write_files(&cutting, diag);
  if (status == VINCI_OK && settings->json)
    print_json(&cutting);
  else if (status == VINCI_OK && !settings->quiet)
    print_report(&cutting);
  if (status == VINCI_OK && settings->values)
    status = check_values(&cutting, diag);
  free_all(&cutting);
  vinci_soc_free(soc);
  return status;
}
