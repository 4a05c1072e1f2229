/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs share that take operators of a user's library: --library=DIR OPERATOR NAME=VALUE... */
#ifndef VINCI_CLI_SUPPORT_LIBRARY_H
#define VINCI_CLI_SUPPORT_LIBRARY_H

#include "cli/support/kernel.h"
#include "cli/support/options.h"
#include "kernels/library/library.h"

/* clang-format off */
#define LIBRARY_OPTION_ROW(type, field)                                                            \
  {"library", 0, OPTION_TEXT, offsetof(type, field), "DIR[:DIR]",                                  \
   "the operator is that of a library: folders with its sources, host tiling included (default: "  \
   "$VINCI_LIBRARY, for names that no operator of vinci has)", 0, 0}
/* clang-format on */

/* Whether words name an operator of a library: --library says so, or VINCI_LIBRARY, and nothing
 * else has the name. */
bool library_is_meant(const char *folders, const struct text_list *words);
/* kernel: options of kernels that the tiling of an operator decides are refused; NULL: none. */
VINCI_MUST_CHECK enum vinci_status library_open_for(struct library *library, const char *folders,
                                                    const char *data,
                                                    const struct kernel_settings *kernel,
                                                    struct vinci_diag *diag);
/* The operator and its call, the first word and the others, as a call of a kernel. For
 * library_call_free(). */
VINCI_MUST_CHECK enum vinci_status library_take(const struct library *library, const vinci_soc *soc,
                                                const struct text_list *words,
                                                struct library_call *out);

#endif
