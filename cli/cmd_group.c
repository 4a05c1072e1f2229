/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group: several devices and what joins them. */
#include "cli/group/group.h"

static const struct cli_verb *const commands[] = {
    &cli_group_run,        &cli_group_plan,    &cli_group_buckets, &cli_group_train,
    &cli_group_collective, &cli_group_convert, &cli_group_show};

const struct cli_verb cli_verb_group = {
    .name = "group",
    .arguments = "COMMAND",
    .summary = "Several devices: links, collectives, jobs",
    .details = "  run                simulate a job: work, collectives and events of many devices\n"
               "  plan               find the fastest split of a transformer over devices\n"
               "  buckets            find which gradients of a step are summed together\n"
               "  train              how long a training takes when devices fail; checkpoints\n"
               "  collective         simulate one collective: time, bytes, share of each link\n"
               "  convert            Chakra execution traces into a job, a job into these\n"
               "  show               list the systems, or the numbers of one with their sources\n\n"
               "'vinci group COMMAND --help' explains the options of a command.\n"
               "Examples:\n"
               "  vinci group run traces/examples/data_parallel.job.csv -o out\n"
               "  vinci group collective all_reduce -n 8 --system=atlas_a2_910b4\n",
    .run = cli_run_command,
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};
