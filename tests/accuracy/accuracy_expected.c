/* SPDX-License-Identifier: Apache-2.0 */
/* The table of expected errors that reports tell (traces/export/report/expected.def), from the
 * rows. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/accuracy_account.h"

enum { WORDS_BYTES = 256, LINE_BYTES = 1024 };

static const char *const ids[EXPECTED_CLASS_COUNT] = {
#define X(id, name, ops) #id,
    EXPECTED_CLASS_LIST(X)
#undef X
};

/* Adds a word to "a|b" unless it is there. */
static void add_word(char words[static WORDS_BYTES], const char *word) {
  char inside[WORDS_BYTES + 2], wanted[WORDS_BYTES + 2];
  snprintf(inside, sizeof inside, "|%.*s|", WORDS_BYTES - 1, words);
  snprintf(wanted, sizeof wanted, "|%.*s|", WORDS_BYTES - 1, word);
  if (strstr(inside, wanted))
    return;
  size_t used = strlen(words);
  snprintf(words + used, WORDS_BYTES - used, "%s%s", used ? "|" : "", word);
}

static const char *dtype_of(const struct accuracy_row *row) {
  struct lower_call call = {0};
  if (!calls_parse(row->source, &call))
    return "";
  const struct lower_tensor *first = call.input_count > 0 ? &call.input[0] : &call.output[0];
  return first->dtype < DTYPE_COUNT ? dtype_name(first->dtype) : "";
}

static void write_class(const struct accuracy_rows *rows, enum expected_class class,
                        char line[static LINE_BYTES]) {
  static struct accuracy_errors errors;
  char socs[WORDS_BYTES] = "", dtypes[WORDS_BYTES] = "";
  double least = HUGE_VAL, most = 0;
  errors.count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const struct accuracy_row *row = &rows->row[i];
    double error = accuracy_row_error(row, MEASURE_DURATION);
    if (row->class != class || isnan(error))
      continue;
    accuracy_errors_add(&errors, error);
    add_word(socs, row->result->cell[CALL_SOC]);
    add_word(dtypes, dtype_of(row));
    least = fmin(least, row->measured.duration);
    most = fmax(most, row->measured.duration);
  }
  snprintf(line, LINE_BYTES, "EXPECTED(%s, %zu, %.0f, %.0f,\n  \"%s\", \"%s\", %.0f, %.0f)\n",
           ids[class], errors.count, 1000 * accuracy_quantile(&errors, 0.5),
           1000 * accuracy_quantile(&errors, 0.9), socs, dtypes, errors.count ? least * 1000 : 0,
           most * 1000);
}

static void write_known(enum expected_class class, char line[static LINE_BYTES]) {
  const struct expected_range *range = expected_range(class);
  snprintf(line, LINE_BYTES,
           "EXPECTED(%s, %u, %u, %u,\n  \"%s\", \"%s\", %" PRIu64 ", %" PRIu64 ")\n", ids[class],
           range->rows, range->median_permille, range->p90_permille, range->socs ? range->socs : "",
           range->dtypes ? range->dtypes : "", range->least_ns, range->most_ns);
}

void accuracy_expected_print(const struct accuracy_rows *rows) {
  char line[LINE_BYTES];
  for (unsigned class = 0; class < EXPECTED_CLASS_COUNT; class ++) {
    write_class(rows, (enum expected_class) class, line);
    fputs(line, stdout);
  }
}

bool accuracy_expected_holds(const struct accuracy_rows *rows) {
  bool same = true;
  char found[LINE_BYTES], known[LINE_BYTES];
  for (unsigned class = 0; class < EXPECTED_CLASS_COUNT; class ++) {
    write_class(rows, (enum expected_class) class, found);
    write_known((enum expected_class) class, known);
    same &= strcmp(found, known) == 0;
  }
  printf("expected errors in traces/export/report/expected.def are those of these rows: %s\n",
         same ? "yes" : "NO: make expected-errors writes the table anew");
  return same;
}
