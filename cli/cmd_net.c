/* SPDX-License-Identifier: Apache-2.0 */
/* vinci net: whole networks, kernel after kernel on one chip. */
#include "cli/net/net.h"

static const struct cli_verb *const commands[] = {&cli_net_run,     &cli_net_import,
                                                  &cli_net_compile, &cli_net_explain,
                                                  &cli_net_plan,    &cli_net_serve};

const struct cli_verb cli_verb_net = {
    .name = "net",
    .arguments = "COMMAND",
    .summary = "Run whole networks: ONNX models, graphs of kernels with memory, streams and host",
    .details = "  run                simulate a graph and say where its time goes\n"
               "  import             write an ONNX model as a graph of layers\n"
               "  compile            turn layers into kernels and say what each pass changed\n"
               "  explain            say which layer became which kernels, and why\n"
               "  plan               compare memory plans of a graph; nothing is simulated\n"
               "  serve              a stream of requests, batches of several sizes\n\n"
               "'vinci net COMMAND --help' explains the options of a command.\n"
               "Examples:\n"
               "  vinci net run traces/examples/two_layers.graph.csv -s Ascend910B4 -o out\n"
               "  vinci net explain traces/examples/small_cnn.graph.csv -s Ascend910B4\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
