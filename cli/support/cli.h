/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's verbs and what they share. A verb is one cmd_*.c file with one
 * `const struct cli_verb` and one row in cli/verbs.def. A verb prints results on stdout,
 * everything else on stderr, and returns the exit code.
 */
#ifndef VINCI_CLI_SUPPORT_CLI_H
#define VINCI_CLI_SUPPORT_CLI_H

#include <string.h>

#include "cli/support/options.h"

struct cli_verb {
  const char *name;
  const char *arguments; /* "TRACE..." as in the usage line */
  const char *summary;   /* one line for the list of verbs */
  const char *details;   /* paragraphs after the options, may be NULL */
  struct option_table options;
  int (*run)(const struct cli_verb *verb, int argc, char **argv); /* argv[0] is the verb */
  /* Of a verb of several commands, each a verb of its own named "VERB COMMAND". */
  const struct cli_verb *const *commands;
  size_t command_count;
  const char *words; /* other words that may come first, with blanks between; NULL: none */
};

#define VERB(name) extern const struct cli_verb cli_verb_##name;
#include "cli/verbs.def"
#undef VERB

/*
 * First step of a verb: parses its options. Returns true when the verb shall go on;
 * otherwise help or an error has been printed and *exit_code is what to return. The
 * caller frees its lists in both cases.
 */
bool cli_begin(const struct cli_verb *verb, int argc, char **argv, void *settings,
               struct text_list *arguments, int *exit_code);

/* A verb's own `run` when the verb has commands: runs that which argv[1] names; an unknown name is
 * a usage error. */
int cli_run_command(const struct cli_verb *verb, int argc, char **argv);
/* The command of a verb, NULL when there is none of this name. */
const struct cli_verb *cli_command_find(const struct cli_verb *verb, const char *name);

/* Usage line, options and details of a verb. */
void cli_print_help(const struct cli_verb *verb, FILE *out);
/* What may stand behind a verb, a line each: commands, words and options. */
void cli_print_words(const struct cli_verb *verb, FILE *out);

/* What a diagnostic tells warnings: prints them on stderr, unless errors alone are wanted. */
void (*cli_warn(bool quiet))(void *context, const char *text);

/* Which of some words, NULL behind the last, an option gives: the first unless one is given. False
 * after an error on stderr. */
bool cli_choose(const char *option, const char *given, const char *const *names, unsigned *choice);

/* What the flags --json and --csv, or --format, which was their name once, choose: "text", "csv" or
 * "json". format NULL: not given. */
VINCI_MUST_CHECK enum vinci_status cli_form(bool json, bool csv, const char *format,
                                            const char **form, struct vinci_diag *diag);

/* Prints the diagnostic on stderr and returns the exit code of its status. */
int cli_fail(const struct vinci_diag *diag);

/* The line of a report that scripts may rely on: "summary: VERB KEY=VALUE ...", with times in us.
 * Keys that are there stay (cli/vinci.1 has them); not broken, whatever the width. */
void cli_summary(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Last step: flushes stdout. When writing failed (full disk) says so on stderr and turns exit
 * code 0 into that of VINCI_E_IO. When the reader of a pipe has gone, the program ends
 * silently by SIGPIPE, unless it has another failure to tell.
 */
int cli_end(int exit_code);

/* The verb of a name, NULL when there is none; and the name nearest to a misspelt name. */
const struct cli_verb *cli_verb_find(const char *name);
const char *cli_verb_nearest(const char *name);

/* That there are traces, and that each has a name. */
VINCI_MUST_CHECK enum vinci_status cli_check_traces(const struct text_list *traces,
                                                    struct vinci_diag *diag);

/* The result folder of a trace: with several traces each trace has a folder of its own inside. */
VINCI_MUST_CHECK enum vinci_status cli_result_folder(const char *output, const char *trace,
                                                     bool several, char *folder, size_t size,
                                                     struct vinci_diag *diag);
/* That there are traces, and that their folders differ. output NULL: there are none. */
VINCI_MUST_CHECK enum vinci_status
cli_check_folders(const char *output, const struct text_list *traces, struct vinci_diag *diag);
/* Before anything runs: a long run shall not find out at its end that it cannot be kept, nor that
 * another one has written between its files. */
VINCI_MUST_CHECK enum vinci_status
cli_make_folders(const char *output, const struct text_list *traces, struct vinci_diag *diag);

/* Loads a SoC and applies overrides. A missing name is an error with a hint. */
/* The first assignment that asks for the account of energy, "energy=on" or "energy.KEY=VALUE";
 * NULL: none does. */
const char *cli_find_energy(const struct text_list *sets);
/* VINCI_E_USAGE when one of them asks: lists of operators tell no energy. */
VINCI_MUST_CHECK enum vinci_status cli_refuse_energy(const struct text_list *sets,
                                                     struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status cli_load_soc(const char *name, const char *data_dir,
                                                const struct text_list *sets, vinci_soc **out,
                                                struct vinci_diag *diag);

#endif
