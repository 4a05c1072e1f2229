/* SPDX-License-Identifier: Apache-2.0 */
/* vinci diff: two runs, chips, traces, lists, networks or jobs side by side, and where the
 * difference comes from.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/diff/print.h"
#include "cli/support/cli.h"
#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "traces/export/export.h"

enum { SIDES = 2, JOBS_MAX = 256, ROWS_MAX = 1000000, ROWS_USUAL = 30 };

struct diff_settings {
  const char *soc, *system, *memory, *network, *l2, *data, *fail_over;
  struct text_list sets, sets_a, sets_b;
  bool json, csv, all;
  uint64_t rows, jobs, max_cycles;
};

static const struct option_row diff_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct diff_settings, soc, "A[,B]",
                    "the chip, or with a comma that of A and that of B, such as "
                    "Ascend910B4,Ascend910B2"),
    OPTION_TEXT_ROW("system", 0, struct diff_settings, system, "A[,B]",
                    "of jobs: the system of devices in place of the one that the job names"),
    OPTION_LIST_ROW("set", 0, struct diff_settings, sets, "KEY=VALUE",
                    "change a number of the chip of both, such as l2.size=96MiB, or of the system "
                    "of a job; may be repeated"),
    OPTION_LIST_ROW("set-a", 0, struct diff_settings, sets_a, "KEY=VALUE", "the same of A alone"),
    OPTION_LIST_ROW("set-b", 0, struct diff_settings, sets_b, "KEY=VALUE", "the same of B alone"),
    OPTION_ENERGY_ROW(struct diff_settings, sets),
    OPTION_TEXT_ROW("memory", 0, struct diff_settings, memory, "A[,B]",
                    "cycle or flat, as for 'vinci run'"),
    OPTION_TEXT_ROW("network", 0, struct diff_settings, network, "A[,B]",
                    "packet or flit, as for 'vinci run'"),
    OPTION_TEXT_ROW("l2", 0, struct diff_settings, l2, "A[,B]",
                    "L2 at the start, as for 'vinci run'"),
    OPTION_TEXT_ROW("fail-over", 0, struct diff_settings, fail_over, "N%",
                    "exit code 1 when B takes more than N per cent longer than A; without this "
                    "option a difference is not a failure"),
    OPTION_FLAG_ROW("json", 0, struct diff_settings, json, "print JSON instead of the tables"),
    OPTION_FLAG_ROW("csv", 0, struct diff_settings, csv, "print CSV, a row of all tables a line"),
    OPTION_FLAG_ROW("all", 0, struct diff_settings, all, "also what is equal"),
    OPTION_NUMBER_ROW("rows", 0, struct diff_settings, rows, "N", 0, ROWS_MAX,
                      "operators of a list in the table (default 30, 0 for all)"),
    OPTION_NUMBER_ROW("jobs", 'j', struct diff_settings, jobs, "N", 1, JOBS_MAX,
                      "of lists: operators that run at a time (default: the number of processors)"),
    OPTION_NUMBER_ROW("max-cycles", 0, struct diff_settings, max_cycles, "N", 1, UINT64_MAX,
                      "a run that takes more core cycles fails (exit code 7)"),
    OPTION_TEXT_ROW("data", 0, struct diff_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

/* ---- sides ----------------------------------------------------------------------------------- */

/* "X" is for both, "X,Y" for A and B; *differs when it is the latter. */
static enum vinci_status split(struct arena *arena, const char *option, const char *text,
                               const char *out[SIDES], bool *differs, struct vinci_diag *diag) {
  const char *comma = text ? strchr(text, ',') : NULL;
  out[0] = out[1] = text;
  if (!comma)
    return VINCI_OK;
  if (strchr(comma + 1, ',') || comma == text || !comma[1])
    return diag_error(diag, VINCI_E_USAGE, "--%s takes one value, or one of A and one of B: '%s'",
                      option, text);
  out[0] = arena_strndup(arena, text, (size_t)(comma - text));
  out[1] = comma + 1;
  *differs = true;
  return out[0] ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

static enum vinci_status join_sets(struct arena *arena, const struct text_list *both,
                                   const struct text_list *own, struct vinci_overrides *out,
                                   struct vinci_diag *diag) {
  const char **sets = ARENA_ARRAY(arena, const char *, both->count + own->count + 1);
  if (!sets)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < both->count; i++)
    sets[i] = both->items[i];
  for (size_t i = 0; i < own->count; i++)
    sets[both->count + i] = own->items[i];
  out->sets = sets;
  out->set_count = both->count + own->count;
  return VINCI_OK;
}

/* Whether a word begins a side: no "key=value", but a path that has a '=' ("25GB/s" has a slash).
 */
static bool begins_side(const char *word) {
  size_t key = strcspn(word, "=");
  return word[key] == '\0' || memchr(word, '/', key) ||
         (strchr(word, '/') && access(word, F_OK) == 0);
}

/* A side is such a word and the arguments "key=value" that follow. */
static enum vinci_status split_words(const struct text_list *words, bool differs,
                                     struct vinci_diff_side side[SIDES], struct vinci_diag *diag) {
  size_t sides = 0;
  for (size_t i = 0; i < words->count; i++) {
    bool begins = begins_side(words->items[i]);
    if (begins && sides == SIDES)
      return diag_error(diag, VINCI_E_USAGE, "'%s' is a third side; two are compared",
                        words->items[i]);
    if (!begins && sides == 0)
      return diag_error(diag, VINCI_E_USAGE, "argument '%s' comes before an operator",
                        words->items[i]);
    if (begins)
      side[sides++].words = &words->items[i];
    side[sides - 1].word_count++;
  }
  if (sides == 1 && differs) {
    side[1].words = side[0].words;
    side[1].word_count = side[0].word_count;
    return VINCI_OK;
  }
  if (sides == SIDES)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE,
                   sides == 0 ? "nothing to compare" : "nothing to compare '%s' with",
                   sides == 0 ? "" : words->items[0]);
  diag_hint(diag, "give a second one, or two chips: --soc-version=Ascend910B4,Ascend910B2, or what "
                  "changes: --set-b=l2.size=96MiB");
  return VINCI_E_USAGE;
}

/* The system of a job is an argument behind the words of its side. */
static enum vinci_status add_system(struct arena *arena, struct vinci_diff_side *side,
                                    const char *system, struct vinci_diag *diag) {
  static const char key[] = "system=";
  if (!system)
    return VINCI_OK;
  const char **words = ARENA_ARRAY(arena, const char *, side->word_count + 1);
  char *argument = arena_alloc(arena, strlen(key) + strlen(system) + 1, 1);
  if (!words || !argument)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  memcpy(words, side->words, side->word_count * sizeof *words);
  stpcpy(stpcpy(argument, key), system);
  words[side->word_count++] = argument;
  side->words = words;
  return VINCI_OK;
}

static enum vinci_status make_sides(const struct diff_settings *settings,
                                    const struct text_list *words, struct arena *arena,
                                    struct vinci_diff_side side[SIDES], struct vinci_diag *diag) {
  const char *soc[SIDES], *system[SIDES], *memory[SIDES], *network[SIDES], *l2[SIDES];
  bool differs = settings->sets_a.count > 0 || settings->sets_b.count > 0;
  enum vinci_status status = split(arena, "soc-version", settings->soc, soc, &differs, diag);
  if (status == VINCI_OK)
    status = split(arena, "system", settings->system, system, &differs, diag);
  if (status == VINCI_OK)
    status = split(arena, "memory", settings->memory, memory, &differs, diag);
  if (status == VINCI_OK)
    status = split(arena, "network", settings->network, network, &differs, diag);
  if (status == VINCI_OK)
    status = split(arena, "l2", settings->l2, l2, &differs, diag);
  for (unsigned i = 0; status == VINCI_OK && i < SIDES; i++) {
    side[i].overrides = (struct vinci_overrides){.soc = soc[i],
                                                 .data_dir = settings->data,
                                                 .memory = memory[i],
                                                 .network = network[i],
                                                 .l2 = l2[i]};
    status = join_sets(arena, &settings->sets, i == 0 ? &settings->sets_a : &settings->sets_b,
                       &side[i].overrides, diag);
  }
  if (status == VINCI_OK)
    status = split_words(words, differs, side, diag);
  for (unsigned i = 0; status == VINCI_OK && i < SIDES; i++)
    status = add_system(arena, &side[i], system[i], diag);
  return status;
}

/* ---- the limit ------------------------------------------------------------------------------- */

/* "5", "5%", "0.5%" in millionths of a per cent. */
static bool parse_limit(const char *text, uint64_t *out) {
  enum { DIGITS = 6, WHOLE_DIGITS = 7 };
  const char *at = text;
  size_t whole = strspn(at, "0123456789");
  *out = 0;
  for (size_t i = 0; i < whole && whole <= WHOLE_DIGITS; i++)
    *out = *out * 10 + (uint64_t)(*at++ - '0');
  const char *digit = whole > 0 && *at == '.' ? at + 1 : at;
  size_t places = digit > at ? strspn(digit, "0123456789") : 0;
  for (size_t i = 0; i < DIGITS; i++)
    *out = *out * 10 + (uint64_t)(i < places ? digit[i] - '0' : 0);
  at = digit + places;
  at += *at == '%';
  bool point = digit > text + whole;
  return whole > 0 && whole <= WHOLE_DIGITS && places <= DIGITS && (!point || places > 0) &&
         *at == '\0';
}

static enum vinci_status judge(const vinci_diff *diff, const char *text, uint64_t limit,
                               struct vinci_diag *diag) {
  static const uint64_t millionths = 100 * UINT64_C(1000000);
  uint64_t a = vinci_diff_end(diff, 0).duration_ps, b = vinci_diff_end(diff, 1).duration_ps;
  if (!text || b <= a || (uint128)(b - a) * millionths <= (uint128)a * limit)
    return VINCI_OK;
  struct decimal percent = decimal_percent((int64_t)(b - a), a);
  return diag_error(diag, VINCI_E_GATE, "B takes %s%s longer than A, and --fail-over is %s",
                    *percent.text ? percent.text + 1 : "infinitely", *percent.text ? " %" : "",
                    text);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static enum vinci_status print(const struct diff_settings *settings, const vinci_diff *diff,
                               struct vinci_diag *diag) {
  if (settings->json)
    diff_print_json(diff);
  else if (settings->csv)
    diff_print_csv(diff);
  else
    diff_print_text(diff, settings->all, settings->rows);
  return export_flush(stdout, "the comparison", diag);
}

static enum vinci_status execute(const struct diff_settings *settings,
                                 const struct text_list *words, struct arena *arena,
                                 struct vinci_diag *diag) {
  struct vinci_diff_side side[SIDES] = {{0}};
  struct vinci_diff_options options = {.struct_size = sizeof options,
                                       .max_cycles = settings->max_cycles,
                                       .jobs = (unsigned)settings->jobs};
  uint64_t limit = 0;
  vinci_diff *diff = NULL;
  if (settings->json && settings->csv)
    return diag_error(diag, VINCI_E_USAGE, "--json and --csv: one of them");
  if (settings->fail_over && !parse_limit(settings->fail_over, &limit))
    return diag_error(diag, VINCI_E_USAGE, "--fail-over is a number of per cent, not '%s'",
                      settings->fail_over);
  enum vinci_status status = make_sides(settings, words, arena, side, diag);
  if (status == VINCI_OK)
    status = vinci_diff_run(&side[0], &side[1], &options, &diff, diag);
  if (status == VINCI_OK)
    status = print(settings, diff, diag);
  if (status == VINCI_OK)
    status = judge(diff, settings->fail_over, limit, diag);
  vinci_diff_free(diff);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct diff_settings settings = {.rows = ROWS_USUAL};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct arena arena = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = execute(&settings, &words, &arena, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.sets);
  text_list_free(&settings.sets_a);
  text_list_free(&settings.sets_b);
  text_list_free(&words);
  arena_free(&arena);
  return exit_code;
}

const struct cli_verb cli_verb_diff = {
    .name = "diff",
    .arguments = "A [B]",
    .summary = "Compare two runs, chips, traces, lists, networks or jobs: what differs, and why",
    .details =
        "A and B are each a trace, an operator with its arguments KEY=VALUE, a result folder or\n"
        "summary.json of 'vinci run', a list of operators, the results of such a list, a network\n"
        "with arguments such as host=eager, a result folder of 'vinci net run', a job of several\n"
        "devices with arguments, or a result folder of 'vinci group run'. Without B, A is "
        "compared\n"
        "with itself on another chip or system, or with what --set-b changes.\n"
        "Prints the change of the time; parts of the change that sum to it, by pipe, cause and\n"
        "instruction along the critical path; counters side by side; and the first row and the\n"
        "first instruction at which both part. Of networks: the parts by class (what bounds\n"
        "kernels, host, launch gaps) and by node. Per cent are of A.\n"
        "Of jobs: what the time of each class of ranks is made of (computing, exposed\n"
        "communication, idle by reason), and by collective the time, the exposed time, the bytes.\n"
        "Arguments of a job are system=NAME, bucket=SIZE, fault=FAULT, algorithm.WHICH=NAME, and\n"
        "numbers of the system or its chip. 'vinci report DIR DIR' makes the page of two\n"
        "result folders.\n\n"
        "Examples:\n"
        "  vinci diff matmul m=512 k=512 n=512 -s Ascend910B4,Ascend910B2\n"
        "  vinci diff matmul m=512 k=512 n=512 matmul m=512 k=512 n=1024 -s Ascend910B4\n"
        "  vinci diff old.csv new.csv -s Ascend910B4 --fail-over=2%\n"
        "  vinci diff old.csv -s Ascend910B4 --set-b=l2.size=48MiB\n"
        "  vinci diff before/ after/              (two folders of 'vinci run --output')\n"
        "  vinci diff kernel_details.csv -s Ascend910B4,Ascend910B2\n"
        "  vinci diff net.csv net.csv host=eager -s Ascend910B4\n"
        "  vinci diff step.job.csv step.job.csv hccs.copy=15GB/s bucket=32MiB\n"
        "  vinci diff step.job.csv --system=atlas_a2_910b4,atlas_a2_910b2\n",
    .options = {diff_options, sizeof diff_options / sizeof *diff_options},
    .run = run,
};
