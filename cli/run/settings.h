/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of vinci run says. */
#ifndef VINCI_CLI_RUN_SETTINGS_H
#define VINCI_CLI_RUN_SETTINGS_H

#include "cli/run/output.h"
#include "cli/run/savings.h"
#include "cli/support/cli.h"
#include "cli/support/command.h"
#include "cli/support/isolate.h"
#include "cli/support/kernel.h"
#include "cli/support/values.h"

struct run_settings {
  struct cli_command command;
  const char *soc;
  const char *data;
  const char *output;
  struct text_list sets;
  bool json, quiet;
  uint64_t max_cycles;
  uint64_t timeout_minutes;
  uint64_t timeline_events;
  struct output_settings output_of;
  uint64_t shuffle_seed;
  const char *memory, *network, *l2, *code; /* models and states, as words */
  uint32_t code_found_ppm;
  uint64_t error_bar_percent; /* 0: the default */
  const char *savings, *without;
  const char *ops, *device;
  const char *blocks;
  uint64_t jobs;
  bool sequence, interval;
  uint64_t repeat;
  const char *results, *repository, *library;
  bool exact;
  enum vinci_memory memory_model; /* what the two above say */
  enum vinci_network network_level;
  enum vinci_l2 l2_start;
  enum savings savings_of;
  bool profile_blocks;
  bool check, counters, csv;
  struct values_settings values;
  struct kernel_settings kernel;
  struct isolate_settings isolate;
};

/* Models and states from their words. False: a word is not known, which is told. */
bool run_choose_models(struct run_settings *settings);

#endif
