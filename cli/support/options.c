/* SPDX-License-Identifier: Apache-2.0 */
/* Table-driven command line options. */
#include "cli/support/options.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/sheet.h"

struct parser {
  const char *verb;
  const struct option_table *table;
  int argc;
  char **argv;
  int next; /* index of the next word */
  char *settings;
  struct text_list *arguments;
  bool *help;
  struct vinci_diag *diag;
};

bool text_list_add(struct text_list *list, const char *text) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 8;
    const char **items = realloc(list->items, capacity * sizeof *items);
    if (!items)
      return false;
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = text;
  return true;
}

void text_list_free(struct text_list *list) {
  free(list->items);
  *list = (struct text_list){0};
}

static const struct option_row *find_long(const struct option_table *table, const char *name,
                                          size_t length) {
  for (size_t i = 0; i < table->count; i++) {
    const struct option_row *row = &table->rows[i];
    if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
      return row;
  }
  return NULL;
}

static const struct option_row *find_letter(const struct option_table *table, char letter) {
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].letter == letter)
      return &table->rows[i];
  return NULL;
}

static const char *visible_name(const void *context, size_t index) {
  const struct option_table *table = context;
  if (index == table->count)
    return "help";
  return table->rows[index].help ? table->rows[index].name : NULL;
}

/* A name that begins with the typed text is more likely than a typing error. */
static const char *nearest_option(const struct option_table *table, const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; length > 0 && i <= table->count; i++) {
    const char *candidate = visible_name(table, i);
    if (candidate && strncmp(candidate, name, length) == 0)
      return candidate;
  }
  return diag_nearest(name, table->count + 1, visible_name, table);
}

static enum vinci_status unknown_option(const struct parser *parser, const char *name) {
  enum vinci_status status = diag_error(parser->diag, VINCI_E_USAGE, "unknown option '--%s'", name);
  const char *near = nearest_option(parser->table, name);
  if (near)
    diag_hint(parser->diag, "did you mean '--%s'?", near);
  else
    diag_hint(parser->diag, "'vinci %s --help' lists the options", parser->verb);
  return status;
}

/* Only digits: locale and sign have no effect. */
static bool parse_number(const char *text, uint64_t *out) {
  uint64_t value = 0;
  if (*text == '\0')
    return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9')
      return false;
    uint64_t digit = (uint64_t)(*text - '0');
    if (value > (UINT64_MAX - digit) / 10)
      return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

static enum vinci_status store_number(const struct parser *parser, const struct option_row *row,
                                      const char *value) {
  uint64_t number;
  if (!parse_number(value, &number) || number < row->minimum || number > row->maximum)
    return diag_error(parser->diag, VINCI_E_USAGE,
                      "--%s takes a whole number from %llu to %llu, not '%s'", row->name,
                      (unsigned long long)row->minimum, (unsigned long long)row->maximum, value);
  memcpy(parser->settings + row->offset, &number, sizeof number);
  return VINCI_OK;
}

static enum vinci_status add_to_list(const struct parser *parser, const struct option_row *row,
                                     const char *value) {
  void *list = parser->settings + row->offset;
  return text_list_add(list, value) ? VINCI_OK
                                    : diag_error(parser->diag, VINCI_E_NOMEM, "out of memory");
}

static enum vinci_status store(const struct parser *parser, const struct option_row *row,
                               const char *value) {
  if (*value == '\0')
    return diag_error(parser->diag, VINCI_E_USAGE, "--%s needs a value: --%s=%s", row->name,
                      row->name, row->value);
  if (row->kind == OPTION_NUMBER)
    return store_number(parser, row, value);
  if (row->kind == OPTION_LIST)
    return add_to_list(parser, row, value);
  memcpy(parser->settings + row->offset, &value, sizeof value);
  return VINCI_OK;
}

/* The value of an option: given with it, or the next word unless that is an option. */
static enum vinci_status take_value(struct parser *parser, const struct option_row *row,
                                    const char *attached) {
  if (option_is_flag(row)) {
    if (attached)
      return diag_error(parser->diag, VINCI_E_USAGE, "--%s takes no value", row->name);
    if (row->kind == OPTION_WORD)
      return add_to_list(parser, row, row->value);
    bool yes = true;
    memcpy(parser->settings + row->offset, &yes, sizeof yes);
    return VINCI_OK;
  }
  if (attached)
    return store(parser, row, attached);
  if (parser->next < parser->argc && strncmp(parser->argv[parser->next], "--", 2) != 0)
    return store(parser, row, parser->argv[parser->next++]);
  return store(parser, row, "");
}

static enum vinci_status parse_long(struct parser *parser, const char *word) {
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  if (length == 4 && memcmp(word, "help", 4) == 0) {
    *parser->help = true;
    return VINCI_OK;
  }
  const struct option_row *row = find_long(parser->table, word, length);
  if (row)
    return take_value(parser, row, equals ? equals + 1 : NULL);
  char name[64];
  if (length >= sizeof name)
    length = sizeof name - 1;
  memcpy(name, word, length);
  name[length] = '\0';
  return unknown_option(parser, name);
}

static enum vinci_status parse_letters(struct parser *parser, const char *letters) {
  for (; *letters; letters++) {
    if (*letters == 'h') {
      *parser->help = true;
      return VINCI_OK;
    }
    const struct option_row *row = find_letter(parser->table, *letters);
    if (!row) {
      enum vinci_status status =
          diag_error(parser->diag, VINCI_E_USAGE, "unknown option '-%c'", *letters);
      diag_hint(parser->diag, "'vinci %s --help' lists the options", parser->verb);
      return status;
    }
    if (!option_is_flag(row))
      return take_value(parser, row, letters[1] ? letters + 1 : NULL);
    enum vinci_status status = take_value(parser, row, NULL);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

static enum vinci_status parse_word(struct parser *parser, const char *word, bool *options_end) {
  if (!*options_end && strcmp(word, "--") == 0) {
    *options_end = true;
    return VINCI_OK;
  }
  if (!*options_end && word[0] == '-' && word[1] == '-')
    return parse_long(parser, word + 2);
  if (!*options_end && word[0] == '-' && word[1] != '\0')
    return parse_letters(parser, word + 1);
  if (!text_list_add(parser->arguments, word))
    return diag_error(parser->diag, VINCI_E_NOMEM, "out of memory");
  return VINCI_OK;
}

enum vinci_status options_parse(const char *verb, const struct option_table *table, int argc,
                                char **argv, void *settings, struct text_list *arguments,
                                bool *help, struct vinci_diag *diag) {
  struct parser parser = {verb, table, argc, argv, 1, settings, arguments, help, diag};
  bool options_end = false;
  *help = false;
  while (parser.next < argc && !*help) {
    const char *word = argv[parser.next++];
    enum vinci_status status = parse_word(&parser, word, &options_end);
    if (status != VINCI_OK)
      return status;
  }
  return VINCI_OK;
}

/* What stands behind an option, or the next word. */
static const char *value_of(const struct option_row *row, const char *attached, char **argv,
                            int *at) {
  return option_is_flag(row) ? NULL : attached ? attached : argv[++*at];
}

void options_visit(const struct option_table *table, int argc, char **argv,
                   void (*visit)(void *context, const struct option_row *row, const char *value),
                   void *context) {
  bool ended = false;
  for (int at = 1; at < argc; at++) {
    const char *word = argv[at];
    const struct option_row *row;
    bool option = !ended && word[0] == '-' && word[1] != '\0';
    if (option && strcmp(word, "--") == 0) {
      ended = true;
    } else if (option && word[1] == '-') {
      size_t length = strcspn(word + 2, "=");
      row = find_long(table, word + 2, length);
      if (row)
        visit(context, row, value_of(row, word[2 + length] ? word + 3 + length : NULL, argv, &at));
    } else if (option) {
      for (const char *letter = word + 1; *letter; letter++) {
        row = find_letter(table, *letter);
        if (row)
          visit(context, row, value_of(row, letter[1] ? letter + 1 : NULL, argv, &at));
        if (!row || !option_is_flag(row))
          break;
      }
    } else {
      visit(context, NULL, word);
    }
  }
}

/* One option with its text beside it, or below when the name is long; the text is wrapped. */
static void print_row(const struct option_row *row, FILE *out) {
  enum { TEXT_COLUMN = 28 };
  int column = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
                           : fprintf(out, "      --%s", row->name);
  if (!option_is_flag(row))
    column += fprintf(out, "=%s", row->value);
  if (column > TEXT_COLUMN - 2) {
    fputc('\n', out);
    column = 0;
  }
  fprintf(out, "%*s", TEXT_COLUMN - column, "");
  sheet_words(out, row->help, TEXT_COLUMN, TEXT_COLUMN);
  fputc('\n', out);
}

void options_print(const struct option_table *table, FILE *out) {
  static const struct option_row help_row = {
      .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"};
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].help)
      print_row(&table->rows[i], out);
  print_row(&help_row, out);
}
