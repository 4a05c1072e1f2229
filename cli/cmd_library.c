/* SPDX-License-Identifier: Apache-2.0 */
/* vinci library: the operators of a user's library, and which of them compile. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/library.h"

struct library_settings {
  const char *data;
};

static const struct option_row library_options[] = {
    OPTION_TEXT_ROW("data", 0, struct library_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

/* Whether a name is among the words behind DIR; without such words every name is. */
static bool is_asked(const struct text_list *words, const char *name) {
  bool asked = words->count <= 1;
  for (size_t i = 1; i < words->count; i++)
    asked |= strcmp(words->items[i], name) == 0;
  return asked;
}

static int list(const struct library *library, const struct library_operator *found, size_t count) {
  for (size_t i = 0; i < count; i++)
    printf("%-40s %s\n", found[i].name, found[i].folder);
  printf("%zu operators of %s\n", count, library->folders[0]);
  return 0;
}

/* The host code of each operator is compiled: what stops its compiler stands on standard error. */
static int check(struct library *library, const struct library_operator *found, size_t count,
                 const struct text_list *words) {
  size_t compiled = 0, asked = 0;
  for (size_t i = 1; i < words->count; i++) {
    struct library_operator which;
    if (library_find(library, words->items[i], &which) != VINCI_OK)
      return cli_fail(library->diag);
  }
  for (size_t i = 0; i < count; i++) {
    char chips[512] = "";
    struct vinci_diag diag = {0};
    if (!is_asked(words, found[i].name))
      continue;
    asked++;
    library->diag = &diag;
    enum vinci_status status = library_chips(library, &found[i], chips, sizeof chips);
    compiled += status == VINCI_OK;
    printf("%-40s %s\n", found[i].name, status == VINCI_OK ? chips : diag.text);
    fflush(stdout);
  }
  printf("%zu of %zu operators have host code that compiles\n", compiled, asked);
  return compiled == asked ? 0 : vinci_status_exit_code(VINCI_E_INPUT);
}

static int run_command(const struct cli_verb *verb, int argc, char **argv, bool lists) {
  struct library_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct library library;
  struct library_operator *found = NULL;
  size_t count = 0;
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    if (library_open_for(&library, words.count > 0 ? words.items[0] : NULL, settings.data, NULL,
                         &diag) != VINCI_OK ||
        library_operators(&library, &found, &count) != VINCI_OK)
      exit_code = cli_fail(&diag);
    else
      exit_code = lists ? list(&library, found, count) : check(&library, found, count, &words);
  }
  free(found);
  text_list_free(&words);
  return exit_code;
}

static int run_list(const struct cli_verb *verb, int argc, char **argv) {
  return run_command(verb, argc, argv, true);
}

static int run_check(const struct cli_verb *verb, int argc, char **argv) {
  return run_command(verb, argc, argv, false);
}

static const struct cli_verb library_list = {
    .name = "library list",
    .arguments = "[DIR[:DIR]]",
    .summary = "Show the operators of a library and their folders",
    .details = "DIR is a copy of a library (default: $VINCI_LIBRARY).\n"
               "Example:\n"
               "  vinci library list $HOME/ops\n",
    .options = {library_options, sizeof library_options / sizeof *library_options},
    .run = run_list,
};

static const struct cli_verb library_check = {
    .name = "library check",
    .arguments = "[DIR[:DIR]] [OPERATOR]...",
    .summary = "Compile the host code of operators, and show which chips they have kernels for",
    .details =
        "Without OPERATOR all operators of the library are compiled, and kept for later runs.\n"
        "Exit code 3: one is not compiled. Example:\n"
        "  vinci library check $HOME/ops RmsNorm\n",
    .options = {library_options, sizeof library_options / sizeof *library_options},
    .run = run_check,
};

static const struct cli_verb *const commands[] = {&library_list, &library_check};

const struct cli_verb cli_verb_library = {
    .name = "library",
    .arguments = "list|check [DIR[:DIR]] [OPERATOR]...",
    .summary = "Show the operators of a library with sources, and which of them compile",
    .details = "  list   the operators and their folders\n"
               "  check  compiles the host code of all operators, or of those that are named\n"
               "'vinci run --library=DIR OPERATOR ...' runs an operator. Example:\n"
               "  vinci library list $HOME/ops\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
