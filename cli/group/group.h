/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `vinci group`, and what they share. */
#ifndef VINCI_CLI_GROUP_GROUP_H
#define VINCI_CLI_GROUP_GROUP_H

#include "cli/support/cli.h"
#include "devices/jobs/job.h"
#include "scripts/systems/group_host.h"

extern const struct cli_verb cli_group_run, cli_group_plan, cli_group_buckets, cli_group_train,
    cli_group_collective, cli_group_convert, cli_group_show;

struct group_system_settings {
  const char *name, *data;
  struct text_list sets;
};
/* clang-format off */
#define GROUP_SYSTEM_ROWS(type, field)                                                             \
  OPTION_TEXT_ROW("system", 's', type, field.name, "NAME",                                         \
                  "the system of devices, such as atlas_a2_910b4; 'vinci group show' lists all"),  \
  OPTION_LIST_ROW("set", 0, type, field.sets, "KEY=VALUE",                                         \
                  "change a number of the system, such as hccs.copy=25GB/s; may be repeated"),     \
  OPTION_TEXT_ROW("data", 0, type, field.data, "DIR",                                              \
                  "the folder that holds group/ and soc/ with the descriptions")
/* clang-format on */

struct job_kernel_options;

/* How work is simulated that a job describes by operators and networks. */
struct group_work_settings {
  const char *memory;  /* NULL: flat */
  const char *library; /* a user's, as of struct order; NULL: none */
  bool sequence;       /* in the order of each program, on one chip */
  uint64_t detail;     /* the rank, from 1; 0: none */
  bool quiet;
  const struct text_list *chip_sets; /* of each device: energies; NULL: none */
};
/*
 * Simulates such work on the chip of the system (devices/jobs/kernels.h), with progress. out: with
 * what was simulated, its chip for vinci_soc_free(); NULL: not wanted. Errors: also a rank that the
 * job has not, and a rank or a way without anything to simulate.
 */
VINCI_MUST_CHECK enum vinci_status group_time_work(const struct group_description *group,
                                                   const struct group_work_settings *settings,
                                                   const char *data, struct job *job,
                                                   struct job_kernel_options *out,
                                                   struct vinci_diag *diag);
/*
 * Loads a system of `devices` devices and applies what was set; memory and L2 are those of its
 * chip. Free with group_host_free().
 */
VINCI_MUST_CHECK enum vinci_status group_load(const struct group_system_settings *settings,
                                              uint32_t devices, struct group_description **out,
                                              struct vinci_diag *diag);
/* Reads the job of a file, "-" of standard input. Free with job_free() after success. */
VINCI_MUST_CHECK enum vinci_status group_read_job(const char *path, struct job *job,
                                                  struct vinci_diag *diag);

#endif
