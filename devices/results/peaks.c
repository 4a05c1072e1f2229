/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of memory of a job's ranks (peaks.h). */
#include "devices/results/peaks.h"

#include <inttypes.h>

#include "core/base/decimal.h"
#include "core/base/sheet.h"
#include "traces/export/export.h"

#define MIB ((uint64_t)1 << 20)
enum { US_DIGITS = 6, NAMES_SHOWN = 4 };
#define US(ps) decimal_exact(ps, US_DIGITS).text

uint32_t job_fullest(const struct group_job *job, const struct group_result *result) {
  uint32_t fullest = 0;
  for (uint32_t i = 1; i < job->ranks; i++)
    fullest = result->ranks[i].peak_bytes > result->ranks[fullest].peak_bytes ? i : fullest;
  return fullest;
}

void job_memory_put(const struct group_job *job, const struct group_result *result, FILE *out) {
  uint32_t fullest = job_fullest(job, result), names = result->memory_count;
  const struct group_rank_result *rank = &result->ranks[fullest];
  fprintf(out,
          ",\n  \"memory\": {\"peak_bytes\": %" PRIu64 ", \"peak_rank\": %" PRIu32
          ", \"peak_us\": %s, \"device_bytes\": %" PRIu64 ", \"names\": [",
          rank->peak_bytes, fullest, US(rank->peak_ps), result->device_bytes);
  for (uint32_t i = 0; i < names; i++) {
    size_t at = (size_t)fullest * names + i;
    fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
    json_string(out, result->memories[i]);
    fprintf(out, ", \"peak_bytes\": %" PRIu64 ", \"most_bytes\": %" PRIu64 "}",
            result->peak_held[at], result->most_held[at]);
  }
  fputs("\n  ]}", out);
}

static struct decimal mib(uint64_t bytes) { return decimal_ratio(bytes, MIB, 1); }

/* The largest name that is smaller than the one before, or comes behind one as large; names: none.
 */
static uint32_t next_largest(const uint64_t *held, uint32_t names, uint32_t before) {
  uint32_t found = names;
  for (uint32_t i = 0; i < names; i++) {
    bool behind =
        before == names || held[i] < held[before] || (held[i] == held[before] && i > before);
    if (behind && held[i] > 0 && (found == names || held[i] > held[found]))
      found = i;
  }
  return found;
}

static void put_names(const struct group_result *result, uint32_t rank, char *text, size_t size) {
  uint32_t names = result->memory_count, shown = 0;
  const uint64_t *held = &result->peak_held[(size_t)rank * names];
  uint64_t rest = result->ranks[rank].peak_bytes;
  size_t used = 0;
  for (uint32_t i = next_largest(held, names, names); i < names && shown < NAMES_SHOWN;
       i = next_largest(held, names, i), shown++) {
    used += (size_t)snprintf(text + used, size - used, "%s%.40s %s", shown ? ", " : "",
                             result->memories[i], mib(held[i]).text);
    rest -= held[i];
  }
  if (rest > 0)
    snprintf(text + used, size - used, ", others %s", mib(rest).text);
}

void job_memory_print(const struct group_job *job, const struct group_result *result, FILE *out) {
  char text[512] = "";
  if (result->memory_count == 0)
    return;
  uint32_t fullest = job_fullest(job, result);
  uint64_t peak = result->ranks[fullest].peak_bytes, device = result->device_bytes;
  put_names(result, fullest, text, sizeof text);
  sheet_line(out, "\nMemory: rank %" PRIu32 " holds most, %s MiB at %s ms: %s MiB\n", fullest,
             mib(peak).text,
             decimal_ratio(result->ranks[fullest].peak_ps, UINT64_C(1000000000), 3).text,
             *text ? text : "0");
  if (device > 0 && peak > device)
    sheet_line(out, "That is %s MiB more than the %s MiB of its device: the job does not fit\n",
               mib(peak - device).text, mib(device).text);
}
