/* SPDX-License-Identifier: Apache-2.0 */
/* check.json: what the checks have found, for scripts. Keys and their order are fixed. */
#include "core/check/check.h"
#include "traces/export/export.h"

enum { CHECK_SCHEMA = 1 };

static void write_event(struct json_writer *json, const struct vinci_findings *findings,
                        const struct finding_event *event, bool access) {
  char block[32];
  finding_block_text(event, block, sizeof block);
  json_object(json, NULL, true);
  json_text(json, "file", findings->path);
  json_number(json, "line", event->line);
  json_text(json, "instruction", isa_row((enum isa_op)event->op)->name);
  json_text(json, "block", block);
  if (event->pipe < PIPE_ALL)
    json_text(json, "pipe", pipe_name((enum pipe)event->pipe));
  if (access)
    json_text(json, "access", event->write ? "write" : "read");
  json_end(json);
}

static void write_finding(struct json_writer *json, const struct vinci_findings *findings,
                          const struct check_finding *finding) {
  enum finding_kind kind = (enum finding_kind)finding->kind;
  json_object(json, NULL, false);
  json_text(json, "level", finding_level_name(finding_level(finding)));
  json_text(json, "check", check_name(finding_check(finding)));
  json_text(json, "kind", finding_key(kind));
  json_text(json, "kernel", findings->kernel_names[finding->kernel]);
  json_number(json, "count", finding->count);
  if (finding->has_range) {
    json_text(json, "space", space_name((enum space)finding->space));
    json_number(json, "address", (uint64_t)finding->address);
    json_number(json, "bytes", finding->bytes);
  }
  json_text(json, "detail", finding->detail);
  json_array(json, "events", false);
  for (unsigned i = 0; i < FINDING_EVENTS; i++)
    if (finding->event[i].given)
      write_event(json, findings, &finding->event[i], finding->has_range);
  json_end(json);
  json_end(json);
}

enum vinci_status vinci_findings_write_json(const vinci_findings *findings, FILE *out,
                                            struct vinci_diag *diag) {
  struct json_writer json;
  json_start(&json, out);
  json_object(&json, NULL, false);
  json_number(&json, "schema", CHECK_SCHEMA);
  json_text(&json, "trace", findings->path);
  json_array(&json, "checks", true);
#define X(id, bit, name, text)                                                                     \
  if (findings->checks & VINCI_CHECK_##id)                                                         \
    json_text(&json, NULL, name);
  VINCI_CHECK_LIST(X)
#undef X
  json_end(&json);
  json_number(&json, "executed_instructions", findings->executed_instructions);
  json_number(&json, "errors", vinci_findings_count(findings));
  json_bool(&json, "partial", findings->partial);
  json_number(&json, "warnings", vinci_findings_warnings(findings));
  const struct program_scalar *scalar = &findings->scalar;
  uint64_t accesses = scalar->gm + scalar->ub;
  json_number(&json, "scalar_accesses_checked", scalar->checked ? accesses : 0);
  if (scalar->uncounted)
    json_null(&json, "scalar_accesses_not_checked");
  else
    json_number(&json, "scalar_accesses_not_checked", scalar->checked ? 0 : accesses);
  json_array(&json, "findings", false);
  for (size_t i = 0; i < findings->count; i++)
    write_finding(&json, findings, &findings->items[i]);
  json_end(&json);
  json_end(&json);
  return export_flush(out, "check.json", diag);
}
