/* SPDX-License-Identifier: Apache-2.0 */
/* vinci library: the operators of a user's library, and which of them compile. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/library.h"
#include "cli/support/monitor.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sheet.h"

enum {
  RUN_MINUTES = 2,
  SHOWN_LINES = 40,
  CALLS = 3,
  CALLS_MAX = 99,
  KINDS_MAX = 512,
  KINDS_SHOWN = 25
};

struct library_settings {
  const char *data, *soc, *calls;
  uint64_t calls_number;
};

static const struct option_row library_options[] = {
    OPTION_TEXT_ROW("data", 0, struct library_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
};

static const struct option_row check_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct library_settings, soc, "CHIP",
                    "also compile and run a kernel of each operator for this chip"),
    OPTION_TEXT_ROW("calls", 'n', struct library_settings, calls, "N",
                    "with --soc-version: at most this many calls of an operator (default 3)"),
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
    sheet_line(stdout, "%-40s %s\n", found[i].name, found[i].folder);
  sheet_line(stdout, "%zu operators of %s\n", count, library->folders[0]);
  return 0;
}

/* How far an operator comes, in this order. */
enum reach { REACH_NONE, REACH_HOST, REACH_CHIP, REACH_TILING, REACH_KERNEL, REACH_RUN, REACHES };
static const char *const reach_names[REACHES] = {
    [REACH_NONE] = "host code", [REACH_HOST] = "chip",  [REACH_CHIP] = "tiling",
    [REACH_TILING] = "kernel",  [REACH_KERNEL] = "run", [REACH_RUN] = "runs"};

struct trial {
  enum reach reach;
  unsigned calls, run; /* that the tiling takes; of these the ones that run */
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

/* One call, number library->trial of those that the tiling takes. */
static enum reach try_call(struct library *library, const struct library_operator *which,
                           const vinci_soc *soc, struct trial *trial, char *words, size_t size) {
  struct library_call call = {0};
  enum reach reach = REACH_CHIP;
  enum vinci_status status = library_call(library, which, soc, NULL, 0, &call);
  reach += call.args.count > 0;
  snprintf(words, size, "%s", call.words);
  trial->calls += reach > REACH_CHIP;
  if (status == VINCI_OK) {
    reach = REACH_KERNEL;
    reach += run_call(library, &call, vinci_soc_name(soc)) == VINCI_OK;
    trial->run += reach == REACH_RUN;
  }
  library_call_free(&call);
  return reach;
}

/* The first call says how far the operator comes; a further one that stops says why, too. */
static void try_operator(struct library *library, const struct library_operator *which,
                         const vinci_soc *soc, uint64_t calls, struct trial *trial) {
  *trial = (struct trial){.reach = REACH_NONE};
  library->diag = &trial->diag;
  library->why = soc ? trial->why : NULL;
  library->trial = 0;
  if (library_chips(library, which, trial->chips, sizeof trial->chips) != VINCI_OK)
    return;
  trial->reach = REACH_HOST;
  const char *family = soc ? library_family(vinci_soc_name(soc)) : NULL;
  if (!family || !has_chip(trial->chips, family))
    return;
  trial->reach = try_call(library, which, soc, trial, trial->words, sizeof trial->words);
  for (; trial->reach == REACH_RUN && library->trial + 1 < calls;) {
    char words[LIBRARY_WORDS_BYTES], why[LIBRARY_WHY_BYTES] = "";
    struct vinci_diag diag = {0};
    library->trial++;
    library->why = why;
    library->diag = &diag;
    if (try_call(library, which, soc, trial, words, sizeof words) != REACH_RUN && !*trial->why &&
        trial->calls > library->trial) {
      trial->diag = diag;
      snprintf(trial->why, sizeof trial->why, "%s", why);
    }
  }
}

static void print_trial(const struct library_operator *which, const vinci_soc *soc,
                        const struct trial *trial) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, stdout);
  fprintf(out, "%-40s ", which->name);
  if (soc)
    fprintf(out, "%-9s ", reach_names[trial->reach]);
  if (trial->reach == REACH_RUN)
    fprintf(out, "%u of %u calls, %s", trial->run, trial->calls, trial->words);
  else if (trial->reach == REACH_HOST)
    fputs(trial->chips, out);
  if ((trial->reach != REACH_RUN && trial->reach != REACH_HOST) || trial->run < trial->calls)
    fprintf(out, "%s%s%s%s", trial->reach == REACH_RUN ? "; " : "", trial->diag.text,
            *trial->why ? ": " : "", trial->why);
  fputc('\n', out);
  sheet_lines_end(&lines);
  fflush(stdout);
}

/* ---- what stops operators, by kind ------------------------------------------------------------
 */

struct kind {
  char text[LIBRARY_WHY_BYTES], example[LIBRARY_NAME_BYTES];
  enum reach reach;
  size_t count;
};

struct tally {
  size_t reached[REACHES]; /* as far or farther */
  size_t all_calls;        /* operators whose calls all run */
  struct kind kinds[KINDS_MAX];
  size_t kind_count;
};

/* "file.h:3:5: error: ‘x’ was not declared" without the place, and without numbers. */
static void name_kind(const struct library_operator *which, const struct trial *trial, char *out) {
  const char *text = *trial->why ? trial->why : trial->diag.text;
  const char *colon = strstr(text, "error: ");
  size_t length = 0, name = strlen(which->name);
  if (colon)
    text = colon + strlen("error: ");
  else if ((colon = strstr(text, ".cpp:")) || (colon = strstr(text, ".h:")))
    text = strstr(colon, ": ") ? strstr(colon, ": ") + 2 : text;
  while (*text && length + 2 < LIBRARY_WHY_BYTES) {
    if (strncmp(text, which->name, name) == 0) {
      text += name;
      out[length++] = '*';
    } else if (*text >= '0' && *text <= '9') {
      text += strspn(text, "0123456789abcdefx");
      out[length++] = '#';
    } else
      out[length++] = *text++;
  }
  out[length] = '\0';
}

static void count_kind(struct tally *tally, const struct library_operator *which,
                       const struct trial *trial) {
  char text[LIBRARY_WHY_BYTES];
  name_kind(which, trial, text);
  size_t at = 0;
  while (at < tally->kind_count &&
         (tally->kinds[at].reach != trial->reach || strcmp(tally->kinds[at].text, text) != 0))
    at++;
  if (at == KINDS_MAX)
    return;
  if (at == tally->kind_count) {
    struct kind *kind = &tally->kinds[tally->kind_count++];
    *kind = (struct kind){.reach = trial->reach};
    snprintf(kind->text, sizeof kind->text, "%s", text);
    snprintf(kind->example, sizeof kind->example, "%s", which->name);
  }
  tally->kinds[at].count++;
}

static int by_count(const void *a, const void *b) {
  const struct kind *x = a, *y = b;
  if (x->count != y->count)
    return x->count < y->count ? 1 : -1;
  return x->reach != y->reach ? (x->reach > y->reach) - (x->reach < y->reach)
                              : strcmp(x->text, y->text);
}

static void print_tally(struct tally *tally, const char *family, uint64_t calls) {
  qsort(tally->kinds, tally->kind_count, sizeof *tally->kinds, by_count);
  printf("\nWhat stops operators (the stage, how many, one of them):\n");
  for (size_t i = 0; i < tally->kind_count && i < KINDS_SHOWN; i++)
    sheet_line(stdout, "%-9s %4zu  %-36s %s\n", reach_names[tally->kinds[i].reach],
               tally->kinds[i].count, tally->kinds[i].example, tally->kinds[i].text);
  if (tally->kind_count > KINDS_SHOWN)
    printf("and %zu further kinds\n", tally->kind_count - KINDS_SHOWN);
  size_t *reached = tally->reached;
  printf("\n%zu operators\n%zu have host code that compiles\n%zu of these have a kernel for %s\n"
         "%zu have a tiling that takes a call\n"
         "%zu have a kernel that compiles for the first call\n%zu run that\n"
         "%zu run all of up to %" PRIu64 " calls\n",
         reached[REACH_NONE], reached[REACH_HOST], reached[REACH_CHIP], family,
         reached[REACH_TILING], reached[REACH_KERNEL], reached[REACH_RUN], tally->all_calls, calls);
}

static void note_trial(struct tally *tally, const struct library_operator *which,
                       const struct trial *trial) {
  for (int r = REACH_NONE; r <= (int)trial->reach; r++)
    tally->reached[r]++;
  bool all = trial->reach == REACH_RUN && trial->run == trial->calls;
  tally->all_calls += all;
  if (!all && trial->reach != REACH_HOST)
    count_kind(tally, which, trial);
}

/* The host code of each operator is compiled; with a chip also a kernel, and that is run. What
 * stops a compiler stands on standard error, or with a chip in the table. */
static int check(struct library *library, struct library_operator *found, size_t count,
                 const struct text_list *words, const vinci_soc *soc, uint64_t calls) {
  static struct tally tally;
  size_t asked = 0, done = 0;
  struct monitor monitor;
  tally = (struct tally){.kind_count = 0};
  library->family = soc ? library_family(vinci_soc_name(soc)) : NULL;
  for (size_t i = 1; i < words->count; i++) {
    struct library_operator which;
    if (library_find(library, words->items[i], &which) != VINCI_OK)
      return cli_fail(library->diag);
  }
  for (size_t i = 0; i < count; i++) {
    library_choose(&found[i], library->family);
    asked += is_asked(words, found[i].name);
  }
  monitor_start(&monitor, "", 0, false); /* each operator takes some ten seconds */
  for (size_t i = 0; i < count; i++) {
    struct trial trial;
    if (!is_asked(words, found[i].name))
      continue;
    (void)monitor_phase(&monitor, "operators", done++, asked, "");
    try_operator(library, &found[i], soc, calls, &trial);
    note_trial(&tally, &found[i], &trial);
    monitor_clear(&monitor);
    print_trial(&found[i], soc, &trial);
  }
  size_t *reached = tally.reached;
  if (soc)
    print_tally(&tally, library_family(vinci_soc_name(soc)), calls);
  else
    printf("%zu of %zu operators have host code that compiles\n", reached[REACH_HOST],
           reached[REACH_NONE]);
  cli_summary("library check operators=%zu host=%zu kernel=%zu run=%zu", reached[REACH_NONE],
              reached[REACH_HOST], reached[REACH_KERNEL], reached[REACH_RUN]);
  bool all = reached[REACH_HOST] == reached[REACH_NONE] &&
             (!soc || tally.all_calls == reached[REACH_CHIP]);
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
    status = diag_error(diag, VINCI_E_USAGE,
                        "libraries have kernels of the 910B family and of the 950, not of %s",
                        vinci_soc_name(*soc));
  return status;
}

static enum vinci_status read_calls(struct library_settings *settings, struct vinci_diag *diag) {
  settings->calls_number = CALLS;
  if (!settings->calls || (decimal_whole(settings->calls, &settings->calls_number) &&
                           settings->calls_number >= 1 && settings->calls_number <= CALLS_MAX))
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "--calls is 1 to %d, not '%s'", CALLS_MAX,
                    settings->calls);
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
        read_calls(&settings, &diag) != VINCI_OK || take_soc(&settings, &soc, &diag) != VINCI_OK)
      exit_code = cli_fail(&diag);
    else
      exit_code = lists ? list(&library, found, count)
                        : check(&library, found, count, &words, soc, settings.calls_number);
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
        "With --soc-version each operator of that chip also gets up to three calls that its\n"
        "tiling takes: those of the library's own tests of the tiling, then default attributes\n"
        "with a few shapes. Their kernels are compiled and run. A row then says how far the\n"
        "operator comes, or what stops it: host code, chip (no kernel for that), tiling, kernel\n"
        "or run; runs: all is well. At the end: what stops operators by kind, and counts.\n"
        "Exit code 3: one operator does not come as far as the chip allows. Examples:\n"
        "  vinci library check $HOME/ops RmsNorm\n"
        "  vinci library check $HOME/ops -s Ascend910B4 --calls=1\n",
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
