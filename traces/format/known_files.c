/* SPDX-License-Identifier: Apache-2.0 */
/* Tells files of other tools by what they begin with. */
#include "traces/format/known_files.h"

#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"

enum { HEAD_BYTES = 1 << 14, NAME_MAX_BYTES = 64 };

struct table_row {
  const char *columns;
  struct known_file file;
};
struct begin_row {
  const char *bytes;
  size_t length;
  struct known_file file;
};

/* The rows of one kind; the others are nothing. */
#define NO_ROW(text, what, instead)
#define COLUMNS_ROW(text, what, instead) {text, {what, instead}},
#define BEGIN_ROW(text, what, instead) {text, sizeof(text) - 1, {what, instead}},

static const struct table_row tables[] = {
#define TABLE COLUMNS_ROW
#define BEGINS NO_ROW
#define JSON NO_ROW
#include "traces/format/known_files.def"
};

static const struct begin_row begins[] = {
#define TABLE NO_ROW
#define BEGINS BEGIN_ROW
#define JSON NO_ROW
#include "traces/format/known_files.def"
};

static const struct table_row objects[] = {
#define TABLE NO_ROW
#define BEGINS NO_ROW
#define JSON COLUMNS_ROW
#include "traces/format/known_files.def"
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Lower case, without blanks, underscores and quotes. */
static void plain(const char *text, size_t length, char name[static NAME_MAX_BYTES]) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < NAME_MAX_BYTES; i++)
    if (!strchr(" _\t\"\r", text[i]))
      name[used++] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
  name[used] = '\0';
}

static bool has_column(const char *header, const char *name) {
  char field[NAME_MAX_BYTES];
  for (const char *at = header; *at && *at != '\n';) {
    size_t length = strcspn(at, ",\n");
    plain(at, length, field);
    if (strcmp(field, name) == 0)
      return true;
    at += length + (at[length] == ',');
  }
  return false;
}

/* As JSON has it: "key". */
static bool has_key(const char *text, const char *name) {
  for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
    if (at > text && at[-1] == '"' && at[strlen(name)] == '"')
      return true;
  return false;
}

/* Whether a text has all names of a list "A|B". */
static bool has_all(const char *text, const char *names, bool json) {
  char name[NAME_MAX_BYTES];
  for (const char *at = names; *at;) {
    size_t length = strcspn(at, "|");
    if (json)
      snprintf(name, sizeof name, "%.*s", (int)length, at);
    else
      plain(at, length, name);
    if (!(json ? has_key(text, name) : has_column(text, name)))
      return false;
    at += length + (at[length] == '|');
  }
  return true;
}

static const struct known_file *find_row(const struct table_row *rows, size_t count,
                                         const char *text, bool json) {
  for (size_t i = 0; i < count; i++)
    if (has_all(text, rows[i].columns, json))
      return &rows[i].file;
  return NULL;
}

/* Where the first line is that neither is empty nor a comment "//", as texts of compilers have. */
static size_t behind_comments(const char *head) {
  const char *at = head;
  while (*at == '\n' || *at == '\r' || strncmp(at, "//", 2) == 0) {
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  return (size_t)(at - head);
}

const struct known_file *known_file(const char *path) {
  char head[HEAD_BYTES + 1];
  FILE *in = known_is_folder(path) || strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
  size_t length = in ? fread(head, 1, HEAD_BYTES, in) : 0;
  if (in)
    fclose(in);
  head[length] = '\0';
  size_t begin = behind_comments(head);
  for (size_t i = 0; i < COUNT_OF(begins); i++)
    if (length - begin >= begins[i].length &&
        memcmp(head + begin, begins[i].bytes, begins[i].length) == 0)
      return &begins[i].file;
  const char *text = head + file_text_mark(head, length);
  text += strspn(text, " \t\r\n");
  if (*text == '{' || *text == '[')
    return find_row(objects, COUNT_OF(objects), text, true);
  return find_row(tables, COUNT_OF(tables), text, false);
}

/* The hint, with the name of a table of launches that lies beside the file. */
static void hint_instead(const char *path, const char *instead, struct vinci_diag *diag) {
  static const char rows[] = KNOWN_LAUNCHES " of the same profile" KNOWN_HAS_ROWS;
  char table[KNOWN_PATH_MAX], hint[sizeof diag->hint];
  const char *at = strstr(instead, rows);
  bool beside = at && known_profile_beside(path, table) &&
                snprintf(hint, sizeof hint, "%.*s%s" KNOWN_HAS_ROWS "%s", (int)(at - instead),
                         instead, table, at + sizeof rows - 1) < (int)sizeof hint;
  diag_hint(diag, "%s", beside ? hint : instead);
}

bool known_file_refuse(const char *path, const char *wanted, struct vinci_diag *diag) {
  const struct known_file *file = known_file(path);
  if (!file)
    return false;
  const char *rest = strchr(file->what, ':');
  (void)diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path}, "%.*s, not %s%s",
                      rest ? (int)(rest - file->what) : (int)strlen(file->what), file->what, wanted,
                      rest ? rest : "");
  hint_instead(path, file->instead, diag);
  return true;
}
