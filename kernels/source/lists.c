/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of tensors as arguments of a kernel. The kernel gets the address of words of 64 bits, as
 * ListTensorDesc of Ascend C reads them: how many bytes to the addresses; for each tensor its
 * number (above) and its rank (below), then its extents; then the addresses.
 */
#include <string.h>

#include "core/base/decimal.h"
#include "core/machine/values.h"
#include "kernels/source/source.h"

enum { NUMBER_SHIFT = 32, LIST_TENSORS_MAX = 256 };

bool source_list_count(const char *arg, uint64_t *count, bool *whole) {
  static const char key[] = "list=";
  if (strncmp(arg, key, strlen(key)) != 0)
    return false;
  *whole = decimal_whole(arg + strlen(key), count) && *count >= 1 && *count <= LIST_TENSORS_MAX;
  return true;
}

uint64_t source_list_words(uint64_t tensors) { return 1 + tensors * (1 + TENSOR_RANK_MAX + 1); }

static void put(uint8_t *bytes, uint64_t *word, uint64_t value) {
  memcpy(bytes + *word * sizeof value, &value, sizeof value);
  ++*word;
}

static void write_list(const struct source *source, const struct source_arg *arg) {
  const struct vinci_values *values = source->program.values;
  const struct program_tensor *first = &source->trace->tensors[arg->tensor + 1];
  uint8_t *bytes = values_bytes(values, arg->tensor);
  uint64_t words = 1, word = 0;
  for (uint32_t i = 0; i < arg->parts; i++)
    words += 1 + first[i].rank;
  put(bytes, &word, words * sizeof words);
  for (uint32_t i = 0; i < arg->parts; i++) {
    put(bytes, &word, (uint64_t)i << NUMBER_SHIFT | first[i].rank);
    for (unsigned d = 0; d < first[i].rank; d++)
      put(bytes, &word, first[i].shape[d]);
  }
  for (uint32_t i = 0; i < arg->parts; i++)
    put(bytes, &word, (uint64_t)(uintptr_t)values_bytes(values, arg->tensor + 1 + i));
}

void source_lists_write(const struct source *source) {
  for (uint32_t i = 0; source->program.values && i < source->arg_count; i++)
    if (source->arg[i].parts > 0)
      write_list(source, &source->arg[i]);
}
