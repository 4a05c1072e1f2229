/* SPDX-License-Identifier: Apache-2.0 */
/* The index of operators as a page, made from the tables of the library: lower/OPERATORS.md. */
#include <string.h>

#include "cli/support/operator.h"

/* "a|b|c" in code marks, with a separator. */
static void put_words(const char *words, const char *separator, FILE *out) {
  for (size_t length; *words; words += length) {
    length = strcspn(words, "|");
    fprintf(out, "`%.*s`", (int)length, words);
    if (words[length] == '|') {
      fputs(separator, out);
      length++;
    }
  }
}

/* Text of a cell of a table. */
static void put_text(const char *text, FILE *out) {
  for (; *text; text++)
    fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void put_types(size_t index, FILE *out) {
  struct vinci_op_key key;
  for (size_t i = 0; vinci_op_key(index, i, &key); i++)
    if (strcmp(key.name, "dtype") == 0) {
      put_words(key.choices, " ", out);
      return;
    }
  fputs("`fp32`", out);
}

static void put_line(size_t index, FILE *out) {
  struct vinci_op op;
  struct vinci_op_comparison compared = {.formats = ""};
  (void)vinci_op_info(index, &op);
  (void)vinci_op_comparison(index, &compared);
  fprintf(out, "| `%s` | ", op.name);
  put_text(op.text, out);
  fputs(" | ", out);
  put_types(index, out);
  fprintf(out, " | %s | %u | %.2f |\n", compared.formats, compared.silicon_rows,
          compared.bound_percent / 100.0);
}

void operator_print_markdown(FILE *out) {
  fputs("# Operators\n\n"
        "An index. `vinci compile OP --help` has the keys of an operator, their values and "
        "defaults,\n"
        "the vendor's names, and the large case of the last column; `vinci compile --list` has "
        "that of\n"
        "all operators. Formats are those of device memory. Silicon rows are the profiles of real\n"
        "kernels in `tests/reference/silicon_calibration.csv` that become the operator, which\n"
        "`make accuracy` prints with their errors. The last column is how far the simulated\n"
        "time of a large case may be from its bound on an Ascend910B1, the time that bandwidths\n"
        "and arithmetic alone would take; `tests/lower/test_bounds.c` checks that. Values of\n"
        "every operator are compared with numpy (`tests/values/`).\n\n"
        "Made by `vinci compile --list --markdown`; a test compares.\n\n"
        "| operator | computes | types | formats | silicon rows | times the bound |\n"
        "|---|---|---|---|---|---|\n",
        out);
  for (size_t i = 0; i < vinci_op_count(); i++)
    put_line(i, out);
}
