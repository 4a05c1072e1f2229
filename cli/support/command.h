/* SPDX-License-Identifier: Apache-2.0 */
/* The command that has made a result folder, for those who read its page. */
#ifndef VINCI_CLI_SUPPORT_COMMAND_H
#define VINCI_CLI_SUPPORT_COMMAND_H

struct cli_verb;

/* What the verb got; argv[0] is its name. */
struct cli_command {
  const struct cli_verb *verb;
  int argc;
  char **argv;
};

/* Of a folder that the verb has written results into now: command.json there, with the words but
 * those that change no result (--output, --quiet, --jobs, --results ...), and the digests of the
 * files among these. Nothing of the clock: the same command on the same inputs gives the same file.
 * A folder that cannot be written stays without. */
void cli_keep_command(const struct cli_command *command, const char *folder);

#endif
