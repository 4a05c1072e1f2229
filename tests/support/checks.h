/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the checks: short traces, and what is found in them. */
#ifndef VINCI_TESTS_SUPPORT_CHECKS_H
#define VINCI_TESTS_SUPPORT_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/check/check.h"
#include "tests/support/runs.h"

#define COPY_IN "copy_gm_to_ubuf,dst=ubx,src=x,len_burst=8\n"
#define COPY_OUT "copy_ubuf_to_gm,dst=y,src=uby,len_burst=8\n"
#define SET(from, to) "set_flag,src=" #from ",dst=" #to ",id=0\n"
#define WAIT(from, to) "wait_flag,src=" #from ",dst=" #to ",id=0\n"
#define BARRIER(pipe) "pipe_barrier,pipe=" #pipe "\n"

/* Lines 1 to 7: two tensors of 2048 halves, two buffers of 4096 bytes, the stream. */
#define CHECK_HEAD(blocks)                                                                         \
  HEAD(blocks)                                                                                     \
  "tensor,name=x,dtype=fp16,shape=2048,io=in\n"                                                    \
  "tensor,name=y,dtype=fp16,shape=2048,io=out\n"                                                   \
  "buffer,name=ubx,space=UB,address=0,size=4096\n"                                                 \
  "buffer,name=uby,space=UB,address=4096,size=4096\n" AIV

/* What some checks (0: all) find in a trace; the caller frees it, NULL when nothing. */
static inline vinci_findings *find_with(const vinci_soc *soc, const char *text, unsigned checks) {
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options, .checks = checks};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(text, soc);
  enum vinci_status status = vinci_check(soc, trace, &options, &findings, &diag);
  vinci_trace_free(trace);
  if (status != VINCI_OK && status != VINCI_E_CHECK)
    fail_msg("%s: %s", vinci_status_text(status), diag.text);
  if (status == VINCI_E_CHECK)
    return findings;
  assert_int_equal(vinci_findings_count(findings), 0);
  vinci_findings_free(findings);
  return NULL;
}

/* The line that ends a report: which checks were not run; "" when all were (0). */
static inline const char *not_run(unsigned checks) {
  static char line[128];
  const char *before = "====== not run: ";
  *line = '\0';
#define X(id, bit, name, text)                                                                     \
  if (checks != 0 && !(checks & VINCI_CHECK_##id)) {                                               \
    strcat(strcat(line, before), name);                                                            \
    before = ", ";                                                                                 \
  }
  VINCI_CHECK_LIST(X)
#undef X
  return *line ? strcat(line, "\n") : line;
}

static inline void cut_not_run(char *report, unsigned checks) {
  size_t length = strlen(report), tail = strlen(not_run(checks));
  assert_true(length >= tail);
  assert_string_equal(report + length - tail, not_run(checks));
  report[length - tail] = '\0';
}

/* The report of a trace without that line, which has to be there; "" when nothing is found. */
static inline const char *report_of(const vinci_soc *soc, const char *text, unsigned checks) {
  static char report[16384];
  struct vinci_diag diag = {0};
  vinci_findings *findings = find_with(soc, text, checks);
  memset(report, 0, sizeof report);
  if (!findings)
    return report;
  FILE *out = fmemopen(report, sizeof report - 1, "w");
  assert_non_null(out);
  assert_int_equal(vinci_findings_write_text(findings, out, &diag), VINCI_OK);
  fclose(out);
  vinci_findings_free(findings);
  cut_not_run(report, checks);
  return report;
}

static inline void expect_report(const char *text, unsigned checks, const char *expected) {
  assert_string_equal(report_of(fixture_shared, text, checks), expected);
}

static inline void expect_clean(const char *text) {
  assert_string_equal(report_of(fixture_shared, text, 0), "");
}

/* Some of the checks find something. */
static inline void expect_found(const char *text, unsigned checks) {
  vinci_findings *findings = find_with(fixture_shared, text, checks);
  assert_non_null(findings);
  vinci_findings_free(findings);
}

/* Whether there is a finding of a kind whose later instruction stands in a line. */
static inline bool finds(const char *text, unsigned checks, enum finding_kind kind, uint32_t line) {
  vinci_findings *findings = find_with(fixture_shared, text, checks);
  bool found = false;
  for (size_t i = 0; findings && i < findings->count; i++)
    found |= findings->items[i].kind == kind && findings->items[i].event[1].line == line;
  vinci_findings_free(findings);
  return found;
}

#endif
