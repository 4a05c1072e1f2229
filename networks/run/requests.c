/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of requests: from a file, or drawn. */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/vinci_net.h"

enum { FILE_BYTES_MAX = 1 << 28, COUNT_MAX = 100000000 };
#define PS_PER_US 1e6
#define US_MAX 1e12
#define SIZE_MAX_SAMPLES 1e6 /* each batch of a request is kept */

/* ---- drawn ---------------------------------------------------------------------------------- */

struct poisson {
  double rate; /* requests a second */
  uint64_t count, seed, size;
};

/*
 * -ln(u) of u = (bits + 1) / 2^53. By operations that IEEE 754 rounds alone, so that all hosts draw
 * the same: u = m 2^-e with m in [1/2, 1), and ln m = 2 atanh((m - 1) / (m + 1)) by its series; at
 * most 1/3^61 is left out.
 */
static double exponential(uint64_t bits) {
  const double ln2 = 0.693147180559945309417;
  double m = (double)(bits + 1) / 9007199254740992.0, e = 0;
  for (; m < 0.5; m *= 2)
    e++;
  double t = (m - 1) / (m + 1), square = t * t, sum = 0, power = t;
  for (unsigned i = 1; i < 62; i += 2, power *= square)
    sum += power / i;
  return e * ln2 - 2 * sum;
}

static enum vinci_status draw(struct poisson *poisson, struct vinci_net_request **out,
                              size_t *count, struct vinci_diag *diag) {
  double now_ps = 0, mean_ps = (double)PS_PER_SECOND / poisson->rate;
  *out = calloc(poisson->count, sizeof **out);
  if (!*out)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for requests");
  for (*count = 0; *count < poisson->count; ++*count) {
    now_ps += mean_ps * exponential(splitmix64_next(&poisson->seed) >> 11);
    if (now_ps > US_MAX * PS_PER_US) {
      free(*out);
      *out = NULL;
      return diag_error(diag, VINCI_E_USAGE, "requests at a rate of %g a second take too long",
                        poisson->rate);
    }
    (*out)[*count] = (struct vinci_net_request){(uint64_t)(now_ps + 0.5), poisson->size};
  }
  return VINCI_OK;
}

/* The fields behind "poisson:". */
static enum vinci_status parse_poisson(const char *text, struct poisson *out,
                                       struct vinci_diag *diag) {
  static const char *const keys[] = {"rate", "count", "seed", "size"};
  static const double most[] = {1e9, COUNT_MAX, 9e15, SIZE_MAX_SAMPLES};
  double values[] = {0, 0, 1, 1};
  char field[64];
  while (*text) {
    size_t length = strcspn(text, ","), key = 0;
    snprintf(field, sizeof field, "%.*s", (int)min_u64(length, sizeof field - 1), text);
    char *equals = strchr(field, '=');
    while (
        equals && key < 4 &&
        (strncmp(field, keys[key], strlen(keys[key])) != 0 || field + strlen(keys[key]) != equals))
      key++;
    if (!equals || key == 4 || !decimal_parse(equals + 1, &values[key]) || values[key] < 0 ||
        values[key] > most[key] || (key > 0 && values[key] != (double)(uint64_t)values[key])) {
      (void)diag_error(diag, VINCI_E_USAGE, "'%s' is not a field of poisson:", field);
      diag_hint(diag, "such as poisson:rate=2000,count=1000,seed=1,size=1");
      return VINCI_E_USAGE;
    }
    text += length + (text[length] == ',');
  }
  *out = (struct poisson){values[0], (uint64_t)values[1], (uint64_t)values[2], (uint64_t)values[3]};
  if (values[0] > 0 && values[1] > 0 && values[3] > 0)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "poisson: needs rate=, requests a second, and count=");
}

/* ---- from a file ---------------------------------------------------------------------------- */

static bool parse_row(char *line, struct vinci_net_request *out) {
  double us, size = 1;
  char *comma = strchr(line, ',');
  if (comma)
    *comma++ = '\0';
  if (!decimal_parse(line, &us) || us < 0 || us > US_MAX ||
      (comma && (!decimal_parse(comma, &size) || size < 1 || size > SIZE_MAX_SAMPLES ||
                 size != (double)(uint64_t)size)))
    return false;
  *out = (struct vinci_net_request){(uint64_t)(us * PS_PER_US + 0.5), (uint64_t)size};
  return true;
}

static enum vinci_status fail_at(const char *path, unsigned long line, struct vinci_diag *diag,
                                 const char *text) {
  diag_error_at(diag, VINCI_E_INPUT,
                (struct diag_position){.path = path, .line = line, .column = 1}, "%s", text);
  diag_hint(diag, "a row is such as 120.5,4 behind the header arrival_us,size");
  return VINCI_E_INPUT;
}

/* A column that nobody knows would be taken for another, or make the rows wrong. */
static enum vinci_status check_header(const char *path, const char *line, struct vinci_diag *diag) {
  static const char first[] = "arrival_us", both[] = "arrival_us,size";
  char text[128];
  if (strcmp(line, first) == 0 || strcmp(line, both) == 0)
    return VINCI_OK;
  if (strncmp(line, first, sizeof first - 1) != 0 || !strchr(line, ','))
    return fail_at(path, 1, diag, "requests begin with \"arrival_us,size\"");
  bool size = strncmp(line, both, sizeof both - 1) == 0 && line[sizeof both - 1] == ',';
  snprintf(text, sizeof text, "requests have the columns arrival_us and size, not \"%.60s\"",
           size ? line + sizeof both : strchr(line, ',') + 1);
  return fail_at(path, 1, diag, text);
}

static enum vinci_status parse_rows(const char *path, char *text, struct vinci_net_request *out,
                                    size_t *count, struct vinci_diag *diag) {
  enum vinci_status status;
  char *line = text, *next;
  for (unsigned long number = 1; line && *line; number++, line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    if (number == 1 && (status = check_header(path, line, diag)) != VINCI_OK)
      return status;
    if (number == 1 || *line == '\0')
      continue;
    if (!parse_row(line, &out[*count]))
      return fail_at(path, number, diag, "not a time in microseconds and a number of samples");
    if (*count > 0 && out[*count].arrival_ps < out[*count - 1].arrival_ps)
      return fail_at(path, number, diag, "comes before the request before");
    ++*count;
  }
  return *count > 0 ? VINCI_OK : fail_at(path, 1, diag, "no requests");
}

static enum vinci_status read_rows(const char *path, struct vinci_net_request **out, size_t *count,
                                   struct vinci_diag *diag) {
  size_t length, lines = 1;
  char *text = file_read_text(path, FILE_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  for (size_t i = 0; i < length; i++)
    lines += text[i] == '\n';
  *out = calloc(lines, sizeof **out);
  enum vinci_status status = *out ? parse_rows(path, text, *out, count, diag)
                                  : diag_error(diag, VINCI_E_NOMEM, "out of memory for requests");
  free(text);
  if (status != VINCI_OK) {
    free(*out);
    *out = NULL;
  }
  return status;
}

enum vinci_status vinci_net_requests(const char *spec, struct vinci_net_request **out,
                                     size_t *count, struct vinci_diag *diag) {
  static const char drawn[] = "poisson:";
  struct vinci_diag none = {0};
  struct poisson poisson;
  *out = NULL;
  *count = 0;
  diag = diag ? diag : &none;
  if (strncmp(spec, drawn, sizeof drawn - 1) != 0)
    return read_rows(spec, out, count, diag);
  enum vinci_status status = parse_poisson(spec + sizeof drawn - 1, &poisson, diag);
  return status == VINCI_OK ? draw(&poisson, out, count, diag) : status;
}
