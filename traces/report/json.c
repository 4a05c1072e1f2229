/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a text is JSON, before a page is made of it: a browser would show an empty page. */
#include <string.h>

#include "core/base/json.h"
#include "traces/report/report.h"

enum { DEPTH_MAX = 64 };

struct scan {
  const char *at, *end;
};

static void skip_blanks(struct scan *scan) {
  while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at)
    scan->at++;
}

static bool take(struct scan *scan, char wanted) {
  skip_blanks(scan);
  if (scan->at == scan->end || *scan->at != wanted)
    return false;
  scan->at++;
  return true;
}

static bool take_string(struct scan *scan) {
  unsigned code;
  if (!take(scan, '"'))
    return false;
  while (scan->at < scan->end && *scan->at != '"') {
    unsigned char c = (unsigned char)*scan->at++;
    if (c < ' ' || (c == '\\' && !json_escape(&scan->at, scan->end, &code)))
      return false;
  }
  return take(scan, '"');
}

static bool take_scalar(struct scan *scan) {
  skip_blanks(scan);
  if (scan->at == scan->end)
    return false;
  if (*scan->at == '"')
    return take_string(scan);
  size_t length = json_literal(scan->at, scan->end);
  scan->at += length;
  return length > 0;
}

/* Key and colon of a member of an object. */
static bool take_key(struct scan *scan) { return take_string(scan) && take(scan, ':'); }

/* One value with all that is inside: a stack of open brackets in place of recursion. */
static bool take_value(struct scan *scan) {
  char open[DEPTH_MAX];
  size_t depth = 0;
  for (;;) {
    bool object = take(scan, '{');
    if (object || take(scan, '[')) {
      if (depth == DEPTH_MAX)
        return false;
      open[depth++] = object ? '}' : ']';
      if (!take(scan, open[depth - 1])) {
        if (object && !take_key(scan))
          return false;
        continue; /* to the first value inside */
      }
      depth--;
    } else if (!take_scalar(scan)) {
      return false;
    }
    while (depth > 0 && take(scan, open[depth - 1]))
      depth--;
    if (depth == 0)
      return true;
    if (!take(scan, ',') || (open[depth - 1] == '}' && !take_key(scan)))
      return false;
  }
}

bool report_json_valid(const char *bytes, size_t length, size_t *wrong) {
  struct scan scan = {bytes, bytes + length};
  bool valid = take_value(&scan);
  skip_blanks(&scan);
  *wrong = (size_t)(scan.at - bytes);
  return valid && scan.at == scan.end;
}

const char *report_json_find(const char *bytes, size_t length, const char *key) {
  struct scan scan = {bytes, bytes + length};
  size_t key_length = strlen(key);
  if (!take(&scan, '{'))
    return NULL;
  do {
    skip_blanks(&scan);
    const char *name = scan.at + 1;
    if (!take_key(&scan))
      return NULL;
    skip_blanks(&scan);
    if (name + key_length < scan.end && memcmp(name, key, key_length) == 0 &&
        name[key_length] == '"')
      return scan.at;
  } while (take_value(&scan) && take(&scan, ','));
  return NULL;
}
