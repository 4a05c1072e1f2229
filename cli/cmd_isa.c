/* SPDX-License-Identifier: Apache-2.0 */
/* vinci isa: the instruction reference, printed from the instruction table. */
#include <inttypes.h>
#include <string.h>

#include "cli/support/cli.h"
#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "core/chip/soc.h"
#include "core/isa/isa.h"

struct isa_settings {
  const char *arch;
  const char *pipe;
};

static const struct option_row isa_options[] = {
    OPTION_TEXT_ROW("arch", 'a', struct isa_settings, arch, "NAME",
                    "list only instructions of an architecture, such as dav-c220"),
    OPTION_TEXT_ROW("pipe", 'p', struct isa_settings, pipe, "NAME",
                    "list only instructions of a pipe, such as MTE1"),
};

static const char *const class_names[] = {
#define X(id, text) "vector." #id ": " text,
    VECTOR_CLASS_LIST(X)
#undef X
};

static const char *arch_at(unsigned index) { return arch_name((enum arch)index); }
static const char *dtype_at(unsigned index) { return dtype_name((enum dtype)index); }

static const char *op_at(const void *context, size_t index) {
  (void)context;
  return isa_row((enum isa_op)index)->name;
}

/* "a, b" of the members of a set. */
static void print_set(uint32_t set, unsigned count, const char *(*name)(unsigned)) {
  const char *separator = "";
  for (unsigned i = 0; i < count; i++)
    if (set >> i & 1) {
      printf("%s%s", separator, name(i));
      separator = ", ";
    }
}

/* Flags and barriers work on the pipe an operand names. */
static const char *pipe_text(const struct isa_row *row) {
  return row->pipe == PIPE_COUNT ? "any" : pipe_name(row->pipe);
}

/* ---- list ------------------------------------------------------------------------- */

static bool is_wanted(const struct isa_row *row, uint32_t archs, unsigned pipe) {
  return (row->archs & archs) != 0 && (pipe == PIPE_COUNT || row->pipe == pipe);
}

static enum vinci_status read_filter(const struct isa_settings *settings, uint32_t *archs,
                                     unsigned *pipe, struct vinci_diag *diag) {
  *archs = (1u << ARCH_COUNT) - 1;
  *pipe = PIPE_COUNT;
  if (settings->arch) {
    enum arch arch = arch_by_name(settings->arch);
    if (arch == ARCH_COUNT) {
      (void)diag_error(diag, VINCI_E_USAGE, "unknown architecture '%s'", settings->arch);
      diag_hint(diag, "there are dav-c100, dav-m200, dav-c220 and dav-c310");
      return VINCI_E_USAGE;
    }
    *archs = 1u << arch;
  }
  if (settings->pipe) {
    *pipe = pipe_by_name(settings->pipe);
    if (*pipe == PIPE_COUNT) {
      (void)diag_error(diag, VINCI_E_USAGE, "unknown pipe '%s'", settings->pipe);
      diag_hint(diag, "pipes are S, V, M, MTE1, MTE2, MTE3 and FIX");
      return VINCI_E_USAGE;
    }
  }
  return VINCI_OK;
}

enum { LIST_COLUMNS = 3 + ARCH_COUNT };

static void list_begin(struct sheet *sheet) {
  static struct sheet_column columns[LIST_COLUMNS];
  for (unsigned i = 0; i < LIST_COLUMNS; i++)
    columns[i] = (struct sheet_column){.left = true,
                                       .fit = i + 1 == LIST_COLUMNS ? SHEET_BREAK : SHEET_WHOLE};
  SHEET_BEGIN(sheet, stdout, columns, 0, NULL);
}

/* One mark per architecture, a column each. */
static void list_row(const struct isa_row *row, struct sheet *sheet) {
  sheet_text(sheet, row->name);
  sheet_text(sheet, pipe_text(row));
  for (unsigned i = 0; i < ARCH_COUNT; i++)
    sheet_text(sheet, row->archs >> i & 1 ? arch_name((enum arch)i) + sizeof "dav-" - 1 : "-");
  sheet_text(sheet, row->text);
}

static int list(const struct isa_settings *settings, const struct text_list *names) {
  struct vinci_diag diag = {0};
  uint32_t archs;
  unsigned pipe;
  if (names->count > 1) {
    (void)diag_error(&diag, VINCI_E_USAGE, "list takes no argument '%s'", names->items[1]);
    diag_hint(&diag, "'vinci isa show %s' shows one instruction", names->items[1]);
    return cli_fail(&diag);
  }
  if (read_filter(settings, &archs, &pipe, &diag) != VINCI_OK)
    return cli_fail(&diag);
  struct sheet sheet;
  for (list_begin(&sheet); sheet_pass(&sheet);)
    for (unsigned op = 0; op < OP_COUNT; op++)
      if (is_wanted(isa_row((enum isa_op)op), archs, pipe))
        list_row(isa_row((enum isa_op)op), &sheet);
  return 0;
}

/* ---- show ------------------------------------------------------------------------- */

static void print_kind(const struct isa_row *row, const struct isa_arg *arg) {
  char range[64];
  switch (arg->kind) {
  case ARG_ADDRESS:
    printf("address in %s, %s", space_name((enum space)arg->space),
           arg->reads && arg->writes ? "read and written"
           : arg->reads              ? "read"
                                     : "written");
    break;
  case ARG_INTEGER:
    isa_range_text(arg, range, sizeof range);
    printf("%s", range);
    break;
  case ARG_WORD:
    printf("%.*s", (int)strcspn(arg->words, "}"), arg->words);
    break;
  case ARG_DTYPE:
    print_set(row->dtypes, DTYPE_COUNT, dtype_at);
    break;
  default:
    printf("a pipe");
    break;
  }
}

static void print_default(const struct isa_arg *arg) {
  char word[64];
  switch (arg->kind) {
  case ARG_WORD:
    isa_word_text(arg, arg->default_value, word, sizeof word);
    break;
  case ARG_DTYPE:
    snprintf(word, sizeof word, "%s", dtype_name((enum dtype)arg->default_value));
    break;
  case ARG_PIPE:
    snprintf(word, sizeof word, "%s", pipe_name((enum pipe)arg->default_value));
    break;
  default:
    snprintf(word, sizeof word, "%" PRId64, arg->default_value);
    break;
  }
  printf(" (%s when left out)", word);
}

static void print_operand(const struct isa_row *row, const struct isa_arg *arg) {
  printf("  %-14s ", arg->name);
  print_kind(row, arg);
  if (arg->has_default)
    print_default(arg);
  if (arg->archs != (1u << ARCH_COUNT) - 1) {
    printf(", only on ");
    print_set(arg->archs, ARCH_COUNT, arch_at);
  }
  putchar('\n');
}

/* Types that the row has and an architecture of it has not. */
static void print_missing_types(enum isa_op op) {
  const struct isa_row *row = isa_row(op);
  for (unsigned arch = 0; arch < ARCH_COUNT; arch++) {
    uint32_t missing = row->dtypes & ~isa_dtypes(op, (enum arch)arch);
    if (missing == 0 || (row->archs >> arch & 1) == 0)
      continue;
    printf("%s does not take ", arch_name((enum arch)arch));
    print_set(missing, DTYPE_COUNT, dtype_at);
    putchar('\n');
  }
}

static void print_row(enum isa_op op) {
  const struct isa_row *row = isa_row(op);
  sheet_line(stdout, "%s: %s\n", row->name, row->text);
  printf("pipe: %s\narchitectures: ", pipe_text(row));
  print_set(row->archs, ARCH_COUNT, arch_at);
  sheet_line(stdout, "\nsource: %s\n", row->source);
  if (row->class16 != VECTOR_CLASS_NONE)
    sheet_line(stdout, "cost up to 16 bits: %s\ncost of wider types: %s\n",
               class_names[row->class16], class_names[row->class32]);
  printf("operands:%s\n", row->arg_count ? "" : " none");
  for (unsigned i = 0; i < row->arg_count; i++)
    print_operand(row, &row->arg[i]);
  print_missing_types(op);
}

/* Whether a function of Ascend C becomes an instruction: sources begin with "DK" and the functions'
 * names, with commas between and words about the form behind. */
static bool comes_from(const struct isa_row *row, const char *function) {
  static const char begin[] = "DK ";
  size_t length = strlen(function);
  const char *at = row->source;
  if (strncmp(at, begin, sizeof begin - 1) != 0)
    return false;
  for (at += sizeof begin - 1; *at && *at != ';'; at += strcspn(at, " ,;")) {
    at += strspn(at, " ,");
    if (strcspn(at, " ,;") == length && strncmp(at, function, length) == 0)
      return true;
  }
  return false;
}

/* The instructions of a function of Ascend C: the only one in full, else a line each. */
static bool show_function(const char *function) {
  enum isa_op only = OP_COUNT;
  struct sheet sheet;
  int count = 0;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    if (!comes_from(row, function))
      continue;
    count++;
    only = (enum isa_op)op;
  }
  if (count == 1)
    print_row(only);
  if (count <= 1)
    return count == 1;
  printf("Ascend C's %s becomes one of these:\n", function);
  for (list_begin(&sheet); sheet_pass(&sheet);)
    for (unsigned op = 0; op < OP_COUNT; op++)
      if (comes_from(isa_row((enum isa_op)op), function))
        list_row(isa_row((enum isa_op)op), &sheet);
  return true;
}

static int show(const struct text_list *names) {
  struct vinci_diag diag = {0};
  if (names->count < 2) {
    (void)diag_error(&diag, VINCI_E_USAGE, "which instruction?");
    diag_hint(&diag, "'vinci isa list' shows the names");
    return cli_fail(&diag);
  }
  for (size_t i = 1; i < names->count; i++) {
    const char *name = names->items[i];
    enum isa_op op = isa_find(name, strlen(name));
    if (i > 1)
      putchar('\n');
    if (op != OP_COUNT) {
      print_row(op);
    } else if (!show_function(name)) {
      (void)diag_error(&diag, VINCI_E_USAGE, "unknown instruction '%s'", name);
      const char *nearest = diag_nearest(name, OP_COUNT, op_at, NULL);
      if (nearest)
        diag_hint(&diag, "did you mean '%s'?", nearest);
      else
        diag_hint(&diag, "'vinci isa list' shows the names");
      return cli_fail(&diag);
    }
  }
  return 0;
}

static int dispatch(const struct cli_verb *verb, const struct isa_settings *settings,
                    const struct text_list *words) {
  if (words->count == 0) {
    cli_print_help(verb, stderr);
    return vinci_status_exit_code(VINCI_E_USAGE);
  }
  if (strcmp(words->items[0], "list") == 0)
    return list(settings, words);
  if (strcmp(words->items[0], "show") == 0)
    return show(words);
  struct vinci_diag diag = {0};
  (void)diag_error(&diag, VINCI_E_USAGE, "unknown command '%s' of isa", words->items[0]);
  diag_hint(&diag, "commands: list, show");
  return cli_fail(&diag);
}

static int isa(const struct cli_verb *verb, int argc, char **argv) {
  struct isa_settings settings = {0};
  struct text_list words = {0};
  int exit_code;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = dispatch(verb, &settings, &words);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_verb_isa = {
    .name = "isa",
    .arguments = "list|show [NAME]...",
    .summary = "Show the instructions, their operands, types and sources",
    .details = "  list          name, pipe, architectures and meaning of each instruction\n"
               "  show NAME...  instructions in full: operands with ranges and defaults, data\n"
               "                types, cost class, where the facts come from; NAME may be\n"
               "                a function of Ascend C, such as Add or DataCopy\n"
               "Examples:\n"
               "  vinci isa list\n"
               "  vinci isa show vadd DataCopy\n",
    .options = {isa_options, sizeof isa_options / sizeof *isa_options},
    .run = isa,
    .words = "list show",
};
