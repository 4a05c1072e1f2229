/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of operators as a page, made from the tables of the library: lower/OPERATORS.md.
 */
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

/* One line of the table at the head of the page. */
static void put_line(size_t index, FILE *out) {
  struct vinci_op op;
  struct vinci_op_comparison compared = {.formats = ""};
  (void)vinci_op_info(index, &op);
  (void)vinci_op_comparison(index, &compared);
  fprintf(out, "| [%s](#%s) | ", op.name, op.name);
  put_text(op.text, out);
  fputs(" | ", out);
  put_types(index, out);
  fprintf(out, " | %s | %u | %.2f |\n", compared.formats, compared.silicon_rows,
          compared.bound_percent / 100.0);
}

static void put_key(const struct vinci_op_key *key, FILE *out) {
  fprintf(out, "| `%s` | ", key->name);
  if (*key->choices)
    put_words(key->choices, " ", out);
  else
    fputs(key->kind, out);
  fputs(" | ", out);
  if (key->tiling)
    fputs("chosen", out);
  else if (!key->fallback)
    fputs("required", out);
  else if (*key->fallback)
    fprintf(out, "`%s`", key->fallback);
  fputs(" | ", out);
  put_text(key->text, out);
  fputs(" |\n", out);
}

static void put_section(size_t index, FILE *out) {
  struct vinci_op op;
  struct vinci_op_key key;
  struct vinci_op_comparison compared;
  (void)vinci_op_info(index, &op);
  fprintf(out, "\n## %s\n\n%s\n\n", op.name, op.text);
  if (*op.vendor_types) {
    fputs("Stands for ", out);
    put_words(op.vendor_types, ", ", out);
    fputs(".\n\n", out);
  }
  fputs("| key | values | default | |\n|---|---|---|---|\n", out);
  for (size_t i = 0; vinci_op_key(index, i, &key); i++)
    if (!key.tiling)
      put_key(&key, out);
  for (size_t i = 0; vinci_op_key(index, i, &key); i++)
    if (key.tiling)
      put_key(&key, out);
  if (!vinci_op_comparison(index, &compared))
    return;
  fputs("\nCompared with ", out);
  if (compared.silicon_rows > 0)
    fprintf(out, "%u row%s of profiles, and with ", compared.silicon_rows,
            compared.silicon_rows > 1 ? "s" : "");
  fprintf(out, "its bound (%s): `%s` takes at most %.2f times as long.\n", compared.bound,
          compared.example, compared.bound_percent / 100.0);
}

void operator_print_markdown(FILE *out) {
  fputs("# Operators\n\n"
        "Made by `vinci compile --list --markdown`; a test compares. Keys whose default is\n"
        "\"chosen\" are the tiling: the cheapest by an estimate of the cost unless given.\n"
        "Formats are those of device memory. Silicon rows are the profiles of real kernels in\n"
        "`tests/reference/silicon_calibration.csv` that become the operator, which\n"
        "`make accuracy` prints with their errors. The last column is how far the simulated\n"
        "time of a large case may be from its bound on an Ascend910B1, the time that bandwidths\n"
        "and arithmetic alone would take; `tests/lower/test_bounds.c` checks that. Values of\n"
        "every operator are compared with numpy (`tests/values/`).\n\n"
        "| operator | computes | types | formats | silicon rows | times the bound |\n"
        "|---|---|---|---|---|---|\n",
        out);
  for (size_t i = 0; i < vinci_op_count(); i++)
    put_line(i, out);
  for (size_t i = 0; i < vinci_op_count(); i++)
    put_section(i, out);
}
