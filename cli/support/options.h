/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options from one table: the same rows drive parsing, the help text
 * and the suggestions for misspelt names.
 *
 * A verb declares a struct for its settings and a table of rows that point into the struct:
 *
 *     struct show_settings { const char *data; bool json; struct text_list sets; };
 *     static const struct option_row show_options[] = {
 *         OPTION_TEXT_ROW("data", 0, struct show_settings, data, "DIR", "where soc/ lies"),
 *         OPTION_FLAG_ROW("json", 0, struct show_settings, json, "print JSON"),
 *         OPTION_LIST_ROW("set", 0, struct show_settings, sets, "K=V", "override one number"),
 *     };
 *
 * Accepted forms: --name=value, --name value, -x value, -xvalue, "--" ends options, a
 * lone "-" is an argument. Options and arguments may be mixed. --help and -h are
 * known to every verb. Texts point into argv.
 */
#ifndef VINCI_CLI_SUPPORT_OPTIONS_H
#define VINCI_CLI_SUPPORT_OPTIONS_H

#include "core/vinci.h"

/* A word is a flag that puts its text, which is not shown, into a list. */
enum option_kind { OPTION_FLAG, OPTION_WORD, OPTION_TEXT, OPTION_LIST, OPTION_NUMBER };

/* Values in the order given; zero-initialise, free with text_list_free. */
struct text_list {
  const char **items;
  size_t count;
  size_t capacity;
};

struct option_row {
  const char *name; /* long name without dashes */
  char letter;      /* short name, 0 = none */
  enum option_kind kind;
  size_t offset;     /* of a bool, const char *, struct text_list or uint64_t */
  const char *value; /* what the value is called in the help, NULL for flags; the text of a word */
  const char *help;  /* one sentence; NULL keeps the option out of the help */
  uint64_t minimum;  /* OPTION_NUMBER */
  uint64_t maximum;
};

/* Whether the option is complete without a value. */
static inline bool option_is_flag(const struct option_row *row) {
  return row->kind == OPTION_FLAG || row->kind == OPTION_WORD;
}

/* clang-format off */
#define OPTION_FLAG_ROW(name, letter, type, field, help)                           \
  {name, letter, OPTION_FLAG, offsetof(type, field), NULL, help, 0, 0}
#define OPTION_WORD_ROW(name, letter, type, field, word, help)                     \
  {name, letter, OPTION_WORD, offsetof(type, field), word, help, 0, 0}
/* For every verb that takes --set. */
#define OPTION_ENERGY_ROW(type, sets)                                              \
  OPTION_WORD_ROW("energy", 0, type, sets, "energy=on",                            \
                  "also tell the energy, with an interval; numbers energy.* of --set change what is assumed")
#define OPTION_TEXT_ROW(name, letter, type, field, value, help)                    \
  {name, letter, OPTION_TEXT, offsetof(type, field), value, help, 0, 0}
#define OPTION_LIST_ROW(name, letter, type, field, value, help)                    \
  {name, letter, OPTION_LIST, offsetof(type, field), value, help, 0, 0}
#define OPTION_NUMBER_ROW(name, letter, type, field, value, minimum, maximum, help) \
  {name, letter, OPTION_NUMBER, offsetof(type, field), value, help, minimum, maximum}
/* clang-format on */

struct option_table {
  const struct option_row *rows;
  size_t count;
};

/*
 * Parses argv[1..] of a verb, "sweep run", into settings (already holding the defaults) and
 * arguments. *help is set when help was asked for; parsing stops there. Errors are VINCI_E_USAGE
 * with the nearest option name as a hint. The caller frees every list, also after an error.
 */
VINCI_MUST_CHECK enum vinci_status options_parse(const char *verb, const struct option_table *table,
                                                 int argc, char **argv, void *settings,
                                                 struct text_list *arguments, bool *help,
                                                 struct vinci_diag *diag);

/* Visits the words that options_parse() has accepted, in their order: an option with its value,
 * NULL of a flag; or, with row NULL, an argument. */
void options_visit(const struct option_table *table, int argc, char **argv,
                   void (*visit)(void *context, const struct option_row *row, const char *value),
                   void *context);

/* The lines of the table for --help. */
void options_print(const struct option_table *table, FILE *out);

/* Adds a text; false when memory is short. */
bool text_list_add(struct text_list *list, const char *text);
void text_list_free(struct text_list *list);

#endif
