/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar code that waits for other cores through memory. Time is not known while code is executed,
 * so such a wait is in no run, and a run has to say so. The code waits when it looks at an address
 * once more without an instruction between. A wait that is over at once is seen by two cores that
 * ask for the same line of the data cache: the one that writes has to write the line back, the one
 * that waits has to give the line up.
 */
#include <stdlib.h>

#include "kernels/source/source.h"

enum { LINE_BYTES = 64, LINES = 1 << 12, HALF = 2 };

/* Lines that single cores have asked for. */
struct source_cache_lines {
  uint64_t line[LINES]; /* hash table; 0: free */
  uint32_t core[LINES];
  unsigned count;
};

/* Whether another core has asked for the line. What is more than half a table is not noted. */
static bool is_shared(struct source *source, uint64_t address, uint32_t core) {
  uint64_t line = address / LINE_BYTES;
  if (!source->looked_at)
    source->looked_at = calloc(1, sizeof *source->looked_at);
  struct source_cache_lines *lines = source->looked_at;
  if (!lines || line == 0)
    return false;
  size_t slot = (size_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 32) % LINES;
  for (; lines->line[slot] != 0; slot = (slot + 1) % LINES)
    if (lines->line[slot] == line)
      return lines->core[slot] != core;
  if (lines->count < LINES / HALF) {
    lines->line[slot] = line;
    lines->core[slot] = core;
    lines->count++;
  }
  return false;
}

/* Whether the code looks at this address once more from the same place. */
static bool looks_again(struct source_looks *looks, uint64_t code, uint64_t address,
                        uint64_t instructions) {
  if (looks->instructions != instructions)
    *looks = (struct source_looks){.instructions = instructions};
  for (unsigned i = 0; i < looks->count && i < SOURCE_LOOKS; i++)
    if (looks->last[i].code == code && looks->last[i].address == address)
      return true;
  looks->last[looks->count % SOURCE_LOOKS].code = code;
  looks->last[looks->count++ % SOURCE_LOOKS].address = address;
  return false;
}

bool source_look(struct source_core *core, uint64_t code, uint64_t address, bool whole_cache) {
  bool again = looks_again(&core->looks, code, address, core->instructions);
  bool shared = !whole_cache && is_shared(core->source, address, core->place.core);
  core->source->program.polls |= again || shared;
  return again || core->looks.count > SOURCE_LOOKS;
}
