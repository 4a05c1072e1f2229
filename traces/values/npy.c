/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of .npy files. Nothing in them is trusted: files come from anywhere. */
#include "traces/values/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, SHORT_PREFIX = 10, LONG_PREFIX = 12, HEADER_ALIGNMENT = 64 };

/* ---- the text: a Python dictionary of three keys ---------------------------------- */

struct cursor {
  const char *at;
  const char *end;
};

static void skip_blanks(struct cursor *cursor) {
  while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at))
    cursor->at++;
}

static bool take(struct cursor *cursor, const char *word) {
  size_t length = strlen(word);
  skip_blanks(cursor);
  if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
    return false;
  cursor->at += length;
  return true;
}

/* A string in either kind of quotes, without escapes. */
static bool take_string(struct cursor *cursor, char *buffer, size_t size) {
  skip_blanks(cursor);
  if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
    return false;
  char quote = *cursor->at++;
  size_t length = 0;
  for (; cursor->at < cursor->end && *cursor->at != quote; cursor->at++) {
    if (length + 1 == size || *cursor->at == '\\')
      return false;
    buffer[length++] = *cursor->at;
  }
  buffer[length] = '\0';
  return cursor->at++ < cursor->end;
}

static const char *take_descr(struct cursor *cursor, struct npy *npy) {
  char text[16];
  if (!take_string(cursor, text, sizeof text))
    return "its elements are not plain numbers";
  if (strlen(text) != 3 || !strchr("<|=>", text[0]) || !strchr("fiuVb", text[1]) ||
      !strchr("1248", text[2]))
    return "its elements are not plain numbers of up to 8 bytes";
  npy->kind = text[1];
  npy->item_bytes = (unsigned)(text[2] - '0');
  if (text[0] == '>' && npy->item_bytes > 1)
    return "its elements are big-endian";
  return NULL;
}

static const char *take_shape(struct cursor *cursor, struct npy *npy) {
  if (!take(cursor, "("))
    return "its shape is malformed";
  npy->rank = 0;
  while (!take(cursor, ")")) {
    uint64_t extent = 0;
    const char *digits = cursor->at;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
      if (__builtin_mul_overflow(extent, 10u, &extent) ||
          __builtin_add_overflow(extent, (uint64_t)(*cursor->at - '0'), &extent))
        return "its shape does not fit 64 bits";
    if (cursor->at == digits)
      return "its shape is malformed";
    if (npy->rank == TENSOR_RANK_MAX)
      return "it has more than 8 dimensions";
    npy->shape[npy->rank++] = extent;
    if (!take(cursor, ",") &&
        (skip_blanks(cursor), cursor->at == cursor->end || *cursor->at != ')'))
      return "its shape is malformed";
  }
  return NULL;
}

static const char *take_value(struct cursor *cursor, const char *key, struct npy *npy,
                              unsigned *seen) {
  if (strcmp(key, "descr") == 0) {
    *seen |= 1;
    return take_descr(cursor, npy);
  }
  if (strcmp(key, "shape") == 0) {
    *seen |= 2;
    return take_shape(cursor, npy);
  }
  if (strcmp(key, "fortran_order") != 0)
    return "its header has an unknown key";
  *seen |= 4;
  if (take(cursor, "False"))
    return NULL;
  return take(cursor, "True") ? "it is in Fortran order; save numpy.ascontiguousarray(array)"
                              : "its fortran_order is malformed";
}

const char *npy_parse(const char *text, size_t length, struct npy *npy) {
  static const char malformed[] = "its header is malformed";
  struct cursor cursor = {.at = text, .end = text + length};
  unsigned seen = 0;
  *npy = (struct npy){0};
  if (!take(&cursor, "{"))
    return malformed;
  while (!take(&cursor, "}")) {
    char key[16];
    if (!take_string(&cursor, key, sizeof key) || !take(&cursor, ":"))
      return malformed;
    const char *error = take_value(&cursor, key, npy, &seen);
    if (error)
      return error;
    if (!take(&cursor, ",") && (skip_blanks(&cursor), cursor.at == cursor.end || *cursor.at != '}'))
      return malformed;
  }
  return seen == 7 ? NULL : "its header lacks a key";
}

/* ---- files -------------------------------------------------------------------------- */

static enum vinci_status reject(const char *path, const char *why, struct vinci_diag *diag) {
  return diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                       "cannot use this .npy file: %s", why);
}

static enum vinci_status read_header(const char *path, FILE *in, struct npy *npy,
                                     struct vinci_diag *diag) {
  unsigned char prefix[LONG_PREFIX];
  char text[NPY_HEADER_MAX];
  if (fread(prefix, 1, SHORT_PREFIX, in) != SHORT_PREFIX || memcmp(prefix, magic, MAGIC_BYTES) != 0)
    return reject(path, "its start is not that of .npy files", diag);
  size_t length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
  if (prefix[6] > 3 || prefix[6] == 0)
    return reject(path, "its version is not 1, 2 or 3", diag);
  if (prefix[6] > 1) {
    if (fread(prefix + SHORT_PREFIX, 1, 2, in) != 2)
      return reject(path, "it ends early", diag);
    length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
  }
  if (length > sizeof text)
    return reject(path, "its header is too long", diag);
  if (fread(text, 1, length, in) != length)
    return reject(path, "it ends early", diag);
  const char *error = npy_parse(text, length, npy);
  return error ? reject(path, error, diag) : VINCI_OK;
}

enum vinci_status npy_open(const char *path, struct npy *npy, FILE **out, struct vinci_diag *diag) {
  *out = fopen(path, "rb");
  if (!*out)
    return diag_error_at(diag, diag_status_of(errno), (struct diag_position){.path = path},
                         "cannot read: %s", strerror(errno));
  enum vinci_status status = read_header(path, *out, npy, diag);
  if (status != VINCI_OK) {
    fclose(*out);
    *out = NULL;
  }
  return status;
}

void npy_write_header(const struct npy *npy, FILE *out) {
  char text[512];
  int used = snprintf(text, sizeof text, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
                      npy->item_bytes == 1 ? '|' : '<', npy->kind, npy->item_bytes);
  for (unsigned i = 0; i < npy->rank; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRIu64, i ? ", " : "",
                     npy->shape[i]);
  used += snprintf(text + used, sizeof text - (size_t)used, "%s), }", npy->rank == 1 ? "," : "");
  /* Blanks and a newline up to a multiple of 64 bytes, as NumPy does. */
  size_t total =
      (NPY_PREFIX_BYTES + (size_t)used) / HEADER_ALIGNMENT * HEADER_ALIGNMENT + HEADER_ALIGNMENT;
  size_t length = total - NPY_PREFIX_BYTES;
  fwrite(magic, 1, MAGIC_BYTES, out);
  fputc(1, out);
  fputc(0, out);
  fputc((int)(length & 0xff), out);
  fputc((int)(length >> 8), out);
  fprintf(out, "%s%*s\n", text, (int)(length - (size_t)used - 1), "");
}

void npy_describe(const struct npy *npy, char *buffer, size_t size) {
  const char *kind = npy->kind == 'f'   ? "float"
                     : npy->kind == 'i' ? "int"
                     : npy->kind == 'u' ? "uint"
                     : npy->kind == 'b' ? "bool"
                                        : "void";
  int used = snprintf(buffer, size, "%s%u of shape (", kind, npy->item_bytes * 8);
  for (unsigned i = 0; i < npy->rank && used > 0 && (size_t)used < size; i++)
    used +=
        snprintf(buffer + used, size - (size_t)used, "%s%" PRIu64, i ? ", " : "", npy->shape[i]);
  if (used > 0 && (size_t)used < size)
    snprintf(buffer + used, size - (size_t)used, "%s)", npy->rank == 1 ? "," : "");
}
