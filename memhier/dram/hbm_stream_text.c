/* SPDX-License-Identifier: Apache-2.0 */
/* Names of request streams and feeds, and their parsing. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "memhier/dram/hbm_stream.h"

static const char *const stream_names[] = {
#define X(id, name, text) name,
    HBM_STREAM_LIST(X)
#undef X
};

static const char *const feed_names[] = {
#define X(id, name, text) name,
    HBM_FEED_LIST(X)
#undef X
};

const char *hbm_stream_name(enum hbm_stream_kind kind) { return stream_names[kind]; }

static const char *name_at(const void *context, size_t index) {
  return ((const char *const *)context)[index];
}

/* Index of the name before a ':' in text, count when there is none; *value is the text after the
 * ':'. */
static unsigned find_name(const char *text, const char *const *names, unsigned count,
                          const char **value) {
  size_t length = strcspn(text, ":");
  *value = text[length] == ':' ? text + length + 1 : NULL;
  unsigned i = 0;
  while (i < count && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
    i++;
  return i;
}

static enum vinci_status unknown(const char *what, const char *text, const char *const *names,
                                 unsigned count, struct vinci_diag *diag) {
  (void)diag_error(diag, VINCI_E_USAGE, "unknown %s '%s'", what, text);
  const char *nearest = diag_nearest(text, count, name_at, names);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  return VINCI_E_USAGE;
}

static bool parse_bytes(const char *text, uint64_t *out) {
  char *end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *out > 0;
}

enum vinci_status hbm_stream_parse_kind(struct hbm_stream *stream, const char *text,
                                        struct vinci_diag *diag) {
  const char *value;
  unsigned kind = find_name(text, stream_names, HBM_STREAM_KINDS, &value);
  if (kind == HBM_STREAM_KINDS)
    return unknown("stream", text, stream_names, HBM_STREAM_KINDS, diag);
  stream->kind = (enum hbm_stream_kind)kind;
  if (!value)
    return VINCI_OK;
  if (kind != HBM_STREAM_STRIDE || !parse_bytes(value, &stream->stride_bytes) ||
      stream->stride_bytes % HBM_REQUEST_BYTES != 0) {
    (void)diag_error(diag, VINCI_E_USAGE, "'%s' is not a stream", text);
    diag_hint(diag, "only stride has a number, a multiple of %d bytes", HBM_REQUEST_BYTES);
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}

/* A decimal number with at most four places, times HBM_PERIOD_SCALE. */
static bool parse_period(const char *text, uint64_t *out) {
  enum { DIGITS_MAX = 9 };
  uint64_t scale = HBM_PERIOD_SCALE, sum = 0;
  unsigned digits = 0;
  bool point = false;
  for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
    if (*text == '.') {
      point = true;
      continue;
    }
    if (++digits > DIGITS_MAX || (point && scale == 1))
      return false;
    sum = sum * 10 + (unsigned)(*text - '0');
    scale = point ? scale / 10 : scale;
  }
  *out = sum * scale;
  return digits > 0 && *text == '\0' && *out > 0;
}

enum vinci_status hbm_stream_parse_feed(struct hbm_stream *stream, const char *text,
                                        struct vinci_diag *diag) {
  const char *value;
  unsigned feed = find_name(text, feed_names, HBM_FEEDS, &value);
  if (feed == HBM_FEEDS)
    return unknown("mode", text, feed_names, HBM_FEEDS, diag);
  stream->feed = (enum hbm_feed)feed;
  bool wanted = feed == HBM_FEED_LOAD;
  if (wanted != (value != NULL) || (wanted && !parse_period(value, &stream->period_scaled))) {
    (void)diag_error(diag, VINCI_E_USAGE, "'%s' is not a mode", text);
    diag_hint(diag, "sat, chase, or load:T with a request every T cycles, at most 4 places");
    return VINCI_E_USAGE;
  }
  return VINCI_OK;
}
