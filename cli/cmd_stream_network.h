/* SPDX-License-Identifier: Apache-2.0 */
/* `vinci stream network`, for the table of commands of `vinci stream`. */
#ifndef VINCI_CLI_CMD_STREAM_NETWORK_H
#define VINCI_CLI_CMD_STREAM_NETWORK_H

#include "cli/cli.h"

extern const struct cli_verb cli_stream_network;

#endif
