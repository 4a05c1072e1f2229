/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run: simulates traces and reports where the time went. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/automatic.h"
#include "cli/run/counters.h"
#include "cli/run/list.h"
#include "cli/run/output.h"
#include "cli/run/settings.h"
#include "cli/support/advice.h"
#include "cli/support/checks.h"
#include "cli/support/cli.h"
#include "cli/support/command.h"
#include "cli/support/isolate.h"
#include "cli/support/kernel.h"
#include "cli/support/library.h"
#include "cli/support/monitor.h"
#include "cli/support/operator.h"
#include "cli/support/values.h"
#include "cli/support/without.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "networks/workload/workload.h"
#include "traces/export/export.h"

/* The default timeline holds a million instructions, about 35 MB of trace.pftrace. */
enum {
  REPEAT_MAX = 1000000,
  TIMELINE_EVENTS = 1000000,
  TIMELINE_EVENTS_MAX = 100000000,
  TIMEOUT_MINUTES_MAX = 2880,
  PPM_PER_PERCENT = 10000
};

static const struct option_row run_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct run_settings, soc, "NAME",
                    "the chip to simulate, such as Ascend910B4; 'vinci soc list' shows them all"),
    OPTION_LIST_ROW("set", 0, struct run_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as l2.size=96MiB; may be repeated"),
    OPTION_ENERGY_ROW(struct run_settings, sets),
    OPTION_TEXT_ROW("data", 0, struct run_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_TEXT_ROW(
        "memory", 0, struct run_settings, memory, "MODEL",
        "cycle (default): requests, L2 slices, DRAM commands; flat (default of --ops): bandwidth "
        "limits, faster; auto: flat, corrected by as much of cycle as --error-bar asks for"),
    OPTION_NUMBER_ROW("error-bar", 0, struct run_settings, error_bar_percent, "PERCENT", 1, 50,
                      "with --memory=auto: how far the duration may be from that of cycle memory "
                      "(default 2); wider is faster"),
    OPTION_TEXT_ROW("network", 0, struct run_settings, network, "LEVEL",
                    "packet (default) or flit: virtual channels and credits, slower"),
    OPTION_TEXT_ROW(
        "l2", 0, struct run_settings, l2, "STATE",
        "L2 at the start: empty (default); warm: inputs that fit are there; streaming: "
        "what kernels of the same kind left, to be written back; dirty: what others wrote, "
        "l2.owed at most; used: the same, with the inputs that have room in its share "
        "l2.kept_share; --ops chooses by operator, see the manual"),
    OPTION_TEXT_ROW("code", 0, struct run_settings, code, "STATE",
                    "instruction caches at the start: cold (default), warm; device: cold, and the "
                    "code is not in L2 either; profile (of --ops)"),
    OPTION_TEXT_ROW("output", 'o', struct run_settings, output, "DIR",
                    "write a result folder: summary.json, CSV tables, the timeline"),
    OPTION_FLAG_ROW("csv", 0, struct run_settings, csv, "with --ops: print op_summary.csv"),
    OPTION_FLAG_ROW("json", 0, struct run_settings, json,
                    "print summary.json instead of the report; for several traces an array, whose "
                    "entries begin with the key trace"),
    OPTION_FLAG_ROW("check", 0, struct run_settings, check,
                    "check the program first, as 'vinci check'; with errors nothing is simulated "
                    "and the exit code is 5"),
    VALUES_OPTION_ROWS(struct run_settings, values),
    OPTION_NUMBER_ROW("max-cycles", 0, struct run_settings, max_cycles, "N", 1, UINT64_MAX,
                      "stop after N core cycles with partial results (exit code 7)"),
    OPTION_NUMBER_ROW("timeout", 0, struct run_settings, timeout_minutes, "MINUTES", 1,
                      TIMEOUT_MINUTES_MAX,
                      "end each trace after this time, checks and values included, with "
                      "partial results (exit code 7)"),
    OPTION_NUMBER_ROW(
        "timeline-events", 0, struct run_settings, timeline_events, "N", 0, TIMELINE_EVENTS_MAX,
        "instructions kept for the timelines of --output, and for hot spots and causes "
        "in the report (default 1000000, 0 for none)"),
    SAVINGS_OPTION_ROW(struct run_settings, savings),
    WITHOUT_OPTION_ROW(struct run_settings, without),
    OUTPUT_OPTION_ROWS(struct run_settings, output_of),
    OPTION_TEXT_ROW("ops", 0, struct run_settings, ops, "LIST",
                    "simulate the operators of a CSV list (a profiler's table, GEMMs, "
                    "convolutions, or op,args) and print their times, or with --output write "
                    "DIR/op_summary.csv; with flat memory "
                    "unless --memory says otherwise"),
    OPTION_TEXT_ROW("blocks", 0, struct run_settings, blocks, "CHOICE",
                    "own (default): --ops chooses the number of blocks, as for any operator; "
                    "profile: as many as column Block Dim of the list says; of LIBRARY:KERNEL the "
                    "number of blocks (default 1)"),
    KERNEL_ARG_ROW(struct run_settings, kernel),
    KERNEL_DCACHE_ROW(struct run_settings, kernel),
    ISOLATE_ROWS(struct run_settings, isolate),
    OPTION_NUMBER_ROW("jobs", 'j', struct run_settings, jobs, "N", 1, 256,
                      "processes that work on --ops (default 1)"),
    OPTION_FLAG_ROW("sequence", 0, struct run_settings, sequence,
                    "with --ops: run a profile or another list in its order on one chip, with its "
                    "gaps; each row finds in L2 what those before have left, and the table says "
                    "what; rows of one weight are a loop"),
    OPTION_TEXT_ROW("device", 0, struct run_settings, device, "ID",
                    "with --ops: take the launches of this device, of a profile of several"),
    OPTION_NUMBER_ROW("repeat", 0, struct run_settings, repeat, "N", 1, REPEAT_MAX,
                      "launch it N times in a row on one chip and report the last: what the "
                      "launches before leave in L2 and in the instruction caches; of --ops each "
                      "row by itself, with --sequence the whole list"),
    OPTION_FLAG_ROW("interval", 0, struct run_settings, interval,
                    "with --ops: also the durations of the cheapest and the dearest state of L2 "
                    "and code, as a list without order cannot know these; four runs for each row"),
    ADVICE_OPTION_ROW(struct run_settings, repository),
    LIBRARY_OPTION_ROW(struct run_settings, library),
    OPTION_TEXT_ROW("results", 0, struct run_settings, results, "DIR",
                    "with --ops: take results of the same program, chip, models and state of L2 "
                    "from this folder, and keep new ones there"),
    OPTION_FLAG_ROW("exact", 0, struct run_settings, exact,
                    "with --results: simulate all the same; a row whose result is another fails; "
                    "with --sequence and --repeat: also what starts as an earlier time did"),
    OPTION_NUMBER_ROW("shuffle-parts", 0, struct run_settings, shuffle_seed, "SEED", 1, UINT64_MAX,
                      NULL),
    OPTION_FLAG_ROW("counters", 0, struct run_settings, counters,
                    "print what a run counts: names, units, which way is better, where the numbers "
                    "are shown; nothing is simulated"),
    OPTION_FLAG_ROW("quiet", 'q', struct run_settings, quiet, "print errors only"),
};

/* ---- one trace ------------------------------------------------------------------- */

/* The report needs instructions, for the critical path. */
static bool reports(const struct run_settings *settings) {
  return !settings->json && !settings->quiet;
}

static struct vinci_run_options run_options_of(const struct run_settings *settings,
                                               struct monitor *monitor) {
  return (struct vinci_run_options){
      .struct_size = sizeof(struct vinci_run_options),
      .max_cycles = settings->max_cycles,
      .max_events = settings->output || reports(settings) ? settings->timeline_events : 0,
      .pack_events = !settings->output,
      .part_order_seed = settings->shuffle_seed,
      .progress = monitor_progress,
      .progress_context = monitor,
      .memory = settings->memory_model,
      .error_bar_ppm = (uint32_t)settings->error_bar_percent * PPM_PER_PERCENT,
      .network = settings->network_level,
      .l2_start = settings->l2_start,
      .code_found_ppm = settings->code_found_ppm,
      .repeat = (uint32_t)settings->repeat,
  };
}

static enum vinci_status simulate(const struct run_settings *settings, const vinci_soc *soc,
                                  const vinci_trace *trace, struct monitor *monitor,
                                  vinci_result **result, struct vinci_diag *diag) {
  struct vinci_run_options options = run_options_of(settings, monitor);
  enum vinci_status status = vinci_run(soc, trace, &options, result, diag);
  monitor_clear(monitor);
  if (status == VINCI_E_LIMIT && !monitor_goes_on(monitor)) {
    *diag = (struct vinci_diag){0};
    diag_error(diag, status, "%s; results are partial", monitor_reason());
  }
  return status;
}

/* The traces of a command, and what has come of them so far. */
struct batch {
  const struct run_settings *settings;
  const struct text_list *traces;
  const struct text_list *args; /* of the operator, when not a trace but one is named */
  const vinci_soc *soc;
  unsigned printed;
  int exit_code;
};

/* Keeps the first failure's exit code. */
static void fail(struct batch *batch, const struct vinci_diag *diag) {
  int code = cli_fail(diag);
  batch->exit_code = batch->exit_code ? batch->exit_code : code;
}

/* Writes to stdout; the text or JSON of several traces follow one another. */
static enum vinci_status print_result(struct batch *batch, const vinci_result *result,
                                      const char *path, struct vinci_diag *diag) {
  bool several = batch->traces->count > 1, first = batch->printed++ == 0;
  if (batch->settings->json) {
    if (!first)
      fputs(",\n", stdout);
    return export_summary(result, several ? path : NULL, stdout, diag);
  }
  if (batch->settings->quiet)
    return VINCI_OK;
  if (!first)
    fputs("\n----------------------------------------------------------------\n\n", stdout);
  return vinci_result_write_text(result, stdout, diag);
}

/* In the array of several traces, one without a result has an entry that says why. */
static void print_failure(struct batch *batch, const struct vinci_diag *diag, const char *path) {
  if (!batch->settings->json || batch->traces->count < 2)
    return;
  struct json_writer json;
  if (batch->printed++ > 0)
    fputs(",\n", stdout);
  json_start(&json, stdout);
  json_object(&json, NULL, false);
  json_text(&json, "trace", path);
  json_text(&json, "error", diag->text);
  json_number(&json, "exit_code", (uint64_t)vinci_status_exit_code(diag->status));
  json_end(&json);
}

static struct output_operator lowered_of(const struct batch *batch, const char *path) {
  return (struct output_operator){batch->soc, batch->args ? path : NULL, batch->args};
}

/* Stores and prints what there is, also of a run that was cut short or hangs. */
static void keep_result(struct batch *batch, const vinci_result *result, const char *path) {
  const struct run_settings *settings = batch->settings;
  struct output_operator lowered = lowered_of(batch, path);
  struct vinci_diag folder_diag = {0}, print_diag = {0};
  char folder[PATH_MAX];
  if (settings->output && cli_result_folder(settings->output, path, batch->traces->count > 1,
                                            folder, sizeof folder, &folder_diag) == VINCI_OK) {
    if (output_write(&settings->output_of, result, &lowered, folder, &folder_diag) != VINCI_OK)
      fail(batch, &folder_diag);
    else
      cli_keep_command(&settings->command, folder);
  }
  if (print_result(batch, result, path, &print_diag) != VINCI_OK)
    fail(batch, &print_diag);
  else if (!settings->json && !settings->quiet) {
    if (settings->output && folder_diag.status == VINCI_OK)
      output_print(&settings->output_of, &lowered, folder);
    else if (!settings->output && lowered.op)
      output_tell_lines(result, lowered.op);
    output_sum_up(result);
  }
}

/* What closes standard output when the program ends while it reads. */
static const char *closing(const struct batch *batch) {
  return batch->settings->json && batch->traces->count > 1 ? "\n]\n" : "";
}

/* Once the run with time is through and kept. */
static enum vinci_status run_values(const struct batch *batch, vinci_values *values,
                                    const char *path, struct monitor *monitor,
                                    struct vinci_diag *diag) {
  const struct run_settings *settings = batch->settings;
  char folder[PATH_MAX];
  bool keep = settings->output != NULL;
  enum vinci_status status = VINCI_OK;
  if (keep)
    status = cli_result_folder(settings->output, path, batch->traces->count > 1, folder,
                               sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  FILE *report = settings->json || settings->quiet ? NULL : stdout;
  return values_execute(&settings->values, values, keep ? folder : NULL, report, monitor,
                        closing(batch), diag);
}

/* The report goes where it disturbs no JSON. */
static enum vinci_status check_program(const struct batch *batch, const vinci_trace *trace,
                                       const char *path, struct monitor *monitor,
                                       struct vinci_diag *diag) {
  const struct run_settings *settings = batch->settings;
  char folder[PATH_MAX];
  enum vinci_status status = VINCI_OK;
  if (settings->output)
    status = cli_result_folder(settings->output, path, batch->traces->count > 1, folder,
                               sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  char unchecked[CHECKS_UNCHECKED_BYTES] = "";
  FILE *report = settings->json ? stderr : stdout;
  status = checks_run(batch->soc, trace, 0, monitor, report, NULL, settings->output ? folder : NULL,
                      unchecked, diag);
  if (*unchecked && !settings->quiet)
    fprintf(report, "Checks    ok; %s\n", unchecked);
  return status;
}

/* The trace, or what the operator is lowered to. */
static enum vinci_status open_trace(const struct batch *batch, const char *path,
                                    struct monitor *monitor, vinci_trace **trace,
                                    struct vinci_diag *diag) {
  if (monitor_interrupted())
    return diag_error(diag, VINCI_E_LIMIT, "interrupted before %s ran", path);
  monitor_begin_reading(monitor, path, "ran", closing(batch));
  enum vinci_status status;
  if (batch->args)
    status = vinci_compile(batch->soc, path, batch->args->items, batch->args->count, trace, diag);
  else if (kernel_is_named(path))
    status = kernel_load(path, &batch->settings->kernel, &batch->settings->values, batch->soc,
                         monitor, trace, diag);
  else
    status = vinci_trace_load(path, batch->soc, trace, diag);
  monitor_end_reading();
  if (status == VINCI_OK)
    status = without_take(batch->settings->without, *trace, diag);
  if (status == VINCI_OK && !batch->settings->quiet)
    kernel_warn(*trace);
  return status;
}

static enum vinci_status prepare_values(const struct batch *batch, const vinci_trace *trace,
                                        const char *path, const struct monitor *monitor,
                                        vinci_values **values, struct vinci_diag *diag) {
  monitor_begin_reading(monitor, path, "ran", closing(batch));
  enum vinci_status status =
      values_prepare(&batch->settings->values, batch->soc, trace, values, diag);
  monitor_end_reading();
  return status;
}

static void run_trace(struct batch *batch, const char *path) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  vinci_values *values = NULL;
  struct monitor monitor;
  monitor_start(&monitor, path, batch->settings->timeout_minutes, batch->settings->quiet);
  enum vinci_status status = open_trace(batch, path, &monitor, &trace, &diag);
  if (status == VINCI_OK && batch->settings->check)
    status = check_program(batch, trace, path, &monitor, &diag);
  if (status == VINCI_OK)
    status = prepare_values(batch, trace, path, &monitor, &values, &diag);
  if (status == VINCI_OK)
    status = simulate(batch->settings, batch->soc, trace, &monitor, &result, &diag);
  if (status == VINCI_OK) {
    struct vinci_run_options options = run_options_of(batch->settings, &monitor);
    struct savings_run run = {batch->soc, trace, &options, batch->args ? path : NULL, batch->args};
    status = savings_measure(batch->settings->savings_of, &run, result, &diag);
    monitor_clear(&monitor);
  }
  if (result)
    keep_result(batch, result, path);
  else
    print_failure(batch, &diag, path);
  if (status == VINCI_OK && values)
    status = run_values(batch, values, path, &monitor, &diag);
  fflush(stdout);
  if (status != VINCI_OK)
    fail(batch, &diag);
  vinci_result_free(result);
  vinci_values_free(values);
  vinci_trace_free(trace);
}

/* ---- the verb ---------------------------------------------------------------------- */

static int run_all(struct run_settings *settings, const struct text_list *words) {
  bool lowered = operator_is_named(words);
  struct text_list op = {.items = words->items, .count = lowered};
  struct text_list args = {.items = words->items + lowered, .count = words->count - lowered};
  const struct text_list *traces = lowered ? &op : words;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  const char *of_lists = settings->results    ? "results"
                         : settings->sequence ? "sequence"
                         : settings->interval ? "interval"
                         : settings->device   ? "device"
                                              : NULL;
  if (of_lists) {
    (void)diag_error(&diag, VINCI_E_USAGE, "--%s needs --ops=LIST", of_lists);
    return cli_fail(&diag);
  }
  if (settings->repository && !lowered) {
    (void)diag_error(&diag, VINCI_E_USAGE, "--repository needs an operator to run");
    return cli_fail(&diag);
  }
  if (operator_is_misspelt(words)) {
    (void)operator_unknown(words->items[0], &diag);
    return cli_fail(&diag);
  }
  settings->kernel.checked = settings->check;
  if (output_check(&settings->output_of, &diag) != VINCI_OK ||
      values_check(&settings->values, traces->count, &diag) != VINCI_OK ||
      kernel_check(&settings->kernel, traces, settings->values.keep, &diag) != VINCI_OK ||
      cli_check_folders(settings->output, traces, &diag) != VINCI_OK ||
      cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag) != VINCI_OK ||
      cli_make_folders(settings->output, traces, &diag) != VINCI_OK ||
      isolate_begin(&settings->isolate, settings->output, settings->kernel.record, settings->quiet,
                    &diag) != VINCI_OK) {
    vinci_soc_free(soc);
    return cli_fail(&diag);
  }
  struct advised advised = {0};
  const struct vinci_evaluate_options models = {.struct_size = sizeof models,
                                                .memory = settings->memory_model,
                                                .network = settings->network_level,
                                                .l2_start = settings->l2_start};
  if (lowered && settings->repository &&
      advise_args(settings->repository, soc, words, &models, &advised, &args, &diag) != VINCI_OK) {
    text_list_free(&advised.words);
    vinci_soc_free(soc);
    return cli_fail(&diag);
  }
  struct batch batch = {
      .settings = settings, .traces = traces, .args = lowered ? &args : NULL, .soc = soc};
  bool array = settings->json && traces->count > 1;
  if (array)
    fputs("[\n", stdout);
  monitor_catch_interrupt();
  for (size_t i = 0; i < traces->count; i++)
    run_trace(&batch, traces->items[i]);
  if (array)
    fputs("]\n", stdout);
  text_list_free(&advised.words);
  vinci_soc_free(soc);
  return batch.exit_code;
}

/* `run --library=DIR OP name=value...`: the call of an operator is that of its kernel. */
static int run_library(struct run_settings *settings, const struct text_list *words) {
  struct vinci_diag diag = {0};
  struct library library;
  struct library_call call = {0};
  vinci_soc *soc = NULL;
  enum vinci_status status =
      library_open_for(&library, settings->library, settings->data, &settings->kernel, &diag);
  if (status == VINCI_OK)
    status = cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag);
  if (status == VINCI_OK)
    status = library_take(&library, soc, words, &call);
  vinci_soc_free(soc);
  const char *kernel = call.kernel;
  struct text_list kernels = {.items = &kernel, .count = 1};
  struct text_list given = settings->kernel.args;
  if (status == VINCI_OK) {
    settings->kernel.args = (struct text_list){.items = (const char **)(uintptr_t)call.args.items,
                                               .count = call.args.count};
    settings->kernel.blocks = call.blocks;
  }
  int exit_code = status == VINCI_OK ? run_all(settings, &kernels) : cli_fail(&diag);
  settings->kernel.args = given;
  library_call_free(&call);
  return exit_code;
}

static int run_operators(const struct run_settings *settings, const struct text_list *words) {
  struct vinci_diag diag = {0};
  if (words->count > 0)
    (void)diag_error(&diag, VINCI_E_USAGE, "--ops takes no further arguments, not '%s'",
                     words->items[0]);
  else if (settings->check || settings->values.keep || settings->values.fill ||
           settings->values.inputs.count > 0 || settings->values.expected.count > 0)
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "--ops runs no checks and keeps no values; run its "
                     "operators one by one for that");
  else if (settings->sequence && settings->jobs > 1)
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "--sequence runs one operator after the other; leave out --jobs");
  else if (settings->without)
    (void)diag_error(&diag, VINCI_E_USAGE, "--without is of one trace, not of --ops");
  else if (settings->json)
    (void)diag_error(&diag, VINCI_E_USAGE, "--ops prints a table, or CSV with --csv; not JSON");
  else
    diag.status = cli_refuse_energy(&settings->sets, &diag);
  if (diag.status != VINCI_OK)
    return cli_fail(&diag);
  struct run_list list = {
      .command = &settings->command,
      .list = settings->ops,
      .output = settings->output,
      .csv = settings->csv,
      .options = {.struct_size = sizeof list.options,
                  .overrides = {.soc = settings->soc,
                                .data_dir = settings->data,
                                /* A list takes seconds with flat memory and many minutes with the
                                 * other, which is no nearer to measured durations. */
                                .memory = settings->memory ? settings->memory : "flat",
                                .network = settings->network,
                                .l2 = settings->l2,
                                .code = settings->code,
                                .sets = settings->sets.items,
                                .set_count = settings->sets.count},
                  .max_cycles = settings->max_cycles,
                  .jobs = settings->jobs ? (unsigned)settings->jobs : 1,
                  .profile_blocks = settings->profile_blocks,
                  .sequence = settings->sequence,
                  .repeat = (unsigned)settings->repeat,
                  .interval = settings->interval,
                  .device = settings->device,
                  .results = settings->results,
                  .library = settings->library,
                  .exact = settings->exact},
      .timeout_minutes = settings->timeout_minutes,
      .quiet = settings->quiet,
  };
  return run_list(&list);
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct run_settings settings = {.command = {verb, argc, argv},
                                  .timeline_events = TIMELINE_EVENTS,
                                  .output_of.timeline.struct_size =
                                      sizeof settings.output_of.timeline};
  struct text_list traces = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &traces, &exit_code))
    exit_code = settings.counters               ? run_print_counters()
                : !run_choose_models(&settings) ? vinci_status_exit_code(VINCI_E_USAGE)
                : settings.ops                  ? run_operators(&settings, &traces)
                : library_is_meant(settings.library, &traces) ? run_library(&settings, &traces)
                                                              : run_all(&settings, &traces);
  exit_code = isolate_end(&settings.isolate, exit_code);
  values_settings_free(&settings.values);
  text_list_free(&settings.kernel.args);
  text_list_free(&settings.sets);
  text_list_free(&traces);
  return exit_code;
}

const struct cli_verb cli_verb_run = {
    .name = "run",
    .arguments = "TRACE... | OP KEY=VALUE... | LIBRARY:KERNEL",
    .summary = "Simulate traces on a chip and report where the time went",
    .details =
        "Each trace runs on a fresh chip. With several traces, the result folder of each is\n"
        "DIR/NAME, NAME being the trace's file name without .csv. '-' reads standard input.\n"
        "LIBRARY:KERNEL is a kernel that 'vinci cc' has compiled.\n"
        "OP names an operator of 'vinci compile --list', which is lowered and simulated at once.\n"
        "A run that hangs or is stopped early still prints what it has, marked partial.\n"
        "Examples:\n"
        "  vinci run traces/examples/add1_tile2048.csv -s Ascend910B4 --output=out\n"
        "  vinci run matmul m=1024 k=1024 n=1024 -s Ascend910B4 --output=out\n",
    .options = {run_options, sizeof run_options / sizeof *run_options},
    .run = run,
};
