/* SPDX-License-Identifier: Apache-2.0 */
/* Where the commands of `vinci debug` come from. */
#ifndef VINCI_CLI_DEBUG_INPUT_H
#define VINCI_CLI_DEBUG_INPUT_H

#include "cli/debug/session.h"

/*
 * Commands of a file, "-" being standard input, up to its end or `quit`, each one printed behind
 * the prompt. The first command that is wrong ends the session; the diagnostic has its line.
 */
VINCI_MUST_CHECK enum vinci_status input_file(struct session *session, const char *path,
                                              struct vinci_diag *diag);
/* Commands of a text, divided by ';'. */
VINCI_MUST_CHECK enum vinci_status input_text(struct session *session, const char *text,
                                              struct vinci_diag *diag);
/* Commands of a terminal. Errors are printed, and the session goes on. */
void input_terminal(struct session *session);
/* Whether lines of a terminal can be edited: whether libedit was there when vinci was built. */
bool input_edits(void);

#endif
