/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign kernels in a process of their own: `--isolate`. The verb goes on in a child with limits
 * of time and memory, without network and without other programs, which writes into folders of its
 * own. The parent waits, and tells how the child has ended when the child cannot.
 */
#ifndef VINCI_CLI_SUPPORT_ISOLATE_H
#define VINCI_CLI_SUPPORT_ISOLATE_H

#include "cli/support/options.h"

enum { ISOLATE_SECONDS = 600, ISOLATE_MIB = 4096 };

struct isolate_settings {
  bool asked;
  uint64_t seconds, mib; /* 0: the numbers above */
  int to_parent;         /* in the child: where the exit code goes */
  bool is_child;
};

/* clang-format off */
#define ISOLATE_ROWS(type, field)                                                                  \
  {"isolate", 0, OPTION_FLAG, offsetof(type, field.asked), NULL,                                   \
   "execute in a process of its own, with limits of time and memory, without" \
   " network, writing into result folders alone", 0, 0},                                           \
  {"isolate-time", 0, OPTION_NUMBER, offsetof(type, field.seconds), "SECONDS",                     \
   "with --isolate: end that process after so long (default 600), exit code 7", 1, 864000},        \
  {"isolate-memory", 0, OPTION_NUMBER, offsetof(type, field.mib), "MIB",                           \
   "with --isolate: its memory (default 4096)", 64, 1 << 24}
/* clang-format on */

/* Goes on in a child, when that was asked for; the parent exits with what the child has to say.
 * The child may write into the folder `output` and that of the file `record`; NULL: none. */
VINCI_MUST_CHECK enum vinci_status isolate_begin(struct isolate_settings *settings,
                                                 const char *output, const char *record, bool quiet,
                                                 struct vinci_diag *diag);
/* The last step of the verb: hands the exit code to the parent. */
int isolate_end(const struct isolate_settings *settings, int exit_code);

#endif
