/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of a run: which formats a result folder gets, and what of the run they show. */
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

#ifdef __cplusplus
}
#endif

#endif
