/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of a run: which formats a result folder gets, and what of the run they show. The page
 * of a result folder. */
#ifndef VINCI_TIMELINE_H
#define VINCI_TIMELINE_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which timelines a result folder has, and what they show. Zero-initialised but for struct_size:
 * all that max_events of the run has kept, for Perfetto. */
struct vinci_timeline_options {
  size_t struct_size;  /* sizeof(struct vinci_timeline_options) */
  const char *formats; /* "perfetto,chrome,msprof,vcd" or some of them, or "none"; NULL: perfetto */
  const char *core_id; /* numbers N of the cores "coreN..." as "0|31"; NULL: all */
  const char *window;  /* "FIRST:LAST", cycles of the chip's core clock; NULL: the whole run */
  uint64_t min_cycles; /* leaves out what is shorter */
  const char *source; /* text of the trace: report.json quotes its hottest lines; NULL: not known */
};

/* vinci_result_write_folder() with the timelines that options name (may be NULL). VINCI_E_USAGE
 * when options cannot be read: vinci_timeline_check() tells without a result. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_write_folder_with(const vinci_result *result, const char *folder,
                               const struct vinci_timeline_options *options,
                               struct vinci_diag *diag);
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_timeline_check(const struct vinci_timeline_options *options, struct vinci_diag *diag);

/*
 * Writes the page of a result folder, one HTML file that loads nothing else, as `vinci report`: of
 * folders of runs, sweeps, sensitivity studies, lists, networks and jobs. other: NULL, or the
 * folder of a run that is compared with `folder`. output: the file; NULL: report.html in `folder`.
 * VINCI_E_USAGE for folders without results, for two that cannot be compared, and where this
 * library was built without the page; VINCI_E_INPUT when a file is damaged or of another version.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_report_write(const char *folder,
                                                                const char *other,
                                                                const char *output,
                                                                struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
