/* SPDX-License-Identifier: Apache-2.0 */
/* The models and states that words of the command line choose. */
#include "cli/run/settings.h"

#include "cli/run/automatic.h"
#include "core/base/sheet.h"
#include "networks/workload/workload.h"

bool run_choose_models(struct run_settings *settings) {
  static const char *const memories[] = {"cycle", "flat", "auto", NULL};
  static const char *const networks[] = {"packet", "flit", NULL};
  static const char *const states[] = {"empty", "warm", "streaming", "used", "dirty", NULL};
  const char *const codes[] = {"cold", "warm", "device", settings->ops ? "profile" : NULL, NULL};
  static const char *const blocks[] = {"own", "profile", NULL};
  unsigned code, memory, network, state, from, measured;
  if (!cli_choose("memory", settings->memory, memories, &memory) ||
      !cli_choose("network", settings->network, networks, &network) ||
      !cli_choose("l2", settings->l2, states, &state) ||
      !cli_choose("code", settings->code, codes, &code) ||
      !cli_choose("savings", settings->savings, savings_words, &measured) ||
      !cli_choose("blocks", settings->ops ? settings->blocks : NULL, blocks, &from))
    return false;
  settings->kernel.blocks = settings->blocks;
  settings->memory_model = (enum vinci_memory)memory;
  settings->network_level = network == 0 ? VINCI_NETWORK_PACKET : VINCI_NETWORK_FLIT;
  settings->l2_start = (enum vinci_l2)state;
  static const uint32_t found[] = {0, VINCI_CODE_WARM, VINCI_CODE_DEVICE, 0};
  settings->code_found_ppm = found[code];
  settings->profile_blocks = from == 1;
  settings->savings_of = (enum savings)measured;
  if (!automatic_fits(settings->memory_model, settings->ops, settings->error_bar_percent,
                      settings->savings_of))
    return false;
  char warning[WORKLOAD_WARNING_MAX];
  const char *assumed = settings->l2                           ? settings->l2
                        : settings->ops && !settings->sequence ? "by kind of operator"
                                                               : NULL;
  if (!settings->quiet && workload_l2_warning(settings->sets.items, settings->sets.count, assumed,
                                              warning, sizeof warning))
    sheet_line(stderr, "warning: %s\n", warning);
  return true;
}
