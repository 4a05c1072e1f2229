/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the trace reader: any bytes are read without harm, and what is
 * accepted survives writing and reading.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "tests/support/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vinci_soc *soc;

/* The trace as canonical text; the caller frees the text. */
static char *write_text(const vinci_trace *trace, size_t *size) {
  char *text = NULL;
  FILE *out = open_memstream(&text, size);
  if (!out || vinci_trace_write(trace, out, NULL) != VINCI_OK)
    vinci_bug("an accepted trace cannot be written");
  fclose(out);
  return text;
}

static void check_round_trip(const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_trace *again;
  size_t once_size, twice_size;
  char *once = write_text(trace, &once_size);
  if (vinci_trace_parse("again", once, once_size, soc, &again, &diag) != VINCI_OK)
    vinci_bug("canonical text is rejected, line %lu: %s", diag.line, diag.text);
  char *twice = write_text(again, &twice_size);
  if (once_size != twice_size || memcmp(once, twice, once_size) != 0)
    vinci_bug("canonical text changes when it is read and written");
  free(once);
  free(twice);
  vinci_trace_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  if (!soc && !(soc = fixture_soc()))
    return 0;
  enum vinci_status status =
      vinci_trace_parse("fuzz", (const char *)data, size, soc, &trace, &diag);
  if (status != VINCI_OK && status != VINCI_E_INPUT)
    vinci_bug("status %d of an input", (int)status);
  if (status != diag.status || (status == VINCI_OK) != (trace != NULL))
    vinci_bug("status %d, diagnostic %d", (int)status, (int)diag.status);
  if (trace)
    check_round_trip(trace);
  vinci_trace_free(trace);
  return 0;
}
