/* SPDX-License-Identifier: Apache-2.0 */
/* The models that vinci stream drives; each is a verb of its own with its options. */
#ifndef VINCI_CLI_STREAM_STREAM_H
#define VINCI_CLI_STREAM_STREAM_H

#include "cli/support/cli.h"

extern const struct cli_verb cli_stream_memory;
extern const struct cli_verb cli_stream_network;

#endif
