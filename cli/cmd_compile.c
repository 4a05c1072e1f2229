/* SPDX-License-Identifier: Apache-2.0 */
/* vinci compile: an operator and its shapes become a trace. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/support/advice.h"
#include "cli/support/cli.h"
#include "cli/support/operator.h"
#include "core/base/diag.h"

struct compile_settings {
  const char *soc;
  const char *data;
  const char *output;
  struct text_list sets;
  const char *missing;
  const char *repository;
  bool list;
  bool markdown;
  bool explain;
  bool tilings;
};

static const struct option_row compile_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct compile_settings, soc, "NAME",
                    "the chip the trace is meant for, such as Ascend910B4"),
    OPTION_LIST_ROW("set", 0, struct compile_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as l1.size=1MiB; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct compile_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_TEXT_ROW("output", 'o', struct compile_settings, output, "FILE",
                    "write the trace to FILE; '-' (default) is standard output"),
    ADVICE_OPTION_ROW(struct compile_settings, repository),
    OPTION_FLAG_ROW("explain", 0, struct compile_settings, explain,
                    "print the tiling and its estimated cost; no trace unless -o is given"),
    OPTION_FLAG_ROW("tilings", 0, struct compile_settings, tilings,
                    "print all legal tilings with their estimated cost as CSV"),
    OPTION_FLAG_ROW("list", 0, struct compile_settings, list,
                    "print all operators and their keys; with an operator, its own"),
    OPTION_FLAG_ROW("markdown", 0, struct compile_settings, markdown,
                    "with --list: an index as a page"),
    OPTION_TEXT_ROW("missing", 0, struct compile_settings, missing, "PROFILE",
                    "with --list: which kinds of a profiler's table are not modelled, and what "
                    "share of rows and time is"),
};

static enum vinci_status write_text(const char *text, const char *path, struct vinci_diag *diag) {
  if (!path || strcmp(path, "-") == 0) {
    fputs(text, stdout);
    return VINCI_OK;
  }
  struct diag_position target = {.path = path};
  FILE *out = fopen(path, "w");
  if (!out)
    return diag_error_at(diag, diag_status_of(errno), target, "cannot write the trace: %s",
                         strerror(errno));
  bool failed = fputs(text, out) < 0;
  errno = 0;
  failed |= fclose(out) != 0;
  if (failed)
    return diag_error_at(diag, diag_status_of(errno), target, "cannot write the trace: %s",
                         errno ? strerror(errno) : "write error");
  return VINCI_OK;
}

static void print_cycles(const char *what, uint64_t cycles) {
  if (cycles > 0)
    printf("  %-8s %12" PRIu64 " cycles\n", what, cycles);
}

static enum vinci_status explain(const vinci_soc *soc, const struct text_list *words,
                                 struct vinci_diag *diag) {
  char text[512];
  struct vinci_tiling tiling;
  enum vinci_status status = vinci_op_tiling(soc, words->items[0], words->items + 1,
                                             words->count - 1, text, sizeof text, &tiling, diag);
  if (status != VINCI_OK)
    return status;
  printf("%s on %s\nTiling    %s\nBlocks    %" PRIu32 "\nGM        %" PRIu64
         " bytes read and written\n"
         "Estimate of the busiest core, pipes overlap:\n",
         words->items[0], vinci_soc_name(soc), *tiling.args ? tiling.args : "none", tiling.blocks,
         tiling.gm_bytes);
  print_cycles("cube", tiling.cube_cycles);
  print_cycles("vector", tiling.vector_cycles);
  print_cycles("MTE1", tiling.mte1_cycles);
  print_cycles("MTE2", tiling.mte2_cycles);
  print_cycles("MTE3", tiling.mte3_cycles);
  print_cycles("FIX", tiling.fix_cycles);
  print_cycles("total", tiling.total_cycles);
  return VINCI_OK;
}

static bool print_tiling(void *context, const struct vinci_tiling *tiling) {
  (void)context;
  printf("%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
         ",%" PRIu64 ",%" PRIu64 "\n",
         tiling->args, tiling->blocks, tiling->total_cycles, tiling->cube_cycles,
         tiling->vector_cycles, tiling->mte1_cycles, tiling->mte2_cycles, tiling->mte3_cycles,
         tiling->fix_cycles, tiling->gm_bytes);
  return true;
}

static enum vinci_status compile(const struct compile_settings *settings, const vinci_soc *soc,
                                 const struct text_list *words, struct vinci_diag *diag) {
  const char *op = words->items[0], *const *args = words->items + 1;
  size_t count = words->count - 1;
  if (settings->tilings) {
    fputs("tiling,blocks,total_cycles,cube_cycles,vector_cycles,mte1_cycles,mte2_cycles,"
          "mte3_cycles,fix_cycles,gm_bytes\n",
          stdout);
    return vinci_op_tilings(soc, op, args, count, print_tiling, NULL, diag);
  }
  enum vinci_status status = settings->explain ? explain(soc, words, diag) : VINCI_OK;
  if (status != VINCI_OK || (settings->explain && !settings->output))
    return status;
  char *text;
  vinci_trace *trace = NULL;
  status = vinci_compile_text(soc, op, args, count, &text, diag);
  /* Nothing is written that would not be read. */
  if (status == VINCI_OK)
    status = vinci_trace_parse(op, text, strlen(text), soc, &trace, diag);
  if (status == VINCI_OK)
    status = write_text(text, settings->output, diag);
  vinci_trace_free(trace);
  vinci_text_free(text);
  return status;
}

static int list_missing(const struct compile_settings *settings, const struct text_list *words) {
  struct vinci_diag diag = {.warn = cli_warn(false)};
  vinci_soc *soc = NULL;
  enum vinci_status status;
  if (!settings->list || settings->markdown || words->count > 0)
    status = diag_error(&diag, VINCI_E_USAGE,
                        "--missing goes with --list, and without an operator or --markdown");
  else
    status = cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag);
  if (status == VINCI_OK)
    status = operator_print_missing(soc, settings->missing, stdout, &diag);
  vinci_soc_free(soc);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

static int compile_words(const struct compile_settings *settings, const struct text_list *words) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (settings->missing)
    return list_missing(settings, words);
  if (settings->list && words->count == 0) {
    if (settings->markdown)
      operator_print_markdown(stdout);
    else
      operator_print_all(stdout);
    return 0;
  }
  if (words->count == 0) {
    (void)diag_error(&diag, VINCI_E_USAGE, "which operator?");
    diag_hint(&diag, "'vinci compile --list' shows all of them");
    return cli_fail(&diag);
  }
  if (settings->list)
    return operator_print(words->items[0], stdout, &diag) ? 0 : cli_fail(&diag);
  enum vinci_status status =
      cli_load_soc(settings->soc, settings->data, &settings->sets, &soc, &diag);
  struct advised advised = {0};
  if (status == VINCI_OK)
    status = advise_operator(settings->repository, soc, words, NULL, &advised, &diag);
  if (status == VINCI_OK)
    status = compile(settings, soc, &advised.words, &diag);
  text_list_free(&advised.words);
  vinci_soc_free(soc);
  return status == VINCI_OK ? 0 : cli_fail(&diag);
}

/* `vinci compile OP --help` explains the operator; the options alone need no operator. */
static bool help_on_operator(int argc, char **argv) {
  bool help = false;
  for (int i = 1; i < argc; i++)
    help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
  return help && argc > 1 && argv[1][0] != '-';
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct compile_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (help_on_operator(argc, argv))
    return operator_print(argv[1], stdout, &diag) ? 0 : cli_fail(&diag);
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = compile_words(&settings, &words);
  text_list_free(&settings.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_verb_compile = {
    .name = "compile",
    .arguments = "OP KEY=VALUE...",
    .summary = "Turn an operator and its shapes into a trace",
    .details =
        "'vinci compile --list' shows the operators, 'vinci compile OP --help' the keys of\n"
        "an operator. Keys of the tiling are chosen by an estimate of the cost unless given.\n"
        "'vinci run OP KEY=VALUE...' simulates the trace at once.\n"
        "Example:\n"
        "  vinci compile matmul m=512 k=512 n=512 -s Ascend910B4 --explain\n",
    .options = {compile_options, sizeof compile_options / sizeof *compile_options},
    .run = run,
};
