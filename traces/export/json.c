/* SPDX-License-Identifier: Apache-2.0 */
/* A small JSON writer: no locale. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/utf8.h"
#include "traces/export/export.h"

/* ---- JSON ------------------------------------------------------------------ */

void json_start(struct json_writer *json, FILE *out) { *json = (struct json_writer){.out = out}; }

void json_continue(struct json_writer *json, FILE *out) {
  *json = (struct json_writer){.out = out, .depth = 1};
}

static void write_indent(const struct json_writer *json) {
  fputc('\n', json->out);
  for (unsigned i = 0; i < json->depth; i++)
    fputs("  ", json->out);
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

static void write_escaped(FILE *out, const char *text) {
  while (*text) {
    size_t plain = 0;
    while (is_plain((unsigned char)text[plain]))
      plain++;
    fwrite(text, 1, plain, out);
    text += plain;
    if (*text == '\0')
      break;
    unsigned char c = (unsigned char)*text;
    size_t length = utf8_length(text, UTF8_BYTES_MAX);
    if (length == 0) {
      fputs("\\ufffd", out);
      length = 1;
    } else if (c == '"' || c == '\\') {
      fprintf(out, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
      fprintf(out, "\\u%04x", c);
    } else {
      fwrite(text, 1, length, out);
    }
    text += length;
  }
}

void json_string(FILE *out, const char *value) {
  fputc('"', out);
  write_escaped(out, value);
  fputc('"', out);
}

/* The comma, line break and key before a value. */
static void write_key(struct json_writer *json, const char *key) {
  if (json->depth > 0) {
    unsigned level = json->depth - 1;
    if (!json->first[level])
      fputc(',', json->out);
    if (!json->one_line[level])
      write_indent(json);
    else if (!json->first[level])
      fputc(' ', json->out);
    json->first[level] = false;
  }
  if (key) {
    json_string(json->out, key);
    fputs(": ", json->out);
  }
}

static void open_level(struct json_writer *json, const char *key, bool one_line, bool array) {
  write_key(json, key);
  if (json->depth == JSON_DEPTH_MAX)
    vinci_bug("JSON nested deeper than %d", JSON_DEPTH_MAX);
  fputc(array ? '[' : '{', json->out);
  json->first[json->depth] = true;
  json->array[json->depth] = array;
  json->one_line[json->depth] = one_line || (json->depth > 0 && json->one_line[json->depth - 1]);
  json->depth++;
}

void json_object(struct json_writer *json, const char *key, bool one_line) {
  open_level(json, key, one_line, false);
}

void json_array(struct json_writer *json, const char *key, bool one_line) {
  open_level(json, key, one_line, true);
}

void json_end(struct json_writer *json) {
  unsigned level = --json->depth;
  if (!json->first[level] && !json->one_line[level])
    write_indent(json);
  fputc(json->array[level] ? ']' : '}', json->out);
  if (json->depth == 0)
    fputc('\n', json->out);
}

void json_number(struct json_writer *json, const char *key, uint64_t value) {
  write_key(json, key);
  fprintf(json->out, "%" PRIu64, value);
}

void json_decimal(struct json_writer *json, const char *key, struct decimal value) {
  write_key(json, key);
  fputs(value.text, json->out);
}

void json_counter(struct json_writer *json, const struct counter *row, uint64_t value) {
  struct decimal text = counter_decimal(row, value);
  if (row->unit == UNIT_WORD)
    json_text(json, counter_key(row), text.text);
  else
    json_decimal(json, counter_key(row), text);
}

void json_bool(struct json_writer *json, const char *key, bool value) {
  write_key(json, key);
  fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_writer *json, const char *key) {
  write_key(json, key);
  fputs("null", json->out);
}

void json_hex64(struct json_writer *json, const char *key, uint64_t value) {
  write_key(json, key);
  fprintf(json->out, "\"%016" PRIx64 "\"", value);
}

void json_text(struct json_writer *json, const char *key, const char *value) {
  write_key(json, key);
  json_string(json->out, value);
}

void json_text_begin(struct json_writer *json, const char *key) {
  write_key(json, key);
  fputc('"', json->out);
}

void json_text_add(struct json_writer *json, const char *value) { write_escaped(json->out, value); }

void json_text_end(struct json_writer *json) { fputc('"', json->out); }

static void put_unread(struct json_writer *json, const struct unread *unread) {
  for (const struct unread_name *name = unread->first; name; name = name->next) {
    const char *file = strrchr(name->path, '/');
    json_object(json, NULL, true);
    json_text(json, "file", file ? file + 1 : name->path);
    json_number(json, "line", name->line);
    json_text(json, "what", unread_what(name->kind));
    json_text(json, "name", name->name);
    json_text(json, "why", unread_why(name->kind));
    json_end(json);
  }
}

void json_unread(struct json_writer *json, const struct unread *unread, const struct unread *more) {
  json_array(json, "unread", false);
  put_unread(json, unread);
  if (more)
    put_unread(json, more);
  json_end(json);
  if (unread->more > 0 || (more && more->more > 0))
    json_number(json, "unread_more", unread->more + (more ? more->more : 0));
}

/* ---- shared ---------------------------------------------------------------- */

bool export_is_mixed(const struct vinci_result *result) {
  for (uint32_t i = 0; i < result->kernel_count; i++)
    if (result->kernels[i].mixed)
      return true;
  return false;
}

enum vinci_status export_flush(FILE *out, const char *what, struct vinci_diag *diag) {
  errno = 0;
  if (fflush(out) == 0 && !ferror(out))
    return VINCI_OK;
  return diag_error(diag, diag_status_of(errno), "cannot write %s: %s", what,
                    errno ? strerror(errno) : "write error");
}
