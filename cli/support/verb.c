/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs share: their options and help, their errors, and an honest end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "networks/workload/workload.h"
#include "scripts/host/soc_host.h"

enum { DETAILS_BYTES = 8192 };

/* Whether a line goes on in the next, which its author has begun for the sake of the width. */
static bool goes_on(const char *line, size_t bytes) {
  enum { BROKEN_FROM = 76 };
  static const char examples[] = "Example";
  const char *next = line + bytes + 1;
  return line[bytes] == '\n' && bytes > 0 && *line != ' ' && *next != ' ' && *next != '\n' &&
         strncmp(next, examples, strlen(examples)) != 0 &&
         bytes + strcspn(next, " \n") >= BROKEN_FROM;
}

/* Paragraphs as wide as a terminal that is narrower than they are; indented lines stay lines. */
static void print_paragraphs(char *text, FILE *out) {
  unsigned width = sheet_width(out);
  bool narrow = width > 0 && width < SHEET_TEXT_WIDTH;
  while (narrow && *text) {
    char *line = text, *end = line + strcspn(line, "\n");
    while (goes_on(line, (size_t)(end - line))) {
      *end = ' ';
      line = end + 1;
      end = line + strcspn(line, "\n");
    }
    bool last = *end == '\0';
    *end = '\0';
    if (*text != ' ')
      sheet_words(out, text, 0, 0);
    sheet_line(out, "%s\n", *text != ' ' ? "" : text);
    text = last ? end : end + 1;
  }
  fputs(text, out);
}

/* Details name examples where the sources have them; an installed program names the installed ones.
 */
static void print_details(const char *details, FILE *out) {
  static const char examples[] = "traces/examples/";
  const char *installed = soc_host_installed_dir(), *at;
  char text[DETAILS_BYTES];
  size_t used = 0;
  while (installed && (at = strstr(details, examples)) != NULL && used < sizeof text) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%.*s%s/examples/",
                             (int)(at - details), details, installed);
    details = at + sizeof examples - 1;
  }
  if (used < sizeof text)
    snprintf(text + used, sizeof text - used, "%s", details);
  print_paragraphs(text, out);
}

void cli_print_help(const struct cli_verb *verb, FILE *out) {
  sheet_line(out, "usage: vinci %s%s%s [OPTION]...\n\n%s.\n\nOptions:\n", verb->name,
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
  sheet_line(stderr, "%s\n", text);
}

void (*cli_warn(bool quiet))(void *context, const char *text) {
  return quiet ? NULL : print_warning;
}

/* A reader that has gone is not an error. */
int cli_fail(const struct vinci_diag *diag) {
  bool output_only = diag->status == VINCI_E_IO && !diag->path[0];
  if (!output_only || !reader_is_gone()) {
    struct vinci_diag said = in_words_of_program(diag);
    vinci_diag_print(&said, stderr);
  }
  return vinci_status_exit_code(diag->status);
}

enum { CHOICES_BYTES = 128 };

bool cli_choose(const char *option, const char *given, const char *const *names, unsigned *choice) {
  for (*choice = 0; names[*choice]; ++*choice)
    if (!given || strcmp(given, names[*choice]) == 0)
      return true;
  char list[CHOICES_BYTES] = "";
  size_t used = 0;
  for (unsigned i = 0; i < *choice && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                             i == 0             ? ""
                             : i + 1 == *choice ? " or "
                                                : ", ",
                             names[i]);
  struct vinci_diag diag = {0};
  (void)diag_error(&diag, VINCI_E_USAGE, "--%s is %s, not '%s'", option, list, given);
  (void)cli_fail(&diag);
  return false;
}

enum vinci_status cli_form(bool json, bool csv, const char *format, const char **form,
                           struct vinci_diag *diag) {
  *form = json ? "json" : csv ? "csv" : format ? format : "text";
  if (json + csv + (format != NULL) > 1)
    return diag_error(diag, VINCI_E_USAGE, "--json, --csv and --format: one of them");
  if (strcmp(*form, "text") != 0 && strcmp(*form, "csv") != 0 && strcmp(*form, "json") != 0)
    return diag_error(diag, VINCI_E_USAGE, "--format is text, csv or json, not '%s'", *form);
  return VINCI_OK;
}

void cli_summary(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("summary: ", stdout);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
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
  diag_error(&diag, diag_status_of(errno), "cannot write to standard output: %s",
             errno ? strerror(errno) : "write error");
  return cli_fail(&diag);
}

bool cli_begin(const struct cli_verb *verb, int argc, char **argv, void *settings,
               struct text_list *arguments, int *exit_code) {
  struct vinci_diag diag = {0};
  bool help = false;
  if (options_parse(verb->name, &verb->options, argc, argv, settings, arguments, &help, &diag) !=
      VINCI_OK) {
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

/* The name of a verb's command without that of the verb. */
static const char *command_name(const void *context, size_t index) {
  const struct cli_verb *verb = context;
  return verb->commands[index]->name + strlen(verb->name) + 1;
}

const struct cli_verb *cli_command_find(const struct cli_verb *verb, const char *name) {
  for (size_t i = 0; i < verb->command_count; i++)
    if (strcmp(command_name(verb, i), name) == 0)
      return verb->commands[i];
  return NULL;
}

int cli_run_command(const struct cli_verb *verb, int argc, char **argv) {
  if (argc < 2) {
    cli_print_help(verb, stderr);
    return vinci_status_exit_code(VINCI_E_USAGE);
  }
  const struct cli_verb *command = cli_command_find(verb, argv[1]);
  if (command)
    return command->run(command, argc - 1, argv + 1);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    cli_print_help(verb, stdout);
    return 0;
  }
  struct vinci_diag diag = {0};
  const char *nearest = diag_nearest(argv[1], verb->command_count, command_name, verb);
  (void)diag_error(&diag, VINCI_E_USAGE, "unknown %s '%s' of %s",
                   *argv[1] == '-' ? "option" : "command", argv[1], verb->name);
  if (nearest)
    diag_hint(&diag, "did you mean 'vinci %s %s'?", verb->name, nearest);
  else
    diag_hint(&diag, "'vinci %s --help' lists the commands", verb->name);
  return cli_fail(&diag);
}

void cli_print_words(const struct cli_verb *verb, FILE *out) {
  for (size_t i = 0; i < verb->command_count; i++)
    fprintf(out, "%s\n", command_name(verb, i));
  for (const char *word = verb->words; word && *word; word += strcspn(word, " ") + 1) {
    fprintf(out, "%.*s\n", (int)strcspn(word, " "), word);
    if (word[strcspn(word, " ")] == '\0')
      break;
  }
  for (size_t i = 0; i < verb->options.count; i++)
    if (verb->options.rows[i].help)
      fprintf(out, "--%s%s\n", verb->options.rows[i].name,
              option_is_flag(&verb->options.rows[i]) ? "" : "=");
  fputs("--help\n", out);
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

const char *cli_find_energy(const struct text_list *sets) {
  static const char word[] = "energy";
  for (size_t i = 0; i < sets->count; i++)
    if (strcspn(sets->items[i], ".=") == sizeof word - 1 &&
        strncmp(sets->items[i], word, sizeof word - 1) == 0)
      return sets->items[i];
  return NULL;
}

enum vinci_status cli_refuse_energy(const struct text_list *sets, struct vinci_diag *diag) {
  if (!cli_find_energy(sets))
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "a list of operators has no account of energy");
  diag_hint(diag, "run its operators one by one, or a network: vinci net run --energy");
  return VINCI_E_USAGE;
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
