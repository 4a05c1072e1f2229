/* SPDX-License-Identifier: Apache-2.0 */
/* What this process gives up for good. False: the system does not offer that. */
#ifndef VINCI_CLI_SUPPORT_SANDBOX_H
#define VINCI_CLI_SUPPORT_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Writing files elsewhere than below these folders; NULL ones are none. */
bool sandbox_files(const char *const *folders, size_t count);
/* The network, other programs, and hold of other processes. */
bool sandbox_calls(void);

#endif
