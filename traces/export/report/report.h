/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.json and slices.json of a result folder: all that the page of `vinci report` shows of a
 * run. Integers, as everywhere; the page computes shares. No part depends on the host, so the
 * same run leaves the same bytes.
 */
#ifndef VINCI_TRACES_EXPORT_REPORT_H
#define VINCI_TRACES_EXPORT_REPORT_H

#include "traces/export/export.h"

/* Raised when a key of report.json or slices.json changes its meaning. */
enum { REPORT_SCHEMA = 1 };

/* Both have the type of a timeline of export.h. Slices are the bars of lanes.h that take time. */
enum vinci_status export_report(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag);
enum vinci_status export_slices(const struct vinci_result *result,
                                const struct timeline_choice *choice, FILE *out,
                                struct vinci_diag *diag);

/* Parts of report.json: arithmetic, bytes, memories and their use over time; hot spots with the
 * text of their lines, from `source`, the trace (NULL: not known). */
void report_memory(struct json_writer *json, const struct vinci_result *result);
VINCI_MUST_CHECK enum vinci_status report_hotspots(struct json_writer *json,
                                                   const struct vinci_result *result,
                                                   const char *source, struct vinci_diag *diag);

#endif
