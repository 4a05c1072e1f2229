/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A corpus of small kernels in tests/check: each file holds a correct one, and lines that say what
 * an edit of the kernel makes the checks find. Every case is walked in many orders of blocks and
 * cores, and exactly the stated errors have to be there in each.
 *
 *   #: LABEL                          names the row that follows
 *   #? CASE | edits | findings        edits are separated by ";", findings by ","
 *
 * Edits: "drop LABEL", "set LABEL key=value", "row LABEL text", "swap LABEL LABEL", and
 * "before LABEL text", which puts in a row; new rows are named as their first field.
 * Findings: "clean", or the key of check.json, the labels of the earlier instruction, if any, and
 * the later one, and the memory, if any. Correct kernels also compute the same in several orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/check/check.h"
#include "tests/support/fixture.h"
#include "tests/support/orders.h"
#include "tests/support/runs.h"

enum {
  LINES_MAX = 160,
  TEXT_MAX = 1 << 14,
  NEW_ROWS = 16,
  WORD_MAX = 256,
  WALKS = 10,
  ORDERS = 6,
  FOUND_MAX = 32,
};

static const char *const kernels[] = {
#define KERNEL(name) #name,
#include "tests/check/kernels.def"
#undef KERNEL
};

/* ---- kernels as lines ---------------------------------------------------------------- */

struct line {
  const char *text;
  char label[WORD_MAX];
};

struct kernel {
  const char *name;
  struct line line[LINES_MAX];
  unsigned count;
  char made[NEW_ROWS][WORD_MAX]; /* texts of edited rows */
  unsigned made_count;
};

static char text_of_file[TEXT_MAX];

static void read_kernel(const char *name, struct kernel *kernel) {
  char path[512];
  const char *folder = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/tests/check/%s.csv", folder ? folder : ".", name);
  FILE *in = fopen(path, "r");
  if (!in)
    fail_msg("cannot read %s", path);
  size_t length = fread(text_of_file, 1, sizeof text_of_file - 1, in);
  fclose(in);
  text_of_file[length] = '\0';
  *kernel = (struct kernel){.name = name};
  char label[WORD_MAX] = "";
  for (char *line = strtok(text_of_file, "\n"); line; line = strtok(NULL, "\n")) {
    assert_true(kernel->count < LINES_MAX);
    struct line *to = &kernel->line[kernel->count++];
    to->text = line;
    line += strspn(line, " ");
    if (strncmp(line, "#:", 2) == 0) {
      snprintf(label, sizeof label, "%s", line + 2 + strspn(line + 2, " "));
    } else if (line[0] != '#') {
      memcpy(to->label, label, sizeof label);
      label[0] = '\0';
    }
  }
}

/* ---- edits -------------------------------------------------------------------------------- */

static unsigned find_label(const struct kernel *kernel, const char *label) {
  for (unsigned i = 0; i < kernel->count; i++)
    if (strcmp(kernel->line[i].label, label) == 0)
      return i;
  fail_msg("%s: no row is called \"%s\"", kernel->name, label);
  return 0;
}

/* Takes a word off the front of a text. */
static void take_word(const char **text, char *word) {
  *text += strspn(*text, " ");
  size_t length = strcspn(*text, " ");
  assert_true(length < WORD_MAX);
  memcpy(word, *text, length);
  word[length] = '\0';
  *text += length;
  *text += strspn(*text, " ");
}

static char *new_row(struct kernel *kernel, const char *text) {
  assert_true(kernel->made_count < NEW_ROWS && strlen(text) < WORD_MAX);
  return strcpy(kernel->made[kernel->made_count++], text);
}

/* A row with the value of one of its fields replaced, or with one field more. */
static void set_field(struct kernel *kernel, struct line *line, const char *field) {
  char text[WORD_MAX + 64], key[WORD_MAX];
  snprintf(key, sizeof key, ",%.*s=", (int)strcspn(field, "="), field);
  const char *old = strstr(line->text, key);
  const char *end = line->text + strlen(line->text);
  const char *rest = old ? old + 1 + strcspn(old + 1, ",") : end;
  snprintf(text, sizeof text, "%.*s,%s%s", (int)((old ? old : end) - line->text), line->text, field,
           rest);
  line->text = new_row(kernel, text);
}

static void insert(struct kernel *kernel, unsigned at, const char *text) {
  assert_true(kernel->count < LINES_MAX);
  memmove(&kernel->line[at + 1], &kernel->line[at], (kernel->count - at) * sizeof kernel->line[0]);
  kernel->count++;
  struct line *line = &kernel->line[at];
  line->text = new_row(kernel, text);
  snprintf(line->label, sizeof line->label, "%.*s", (int)strcspn(text, ","), text);
}

static void edit(struct kernel *kernel, const char *text) {
  char verb[WORD_MAX], label[WORD_MAX], other[WORD_MAX];
  take_word(&text, verb);
  take_word(&text, label);
  unsigned at = find_label(kernel, label);
  struct line *line = &kernel->line[at];
  if (strcmp(verb, "drop") == 0) {
    line->text = "";
  } else if (strcmp(verb, "set") == 0) {
    set_field(kernel, line, text);
  } else if (strcmp(verb, "row") == 0) {
    line->text = new_row(kernel, text);
  } else if (strcmp(verb, "before") == 0) {
    insert(kernel, at, text);
  } else if (strcmp(verb, "swap") == 0) {
    take_word(&text, other);
    struct line *to = &kernel->line[find_label(kernel, other)], kept = *to;
    *to = *line;
    *line = kept;
  } else {
    fail_msg("%s: no edit \"%s\"", kernel->name, verb);
  }
}

/* Calls `each` with the parts of a text, blanks around them left out. */
static void each_part(char *text, const char *separator, void (*each)(void *, const char *),
                      void *context) {
  for (char *part = text; part;) {
    char *next = strstr(part, separator);
    if (next)
      *next++ = '\0';
    part += strspn(part, " ");
    size_t length = strlen(part);
    while (length > 0 && part[length - 1] == ' ')
      part[--length] = '\0';
    if (part[0] != '\0')
      each(context, part);
    part = next;
  }
}

static void edit_part(void *context, const char *part) { edit(context, part); }

static void compose(const struct kernel *kernel, char *text) {
  for (unsigned i = 0; i < kernel->count; i++)
    text += sprintf(text, "%s\n", kernel->line[i].text);
}

/* ---- findings ----------------------------------------------------------------------------- */

struct found {
  char text[FOUND_MAX][WORD_MAX];
  unsigned count;
};

static int compare_texts(const void *a, const void *b) { return strcmp(a, b); }

static void sort(struct found *found) {
  qsort(found->text, found->count, sizeof found->text[0], compare_texts);
}

static void note(void *context, const char *text) {
  struct found *found = context;
  assert_true(found->count < FOUND_MAX);
  snprintf(found->text[found->count++], WORD_MAX, "%s", text);
}

static const char *name_of_line(const struct kernel *kernel, uint32_t line) {
  static char number[2][32];
  static unsigned turn;
  assert_true(line >= 1 && line <= kernel->count);
  if (kernel->line[line - 1].label[0] != '\0')
    return kernel->line[line - 1].label;
  turn = !turn;
  snprintf(number[turn], sizeof number[turn], "line%u", line);
  return number[turn];
}

static void note_finding(const struct kernel *kernel, const struct check_finding *finding,
                         struct found *found) {
  char text[WORD_MAX];
  int used = snprintf(text, sizeof text, "%s", finding_key((enum finding_kind)finding->kind));
  for (unsigned i = 0; i < FINDING_EVENTS; i++)
    if (finding->event[i].given)
      used += snprintf(text + used, sizeof text - (size_t)used, " %s",
                       name_of_line(kernel, finding->event[i].line));
  if (finding->has_range)
    snprintf(text + used, sizeof text - (size_t)used, " %s",
             space_name((enum space)finding->space));
  note(found, text);
}

static void walk(const struct kernel *kernel, const vinci_trace *trace, uint64_t seed,
                 struct found *found) {
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options, .walk_order_seed = seed};
  vinci_findings *findings;
  enum vinci_status status = vinci_check(fixture_shared, trace, &options, &findings, &diag);
  if (status != VINCI_OK && status != VINCI_E_CHECK)
    fail_msg("%s: %s: %s", kernel->name, vinci_status_text(status), diag.text);
  found->count = 0;
  for (size_t i = 0; i < findings->count; i++)
    if (finding_level(&findings->items[i]) == LEVEL_ERROR)
      note_finding(kernel, &findings->items[i], found);
  sort(found);
  vinci_findings_free(findings);
}

/* ---- cases ------------------------------------------------------------------------------------
 */

struct tally {
  unsigned correct, buggy, missed, false_alarms, wrong;
};

static bool same(const struct found *a, const struct found *b) {
  bool equal = a->count == b->count;
  for (unsigned i = 0; equal && i < a->count; i++)
    equal = strcmp(a->text[i], b->text[i]) == 0;
  return equal;
}

static void report(const struct kernel *kernel, const char *name, uint64_t seed,
                   const struct found *expected, const struct found *found) {
  print_message("%s, %s(walk %u):\n", kernel->name, name, (unsigned)seed);
  for (unsigned i = 0; i < expected->count; i++)
    print_message("  expected %s\n", expected->text[i]);
  for (unsigned i = 0; i < found->count; i++)
    print_message("  found    %s\n", found->text[i]);
}

static void expect_one_result(const struct kernel *kernel, const vinci_trace *trace,
                              const char *name) {
  uint64_t bytes;
  uint8_t *expected = orders_run(trace, 0, &bytes);
  if (!expected || orders_first_change(trace, ORDERS, expected, bytes) != ORDERS)
    fail_msg("%s, %s: the results depend on the order", kernel->name, name);
  free(expected);
}

static void judge(const struct kernel *kernel, const char *name, struct found *expected,
                  struct tally *tally) {
  static char text[2 * TEXT_MAX];
  static struct found found;
  sort(expected);
  compose(kernel, text);
  vinci_trace *trace = runs_parse(text, fixture_shared);
  bool clean = expected->count == 0, wrong = false;
  for (uint64_t seed = 0; seed < WALKS && !wrong; seed++) {
    walk(kernel, trace, seed, &found);
    wrong = !same(expected, &found);
    if (wrong) {
      report(kernel, name, seed, expected, &found);
      tally->missed += found.count == 0;
      tally->false_alarms += clean;
    }
  }
  if (clean)
    expect_one_result(kernel, trace, name);
  tally->correct += clean;
  tally->buggy += !clean;
  tally->wrong += wrong;
  vinci_trace_free(trace);
}

static void run_case(const struct kernel *base, const char *line, struct tally *tally) {
  static struct kernel kernel;
  static struct found expected;
  char text[1024];
  assert_true(strlen(line) < sizeof text);
  strcpy(text, line);
  char *edits = strchr(text, '|'), *findings = edits ? strchr(edits + 1, '|') : NULL;
  if (!findings)
    fail_msg("%s: a case is \"name | edits | findings\": %s", base->name, line);
  *edits++ = *findings++ = '\0';
  kernel = *base;
  each_part(edits, ";", edit_part, &kernel);
  expected.count = 0;
  each_part(findings, ",", note, &expected);
  if (expected.count == 1 && strcmp(expected.text[0], "clean") == 0)
    expected.count = 0;
  judge(&kernel, text, &expected, tally);
}

/* Kernels of dav-c310 run on a 950, all others on the chip that tests share. */
static vinci_soc *chip_of(const struct kernel *kernel, vinci_soc *shared, vinci_soc *a950) {
  for (unsigned i = 0; i < kernel->count; i++)
    if (strstr(kernel->line[i].text, "arch=dav-c310"))
      return a950;
  return shared;
}

static void test_corpus(void **state) {
  (void)state;
  static struct kernel kernel;
  struct tally tally = {0};
  struct vinci_diag diag = {0};
  vinci_soc *shared = fixture_shared, *a950;
  assert_int_equal(vinci_soc_load("Ascend950PR_9589", NULL, &a950, &diag), VINCI_OK);
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
    read_kernel(kernels[k], &kernel);
    fixture_shared = chip_of(&kernel, shared, a950);
    struct found nothing = {.count = 0};
    judge(&kernel, "as it is", &nothing, &tally);
    for (unsigned i = 0; i < kernel.count; i++)
      if (strncmp(kernel.line[i].text, "#? ", 3) == 0)
        run_case(&kernel, kernel.line[i].text + 3, &tally);
  }
  print_message(
      "%u correct kernels, %u false alarms; %u buggy ones, %u missed; each in %d orders of "
      "blocks and cores; %u not as stated\n",
      tally.correct, tally.false_alarms, tally.buggy, tally.missed, WALKS, tally.wrong);
  fixture_shared = shared;
  vinci_soc_free(a950);
  assert_int_equal(tally.wrong, 0);
  assert_true(tally.correct >= 28 && tally.buggy >= 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
