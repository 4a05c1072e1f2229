/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writers of results share: a small JSON writer and the single files of a result
 * folder. Everything is computed from the counters in
 * integers, so the bytes written do not depend on host, build or locale.
 */
#ifndef VINCI_TRACES_EXPORT_EXPORT_H
#define VINCI_TRACES_EXPORT_EXPORT_H

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/unread.h"
#include "core/result/result_counters.h"
#include "traces/export/timeline/timeline.h"

/* ---- JSON ------------------------------------------------------------------ */

enum { JSON_DEPTH_MAX = 12 };

/* Writes to a FILE; errors show in ferror(). Keys are NULL inside arrays. */
struct json_writer {
  FILE *out;
  unsigned depth;
  bool first[JSON_DEPTH_MAX];
  bool one_line[JSON_DEPTH_MAX]; /* this level and all below on one line */
  bool array[JSON_DEPTH_MAX];
};

void json_start(struct json_writer *json, FILE *out);
/* Inside an object that others have begun, which has keys already and which they end. */
void json_continue(struct json_writer *json, FILE *out);
void json_object(struct json_writer *json, const char *key, bool one_line);
void json_array(struct json_writer *json, const char *key, bool one_line);
void json_end(struct json_writer *json);
void json_number(struct json_writer *json, const char *key, uint64_t value);
void json_decimal(struct json_writer *json, const char *key, struct decimal value);
void json_counter(struct json_writer *json, const struct counter *row, uint64_t value);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_null(struct json_writer *json, const char *key);
void json_hex64(struct json_writer *json, const char *key, uint64_t value);
/* Text is escaped; bytes that are not UTF-8 become U+FFFD. The first writes a lone string. */
void json_string(FILE *out, const char *value);
void json_text(struct json_writer *json, const char *key, const char *value);
/* A text in parts, of any length. */
void json_text_begin(struct json_writer *json, const char *key);
void json_text_add(struct json_writer *json, const char *value);
void json_text_end(struct json_writer *json);
/* The key "unread": {file, line, what, name, why} for each name of both; more may be NULL. Without
 * the folder of the file. */
void json_unread(struct json_writer *json, const struct unread *unread, const struct unread *more);

/* ---- files of a result folder ---------------------------------------------- */

/* Accesses of compiled scalar code, which have no data cache and no bytes: a number, null when the
 * code does not count them, nothing for a trace. */
void export_scalar_accesses(struct json_writer *json, const struct vinci_result *result);
/* Each writes one whole file; errors show in ferror() or are VINCI_E_NOMEM. */
/* The ten hottest lines of the report, nothing when nothing was recorded; hotspots.csv. */
enum vinci_status export_hotspots_text(const struct vinci_result *result, FILE *out,
                                       struct vinci_diag *diag);
enum vinci_status export_hotspots_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag);
/* The parts of the critical path, one a line. */
enum vinci_status export_critical_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag);
enum vinci_status export_chrome(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag);
enum vinci_status export_perfetto(const struct vinci_result *result,
                                  const struct timeline_choice *choice, FILE *out,
                                  struct vinci_diag *diag);
enum vinci_status export_vcd(const struct vinci_result *result,
                             const struct timeline_choice *choice, FILE *out,
                             struct vinci_diag *diag);
enum vinci_status export_pipe_csv(const struct vinci_result *result, FILE *out,
                                  struct vinci_diag *diag);
enum vinci_status export_memory_csv(const struct vinci_result *result, FILE *out,
                                    struct vinci_diag *diag);
enum vinci_status export_arithmetic_csv(const struct vinci_result *result, FILE *out,
                                        struct vinci_diag *diag);
enum vinci_status export_l2_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag);
enum vinci_status export_l0_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag);
enum vinci_status export_ub_csv(const struct vinci_result *result, FILE *out,
                                struct vinci_diag *diag);
enum vinci_status export_conflict_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag);
/* summary.json; with `trace` not NULL that text comes first, under the key "trace". */
enum vinci_status export_summary(const struct vinci_result *result, const char *trace, FILE *out,
                                 struct vinci_diag *diag);
enum vinci_status export_basic_csv(const struct vinci_result *result, FILE *out,
                                   struct vinci_diag *diag);

/* Sum over all kernels. */
bool export_is_mixed(const struct vinci_result *result);

/* File name of the trace as a JSON string, for free(); NULL when memory is short. The folder that
 * it lay in is not part of a result. */
char *export_trace_name(const struct vinci_result *result);

/* Writes a file under a temporary name and renames the file when it is whole. */
typedef enum vinci_status (*export_writer)(const void *context, FILE *out, struct vinci_diag *diag);
enum vinci_status export_file(const char *folder, const char *name, export_writer writer,
                              const void *context, struct vinci_diag *diag);

/* Flushes and reports a failed write of `what` as VINCI_E_IO. */
enum vinci_status export_flush(FILE *out, const char *what, struct vinci_diag *diag);

#endif
