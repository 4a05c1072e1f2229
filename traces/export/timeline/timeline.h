/* SPDX-License-Identifier: Apache-2.0 */
/* Which timelines a result folder gets, and what of the run they show. */
#ifndef VINCI_TRACES_EXPORT_TIMELINE_H
#define VINCI_TRACES_EXPORT_TIMELINE_H

#include "core/vinci_timeline.h"

/* Formats: id, name of the option, what it is. */
#define TIMELINE_LIST(X)                                                                           \
  X(PERFETTO, "perfetto", "trace.pftrace, for ui.perfetto.dev")                                    \
  X(CHROME, "chrome", "trace.json, for chrome://tracing and MindStudio Insight")                   \
  X(MSPROF, "msprof",                                                                              \
    "a folder OPPROF_*, as the vendor's simulator leaves, for MindStudio Insight")                 \
  X(VCD, "vcd", "trace.vcd, for GTKWave")

enum timeline_format {
#define X(id, name, text) TIMELINE_##id,
  TIMELINE_LIST(X)
#undef X
      TIMELINE_COUNT
};

enum { TIMELINE_CLUSTERS_MAX = 256 };

/* The options of vinci_result_write_folder_with(), read. */
struct timeline_choice {
  unsigned formats; /* bits 1 << enum timeline_format */
  bool all_cores;
  bool cluster[TIMELINE_CLUSTERS_MAX]; /* cores by the number N of "coreN" */
  bool one_core;                       /* of these, only the one with an index in the result: */
  uint32_t core;
  uint64_t first_cycle, last_cycle; /* of the chip's core clock; bars that reach in are shown */
  const char *source;               /* text of the trace, for report.json; NULL: not known */
  uint64_t min_cycles;              /* what is shorter is left out, with its arrows */
  bool vendor;                      /* no counters that the vendor's timelines do not have */
};

/* options may be NULL: a Perfetto timeline of all. VINCI_E_USAGE names what cannot be read. */
VINCI_MUST_CHECK enum vinci_status timeline_choose(const struct vinci_timeline_options *options,
                                                   struct timeline_choice *out,
                                                   struct vinci_diag *diag);
bool timeline_has_core(const struct timeline_choice *choice, uint32_t cluster);

#endif
