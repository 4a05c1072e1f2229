/* SPDX-License-Identifier: Apache-2.0 */
/* The command that has made a result folder, for those who read its page. */
#ifndef VINCI_CLI_SUPPORT_COMMAND_H
#define VINCI_CLI_SUPPORT_COMMAND_H

/* When the command has written into a folder of --output: command.json there, with the words but
 * those that change no result (--output, --quiet, --jobs, --results ...), and the dates of the
 * files among these. A folder that cannot be written stays without. */
void cli_keep_command(int argc, char **argv, int exit_code);

#endif
