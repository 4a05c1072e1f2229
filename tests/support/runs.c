/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of short traces. */
#include "tests/support/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/words.h"

vinci_trace *runs_parse(const char *text, const vinci_soc *soc) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  if (vinci_trace_parse("t.csv", text, strlen(text), soc, &trace, &diag) != VINCI_OK)
    fail_msg("%s:%lu: %s", diag.path, diag.line, diag.text);
  return trace;
}

struct run runs_with(const vinci_soc *soc, const char *text,
                     const struct vinci_run_options *options) {
  struct run run = {0};
  struct vinci_run_options flat = {.struct_size = sizeof flat};
  if (options)
    flat = *options;
  flat.memory = VINCI_MEMORY_FLAT;
  vinci_trace *trace = runs_parse(text, soc);
  run.status = vinci_run(soc, trace, &flat, &run.result, &run.diag);
  vinci_trace_free(trace);
  return run;
}

struct run runs_text(const char *text) {
  vinci_soc *soc = fixture_soc();
  struct run run = runs_with(soc, text, NULL);
  vinci_soc_free(soc);
  return run;
}

uint64_t runs_cycles(const vinci_soc *soc, const char *text) {
  struct run run = runs_with(soc, text, NULL);
  if (run.status != VINCI_OK)
    fail_msg("%s", run.diag.text);
  uint64_t cycles = vinci_result_total_cycles(run.result);
  vinci_result_free(run.result);
  return cycles;
}

vinci_trace *runs_compile(const vinci_soc *soc, const char *request) {
  struct vinci_diag diag = {0};
  struct words words;
  vinci_trace *trace;
  words_split(&words, request);
  if (vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, &trace, &diag) != VINCI_OK)
    fail_msg("%s: line %lu: %s", request, diag.line, diag.text);
  return trace;
}
