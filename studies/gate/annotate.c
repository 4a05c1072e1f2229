/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What vinci gate tells the pages on which people review changes: workflow commands of GitHub
 * Actions, and the code quality report of GitLab. Both show a text at a line of a file: that of the
 * suite that names the point, or the trace of a folder. Forms: "Workflow commands for GitHub
 * Actions" (docs.github.com), and "Code Quality report format" (docs.gitlab.com).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "studies/gate/gate.h"

enum { SUITE_BYTES_MAX = 32 << 20 };

/* ---- places ---------------------------------------------------------------------------------- */

struct place {
  const char *path;
  unsigned long line;
};

/* Pages know files by their way from the top of the repository. */
static const char *without_dot(const char *path) {
  while (strncmp(path, "./", 2) == 0)
    path += 2;
  return path;
}

/* The line of a text on which a name stands in quotes; 0: none. */
static unsigned long line_of(const char *text, const char *name) {
  size_t length = strlen(name);
  unsigned long line = 1;
  for (const char *at = text; at && *at; at++) {
    line += *at == '\n';
    if ((*at == '"' || *at == '\'') && strncmp(at + 1, name, length) == 0 && at[length + 1] == *at)
      return line;
  }
  return 0;
}

static struct place place_of(const struct gate_report *report, const char *suite_text,
                             const struct gate_outcome *outcome) {
  const struct gate_suite *suite = report->run->suite;
  unsigned long line = line_of(suite_text, outcome->point);
  const char *trace =
      outcome->index < suite->count ? suite->points[outcome->index].spec.workload.trace : NULL;
  if (line == 0 && trace)
    return (struct place){without_dot(trace), 1};
  return (struct place){without_dot(suite->path), line > 0 ? line : 1};
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What is told of a point, in lines; for free(). */
static char *message_of(const struct gate_report *report, const struct gate_outcome *outcome) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  fprintf(out, "%s %s", outcome->point, gate_verdict_name(outcome->verdict));
  if (outcome->text)
    fprintf(out, ": %s", outcome->text);
  fputc('\n', out);
  if (outcome->change_count > 0)
    gate_explain_numbers(report->run, report->baseline, outcome, report->verbose, "", out);
  if (!file_close_text(out, &text))
    return NULL;
  while (length > 0 && text[length - 1] == '\n')
    text[--length] = '\0';
  return text;
}

/* ---- GitHub ---------------------------------------------------------------------------------- */

/* Escapes of a message; those of a property have ':' and ',' besides. */
static void write_escaped(const char *text, bool property, FILE *out) {
  for (; *text; text++) {
    bool escaped = strchr("%\r\n", *text) || (property && strchr(":,", *text));
    if (escaped)
      fprintf(out, "%%%02X", (unsigned char)*text);
    else
      fputc(*text, out);
  }
}

static const char *command_of(const struct gate_outcome *outcome) {
  return outcome->exit_code != 0 ? "error" : "notice";
}

static void write_annotation(const struct gate_report *report, const struct gate_outcome *outcome,
                             struct place place, FILE *out) {
  char *text = message_of(report, outcome);
  fprintf(out, "::%s file=", command_of(outcome));
  write_escaped(place.path, true, out);
  fprintf(out, ",line=%lu,title=", place.line);
  write_escaped("vinci gate ", true, out);
  write_escaped(report->run->suite->name, true, out);
  write_escaped(": ", true, out);
  write_escaped(outcome->point, true, out);
  fputs("::", out);
  write_escaped(text ? text : "", false, out);
  fputc('\n', out);
  free(text);
}

/* GitHub shows ten annotations of a kind in a step: the last one of more tells how many. */
static void write_kind(const struct gate_report *report, const char *suite_text,
                       const char *command, FILE *out) {
  enum { SHOWN = 10 };
  size_t count = 0, written = 0;
  for (size_t i = 0; i < report->verdicts->count; i++) {
    const struct gate_outcome *outcome = &report->verdicts->items[i];
    count += outcome->verdict != GATE_PASS && strcmp(command_of(outcome), command) == 0;
  }
  size_t most = count > SHOWN ? SHOWN - 1 : count;
  for (size_t i = 0; written < most; i++) {
    const struct gate_outcome *outcome = &report->verdicts->items[i];
    if (outcome->verdict == GATE_PASS || strcmp(command_of(outcome), command) != 0)
      continue;
    write_annotation(report, outcome, place_of(report, suite_text, outcome), out);
    written++;
  }
  if (count == most)
    return;
  fprintf(out, "::%s file=", command);
  write_escaped(without_dot(report->run->suite->path), true, out);
  fprintf(out, ",line=1::%zu more points; the log of the job has them\n", count - most);
}

void gate_report_github(const struct gate_report *report, FILE *out) {
  size_t length;
  char *text = file_read(report->run->suite->path, SUITE_BYTES_MAX, &length, NULL);
  write_kind(report, text, "error", out);
  write_kind(report, text, "notice", out);
  free(text);
}

/* ---- GitLab ---------------------------------------------------------------------------------- */

static void write_json_text(const char *text, FILE *out) {
  fputc('"', out);
  while (*text) {
    size_t length = utf8_length(text, UTF8_BYTES_MAX);
    unsigned char c = (unsigned char)*text;
    if (length == 0) {
      fputs("\\ufffd", out);
      length = 1;
    } else if (c == '"' || c == '\\') {
      fprintf(out, "\\%c", c);
    } else if (c < ' ') {
      fprintf(out, "\\u%04x", c);
    } else {
      fwrite(text, 1, length, out);
    }
    text += length;
  }
  fputc('"', out);
}

static const char *severity_of(const struct gate_outcome *outcome) {
  switch (outcome->verdict) {
  case GATE_CRASHED:
  case GATE_WRONG:
    return "blocker";
  case GATE_UNSAFE:
  case GATE_UNEXPLAINED:
    return "critical";
  case GATE_REGRESSED:
    return "major";
  default:
    return outcome->exit_code != 0 ? "minor" : "info";
  }
}

/* The same finding has the same fingerprint in every run, whatever its numbers. */
static uint64_t fingerprint_of(const struct gate_report *report,
                               const struct gate_outcome *outcome) {
  uint64_t digest = digest_string(DIGEST_SEED, report->run->suite->name);
  digest = digest_string(digest, outcome->point);
  return digest_string(digest, gate_verdict_name(outcome->verdict));
}

static void write_finding(const struct gate_report *report, const struct gate_outcome *outcome,
                          struct place place, FILE *out) {
  char *text = message_of(report, outcome);
  fputs("  {\"description\": ", out);
  write_json_text(text ? text : "", out);
  fprintf(out, ",\n   \"check_name\": \"vinci gate %s\"", gate_verdict_name(outcome->verdict));
  fprintf(out, ",\n   \"fingerprint\": \"%016" PRIx64 "\"", fingerprint_of(report, outcome));
  fprintf(out, ",\n   \"severity\": \"%s\",\n   \"location\": {\"path\": ", severity_of(outcome));
  write_json_text(place.path, out);
  fprintf(out, ", \"lines\": {\"begin\": %lu}}}", place.line);
  free(text);
}

void gate_report_gitlab(const struct gate_report *report, FILE *out) {
  size_t length;
  char *text = file_read(report->run->suite->path, SUITE_BYTES_MAX, &length, NULL);
  bool any = false;
  fputs("[", out);
  for (size_t i = 0; i < report->verdicts->count; i++) {
    const struct gate_outcome *outcome = &report->verdicts->items[i];
    if (outcome->verdict == GATE_PASS)
      continue;
    fputs(any ? ",\n" : "\n", out);
    write_finding(report, outcome, place_of(report, text, outcome), out);
    any = true;
  }
  fputs(any ? "\n]\n" : "]\n", out);
  free(text);
}
