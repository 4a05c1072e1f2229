/* SPDX-License-Identifier: Apache-2.0 */
/* The report of findings for people, in the shape of the vendor's msSanitizer. */
#include <inttypes.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/sheet.h"
#include "core/check/check.h"

static const char *const core_words[CORE_KIND_COUNT] = {
    [CORE_AIC] = "aic", [CORE_AIV] = "aiv", [CORE_AICORE] = "aicore"};

void finding_block_text(const struct finding_event *event, char *buffer, size_t size) {
  if (event->mixed && event->core_kind == CORE_AIV)
    snprintf(buffer, size, "aiv(%" PRIu32 ".%" PRIu32 ")", event->block, event->member);
  else
    snprintf(buffer, size, "%s(%" PRIu32 ")", core_words[event->core_kind], event->block);
}

static void write_place(FILE *out, const struct vinci_findings *findings,
                        const struct finding_event *event) {
  fprintf(out, "======    #0 %s:%" PRIu32 " %s\n", findings->path, event->line,
          isa_row((enum isa_op)event->op)->name);
}

/* Two accesses that have no order. */
static void write_pair(FILE *out, const struct vinci_findings *findings,
                       const struct check_finding *finding) {
  for (unsigned i = 0; i < FINDING_EVENTS; i++) {
    const struct finding_event *event = &finding->event[i];
    char block[32];
    finding_block_text(event, block, sizeof block);
    fprintf(out, "======    PIPE_%s %s at 0x%" PRIx64 ", %" PRIu64 " bytes, in block %s\n",
            pipe_name((enum pipe)event->pipe), event->write ? "Write" : "Read",
            (uint64_t)finding->address, finding->bytes, block);
    write_place(out, findings, event);
  }
}

static void write_single(FILE *out, const struct vinci_findings *findings,
                         const struct check_finding *finding) {
  const struct finding_event *event = &finding->event[1];
  char block[32];
  if (finding->has_range)
    fprintf(out, "======    at 0x%" PRIx64 " on %s in %s\n", (uint64_t)finding->address,
            space_name((enum space)finding->space), findings->kernel_names[finding->kernel]);
  if (finding->detail[0])
    fprintf(out, "======    %s\n", finding->detail);
  if (!event->given)
    return;
  finding_block_text(event, block, sizeof block);
  if (finding->kind == FINDING_DEADLOCK)
    ;
  else if (event->pipe < PIPE_ALL)
    fprintf(out, "======    in block %s on PIPE_%s\n", block, pipe_name((enum pipe)event->pipe));
  else
    fprintf(out, "======    in block %s\n", block);
  write_place(out, findings, event);
  if (finding->event[0].given) {
    fprintf(out, "======    %s\n", finding->kind == FINDING_UNINITIALIZED ? "from" : "and");
    write_place(out, findings, &finding->event[0]);
  }
}

/* What nearly every program does takes a line. */
static void write_note(FILE *out, const struct vinci_findings *findings,
                       const struct check_finding *finding) {
  const struct finding_event *event = &finding->event[1];
  fprintf(out,
          "====== NOTE: %s: \"%s\" in %s, first %s:%" PRIu32 " %s; see the table in FORMAT.md\n",
          finding_text((enum finding_kind)finding->kind),
          disputed_name((enum disputed)finding->topic), findings->kernel_names[finding->kernel],
          findings->path, event->line, isa_row((enum isa_op)event->op)->name);
}

static void write_finding(FILE *out, const struct vinci_findings *findings,
                          const struct check_finding *finding) {
  const char *kernel = findings->kernel_names[finding->kernel];
  bool pair =
      finding->event[0].given && finding->has_range && finding->kind != FINDING_UNINITIALIZED;
  fprintf(out, "====== %s: %s", finding_level_name(finding_level(finding)),
          finding_text((enum finding_kind)finding->kind));
  if (pair && finding->kind != FINDING_OVERLAP)
    fprintf(out, " at %s in %s:\n", space_name((enum space)finding->space), kernel);
  else if (finding->has_range)
    fprintf(out, " of size %" PRIu64 "\n", finding->bytes);
  else
    fprintf(out, " in %s\n", kernel);
  if (pair)
    write_pair(out, findings, finding);
  else
    write_single(out, findings, finding);
  if (finding->count > 1)
    fprintf(out, "======    %" PRIu64 " times in all; the first is shown\n", finding->count);
}

static void write_count(FILE *out, const char *before, size_t count, const char *what) {
  fprintf(out, "%s%zu %s%s", before, count, what, count == 1 ? "" : "s");
}

static void write_summary(FILE *out, const struct vinci_findings *findings) {
  write_count(out, "====== SUMMARY: ", findings->levels[LEVEL_ERROR], "error");
  if (findings->levels[LEVEL_WARNING] > 0)
    write_count(out, ", ", findings->levels[LEVEL_WARNING], "warning");
  if (findings->levels[LEVEL_NOTE] > 0)
    write_count(out, ", ", findings->levels[LEVEL_NOTE], "note");
  fprintf(out, "%s\n", findings->partial ? " so far; the program was not executed to its end" : "");
}

static void write_all(FILE *out, const vinci_findings *findings) {
  for (size_t i = 0; i < findings->count; i++) {
    if (finding_level(&findings->items[i]) == LEVEL_NOTE) {
      write_note(out, findings, &findings->items[i]);
      continue;
    }
    write_finding(out, findings, &findings->items[i]);
    fprintf(out, "======\n");
  }
  if (findings->count > findings->levels[LEVEL_NOTE] || findings->partial)
    write_summary(out, findings);
  if (*findings->unchecked_text)
    fprintf(out, "====== %s\n", findings->unchecked_text);
}

enum vinci_status vinci_findings_write_text(const vinci_findings *findings, FILE *out,
                                            struct vinci_diag *diag) {
  struct sheet_lines lines;
  write_all(sheet_lines_begin(&lines, out), findings);
  sheet_lines_end(&lines);
  if (fflush(out) != 0 || ferror(out))
    return diag_error(diag, VINCI_E_IO, "cannot write the report of the checks");
  return VINCI_OK;
}
