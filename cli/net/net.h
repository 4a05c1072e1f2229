/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `vinci net`, and what they share. */
#ifndef VINCI_CLI_NET_NET_H
#define VINCI_CLI_NET_NET_H

#include "cli/cli.h"
#include "traces/graph/net.h"

/* What a run of a network may be told, and the options for that. */
struct net_run_settings {
  const char *soc, *data, *output, *memory, *network, *plan, *host;
  struct text_list sets;
  uint64_t repeat, depth, timeout_minutes;
  bool exact, quiet;
};
enum { NET_TIMEOUT_MINUTES_MAX = 2880, NET_REPEAT_MAX = 1000, NET_DEPTH_MAX = 65535 };
/* clang-format off */
#define NET_OPTION_ROWS(type)                                                                      \
  OPTION_TEXT_ROW("soc-version", 's', type, soc, "NAME",                                           \
                  "the chip to simulate, such as Ascend910B4"),                                    \
  OPTION_LIST_ROW("set", 0, type, sets, "KEY=VALUE",                                               \
                  "change a number of the chip, such as launch.gap=0.1us; may be repeated"),       \
  OPTION_TEXT_ROW("data", 0, type, data, "DIR",                                                    \
                  "the folder that holds soc/ with the hardware descriptions"),                    \
  OPTION_TEXT_ROW("memory", 0, type, memory, "MODEL",                                              \
                  "cycle (default): requests, L2 slices, DRAM commands; flat: bandwidth limits, "  \
                  "faster"),                                                                       \
  OPTION_TEXT_ROW("network", 0, type, network, "LEVEL",                                            \
                  "packet (default) or flit: virtual channels and credits, slower"),               \
  OPTION_TEXT_ROW("plan", 0, type, plan, "POLICY",                                                 \
                  "where tensors lie: none, first, best, pack (default); 'vinci net plan' "        \
                  "compares them"),                                                                \
  OPTION_TEXT_ROW("host", 0, type, host, "KIND",                                                   \
                  "sink: all nodes wait on the device; graph: a launch call for each; eager: as "  \
                  "a framework that launches operator by operator; default: sink, of replay "      \
                  "eager"),                                                                        \
  OPTION_NUMBER_ROW("depth", 0, type, depth, "N", 0, NET_DEPTH_MAX,                                \
                    "nodes that the host may be ahead of the device (default 0: any number)"),     \
  OPTION_NUMBER_ROW("repeat", 0, type, repeat, "N", 1, NET_REPEAT_MAX,                             \
                    "runs one after another, of which the last is told (default 2, so that L2 "    \
                    "holds what the run before has left; of replay 1)"),                           \
  OPTION_FLAG_ROW("exact", 0, type, exact,                                                         \
                  "simulate every kernel, also those that met the same context before"),           \
  OPTION_TEXT_ROW("output", 'o', type, output, "DIR",                                              \
                  "write nodes.csv, kernel_details.csv, step_trace_time.csv, "                     \
                  "memory_record.csv, trace.json"),                                                \
  OPTION_NUMBER_ROW("timeout", 0, type, timeout_minutes, "MINUTES", 1, NET_TIMEOUT_MINUTES_MAX,    \
                    "end after this time (exit code 7)"),                                          \
  OPTION_FLAG_ROW("quiet", 'q', type, quiet, "print errors only")
/* clang-format on */

/* Runs, writes the folder and prints the report. The caller frees the result's arena, also after
 * an error. */
VINCI_MUST_CHECK enum vinci_status net_simulate(const struct net_run_settings *settings,
                                                const char *path, struct graph *graph,
                                                const struct vinci_soc *soc,
                                                struct net_result *result, struct vinci_diag *diag);

extern const struct cli_verb cli_net_run;
extern const struct cli_verb cli_net_plan;

/* Reads a graph from a file, "-" being standard input. The caller frees the graph. */
VINCI_MUST_CHECK enum vinci_status net_load(const char *path, struct graph *out,
                                            struct vinci_diag *diag);
/* The index of a word among count names of what; VINCI_E_USAGE with the nearest. */
VINCI_MUST_CHECK enum vinci_status net_choose(const char *what, const char *word,
                                              const char *(*name_at)(const void *, size_t),
                                              size_t count, unsigned *out, struct vinci_diag *diag);
const char *net_plan_at(const void *context, size_t index);

#endif
