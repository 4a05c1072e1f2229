/* SPDX-License-Identifier: Apache-2.0 */
/* The program vinci: finds the verb, prints help and versions, ends with an honest exit code. */
#include <signal.h>
#include <string.h>

#include "cli/debug/input.h"
#include "cli/support/choices.h"
#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "networks/onnx/onnx.h"
#include "traces/format/known_database.h"
#include "traces/report/report.h"

static const struct cli_verb *const verbs[] = {
#define VERB(name) &cli_verb_##name,
#include "cli/verbs.def"
#undef VERB
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs, PARAGRAPH_BYTES = 512 };

static bool is_word(const char *word, const char *longer, const char *shorter) {
  return strcmp(word, longer) == 0 || strcmp(word, shorter) == 0;
}

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

/* A paragraph a line, as wide as the terminal. */
static void print_text(const char *text, FILE *out) {
  while (*text) {
    size_t bytes = strcspn(text, "\n");
    char line[PARAGRAPH_BYTES];
    snprintf(line, sizeof line, "%.*s", (int)bytes, text);
    sheet_words(out, line, 0, 0);
    fputc('\n', out);
    text += bytes + (text[bytes] == '\n');
  }
}

static const struct sheet_column verb_columns[] = {{.left = true},
                                                   {.left = true, .fit = SHEET_BREAK}};

static void print_verb(struct sheet *sheet, const struct cli_verb *verb) {
  sheet_text(sheet, verb->name);
  sheet_text(sheet, verb->summary);
}

/* Below what one wants to do. */
static void print_verbs(FILE *out) {
  struct sheet sheet;
  SHEET_BEGIN(&sheet, out, verb_columns, 2, NULL);
  while (sheet_pass(&sheet)) {
#define WANT(text) sheet_between(&sheet, "\n%s:\n", text);
#define VERB(verb) print_verb(&sheet, &cli_verb_##verb);
#include "cli/verbs.def"
#undef VERB
    sheet_between(&sheet, "\n");
    sheet_cell(&sheet, "help");
    sheet_cell(&sheet, "Explain a verb and its options");
  }
}

static void print_usage(FILE *out) {
  print_text(
      "usage: vinci VERB [ARGUMENT]... [OPTION]...\n\n"
      "vinci simulates kernels on Ascend AI Cores cycle by cycle: it executes a compiled operator "
      "trace on a modelled chip and reports where the time went.\n",
      out);
  print_verbs(out);
  print_text(
      "\nOptions:\n"
      "  -h, --help     print this help\n"
      "  -V, --version  print the version of the program and of its model\n\n"
      "Exit codes: 0 ok; 1 a gate failed; 2 usage or configuration; 3 input rejected, or a "
      "gate's baseline missing or stale; 4 values differ; 5 a check found an error; 6 the "
      "simulated program hangs; 7 a limit was reached, results are partial; 8 internal error; "
      "9 results of a gate differ from run to run.\n\n"
      "Examples:\n"
      "  vinci run matmul m=1024 k=1024 n=1024 -s Ascend910B4\n"
      "  vinci help run\n"
      "  vinci help --outputs   which verb writes files, JSON or CSV\n",
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

/* What may stand behind `vinci`, or behind a verb and its command: for the shell's completion. */
static int print_words(int argc, char **argv) {
  const struct cli_verb *verb = argc > 0 ? cli_verb_find(argv[0]) : NULL;
  for (size_t i = 0; argc == 0 && i < VERB_COUNT; i++)
    puts(verbs[i]->name);
  if (argc == 0)
    puts("help");
  for (int i = 1; verb && i < argc; i++)
    verb = cli_command_find(verb, argv[i]);
  if (verb)
    cli_print_words(verb, stdout);
  return cli_end(0);
}

/* Names that may stand behind a verb and the words after the verb: for the shell's completion. */
static int print_choices(int argc, char **argv) {
  const struct cli_verb *verb = argc > 0 ? cli_verb_find(argv[0]) : NULL;
  if (verb)
    choices_print(verb, argc - 1, argv + 1, stdout);
  return cli_end(0);
}

/* ---- which verb writes what ------------------------------------------------------------------ */

static const struct sheet_column output_columns[] = {
    {.title = "verb", .left = true},
    {.title = "--output", .left = true},
    {.title = "--json"},
    {.title = "--csv"},
    {.title = "--quiet"},
};

static const struct option_row *find_option(const struct cli_verb *verb, const char *name) {
  for (size_t i = 0; i < verb->options.count; i++)
    if (verb->options.rows[i].help && strcmp(verb->options.rows[i].name, name) == 0)
      return &verb->options.rows[i];
  return NULL;
}

/* A verb of several commands has a row for each command, behind its own when it does something
 * without. */
static void print_outputs_of(const struct cli_verb *verb, struct sheet *sheet) {
  if (verb->command_count == 0 || verb->options.count > 0) {
    const struct option_row *output = find_option(verb, "output");
    sheet_text(sheet, verb->name);
    sheet_text(sheet, output ? output->value : "-");
    for (size_t i = 2; i < sizeof output_columns / sizeof *output_columns; i++)
      sheet_text(sheet, find_option(verb, output_columns[i].title + 2) ? "yes" : "-");
  }
  for (size_t i = 0; i < verb->command_count; i++)
    print_outputs_of(verb->commands[i], sheet);
}

static int print_outputs(void) {
  struct sheet sheet;
  SHEET_BEGIN(&sheet, stdout, output_columns, 0, NULL);
  while (sheet_pass(&sheet))
    for (size_t i = 0; i < VERB_COUNT; i++)
      print_outputs_of(verbs[i], &sheet);
  return cli_end(0);
}

static int help_verb(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stdout);
    return cli_end(0);
  }
  if (strcmp(argv[1], "--words") == 0)
    return print_words(argc - 2, argv + 2);
  if (strcmp(argv[1], "--choices") == 0)
    return print_choices(argc - 2, argv + 2);
  if (strcmp(argv[1], "--outputs") == 0)
    return print_outputs();
  const struct cli_verb *verb = cli_verb_find(argv[1]);
  if (!verb)
    return unknown_word("verb", argv[1]);
  const struct cli_verb *command = argc > 2 ? cli_command_find(verb, argv[2]) : verb;
  cli_print_help(command ? command : verb, stdout);
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
    printf("commit: %s\n",
           *vinci_commit() ? vinci_commit() : "not known, not built from a repository");
    printf("ONNX models: %s\n", onnx_available() ? "read"
                                                 : "not read, built without libonnx-dev "
                                                   "and protobuf-c");
    printf("lines of the debugger: %s\n",
           input_edits() ? "edited with libedit" : "read, built without libedit-dev");
    printf("databases of profilers: %s\n",
           known_databases_are_read() ? "read" : "not read, built without libsqlite3-dev");
    printf("SystemC: %s\n", engine_has_systemc() ? "hosts the engine on request, VINCI_HOST=systemc"
                                                 : "left out, built without libsystemc-dev");
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
