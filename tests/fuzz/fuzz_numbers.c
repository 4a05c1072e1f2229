/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of numbers and assignments as users and tables write them: any text is read without
 * harm. A value that is accepted is the same when it is written and read again, and readers of
 * digits agree with each other.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "devices/jobs/job.h"
#include "lower/calls/calls.h"
#include "tests/support/fixture.h"
#include "traces/format/text_fields.h"
#include "traces/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vinci_soc *soc;

static void read_values(const char *text) {
  for (unsigned kind = 0; kind < SOC_KINDS; kind++) {
    int64_t value, again;
    char written[64];
    if (soc_parse_value(text, (enum soc_kind)kind, &value, NULL) != VINCI_OK)
      continue;
    soc_format_value(value, (enum soc_kind)kind, written, sizeof written);
    if (soc_parse_value(written, (enum soc_kind)kind, &again, NULL) != VINCI_OK || again != value)
      vinci_bug("kind %u: '%s' is %lld, written as '%s'", kind, text, (long long)value, written);
  }
}

static void read_digits(const char *text) {
  uint64_t whole, size, imported, ps, ns;
  double number;
  const char *end;
  bool is_whole = decimal_whole(text, &whole), is_number = decimal_parse(text, &number);
  if (is_whole && (!is_number || number < 0))
    vinci_bug("'%s' is a whole number and no number", text);
  if (is_whole && whole <= TEXT_BYTES_MAX &&
      (!text_parse_size(text, &end, &size) || *end || size != whole))
    vinci_bug("'%s' is %llu, as a size %llu", text, (unsigned long long)whole,
              (unsigned long long)size);
  (void)import_decimal(text, strlen(text), 6, &imported);
  (void)!calls_time(text, &ps);
  (void)!calls_start(text, &ns);
}

static void assign(const char *text) {
  vinci_soc *changed = soc_copy(soc), *twice = changed ? soc_copy(changed) : NULL;
  struct vinci_diag diag = {0};
  if (changed && twice && vinci_soc_set(changed, text, &diag) == VINCI_OK &&
      (vinci_soc_set(twice, text, NULL) != VINCI_OK || soc_digest(changed) != soc_digest(twice)))
    vinci_bug("'%s' gives two chips", text);
  vinci_soc_free(changed);
  vinci_soc_free(twice);
}

static void add_fault(const char *text) {
  static const char rows[] = "job,version=1,ranks=4\nprogram,ranks=0-3\nwork,us=1\n";
  struct vinci_diag diag = {0};
  struct job job;
  if (job_read("fuzz", rows, sizeof rows - 1, &job, &diag) != VINCI_OK)
    vinci_bug("%s", diag.text);
  enum vinci_status status = job_add_fault(&job, text, &diag);
  if (status != VINCI_OK && status != VINCI_E_USAGE)
    vinci_bug("status %d of a fault", (int)status);
  job_free(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!soc && !(soc = fixture_soc()))
    return 0;
  char *text = strndup((const char *)data, size);
  if (!text)
    return 0;
  read_values(text);
  read_digits(text);
  add_fault(text);
  if (strchr(text, '='))
    assign(text);
  free(text);
  return 0;
}
