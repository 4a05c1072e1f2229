/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `vinci net`, and what they share. */
#ifndef VINCI_CLI_NET_NET_H
#define VINCI_CLI_NET_NET_H

#include "cli/support/cli.h"
#include "cli/support/command.h"
#include "cli/support/values.h"
#include "networks/passes/passes.h"
#include "networks/run/net.h"

/* Options for what an ONNX model leaves open. */
struct net_model_settings {
  struct text_list shapes, dims, inputs;
};
/* clang-format off */
#define NET_MODEL_ROWS(type, field)                                                                \
  OPTION_LIST_ROW("shape", 0, type, field.shapes, "NAME=SHAPE",                                    \
                  "the shape of an ONNX model's input, such as x=1x3x224x224; may be repeated"),   \
  OPTION_LIST_ROW("dim", 0, type, field.dims, "NAME=N",                                            \
                  "the size of a dimension that has a name in an ONNX model, such as batch=4; "    \
                  "may be repeated"),                                                              \
  OPTION_LIST_ROW("fix", 0, type, field.inputs, "NAME=VALUE",                                      \
                  "the value of an ONNX model's input, of all its elements, such as sr=16000; "    \
                  "may be repeated")
/* clang-format on */
void net_model_free(struct net_model_settings *settings);

/* What a run of a network may be told, and the options for that. */
struct net_run_settings {
  struct cli_command command;
  const char *soc, *data, *output, *memory, *network, *plan, *host, *results;
  const char *passes, *dtype, *memory_limit; /* of networks of layers */
  const char *repository, *savings;
  uint64_t unknown_us;
  bool keep_ends, ablate, winograd, cuts;
  struct values_settings values;
  struct text_list sets;
  struct net_model_settings model;
  uint64_t repeat, depth, timeout_minutes;
  bool exact, quiet, json;
  const struct graph *network_read; /* no option: whose levers are wanted; NULL: nobody's */
  struct estimates *estimates;      /* no option: of the chip, for what follows on it; NULL: none */
};
enum { NET_TIMEOUT_MINUTES_MAX = 2880, NET_REPEAT_MAX = 1000, NET_DEPTH_MAX = 65535 };
/* clang-format off */
#define NET_CHIP_OPTION_ROWS(type)                                                                 \
  OPTION_TEXT_ROW("soc-version", 's', type, soc, "NAME",                                           \
                  "the chip to simulate, such as Ascend910B4"),                                    \
  OPTION_LIST_ROW("set", 0, type, sets, "KEY=VALUE",                                               \
                  "change a number of the chip, such as launch.gap=0.1us; may be repeated"),       \
  OPTION_TEXT_ROW("data", 0, type, data, "DIR",                                                    \
                  "the folder that holds soc/ with the hardware descriptions"),                    \
  OPTION_FLAG_ROW("quiet", 'q', type, quiet, "print errors only")
#define NET_COMPILE_OPTION_ROWS(type)                                                              \
  OPTION_TEXT_ROW("passes", 0, type, passes, "LIST",                                               \
                  "passes that turn layers into kernels: all (default), none, names with commas "  \
                  "between, or -NAME for all but one; 'vinci net compile' lists them"),            \
  OPTION_TEXT_ROW("dtype", 0, type, dtype, "TYPE",                                                 \
                  "type that pass dtype gives to fp32 tensors: fp16 (default), bf16"),             \
  OPTION_FLAG_ROW("half-ends", 0, type, keep_ends,                                                 \
                  "pass dtype changes the network's inputs and results too, without casts"),       \
  OPTION_FLAG_ROW("winograd", 0, type, winograd,                                                   \
                  "pass algorithm may take Winograd's for 3x3 convolutions: its fp16 rounds more"), \
  OPTION_TEXT_ROW("memory-limit", 0, type, memory_limit, "SIZE",                                   \
                  "device memory that plan pack may need, such as 512MiB: passes recompute and " \
                  "swap free what waits for a late reader")
#define NET_OPTION_ROWS(type)                                                                      \
  NET_CHIP_OPTION_ROWS(type),                                                                      \
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
                  "simulate every kernel, also those that met the same context before; with "      \
                  "--results: and compare with the results that are kept"),                        \
  OPTION_TEXT_ROW("results", 0, type, results, "DIR",                                              \
                  "take results of kernels that met the same chip, models, program and state of "  \
                  "L2 from this folder, and keep those that are not there"),                       \
  OPTION_TEXT_ROW("output", 'o', type, output, "DIR",                                              \
                  "write nodes.csv, kernel_details.csv, step_trace_time.csv, "                     \
                  "memory_record.csv, summary.json, trace.json"),                                  \
  OPTION_NUMBER_ROW("timeout", 0, type, timeout_minutes, "MINUTES", 1, NET_TIMEOUT_MINUTES_MAX,    \
                    "end after this time (exit code 7)")
/* clang-format on */

/* Runs, writes the folder and prints the report. The caller frees the result's arena, also after
 * an error. */
VINCI_MUST_CHECK enum vinci_status net_simulate(const struct net_run_settings *settings,
                                                const char *path, struct graph *graph,
                                                const struct vinci_soc *soc,
                                                struct net_result *result, struct vinci_diag *diag);

/* The models, plan, host and repetitions that the settings ask for. */
VINCI_MUST_CHECK enum vinci_status net_run_choose(const struct net_run_settings *settings,
                                                  struct net_options *out, struct vinci_diag *diag);
/* Runs a network with more and more passes, then without each; prints a row for each run. */
VINCI_MUST_CHECK enum vinci_status net_ablate(const struct net_run_settings *settings,
                                              const struct vinci_soc *soc,
                                              const struct graph *graph, struct vinci_diag *diag);
/* The passes that the settings ask for. */
VINCI_MUST_CHECK enum vinci_status net_compile_choose(const struct net_run_settings *settings,
                                                      struct compile_options *out,
                                                      struct vinci_diag *diag);
/* A network of layers before its passes run; zero-initialised, net_opened_free() also after an
 * error. */
struct net_opened {
  vinci_soc *soc;
  struct graph graph;
  struct compile_options options;
  struct compiled compiled; /* empty until net_compile() */
};
/* Opens the one network that words name, and chooses chip and passes. */
VINCI_MUST_CHECK enum vinci_status net_open(const struct net_run_settings *settings,
                                            const struct text_list *words, struct net_opened *out,
                                            struct vinci_diag *diag);
void net_opened_free(struct net_opened *opened);
/* Refuses options that only say how layers become kernels when the graph has no layers. */
VINCI_MUST_CHECK enum vinci_status net_check_layer_options(const struct net_run_settings *settings,
                                                           const struct graph *graph,
                                                           struct vinci_diag *diag);
/* Turns a graph of layers into kernels. The caller frees the result, also after an error. */
VINCI_MUST_CHECK enum vinci_status
net_compile_layers(const struct net_run_settings *settings, const struct vinci_soc *soc,
                   const struct graph *graph, struct compiled *out, struct vinci_diag *diag);
void net_print_counts(const struct layers_counts *counts);

extern const struct cli_verb cli_net_compile;
extern const struct cli_verb cli_net_explain;
extern const struct cli_verb cli_net_run;
extern const struct cli_verb cli_net_plan;
extern const struct cli_verb cli_net_serve;

extern const struct cli_verb cli_net_import;

/* Reads a graph or an ONNX model from a file, "-" being standard input. The content says which of
 * the two it is. The caller frees the graph. */
VINCI_MUST_CHECK enum vinci_status net_load(const char *path,
                                            const struct net_model_settings *model,
                                            struct graph *out, struct vinci_diag *diag);
/* The graph of a family for one batch: expressions in {batch} become numbers (gears.h). */
VINCI_MUST_CHECK enum vinci_status net_load_gear(const char *path, uint64_t batch,
                                                 struct graph *out, struct vinci_diag *diag);
/* The index of a word among count names of what; VINCI_E_USAGE with the nearest. */
VINCI_MUST_CHECK enum vinci_status net_choose(const char *what, const char *word,
                                              const char *(*name_at)(const void *, size_t),
                                              size_t count, unsigned *out, struct vinci_diag *diag);
const char *net_plan_at(const void *context, size_t index);

#endif
