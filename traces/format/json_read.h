/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON texts of other programs (RFC 8259): value by value, without a tree. Each error has the
 * line and the column of what is wrong. Members that nobody asks for are skipped and named.
 */
#ifndef VINCI_TRACES_FORMAT_JSON_READ_H
#define VINCI_TRACES_FORMAT_JSON_READ_H

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { JSON_READ_DEPTH_MAX = 64, JSON_SKIPPED_BYTES = 512 };

struct json_reader {
  const char *path; /* for messages */
  const char *text, *end;
  const char *at;      /* where the next value begins */
  struct arena *arena; /* of texts */
  struct vinci_diag *diag;
  unsigned depth;
  char skipped[JSON_SKIPPED_BYTES]; /* see json_skipped() */
  size_t skipped_used;
  const char *counted; /* line and column are those of this place */
  unsigned long line, column;
};

/* A value that an object or a list holds. key: of a member; NULL in a list. */
typedef enum vinci_status json_value_fn(struct json_reader *json, const char *key, void *context);

struct diag_position json_read_place(struct json_reader *json, const char *at);
/* VINCI_E_INPUT at a place of the text, with its line as an excerpt. */
enum vinci_status json_read_fail(struct json_reader *json, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Calls for each member; what the function has not read is an error of the function. */
VINCI_MUST_CHECK enum vinci_status json_read_object(struct json_reader *json, json_value_fn *member,
                                                    void *context);
VINCI_MUST_CHECK enum vinci_status json_read_list(struct json_reader *json, json_value_fn *item,
                                                  void *context);
/* A text, in the arena. */
VINCI_MUST_CHECK enum vinci_status json_read_text(struct json_reader *json, const char **out);
/* A whole number up to `most`, as a number or as a text of digits: vendors write both. */
VINCI_MUST_CHECK enum vinci_status json_read_whole(struct json_reader *json, uint64_t most,
                                                   uint64_t *out);
/* Whether a number comes next; *text then holds its characters, and the reader is behind. */
bool json_read_number(struct json_reader *json, const char **text, size_t *length);
/* Any value, which is left out without a word. */
VINCI_MUST_CHECK enum vinci_status json_skip_value(struct json_reader *json);
/* A member that nobody knows: is left out, and named once by json_skipped(). */
VINCI_MUST_CHECK enum vinci_status json_skip_unknown(struct json_reader *json, const char *key);
/* "hardware_type (line 3), ...": the members that were left out; "" when there are none. */
const char *json_skipped(const struct json_reader *json);
/* What stands behind the outermost value is an error. */
VINCI_MUST_CHECK enum vinci_status json_read_end(struct json_reader *json);

#endif
