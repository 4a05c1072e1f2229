/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: template.html with its styles, scripts and the plotting library, which the build puts
 * into page.inc, and the data of result folders in place of a mark. The data lies in an element of
 * type application/json, where only "<" could end the element: "<" is written as \u003c, inside
 * texts, and stands nowhere else in JSON.
 */
#include <string.h>

#include "core/base/diag.h"
#include "traces/report/report.h"

/* Where npm or a release gives uPlot. The build says so, and not __has_include: what that has
 * answered once a compiler's cache keeps. */
static const unsigned char page[] = {
#ifdef VINCI_WITH_PAGE
#include "traces/report/page.inc"
#endif
    0};
static const char mark[] = "@DATA@";

bool report_page_available(void) { return sizeof page > 1; }

enum vinci_status report_page_check(struct vinci_diag *diag) {
  if (report_page_available())
    return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE,
                 "this vinci was built without the page of reports: uPlot was missing, a "
                 "plotting library from npm");
  diag_hint(diag, "install npm and build again, or build from a release, which contains uPlot");
  return status;
}

/* ---- data ----------------------------------------------------------------------- */

static void write_json(const char *bytes, size_t length, FILE *out) {
  const char *end = bytes + length;
  while (bytes < end) {
    const char *open = memchr(bytes, '<', (size_t)(end - bytes));
    fwrite(bytes, 1, (size_t)((open ? open : end) - bytes), out);
    if (open)
      fputs("\\u003c", out);
    bytes = open ? open + 1 : end;
  }
}

/* A text as JSON, with "<" escaped too. Bytes that are not UTF-8 stay: a browser shows U+FFFD. */
static void write_text(const char *text, size_t length, FILE *out) {
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < ' ' || c == '"' || c == '\\' || c == '<')
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

/* The last name of a path: where a folder lies is not part of a page. */
static void write_name(const char *path, FILE *out) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  size_t first = length;
  while (first > 0 && path[first - 1] != '/')
    first--;
  write_text(path + first, length - first, out);
}

static void write_folder(const struct report_folder *folder, FILE *out) {
  fputs("{\"name\":", out);
  write_name(folder->path, out);
  for (size_t i = 0; i < folder->count; i++) {
    const struct report_part *part = &folder->part[i];
    fprintf(out, ",\n\"%s\":", part->key);
    if (part->json)
      write_json(part->view.bytes, part->view.length, out);
    else
      write_text(part->view.bytes, part->view.length, out);
  }
  fputc('}', out);
}

void report_page_write(const struct report_folder *first, const struct report_folder *second,
                       FILE *out) {
  const unsigned char *end = page + sizeof page - 1;
  const unsigned char *data = memmem(page, sizeof page - 1, mark, sizeof mark - 1);
  if (!data)
    vinci_bug("the page of reports has no place for data");
  fwrite(page, 1, (size_t)(data - page), out);
  fprintf(out, "{\"kind\":\"%s\",\"folders\":[", report_kind_name(first->kind));
  write_folder(first, out);
  if (second) {
    fputs(",\n", out);
    write_folder(second, out);
  }
  fputs("]}", out);
  data += sizeof mark - 1;
  fwrite(data, 1, (size_t)(end - data), out);
}
