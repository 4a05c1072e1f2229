/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of a training: their mean, and the file that they are kept in.
 *
 *   vinci-training 1 DIGEST                of the settings
 *   NUMBER PART ... FAILURES DIGEST        a run; the digest is that of the line before it
 *
 * Lines are appended in the order of the runs. What a kill leaves torn is cut off.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arith.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "devices/flow/training.h"

enum {
  RUNS_AT_ONCE = 64, /* between two writes of the file */
  LINE_BYTES_MAX = 512,
  FILE_BYTES_MAX = 1 << 30,
  PER_MILLE_95 = 1960, /* standard deviations of a 95 % interval, in thousandths */
  MILLE = 1000,
  NS_PER_US = 1000
};

/* ---- settings ------------------------------------------------------------------------------- */

static enum vinci_status check(const struct group_training *training, struct vinci_diag *diag) {
  static const struct {
    const char *name, *text;
    size_t offset;
    uint64_t minimum;
  } times[] = {
#define X(field, name, minimum, text) {name, text, offsetof(struct group_training, field), minimum},
      GROUP_TRAINING_TIME_LIST(X)
#undef X
  };
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    uint64_t value;
    memcpy(&value, (const char *)training + times[i].offset, sizeof value);
    if (value < times[i].minimum || value > TRAINING_NS_MAX)
      return diag_error(diag, VINCI_E_USAGE,
                        "%s (%s) is %" PRIu64 " ns, not %" PRIu64 " ns to 36 years", times[i].name,
                        times[i].text, value, times[i].minimum);
  }
  if (training->units == 0 || training->units > TRAINING_UNITS_MAX ||
      training->spares > TRAINING_UNITS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "%" PRIu32 " units with %" PRIu32 " spares, not 1 to %d",
                      training->units, training->spares, TRAINING_UNITS_MAX);
  if (training->writing_ns > training->interval_ns)
    return diag_error(diag, VINCI_E_USAGE,
                      "a checkpoint is written in %" PRIu64
                      " ns, longer than the interval of %" PRIu64 " ns",
                      training->writing_ns, training->interval_ns);
  uint64_t slowest = training->shrinks ? training->units : 1;
  uint128 work_ns = (uint128)training->interval_ns * slowest;
  uint64_t count = ceil_div(training->work_ns, training->interval_ns);
  if ((work_ns + training->blocking_ns) > TRAINING_NS_MAX / count)
    return diag_error(diag, VINCI_E_USAGE,
                      "the training takes longer than 36 years, even without failures");
  return VINCI_OK;
}

static uint64_t digest_of(const struct group_training *training) {
  uint64_t digest = DIGEST_SEED;
#define X(field, name, minimum, text) digest = digest_word(digest, training->field);
  GROUP_TRAINING_TIME_LIST(X)
#undef X
  digest = digest_word(digest, training->units);
  digest = digest_word(digest, training->spares);
  digest = digest_word(digest, training->shrinks);
  return digest_word(digest, training->seed);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* A line of a run with its digest; its length. */
static size_t run_line(uint32_t number, const struct group_training_run *run,
                       char out[LINE_BYTES_MAX]) {
  int used = snprintf(out, LINE_BYTES_MAX, "%" PRIu32, number);
#define X(field, name, text)                                                                       \
  used += snprintf(out + used, LINE_BYTES_MAX - (size_t)used, " %" PRIu64, run->field);
  GROUP_TRAINING_PART_LIST(X)
#undef X
  used += snprintf(out + used, LINE_BYTES_MAX - (size_t)used, " %" PRIu64, run->failures);
  used += snprintf(out + used, LINE_BYTES_MAX - (size_t)used, " %016" PRIx64 "\n",
                   digest_bytes(DIGEST_SEED, out, (size_t)used));
  return (size_t)used;
}

/* Reads the line of a run: true when it is what run_line() writes. */
static bool read_run(uint32_t number, const char *line, size_t length,
                     struct group_training_run *out) {
  char again[LINE_BYTES_MAX], *at;
  (void)strtoull(line, &at, 10);
#define X(field, name, text) out->field = strtoull(at, &at, 10);
  GROUP_TRAINING_PART_LIST(X)
#undef X
  out->failures = strtoull(at, &at, 10);
  return run_line(number, out, again) == length && memcmp(again, line, length) == 0;
}

struct kept {
  FILE *file;
  const char *path;
};

static void head_line(const struct group_training *training, char out[LINE_BYTES_MAX]) {
  snprintf(out, LINE_BYTES_MAX, "vinci-training 1 %016" PRIx64 "\n", digest_of(training));
}

/* A file that begins otherwise belongs to others, and is not written over. A kill can have cut the
 * head. */
static enum vinci_status check_head(const struct group_training *training, const char *path,
                                    const char *text, size_t length, struct vinci_diag *diag) {
  char head[LINE_BYTES_MAX];
  head_line(training, head);
  if (memcmp(text, head, min_u64(length, strlen(head))) == 0)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_INPUT, "%s is not a checkpoint of this training", path);
  diag_hint(diag, "it begins with other settings; give another file, or remove it");
  return VINCI_E_INPUT;
}

/* Takes the runs of a text with the right head; returns the length of what is right. */
static size_t take_runs(const char *text, uint32_t count, struct group_training_run *runs,
                        uint32_t *known) {
  const char *end = strchr(text, '\n');
  size_t used = end ? (size_t)(end + 1 - text) : 0;
  for (*known = 0; end && *known < count; (*known)++) {
    const char *line = text + used;
    end = strchr(line, '\n');
    if (!end || !read_run(*known, line, (size_t)(end + 1 - line), &runs[*known]))
      break;
    used += (size_t)(end + 1 - line);
  }
  return used;
}

/* Opens the file behind its last whole line, unless it holds all runs; *known runs are read. */
static enum vinci_status open_file(const struct group_training *training, uint32_t count,
                                   struct group_training_run *runs, uint32_t *known,
                                   struct kept *kept, struct vinci_diag *diag) {
  size_t length, used = 0;
  enum vinci_status status = VINCI_OK;
  char head[LINE_BYTES_MAX];
  if (access(kept->path, F_OK) == 0) {
    char *text = file_read(kept->path, FILE_BYTES_MAX, &length, diag);
    if (!text)
      return diag ? diag->status : VINCI_E_IO;
    status = check_head(training, kept->path, text, length, diag);
    if (status == VINCI_OK)
      used = take_runs(text, count, runs, known);
    free(text);
  }
  if (status != VINCI_OK || *known == count)
    return status;
  errno = 0;
  kept->file = fopen(kept->path, "ab");
  if (!kept->file || ftruncate(fileno(kept->file), (off_t)used) != 0)
    return file_error(diag, kept->path, "write");
  head_line(training, head);
  if (used == 0 && fputs(head, kept->file) < 0)
    return file_error(diag, kept->path, "write");
  return VINCI_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static enum vinci_status simulate(const struct group_training *training, uint32_t first,
                                  uint32_t count, struct group_training_run *runs,
                                  const struct kept *kept, struct vinci_diag *diag) {
  uint64_t *repairs = calloc(training->units + training->spares, sizeof *repairs);
  enum vinci_status status = repairs ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (uint32_t i = first; status == VINCI_OK && i < count; i++) {
    char line[LINE_BYTES_MAX];
    status = group_training_run(training, i, repairs, &runs[i], diag);
    if (status != VINCI_OK || !kept->file)
      continue;
    bool written = fwrite(line, 1, run_line(i, &runs[i], line), kept->file) > 0;
    if ((i + 1) % RUNS_AT_ONCE == 0 || i + 1 == count)
      written = fflush(kept->file) == 0 && written;
    if (!written)
      status = file_error(diag, kept->path, "write");
  }
  free(repairs);
  return status;
}

/* ---- statistics ----------------------------------------------------------------------------- */

/* The square root, rounded down. */
static uint64_t root_of(uint128 value) {
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1) {
    uint128 tried = root | bit;
    if (tried * tried <= value)
      root |= bit;
  }
  return root;
}

static int compare(const void *a, const void *b) {
  uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
  return (first > second) - (first < second);
}

/* 1.96 standard deviations of the mean. Squares are of microseconds, for which 128 bits suffice. */
static uint64_t half_interval(const uint64_t *times, uint32_t count, uint64_t mean_ns) {
  uint128 squares = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t away_us = (times[i] > mean_ns ? times[i] - mean_ns : mean_ns - times[i]) / NS_PER_US;
    squares += (uint128)away_us * away_us;
  }
  if (count < 2)
    return 0;
  uint64_t variance_root = root_of(squares / (count - 1) / count * MILLE * MILLE);
  return variance_root * PER_MILLE_95 / MILLE; /* thousandths of us are ns */
}

static void summarize(const struct group_training_run *runs, uint64_t *times, uint32_t count,
                      struct group_training_result *out) {
  uint128 sum = 0, parts = 0;
  for (uint32_t i = 0; i < count; i++) {
    times[i] = group_training_time(&runs[i]);
    sum += times[i];
  }
  *out = (struct group_training_result){.runs = count, .mean_ns = (uint64_t)(sum / count)};
#define MEAN(field)                                                                                \
  parts = 0;                                                                                       \
  for (uint32_t i = 0; i < count; i++)                                                             \
    parts += runs[i].field;                                                                        \
  out->mean.field = (uint64_t)(parts / count);
#define X(field, name, text) MEAN(field)
  GROUP_TRAINING_PART_LIST(X)
#undef X
#undef MEAN
  for (uint32_t i = 0; i < count; i++)
    out->mean.failures += runs[i].failures;
  out->half_ns = half_interval(times, count, out->mean_ns);
  qsort(times, count, sizeof *times, compare);
  out->p5_ns = times[(count - 1) * UINT64_C(5) / 100];
  out->median_ns = times[(count - 1) / 2];
  out->p95_ns = times[(count - 1) * UINT64_C(95) / 100];
}

enum vinci_status group_train(const struct group_training *training, uint32_t runs,
                              const char *checkpoint, struct group_training_result *out,
                              struct vinci_diag *diag) {
  struct kept kept = {.path = checkpoint};
  uint32_t known = 0;
  enum vinci_status status = check(training, diag);
  if (status == VINCI_OK && (runs == 0 || runs > TRAINING_RUNS_MAX))
    status =
        diag_error(diag, VINCI_E_USAGE, "%" PRIu32 " runs, not 1 to %d", runs, TRAINING_RUNS_MAX);
  if (status != VINCI_OK)
    return status;
  struct group_training_run *all = calloc(runs, sizeof *all);
  uint64_t *times = calloc(runs, sizeof *times);
  if (!all || !times)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK && checkpoint)
    status = open_file(training, runs, all, &known, &kept, diag);
  if (status == VINCI_OK)
    status = simulate(training, known, runs, all, &kept, diag);
  if (kept.file && fclose(kept.file) != 0 && status == VINCI_OK)
    status = file_error(diag, checkpoint, "write");
  if (status == VINCI_OK)
    summarize(all, times, runs, out);
  free(all);
  free(times);
  return status;
}

uint64_t group_training_young_ns(const struct group_training *training) {
  uint64_t all_ns = training->mtbf_ns / max_u64(training->units, 1);
  return root_of((uint128)2 * training->blocking_ns * all_ns);
}
