/* SPDX-License-Identifier: Apache-2.0 */
/* The program vinci: finds the verb, prints help and versions, ends with an honest exit code. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/debug/input.h"
#include "core/base/diag.h"
#include "core/study/workload.h"
#include "scripts/host/soc_host.h"
#include "traces/graph/onnx/onnx.h"
#include "traces/report/report.h"

/* clang-format off */
static const struct cli_verb *const verbs[] = {
    &cli_verb_run,
    &cli_verb_compile,
    &cli_verb_check,
    &cli_verb_debug,
    &cli_verb_cc,
    &cli_verb_net,
    &cli_verb_replay,
    &cli_verb_import,
    &cli_verb_soc,
    &cli_verb_isa,
    &cli_verb_group,
    &cli_verb_stream,
    &cli_verb_sweep,
    &cli_verb_diff,
    &cli_verb_sensitivity,
    &cli_verb_report,
    &cli_verb_gate,
    &cli_verb_tune,
    &cli_verb_lua,
};
/* clang-format on */
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static bool is_word(const char *word, const char *longer, const char *shorter) {
  return strcmp(word, longer) == 0 || strcmp(word, shorter) == 0;
}

/* ---- shared by the verbs ------------------------------------------------------ */

const struct cli_verb *cli_verb_find(const char *name) {
  for (size_t i = 0; i < VERB_COUNT; i++)
    if (strcmp(verbs[i]->name, name) == 0)
      return verbs[i];
  return NULL;
}

static const char *verb_name(const void *context, size_t index) {
  (void)context;
  return index < VERB_COUNT ? verbs[index]->name : "help";
}

const char *cli_verb_nearest(const char *name) {
  return diag_nearest(name, VERB_COUNT + 1, verb_name, NULL);
}

/* Details name examples where the sources have them; an installed program names the installed ones.
 */
static void print_details(const char *details, FILE *out) {
  static const char examples[] = "traces/examples/";
  const char *installed = soc_host_installed_dir(), *at;
  while (installed && (at = strstr(details, examples)) != NULL) {
    fprintf(out, "%.*s%s/examples/", (int)(at - details), details, installed);
    details = at + sizeof examples - 1;
  }
  fputs(details, out);
}

void cli_print_help(const struct cli_verb *verb, FILE *out) {
  fprintf(out, "usage: vinci %s%s%s [OPTION]...\n\n%s.\n\nOptions:\n", verb->name,
          *verb->arguments ? " " : "", verb->arguments, verb->summary);
  options_print(&verb->options, out);
  if (verb->details) {
    fputc('\n', out);
    print_details(verb->details, out);
  }
}

/* Whether standard output is a pipe that nobody reads any more, as of `vinci isa list | head -1`.
 */
static bool reader_is_gone(void) {
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return ferror(stdout) && poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/* A reader that has gone is no error. */
/* The library names its functions and the fields of its options; the program has verbs and options.
 */
static struct vinci_diag in_words_of_program(const struct vinci_diag *diag) {
  static const struct {
    const char *field, *words;
  } names[] = {
      {"soc", "--soc-version=NAME"},
      {"data_dir", "--data=DIR"},
      {"params", "values of --param"},
      {"reason", "--reason=TEXT"},
      {"allow_ci", "--allow-ci"},
      {"rebase_inputs", "--rebase-inputs"},
      {"bless", "'vinci gate bless SUITE --baseline=FILE --reason=TEXT'"},
      {"sweep", "'vinci sweep run ... --output=DIR'"},
  };
  struct vinci_diag said = *diag;
  size_t length = strcspn(diag->hint, " ");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].field) == length && memcmp(names[i].field, diag->hint, length) == 0)
      snprintf(said.hint, sizeof said.hint, "%s%.160s", names[i].words, diag->hint + length);
  return said;
}

static void print_warning(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "%s\n", text);
}

void (*cli_warn(bool quiet))(void *context, const char *text) {
  return quiet ? NULL : print_warning;
}

int cli_fail(const struct vinci_diag *diag) {
  bool output_only = diag->status == VINCI_E_IO && !diag->path[0];
  if (!output_only || !reader_is_gone()) {
    struct vinci_diag said = in_words_of_program(diag);
    vinci_diag_print(&said, stderr);
  }
  return vinci_status_exit_code(diag->status);
}

int cli_end(int exit_code) {
  const int io_code = vinci_status_exit_code(VINCI_E_IO);
  errno = 0;
  bool failed = fflush(stdout) != 0 || ferror(stdout);
  if (failed && (exit_code == 0 || exit_code == io_code) && reader_is_gone()) {
    /* All results are stored by now: end as other programs do at their first write. */
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  if (!failed || exit_code != 0)
    return exit_code;
  struct vinci_diag diag = {0};
  diag_error(&diag, VINCI_E_IO, "cannot write to standard output: %s",
             errno ? strerror(errno) : "write error");
  return cli_fail(&diag);
}

bool cli_begin(const struct cli_verb *verb, int argc, char **argv, void *settings,
               struct text_list *arguments, int *exit_code) {
  struct vinci_diag diag = {0};
  bool help = false;
  if (options_parse(&verb->options, argc, argv, settings, arguments, &help, &diag) != VINCI_OK) {
    *exit_code = cli_fail(&diag);
    return false;
  }
  if (help) {
    cli_print_help(verb, stdout);
    *exit_code = cli_end(0);
    return false;
  }
  return true;
}

struct command_list {
  const struct cli_verb *const *commands;
  size_t prefix; /* of the names: the verb and a blank */
};

static const char *command_name(const void *context, size_t index) {
  const struct command_list *list = context;
  return list->commands[index]->name + list->prefix;
}

int cli_run_command(const struct cli_verb *verb, const struct cli_verb *const *commands,
                    size_t count, int argc, char **argv) {
  const struct command_list list = {commands, strlen(verb->name) + 1};
  if (argc < 2) {
    cli_print_help(verb, stderr);
    return vinci_status_exit_code(VINCI_E_USAGE);
  }
  for (size_t i = 0; i < count; i++)
    if (strcmp(command_name(&list, i), argv[1]) == 0)
      return commands[i]->run(commands[i], argc - 1, argv + 1);
  if (is_word(argv[1], "--help", "-h")) {
    cli_print_help(verb, stdout);
    return 0;
  }
  struct vinci_diag diag = {0};
  const char *nearest = diag_nearest(argv[1], count, command_name, &list);
  (void)diag_error(&diag, VINCI_E_USAGE, "unknown %s '%s' of %s",
                   *argv[1] == '-' ? "option" : "command", argv[1], verb->name);
  if (nearest)
    diag_hint(&diag, "did you mean 'vinci %s %s'?", verb->name, nearest);
  else
    diag_hint(&diag, "'vinci %s --help' lists the commands", verb->name);
  return cli_fail(&diag);
}

enum vinci_status cli_check_traces(const struct text_list *traces, struct vinci_diag *diag) {
  if (traces->count == 0)
    return diag_error(diag, VINCI_E_USAGE, "no trace given");
  for (size_t i = 0; i < traces->count; i++) {
    if (*traces->items[i] != '\0')
      continue;
    enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "the name of a trace is empty");
    diag_hint(diag, "'-' reads standard input");
    return status;
  }
  return VINCI_OK;
}

enum vinci_status cli_load_soc(const char *name, const char *data_dir, const struct text_list *sets,
                               vinci_soc **out, struct vinci_diag *diag) {
  struct run_spec spec = {.soc = name};
  if (sets) {
    spec.sets = sets->items;
    spec.set_count = sets->count;
  }
  return spec_load_soc(&spec, data_dir, out, diag);
}

/* ---- the program itself --------------------------------------------------------- */

static void print_usage(FILE *out) {
  fputs(
      "usage: vinci VERB [ARGUMENT]... [OPTION]...\n\n"
      "vinci simulates kernels on Ascend AI Cores cycle by cycle: it executes a compiled operator\n"
      "trace on a modelled chip and reports where the time went.\n\nVerbs:\n",
      out);
  for (size_t i = 0; i < VERB_COUNT; i++)
    fprintf(out, "  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
  fputs(
      "  help     Explain a verb and its options\n\n"
      "Options:\n"
      "  -h, --help     print this help\n"
      "  -V, --version  print the version of the program and of its model\n\n"
      "Exit codes: 0 ok; 1 a gate failed; 2 usage or configuration; 3 input rejected, or a gate's\n"
      "baseline missing or stale; 4 values differ; 5 a check found an error; 6 the simulated "
      "program\n"
      "hangs; 7 a limit was reached, results are partial; 8 internal error; 9 results of a gate\n"
      "differ from run to run.\n",
      out);
}

static int unknown_word(const char *kind, const char *word) {
  struct vinci_diag diag = {0};
  diag_error(&diag, VINCI_E_USAGE, "unknown %s '%s'", kind, word);
  const char *near = cli_verb_nearest(word);
  if (*word != '-' && near)
    diag_hint(&diag, "did you mean 'vinci %s'?", near);
  else
    diag_hint(&diag, "'vinci --help' lists the verbs and options");
  return cli_fail(&diag);
}

static int help_verb(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stdout);
    return cli_end(0);
  }
  const struct cli_verb *verb = cli_verb_find(argv[1]);
  if (!verb)
    return unknown_word("verb", argv[1]);
  cli_print_help(verb, stdout);
  return cli_end(0);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); /* results are kept although nobody reads the report; see cli_end() */
  if (argc < 2) {
    print_usage(stderr);
    return vinci_status_exit_code(VINCI_E_USAGE);
  }
  const char *word = argv[1];
  if (is_word(word, "--help", "-h")) {
    print_usage(stdout);
    return cli_end(0);
  }
  if (is_word(word, "--version", "-V")) {
    printf("vinci %s (model revision %s)\n", vinci_version(), vinci_model_revision());
    printf("ONNX models: %s\n", onnx_available() ? "read"
                                                 : "not read, built without libonnx-dev "
                                                   "and protobuf-c");
    printf("lines of the debugger: %s\n",
           input_edits() ? "edited with libedit" : "read, built without libedit-dev");
    printf("HTML reports: %s\n",
           report_page_available() ? "written" : "not written, built without uPlot of npm");
    return cli_end(0);
  }
  if (strcmp(word, "help") == 0)
    return help_verb(argc - 1, argv + 1);
  const struct cli_verb *verb = cli_verb_find(word);
  if (!verb)
    return unknown_word(*word == '-' ? "option" : "verb", word);
  return cli_end(verb->run(verb, argc - 1, argv + 1));
}
