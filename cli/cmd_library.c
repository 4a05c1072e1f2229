/* SPDX-License-Identifier: Apache-2.0 */
/* vinci library: the operators of a user's library, and which of them compile. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/library.h"
#include "core/base/file.h"

enum { RUN_MINUTES = 2, SHOWN_LINES = 40 };

struct library_settings {
  const char *data, *soc;
};

static const struct option_row library_options[] = {
    OPTION_TEXT_ROW("data", 0, struct library_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

static const struct option_row check_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct library_settings, soc, "CHIP",
                    "also compile and run a kernel of each operator for this chip"),
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

/* Whether "ascend910b,ascend950" has a family. */
static bool has_chip(const char *chips, const char *family) {
  size_t length = strlen(family);
  for (const char *at = chips; *at; at += strcspn(at, ","), at += *at == ',')
    if (strncmp(at, family, length) == 0 && (at[length] == ',' || !at[length]))
      return true;
  return false;
}

static int list(const struct library *library, const struct library_operator *found, size_t count) {
  for (size_t i = 0; i < count; i++)
    printf("%-40s %s\n", found[i].name, found[i].folder);
  printf("%zu operators of %s\n", count, library->folders[0]);
  return 0;
}

/* How far an operator comes, in this order. */
enum reach { REACH_NONE, REACH_HOST, REACH_CHIP, REACH_TILING, REACH_KERNEL, REACH_RUN, REACHES };
static const char *const reach_names[REACHES] = {
    [REACH_NONE] = "host code", [REACH_HOST] = "chip",  [REACH_CHIP] = "tiling",
    [REACH_TILING] = "kernel",  [REACH_KERNEL] = "run", [REACH_RUN] = "runs"};

struct trial {
  enum reach reach;
  char chips[512], words[LIBRARY_WORDS_BYTES];
  char why[LIBRARY_WHY_BYTES]; /* of a compiler, a tiling or a run */
  struct vinci_diag diag;
};

/* The kernel of a call in a process of its own, as its code may end its process. */
static enum vinci_status run_call(const struct library *library, const struct library_call *call,
                                  const char *soc) {
  struct command command = {0};
  char folder[PATH_MAX - 64], output[PATH_MAX], errors[PATH_MAX];
  int ended = 0;
  enum vinci_status status =
      folder_make_temporary("vinci-library", folder, sizeof folder, library->diag);
  if (status != VINCI_OK)
    return status;
  snprintf(output, sizeof output, "%s/output", folder);
  snprintf(errors, sizeof errors, "%s/errors", folder);
  command_add(&command, "%s", library->program);
  command_add(&command, "run");
  command_add(&command, "%s", call->kernel);
  command_add(&command, "--soc-version=%s", soc);
  command_add(&command, "--memory=flat");
  command_add(&command, "--timeout=%d", RUN_MINUTES);
  command_add(&command, "--quiet");
  command_add(&command, "--blocks=%s", call->blocks);
  for (size_t i = 0; i < call->args.count; i++)
    command_add(&command, "--arg=%s", call->args.items[i]);
  status = library_run(library, &command, output, errors, &ended);
  if (status == VINCI_OK && ended != 0) {
    library_show(library, errors, SHOWN_LINES);
    status = diag_error(library->diag, VINCI_E_INPUT, "the run ended with exit code %d", ended);
  }
  command_free(&command);
  folder_remove(folder);
  return status;
}

/* soc: NULL: no further than the host code. */
static void try_operator(struct library *library, const struct library_operator *which,
                         const vinci_soc *soc, struct trial *trial) {
  struct library_call call = {0};
  *trial = (struct trial){.reach = REACH_NONE};
  library->diag = &trial->diag;
  library->why = soc ? trial->why : NULL;
  if (library_chips(library, which, trial->chips, sizeof trial->chips) != VINCI_OK)
    return;
  trial->reach = REACH_HOST;
  const char *family = soc ? library_family(vinci_soc_name(soc)) : NULL;
  if (!family || !has_chip(trial->chips, family))
    return;
  trial->reach = REACH_CHIP;
  enum vinci_status status = library_call(library, which, soc, NULL, 0, &call);
  trial->reach += call.args.count > 0;
  snprintf(trial->words, sizeof trial->words, "%s", call.words);
  if (status == VINCI_OK) {
    trial->reach = REACH_KERNEL;
    trial->reach += run_call(library, &call, vinci_soc_name(soc)) == VINCI_OK;
  }
  library_call_free(&call);
}

static void print_trial(const struct library_operator *which, const vinci_soc *soc,
                        const struct trial *trial) {
  printf("%-40s ", which->name);
  if (soc)
    printf("%-9s ", reach_names[trial->reach]);
  if (trial->reach == REACH_RUN)
    printf("%s", trial->words);
  else if (trial->reach == REACH_HOST)
    printf("%s", trial->chips);
  else
    printf("%s%s%s", trial->diag.text, *trial->why ? ": " : "", trial->why);
  putchar('\n');
  fflush(stdout);
}

static void print_reached(const size_t reached[static REACHES], const char *family) {
  printf("%zu operators\n%zu have host code that compiles\n%zu of these have a kernel for %s\n"
         "%zu have a tiling that takes a call with default attributes\n"
         "%zu have a kernel that compiles for the call\n%zu run\n",
         reached[REACH_NONE], reached[REACH_HOST], reached[REACH_CHIP], family,
         reached[REACH_TILING], reached[REACH_KERNEL], reached[REACH_RUN]);
}

/* The host code of each operator is compiled; with a chip also a kernel, and that is run. What
 * stops a compiler stands on standard error, or with a chip in the table. */
static int check(struct library *library, const struct library_operator *found, size_t count,
                 const struct text_list *words, const vinci_soc *soc) {
  size_t reached[REACHES] = {0}; /* as far or farther */
  for (size_t i = 1; i < words->count; i++) {
    struct library_operator which;
    if (library_find(library, words->items[i], &which) != VINCI_OK)
      return cli_fail(library->diag);
  }
  for (size_t i = 0; i < count; i++) {
    struct trial trial;
    if (!is_asked(words, found[i].name))
      continue;
    try_operator(library, &found[i], soc, &trial);
    for (int r = REACH_NONE; r <= (int)trial.reach; r++)
      reached[r]++;
    print_trial(&found[i], soc, &trial);
  }
  if (soc)
    print_reached(reached, library_family(vinci_soc_name(soc)));
  else
    printf("%zu of %zu operators have host code that compiles\n", reached[REACH_HOST],
           reached[REACH_NONE]);
  bool all = reached[REACH_HOST] == reached[REACH_NONE] &&
             (!soc || reached[REACH_RUN] == reached[REACH_CHIP]);
  return all ? 0 : vinci_status_exit_code(VINCI_E_INPUT);
}

static enum vinci_status take_soc(const struct library_settings *settings, vinci_soc **soc,
                                  struct vinci_diag *diag) {
  *soc = NULL;
  if (!settings->soc)
    return VINCI_OK;
  enum vinci_status status =
      cli_load_soc(settings->soc, settings->data, &(struct text_list){0}, soc, diag);
  if (status == VINCI_OK && !library_family(vinci_soc_name(*soc)))
    status = diag_error(diag, VINCI_E_USAGE, "libraries have kernels of the 910B family, not of %s",
                        vinci_soc_name(*soc));
  return status;
}

static int run_command(const struct cli_verb *verb, int argc, char **argv, bool lists) {
  struct library_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct library library;
  struct library_operator *found = NULL;
  size_t count = 0;
  vinci_soc *soc = NULL;
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    if (library_open_for(&library, words.count > 0 ? words.items[0] : NULL, settings.data, NULL,
                         &diag) != VINCI_OK ||
        library_operators(&library, &found, &count) != VINCI_OK ||
        take_soc(&settings, &soc, &diag) != VINCI_OK)
      exit_code = cli_fail(&diag);
    else
      exit_code = lists ? list(&library, found, count) : check(&library, found, count, &words, soc);
  }
  vinci_soc_free(soc);
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
    .summary = "Compile operators, and show which chips they have kernels for and which run",
    .details =
        "Without OPERATOR all operators of the library are compiled, and kept for later runs.\n"
        "With --soc-version each operator of that chip also gets a call with its default\n"
        "attributes and the first of a few shapes that its tiling takes; the kernel of the call\n"
        "is compiled and run. A row then says how far the operator comes, or what stops it:\n"
        "host code, chip (no kernel for that), tiling, kernel or run; runs: all is well.\n"
        "Exit code 3: one operator does not come as far as the chip allows. Examples:\n"
        "  vinci library check $HOME/ops RmsNorm\n"
        "  vinci library check $HOME/ops -s Ascend910B4\n",
    .options = {check_options, sizeof check_options / sizeof *check_options},
    .run = run_check,
};

static const struct cli_verb *const commands[] = {&library_list, &library_check};

const struct cli_verb cli_verb_library = {
    .name = "library",
    .arguments = "list|check [DIR[:DIR]] [OPERATOR]...",
    .summary = "Show the operators of a library with sources, and which of them compile",
    .details = "  list   the operators and their folders\n"
               "  check  compiles all operators, or those that are named, and runs them on a chip\n"
               "'vinci run --library=DIR OPERATOR ...' runs an operator. Example:\n"
               "  vinci library list $HOME/ops\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
