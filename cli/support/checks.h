/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci check` and `vinci run --check` share: the choice of checks, and their report. */
#ifndef VINCI_CLI_SUPPORT_CHECKS_H
#define VINCI_CLI_SUPPORT_CHECKS_H

#include "cli/support/monitor.h"
#include "cli/support/options.h"

/* Reads names such as "memcheck" into enum vinci_checks, 0 for none. */
VINCI_MUST_CHECK enum vinci_status checks_choose(const struct text_list *names, unsigned *checks,
                                                 struct vinci_diag *diag);
/*
 * Checks a trace. report (may be NULL) gets what was found for people, json (may be NULL) and
 * check.json in folder (may be NULL) the same for scripts. VINCI_E_CHECK when there is something,
 * VINCI_E_LIMIT with what was found so far when the monitor asks for an end. When nothing was
 * found, `unchecked` (may be NULL) says what was not looked at; empty: nothing.
 */
enum { CHECKS_UNCHECKED_BYTES = 512 };
VINCI_MUST_CHECK enum vinci_status checks_run(const vinci_soc *soc, const vinci_trace *trace,
                                              unsigned checks, struct monitor *monitor,
                                              FILE *report, FILE *json, const char *folder,
                                              char unchecked[CHECKS_UNCHECKED_BYTES],
                                              struct vinci_diag *diag);

#endif
