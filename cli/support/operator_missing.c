/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds of a profile are not modelled, by time: vinci compile --list --missing. */
#include <string.h>

#include "cli/support/operator.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/vinci_evaluate.h"

enum { CELL_WIDTH = 60 };

struct shares {
  FILE *out;
  size_t rows, missing_rows, elsewhere_rows, kinds, missing_kinds;
  uint64_t ps, missing_ps, elsewhere_ps;
  bool by_name;
};

static struct decimal microseconds(uint64_t ps) { return decimal_ratio(ps, 1000000, 3); }

/* The start of a cell that may be a long list, without the quotes that profilers write around
 * lists. Scalars have no extents, so that a list of them is separators alone. */
static void print_cell(const char *text, FILE *out) {
  size_t length = strlen(text);
  if (length > 1 && text[0] == '"' && text[length - 1] == '"') {
    text++;
    length -= 2;
  }
  if (length > 0 && strspn(text, ";") >= length) {
    fputs("scalars", out);
    return;
  }
  fprintf(out, "%.*s%s", (int)(length < CELL_WIDTH ? length : CELL_WIDTH), text,
          length > CELL_WIDTH ? "..." : "");
}

static void print_reason(const struct vinci_ops_kind *kind, FILE *out) {
  fprintf(out, "  %s\n", kind->reason);
  if (*kind->nearest)
    fprintf(out, "  the nearest name is %s, of %s\n", kind->nearest, kind->nearest_op);
  if (strcmp(kind->in_shapes, "N/A") == 0 || *kind->in_shapes == '\0')
    return;
  fputs(kind->known ? "  the first such row: " : "  needed: an operator of ", out);
  print_cell(kind->in_shapes, out);
  fputs(" (", out);
  print_cell(kind->in_types, out);
  fputs(")", out);
  if (strcmp(kind->out_shapes, "N/A") != 0 && *kind->out_shapes) {
    fputs(" to ", out);
    print_cell(kind->out_shapes, out);
  }
  fputs("\n", out);
}

static bool print_kind(void *context, const struct vinci_ops_kind *kind) {
  struct shares *shares = context;
  shares->by_name = kind->by_name;
  if (kind->elsewhere) {
    shares->elsewhere_rows += kind->rows;
    shares->elsewhere_ps += kind->measured_ps;
    return true;
  }
  shares->rows += kind->rows;
  shares->missing_rows += kind->missing_rows;
  shares->ps += kind->measured_ps;
  shares->missing_ps += kind->missing_ps;
  shares->kinds++;
  if (kind->missing_rows == 0)
    return true;
  if (shares->missing_kinds++ == 0)
    fprintf(shares->out, "%-32s %8s %8s %16s\n", "type", "rows", "missing", "missing us");
  fprintf(shares->out, "%-32s %8zu %8zu %16s\n", kind->type, kind->rows, kind->missing_rows,
          microseconds(kind->missing_ps).text);
  print_reason(kind, shares->out);
  return true;
}

enum vinci_status operator_print_missing(const vinci_soc *soc, const char *list, FILE *out,
                                         struct vinci_diag *diag) {
  struct shares shares = {.out = out};
  enum vinci_status status = vinci_ops_kinds(soc, list, print_kind, &shares, diag);
  if (status != VINCI_OK)
    return status;
  size_t rows = shares.rows - shares.missing_rows;
  fprintf(out, "%s%s on %s: %zu of %zu kinds, %zu of %zu rows (%s %%)",
          shares.missing_kinds > 0 ? "\n" : "", shares.by_name ? "Known" : "Modelled",
          vinci_soc_name(soc), shares.kinds - shares.missing_kinds, shares.kinds, rows, shares.rows,
          decimal_ratio((uint64_t)rows * 100, shares.rows, 2).text);
  if (shares.ps > 0)
    fprintf(out, ", %s of %s us (%s %%)", microseconds(shares.ps - shares.missing_ps).text,
            microseconds(shares.ps).text,
            decimal_ratio((uint128)(shares.ps - shares.missing_ps) * 100, shares.ps, 2).text);
  fputs("\n", out);
  if (shares.by_name)
    fputs(
        "By name alone: the table has no shapes, so rows that shapes or types refuse are counted\n",
        out);
  if (shares.elsewhere_rows > 0)
    fprintf(out, "Not on AI Cores and not counted: %zu rows, %s us\n", shares.elsewhere_rows,
            microseconds(shares.elsewhere_ps).text);
  if (shares.missing_kinds > 0)
    fputs("CONTRIBUTING.md, \"Add an operator\", says how a kind is added.\n", out);
  return VINCI_OK;
}
