/* SPDX-License-Identifier: Apache-2.0 */
/* What vinci gate says: text for people, JUnit XML, TAP and Markdown for CI. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "studies/gate/gate.h"

static void print_totals_of_point(const char *old_text, const char *new_text, FILE *out) {
  uint64_t before = strtoull(old_text, NULL, 10), now = strtoull(new_text, NULL, 10);
  struct decimal percent = decimal_percent((int64_t)(now - before), before);
  fprintf(out, ": %s -> %s cycles", old_text, new_text);
  if (*percent.text)
    fprintf(out, " (%s %%)", percent.text);
}

/* One line of a point: its verdict, its total, and why. */
static void print_line(const struct gate_report *report, const struct gate_outcome *outcome,
                       FILE *out) {
  const char *point = outcome->point;
  const char *old_text = gate_rows_text(report->baseline, point, "total_cycles");
  const char *new_text = gate_rows_text(&report->run->rows, point, "total_cycles");
  fprintf(out, "%-11s %s", gate_verdict_name(outcome->verdict), point);
  if (new_text && old_text && strcmp(new_text, old_text) != 0)
    print_totals_of_point(old_text, new_text, out);
  else if (new_text)
    fprintf(out, ": %s cycles", new_text);
  if (outcome->text)
    fprintf(out, "%s %s", new_text ? "," : ":", outcome->text);
  fputc('\n', out);
}

/* The explanation as a text, for free(). */
static char *explanation(const struct gate_report *report, const struct gate_outcome *outcome,
                         const char *prefix) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  if (outcome->change_count > 0)
    gate_explain(report->run, report->baseline, report->baseline_path, outcome, report->verbose,
                 prefix, out);
  return file_close_text(out, &text) ? text : NULL;
}

static size_t count_failing(const struct gate_verdicts *verdicts) {
  size_t count = 0;
  for (size_t i = 0; i < verdicts->count; i++)
    count += verdicts->items[i].exit_code != 0;
  return count;
}

static void print_totals(const struct gate_verdicts *verdicts, FILE *out) {
  static const char *separator[] = {"", ", "};
  bool any = false;
  fprintf(out, "%zu points: ", verdicts->count);
  for (unsigned verdict = GATE_PASS; verdict <= GATE_CRASHED; verdict++) {
    size_t count = 0;
    for (size_t i = 0; i < verdicts->count; i++)
      count += verdicts->items[i].verdict == (enum gate_verdict)verdict;
    if (count == 0)
      continue;
    fprintf(out, "%s%zu %s", separator[any], count, gate_verdict_name((enum gate_verdict)verdict));
    any = true;
  }
  fprintf(out, "%s\n", count_failing(verdicts) > 0 ? "; the gate fails" : "; the gate passes");
}

void gate_report_text(const struct gate_report *report, FILE *out) {
  for (size_t i = 0; i < report->verdicts->count; i++) {
    const struct gate_outcome *outcome = &report->verdicts->items[i];
    print_line(report, outcome, out);
    char *text = explanation(report, outcome, "  ");
    if (text)
      fputs(text, out);
    free(text);
  }
  print_totals(report->verdicts, out);
}

/* ---- JUnit ------------------------------------------------------------------------------- */

/* XML 1.0 has no control characters but three, not even as references. */
static void write_xml(const char *text, FILE *out) {
  while (*text) {
    size_t length = utf8_length(text, UTF8_BYTES_MAX);
    unsigned char c = (unsigned char)*text;
    if (length == 0 || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f) {
      fputs("&#xfffd;", out);
      length = 1;
    } else if (strchr("<>&\"'", c)) {
      fprintf(out, "&#%d;", c);
    } else if (c == '\n') {
      fputs("&#10;", out);
    } else {
      fwrite(text, 1, length, out);
    }
    text += length;
  }
}

static void write_properties(const struct gate_report *report, const struct gate_outcome *outcome,
                             FILE *out) {
  size_t count;
  size_t first = gate_rows_of(&report->run->rows, outcome->point, &count);
  fputs("      <properties>\n", out);
  for (size_t i = first; i < first + count; i++) {
    const struct gate_row *row = &report->run->rows.items[i];
    if (strcmp(row->kind, "detail") == 0)
      continue;
    fputs("        <property name=\"", out);
    write_xml(row->metric, out);
    fputs("\" value=\"", out);
    write_xml(row->value, out);
    fputs("\"/>\n", out);
  }
  fputs("      </properties>\n", out);
}

static void write_case(const struct gate_report *report, const struct gate_outcome *outcome,
                       FILE *out) {
  bool has_time = outcome->index < report->run->suite->count;
  fputs("    <testcase classname=\"", out);
  write_xml(report->run->suite->name, out);
  fputs("\" name=\"", out);
  write_xml(outcome->point, out);
  fprintf(out, "\" time=\"%.3f\">\n", has_time ? report->run->seconds[outcome->index] : 0.0);
  write_properties(report, outcome, out);
  if (outcome->exit_code != 0) {
    const char *element = outcome->verdict == GATE_CRASHED ? "error" : "failure";
    char *text = explanation(report, outcome, "");
    fprintf(out, "      <%s type=\"%s\" message=\"", element, gate_verdict_name(outcome->verdict));
    write_xml(outcome->text ? outcome->text : "metrics moved", out);
    fputs("\">", out);
    if (text)
      write_xml(text, out);
    fprintf(out, "</%s>\n", element);
    free(text);
  }
  fputs("    </testcase>\n", out);
}

static void write_versions(FILE *out) {
  fputs("    <properties>\n", out);
  fprintf(out, "      <property name=\"vinci.version\" value=\"%s\"/>\n", vinci_version());
  fprintf(out, "      <property name=\"vinci.commit\" value=\"%s\"/>\n", vinci_commit());
  fprintf(out, "      <property name=\"vinci.model_revision\" value=\"%s\"/>\n",
          vinci_model_revision());
  fputs("    </properties>\n", out);
}

void gate_report_junit(const struct gate_report *report, FILE *out) {
  const struct gate_verdicts *verdicts = report->verdicts;
  size_t errors = 0;
  double seconds = 0;
  for (size_t i = 0; i < verdicts->count; i++)
    errors += verdicts->items[i].verdict == GATE_CRASHED && verdicts->items[i].exit_code != 0;
  for (size_t i = 0; i < report->run->suite->count; i++)
    seconds += report->run->seconds[i];
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"", out);
  write_xml(report->run->suite->name, out);
  fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"%.3f\">\n",
          verdicts->count, count_failing(verdicts) - errors, errors, seconds);
  write_versions(out);
  for (size_t i = 0; i < verdicts->count; i++)
    write_case(report, &verdicts->items[i], out);
  fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- TAP --------------------------------------------------------------------------------- */

void gate_report_tap(const struct gate_report *report, FILE *out) {
  fprintf(out, "1..%zu\n", report->verdicts->count);
  for (size_t i = 0; i < report->verdicts->count; i++) {
    const struct gate_outcome *outcome = &report->verdicts->items[i];
    fprintf(out, "%sok %zu - %s %s\n", outcome->exit_code == 0 ? "" : "not ", i + 1, outcome->point,
            gate_verdict_name(outcome->verdict));
    if (outcome->text)
      fprintf(out, "# %s\n", outcome->text);
    char *text = explanation(report, outcome, "# ");
    if (text)
      fputs(text, out);
    free(text);
  }
}

/* ---- Markdown ------------------------------------------------------------------------------ */

static void write_markdown_cell(const char *text, FILE *out) {
  for (; *text; text++) {
    if (*text == '|' || *text == '\\')
      fputc('\\', out);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
  }
}

static void write_markdown_row(const struct gate_report *report, const struct gate_outcome *outcome,
                               FILE *out) {
  const char *old_text = gate_rows_text(report->baseline, outcome->point, "total_cycles");
  const char *new_text = gate_rows_text(&report->run->rows, outcome->point, "total_cycles");
  fprintf(out, "| %s | %s | %s | %s | ", outcome->point, gate_verdict_name(outcome->verdict),
          old_text ? old_text : "", new_text ? new_text : "");
  if (old_text && new_text) {
    uint64_t before = strtoull(old_text, NULL, 10);
    int64_t change = (int64_t)(strtoull(new_text, NULL, 10) - before);
    struct decimal percent = decimal_percent(change, before);
    fprintf(out, "%+" PRId64 "%s%s%s", change, *percent.text ? " (" : "", percent.text,
            *percent.text ? " %)" : "");
  }
  fputs(" | ", out);
  if (outcome->text)
    write_markdown_cell(outcome->text, out);
  else if (outcome->change_count > 0)
    fprintf(out, "%zu metrics moved", outcome->change_count);
  fputs(" |\n", out);
}

void gate_report_markdown(const struct gate_report *report, FILE *out) {
  const struct gate_verdicts *verdicts = report->verdicts;
  fprintf(out, "## Performance gate: %s\n\n", report->run->suite->name);
  print_totals(verdicts, out);
  fputs("\n| point | verdict | baseline cycles | cycles | change | why |\n"
        "|---|---|---:|---:|---:|---|\n",
        out);
  for (size_t i = 0; i < verdicts->count; i++)
    write_markdown_row(report, &verdicts->items[i], out);
  for (size_t i = 0; i < verdicts->count; i++) {
    char *text = explanation(report, &verdicts->items[i], "");
    if (text && *text)
      fprintf(out, "\n### %s\n\n```\n%s```\n", verdicts->items[i].point, text);
    free(text);
  }
}
