/* SPDX-License-Identifier: Apache-2.0 */
/* vinci tune: the fastest schedule of an operator, of a list of operators, or of a network. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/tune/cmd_tune.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "networks/workload/workload.h"
#include "tune/tune.h"

enum { SECONDS_MAX = 86400, JOBS_MAX = 256, EVALUATIONS_MAX = 1000000, ROBUST_MAX = 16 };

static const struct option_row tune_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct tune_settings, soc, "NAME",
                    "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),
    OPTION_LIST_ROW("set", 0, struct tune_settings, sets, "KEY=VALUE",
                    "change a number of the chip; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct tune_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_TEXT_ROW("ops", 0, struct tune_settings, ops, "LIST",
                    "tune all operators of a list, as of 'vinci run --ops'"),
    OPTION_TEXT_ROW("strategy", 0, struct tune_settings, strategy, "NAME",
                    "how to search; --strategies lists them (default: genetic for operators of "
                    "the cube, tree for others)"),
    OPTION_FLAG_ROW("strategies", 0, struct tune_settings, strategies, "list the strategies"),
    OPTION_NUMBER_ROW("evaluations", 'n', struct tune_settings, evaluations, "N", 1,
                      EVALUATIONS_MAX,
                      "simulate at most N schedules of an operator (default: a tenth of the space, "
                      "from 24 to 200)"),
    OPTION_NUMBER_ROW("seconds", 0, struct tune_settings, seconds, "N", 1, SECONDS_MAX,
                      "end after N seconds with the best so far; what is found then depends on "
                      "the host"),
    OPTION_NUMBER_ROW("schedules", 0, struct tune_settings, schedules, "N", 1, EVALUATIONS_MAX,
                      "schedules that --space prints at most; a search has those that the lowering "
                      "chooses from, and up to N others (default 2000)"),
    OPTION_NUMBER_ROW("seed", 0, struct tune_settings, seed, "N", 0, UINT32_MAX,
                      "another sequence of random choices (default 0)"),
    OPTION_NUMBER_ROW("robust", 0, struct tune_settings, robust, "N", 0, ROBUST_MAX,
                      "run the best N schedules again on neighbours of the chip and prefer what "
                      "stays good (default 4; 0: not)"),
    OPTION_TEXT_ROW("repository", 'r', struct tune_settings, repository, "FILE",
                    "keep what is found in this file, for --repository of 'vinci compile', 'vinci "
                    "run' and 'vinci net run'; FILE.journal lets an interrupted search go on"),
    OPTION_LIST_ROW("merge", 0, struct tune_settings, merge, "FILE",
                    "put the records of another repository into --repository; may be repeated"),
    OPTION_FLAG_ROW("values", 0, struct tune_settings, values,
                    "run the winner and the default with the same values too; other results end "
                    "with exit code 4"),
    OPTION_FLAG_ROW("space", 0, struct tune_settings, space,
                    "print the schedules of the operator as CSV; nothing is simulated"),
    OPTION_FLAG_ROW("cuts", 0, struct tune_settings, cuts,
                    "search the cuts of a network in place of schedules: chains of kernels whose "
                    "tensors between exceed L2 run in parts"),
    OPTION_TEXT_ROW("passes", 0, struct tune_settings, passes, "LIST",
                    "with --cuts: passes that turn layers into kernels, as of 'vinci net run'"),
    OPTION_TEXT_ROW("output", 'o', struct tune_settings, output, "FILE",
                    "with --cuts: write the graph of kernels, for 'vinci net run'"),
    OPTION_TEXT_ROW("table", 0, struct tune_settings, table, "FILE",
                    "with --cuts: write a CSV table with a row for each simulation of a chain"),
    OPTION_FLAG_ROW("json", 0, struct tune_settings, json, "print JSON instead of the report"),
    OPTION_NUMBER_ROW("jobs", 'j', struct tune_settings, jobs, "N", 1, JOBS_MAX,
                      "simulations at a time (default: the number of processors)"),
    OPTION_TEXT_ROW("memory", 0, struct tune_settings, memory, "MODEL",
                    "cycle, flat or auto, as for 'vinci run'"),
    OPTION_TEXT_ROW("network", 0, struct tune_settings, network, "LEVEL",
                    "packet or flit, as for 'vinci run'"),
    OPTION_TEXT_ROW(
        "l2", 0, struct tune_settings, l2, "STATE",
        "L2 at the start, as for 'vinci run' (default: empty; of kernels of a network warm)"),
    NET_MODEL_ROWS(struct tune_settings, model),
    OPTION_FLAG_ROW("quiet", 'q', struct tune_settings, quiet, "print errors only"),
};

/* ---- options -------------------------------------------------------------------------------- */

enum vinci_status tune_choose(const struct tune_settings *settings, struct vinci_tune_options *out,
                              struct vinci_diag *diag) {
  const struct workload_models models = {settings->memory, settings->network, settings->l2, NULL};
  struct vinci_run_options run = {.struct_size = sizeof run};
  *out = (struct vinci_tune_options){.struct_size = sizeof *out,
                                     .strategy = settings->strategy,
                                     .evaluations = settings->evaluations,
                                     .schedules = settings->schedules,
                                     .seed = settings->seed,
                                     .robust = (unsigned)settings->robust,
                                     .jobs = (unsigned)settings->jobs};
  enum vinci_status status = workload_choose(&models, &run, diag);
  out->memory = run.memory;
  out->network = run.network;
  out->l2_start = run.l2_start;
  return status;
}

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the searches --------------------------------------------------------------------------- */

struct tuner {
  const struct tune_settings *settings;
  const vinci_soc *soc;
  struct vinci_tune_options options;
  struct tune_problems problems;
  size_t current; /* problem */
  vinci_tunings *tunings;
  char journal[JOURNAL_PATH_BYTES];
  struct journal held; /* so that another search does not remove the file */
  struct monitor monitor;
  double end_seconds; /* of the current search; 0: none */
};

/* Of several operators each gets an equal part of the time that is left. */
static void share_time(struct tuner *tuner, double end) {
  double now = now_seconds(), left = end > now ? end - now : 0;
  size_t operators = tuner->problems.count - tuner->current;
  tuner->end_seconds = tuner->settings->seconds ? now + left / (double)operators : 0;
}

static bool watch(void *context, const struct vinci_tune_progress *progress) {
  struct tuner *tuner = context;
  size_t budget = progress->budget ? progress->budget : 1;
  struct monitor_count count = {.done_permille =
                                    1000 * tuner->current + 1000 * progress->evaluations / budget,
                                .all = tuner->problems.count};
  return monitor_items(&tuner->monitor, &count) &&
         (tuner->end_seconds == 0 || now_seconds() < tuner->end_seconds);
}

static enum vinci_status tune_all(struct tuner *tuner, struct vinci_diag *diag) {
  struct tune_problems *problems = &tuner->problems;
  double end = now_seconds() + (double)tuner->settings->seconds;
  enum vinci_status status = VINCI_OK;
  tuner->options.progress = watch;
  tuner->options.progress_context = tuner;
  monitor_catch_interrupt();
  monitor_start(&tuner->monitor, "tune", 0, tuner->settings->quiet);
  for (; status == VINCI_OK && tuner->current < problems->count && !monitor_interrupted();
       tuner->current++) {
    struct tune_problem *problem = &problems->item[tuner->current];
    struct vinci_diag own = {0};
    share_time(tuner, end);
    problem->status = vinci_tune(tuner->soc, problem->op, problem->args, problem->arg_count,
                                 &tuner->options, &problem->tuned, &own);
    snprintf(problem->reason, sizeof problem->reason, "%.*s", (int)sizeof problem->reason - 1,
             own.text);
    bool usage = problem->status == VINCI_E_USAGE && problems->count > 1;
    if (problem->status != VINCI_OK && !usage) {
      *diag = own;
      status = problem->status;
    }
    if (problem->status == VINCI_OK && tuner->tunings && !monitor_interrupted())
      status = vinci_tunings_add(tuner->tunings, tuner->soc, problem->op, problem->args,
                                 problem->arg_count, &tuner->options, &problem->tuned, diag);
  }
  monitor_clear(&tuner->monitor);
  return status;
}

/* What was found has to compute what the default computes. */
static enum vinci_status check_values(const struct tuner *tuner, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < tuner->problems.count; i++)
    if (tuner->problems.item[i].tuned.cycles > 0)
      status = tune_check_values(tuner->soc, &tuner->problems.item[i], diag);
  return status;
}

/* ---- the repository ------------------------------------------------------------------------- */

static enum vinci_status open_repository(struct tuner *tuner, struct vinci_diag *diag) {
  const struct tune_settings *settings = tuner->settings;
  if (!settings->repository)
    return settings->merge.count == 0
               ? VINCI_OK
               : diag_error(diag, VINCI_E_USAGE, "--merge needs --repository=FILE");
  snprintf(tuner->journal, sizeof tuner->journal, "%s.journal", settings->repository);
  tuner->options.journal = tuner->journal;
  enum vinci_status status = vinci_tunings_open(settings->repository, &tuner->tunings, diag);
  if (status == VINCI_OK)
    status = tune_journal_hold(tuner->journal, &tuner->held, diag);
  for (size_t i = 0; status == VINCI_OK && i < settings->merge.count; i++)
    status = vinci_tunings_merge(tuner->tunings, settings->merge.items[i], diag);
  return status;
}

/* A search that was interrupted leaves its journal alone, with which the same command goes on. */
static enum vinci_status keep_repository(struct tuner *tuner, struct vinci_diag *diag) {
  if (!tuner->tunings || monitor_interrupted())
    return VINCI_OK;
  enum vinci_status status = vinci_tunings_save(tuner->tunings, tuner->settings->repository, diag);
  if (status == VINCI_OK)
    journal_close(&tuner->held, true);
  return status;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static enum vinci_status print_space(const vinci_soc *soc, const struct tune_settings *settings,
                                     const struct text_list *words, struct vinci_diag *diag) {
  vinci_space *space;
  char text[VINCI_TUNE_SCHEDULE_BYTES];
  struct tune_listing listing = {0};
  enum vinci_status status = vinci_space_open(soc, words->items[0], words->items + 1,
                                              words->count - 1, settings->schedules, &space, diag);
  if (status != VINCI_OK)
    return status;
  status = tune_list(space, settings->schedules, &listing, diag);
  if (status != VINCI_OK) {
    vinci_space_free(space);
    return status;
  }
  fputs("schedule,estimate_cycles", stdout);
  for (size_t k = 0; k < vinci_space_knob_count(space); k++)
    printf(",%s", vinci_space_knob_name(space, k));
  fputc('\n', stdout);
  for (size_t place = 0; place < listing.count; place++) {
    size_t i = listing.index[place];
    vinci_space_schedule(space, i, text, sizeof text);
    printf("%s,%" PRIu64, text, vinci_space_estimate(space, i));
    for (size_t k = 0; k < vinci_space_knob_count(space); k++) {
      vinci_space_value(space, k, vinci_space_choice(space, i, k), text, sizeof text);
      printf(",%s", text);
    }
    fputc('\n', stdout);
  }
  free(listing.index);
  vinci_space_free(space);
  return VINCI_OK;
}

static enum vinci_status search(struct tuner *tuner, const struct text_list *words,
                                struct vinci_diag *diag) {
  const struct tune_settings *settings = tuner->settings;
  enum vinci_status status = tune_choose(settings, &tuner->options, diag);
  if (status == VINCI_OK)
    status = open_repository(tuner, diag);
  if (status == VINCI_OK && (words->count > 0 || settings->ops))
    status = tune_problems_read(&tuner->problems, settings, tuner->soc, words, diag);
  if (tuner->problems.network && !settings->l2)
    tuner->options.l2_start = VINCI_L2_WARM;
  if (status == VINCI_OK && tuner->problems.count > 0)
    status = tune_all(tuner, diag);
  if (status == VINCI_OK && settings->values)
    status = check_values(tuner, diag);
  if (status == VINCI_OK)
    status = keep_repository(tuner, diag);
  if (status == VINCI_OK && tuner->problems.count > 0 && (settings->json || !settings->quiet))
    status = tune_report(tuner->soc, settings, &tuner->options, &tuner->problems, diag);
  if (status == VINCI_OK && monitor_interrupted())
    status = diag_error(diag, VINCI_E_LIMIT, "interrupted: %zu of %zu searches are done%s",
                        tuner->current - (tuner->current > 0), tuner->problems.count,
                        tuner->tunings ? "; the same command goes on" : "");
  return status;
}

static enum vinci_status execute(const struct tune_settings *settings,
                                 const struct text_list *words, struct vinci_diag *diag) {
  struct tuner tuner = {.settings = settings, .held = {.file = -1}};
  vinci_soc *soc = NULL;
  const char *name, *text;
  for (size_t i = 0; settings->strategies && vinci_tune_strategy(i, &name, &text); i++)
    printf("%-12s %s\n", name, text);
  if (settings->strategies)
    return VINCI_OK;
  if (settings->cuts)
    return tune_cuts(settings, words, diag);
  if (settings->output || settings->table || settings->passes)
    return diag_error(diag, VINCI_E_USAGE, "--%s goes with --cuts",
                      settings->output  ? "output"
                      : settings->table ? "table"
                                        : "passes");
  if (settings->json && settings->space)
    return diag_error(diag, VINCI_E_USAGE, "--space prints CSV, not JSON");
  if (words->count == 0 && !settings->ops && settings->merge.count == 0) {
    (void)diag_error(diag, VINCI_E_USAGE, "tune what? Give an operator, a network, or --ops=LIST");
    diag_hint(diag, "'vinci compile --list' shows the operators");
    return VINCI_E_USAGE;
  }
  bool simulates = words->count > 0 || settings->ops; /* records of any chip merge without */
  enum vinci_status status =
      simulates ? cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, diag)
                : VINCI_OK;
  tuner.soc = soc;
  if (status == VINCI_OK)
    status = settings->space && words->count > 0 ? print_space(soc, settings, words, diag)
                                                 : search(&tuner, words, diag);
  journal_close(&tuner.held, false);
  tune_problems_free(&tuner.problems);
  vinci_tunings_free(tuner.tunings);
  vinci_soc_free(soc);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct tune_settings settings = {.robust = 4};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (argc > 1 && strcmp(argv[1], "serve") == 0)
    return cli_tune_serve.run(&cli_tune_serve, argc - 1, argv + 1);
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    diag.warn = cli_warn(settings.quiet);
    exit_code = execute(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  }
  text_list_free(&settings.sets);
  text_list_free(&settings.merge);
  net_model_free(&settings.model);
  text_list_free(&words);
  return exit_code;
}

static const struct cli_verb *const commands[] = {&cli_tune_serve};

const struct cli_verb cli_verb_tune = {
    .name = "tune",
    .arguments = "OP KEY=VALUE... | NETWORK | serve",
    .summary = "Search the schedules of operators for the fastest, and keep what was found",
    .details =
        "A schedule is a value for each tiling key of the operator; keys that are given stay. The\n"
        "same command finds the same schedule on every host and with every --jobs, unless\n"
        "--seconds ends a search. NETWORK is a graph or an ONNX model: its kernels are tuned in\n"
        "turn; with --cuts it is cut by L2. 'vinci tune serve' answers other tuners in JSON lines. "
        "TUNING.md\n"
        "says more.\n"
        "Examples:\n"
        "  vinci tune matmul m=509 k=331 n=1031 -s Ascend910B4\n"
        "  vinci tune softmax shape=117x1009 -s Ascend910B4 -r tunings.tsv\n"
        "  vinci run softmax shape=117x1009 -s Ascend910B4 --repository=tunings.tsv\n"
        "  vinci tune resnet50.onnx -s Ascend910B4 --seconds=300 -r tunings.tsv\n"
        "  vinci tune traces/examples/long_chain.graph.csv -s Ascend910B4 --cuts\n",
    .options = {tune_options, sizeof tune_options / sizeof *tune_options},
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
    .run = run,
};
