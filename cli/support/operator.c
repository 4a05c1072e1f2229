/* SPDX-License-Identifier: Apache-2.0 */
/* Help on operators, made from the tables of the library. */
#include "cli/support/operator.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/sheet.h"

enum { KEY_COLUMN = 24 };

/* Index of a name, or the count of operators. */
static size_t find(const char *name) {
  struct vinci_op op;
  size_t index = 0;
  while (vinci_op_info(index, &op) && strcmp(op.name, name) != 0)
    index++;
  return index;
}

/* The operator of a vendor's name, NULL when there is none. */
static const char *find_vendor(const char *type) {
  struct vinci_op op;
  size_t length = strlen(type);
  for (size_t index = 0; length > 0 && vinci_op_info(index, &op); index++)
    for (const char *at = op.vendor_types; *at; at += strcspn(at, "|"), at += *at == '|')
      if (strcspn(at, "|") == length && strncasecmp(at, type, length) == 0)
        return op.name;
  return NULL;
}

bool operator_is_vendor_type(const char *type) { return find_vendor(type) != NULL; }

bool operator_exists(const char *name) { return find(name) < vinci_op_count(); }

static const char *name_at(const void *context, size_t index) {
  struct vinci_op op;
  (void)context;
  return vinci_op_info(index, &op) ? op.name : NULL;
}

bool operator_is_named(const struct text_list *words) {
  return words->count > 0 && !strpbrk(words->items[0], "./") && operator_exists(words->items[0]);
}

bool operator_is_misspelt(const struct text_list *words) {
  if (words->count == 0 || strpbrk(words->items[0], "./=") || operator_exists(words->items[0]))
    return false;
  if (operator_is_vendor_type(words->items[0]) && access(words->items[0], F_OK) != 0)
    return true;
  return words->count > 1 && strchr(words->items[1], '=') && !strpbrk(words->items[1], "./");
}

static void print_key(const struct vinci_op_key *key, FILE *out) {
  int column = fprintf(out, "  %s=%s", key->name, *key->choices ? key->choices : key->kind);
  if (column >= KEY_COLUMN) {
    fputc('\n', out);
    column = 0;
  }
  fprintf(out, "%*s%s", KEY_COLUMN - column, "", key->text);
  if (!key->fallback && !key->tiling)
    fputs(" (required)", out);
  else if (key->fallback && *key->fallback)
    fprintf(out, " (default %s)", key->fallback);
  fputc('\n', out);
}

static void print_comparison(size_t index, FILE *out) {
  struct vinci_op_comparison compared;
  if (!vinci_op_comparison(index, &compared))
    return;
  fprintf(out, "  Compared with its bound (%s): at most %.2f times as long for %s\n",
          compared.bound, compared.bound_percent / 100.0, compared.example);
}

static void print_op(size_t index, FILE *screen) {
  struct sheet_lines lines;
  FILE *out = sheet_lines_begin(&lines, screen);
  struct vinci_op op;
  struct vinci_op_key key;
  (void)vinci_op_info(index, &op);
  fprintf(out, "%s: %s\n", op.name, op.text);
  if (*op.vendor_types)
    fprintf(out, "  stands for %s\n", op.vendor_types);
  for (size_t i = 0; vinci_op_key(index, i, &key); i++)
    if (!key.tiling)
      print_key(&key, out);
  bool tiling = false;
  for (size_t i = 0; vinci_op_key(index, i, &key); i++) {
    if (!key.tiling)
      continue;
    fputs(tiling ? "" : "  Tiling, chosen by cost unless given:\n", out);
    tiling = true;
    print_key(&key, out);
  }
  print_comparison(index, out);
  sheet_lines_end(&lines);
}

enum vinci_status operator_unknown(const char *name, struct vinci_diag *diag) {
  (void)diag_error(diag, VINCI_E_USAGE, "unknown operator '%s'", name);
  const char *near = diag_nearest(name, vinci_op_count(), name_at, NULL);
  const char *vendor = find_vendor(name);
  if (vendor)
    diag_hint(diag, "%s is what profiles call the operator '%s'", name, vendor);
  else if (near)
    diag_hint(diag, "did you mean '%s'?", near);
  else
    diag_hint(diag, "'vinci compile --list' shows them all");
  return VINCI_E_USAGE;
}

bool operator_print(const char *name, FILE *out, struct vinci_diag *diag) {
  size_t index = find(name);
  if (index < vinci_op_count()) {
    print_op(index, out);
    return true;
  }
  (void)operator_unknown(name, diag);
  return false;
}

void operator_print_all(FILE *out) {
  for (size_t i = 0; i < vinci_op_count(); i++) {
    fputs(i ? "\n" : "", out);
    print_op(i, out);
  }
}
