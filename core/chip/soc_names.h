/* SPDX-License-Identifier: Apache-2.0 */
/* What a hardware description names beside its numbers: descriptions of their own, and rules. */
#ifndef VINCI_CORE_CHIP_SOC_NAMES_H
#define VINCI_CORE_CHIP_SOC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { SOC_TEXT_MAX = 64 };

/* Field of the description, key of an override, what the name stands for. */
#define SOC_NAMES(NAME)                                                                            \
  NAME(MEMORY, "memory", "memory.name", "memory technology, a file of scripts/mem")                \
  NAME(MEMORY_MAP, "memory_map", "memory.map",                                                     \
       "one of the address mappings of the memory technology")                                     \
  NAME(TOPOLOGY, "topology", "noc.topology", "shape of the network, a file of scripts/noc")        \
  NAME(L2_POLICY, "l2_policy", "l2.policy",                                                        \
       "which line of a set leaves L2, a row of core/chip/l2_policies.def")                        \
  NAME(ENERGY, "energy", "energy.name", "energies for --energy, a file of scripts/energy")
enum soc_name {
#define NAME(id, field, key, text) SOC_##id,
  SOC_NAMES(NAME)
#undef NAME
      SOC_NAME_COUNT
};

struct soc_choice {
  char name[SOC_TEXT_MAX];
  bool overridden;
};

const char *soc_name_key(enum soc_name name);
/* SOC_NAME_COUNT when the key is that of no name. */
enum soc_name soc_name_by_key(const char *key);

/* Names of l2_policies.def; NULL behind the last. The first holds where a chip names none. */
const char *soc_l2_policy(size_t index);

#endif
