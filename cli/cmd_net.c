/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net: whole networks, kernel after kernel on one chip. */
#include "cli/net/net.h"

static const struct cli_verb *const commands[] = {&cli_net_run, &cli_net_plan};

static int net(const struct cli_verb *verb, int argc, char **argv) {
  return cli_run_command(verb, commands, sizeof commands / sizeof *commands, argc, argv);
}

const struct cli_verb cli_verb_net = {
    .name = "net",
    .arguments = "COMMAND",
    .summary = "Run whole networks: graphs of kernels with memory, streams and host",
    .details = "  run                simulate a graph and say where its time goes\n"
               "  plan               compare memory plans of a graph; nothing is simulated\n\n"
               "'vinci net COMMAND --help' explains the options of a command.\n",
    .run = net,
};
