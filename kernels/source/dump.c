/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of kernels: numbers of a memory as text, with the words of the vendor's tools. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/number.h"
#include "core/machine/values.h"
#include "kernels/source/source.h"

typedef void print_number(FILE *out, const void *from);

#define PRINT(name, type, format, value)                                                           \
  static void print_##name(FILE *out, const void *from) {                                          \
    type number;                                                                                   \
    memcpy(&number, from, sizeof number);                                                          \
    fprintf(out, format, value);                                                                   \
  }
PRINT(float16, uint16_t, "%f", (double)fp16_to_fp32(number))
PRINT(bfloat16, uint16_t, "%f", (double)bf16_to_fp32(number))
PRINT(float32, float, "%f", (double)number)
PRINT(int8, int8_t, "%d", number)
PRINT(uint8, uint8_t, "%u", number)
PRINT(int16, int16_t, "%d", number)
PRINT(uint16, uint16_t, "%u", number)
PRINT(int32, int32_t, "%" PRId32, number)
PRINT(uint32, uint32_t, "%" PRIu32, number)
PRINT(int64, int64_t, "%" PRId64, number)
PRINT(uint64, uint64_t, "%" PRIu64, number)
PRINT(bool, uint8_t, "%d", number != 0)
#undef PRINT

static const struct kind {
  const char *name;
  unsigned bytes;
  print_number *print;
} kinds[] = {
#define KIND(name, bytes)                                                                          \
  { #name, bytes, print_##name }
    KIND(float16, 2), KIND(bfloat16, 2), KIND(float32, 4), KIND(int8, 1),
    KIND(uint8, 1),   KIND(int16, 2),    KIND(uint16, 2),  KIND(int32, 4),
    KIND(uint32, 4),  KIND(int64, 8),    KIND(uint64, 8),  KIND(bool, 1),
#undef KIND
};

static const struct kind *find_kind(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, name) == 0)
      return &kinds[i];
  return NULL;
}

static enum space find_space(const char *name) {
  unsigned space = 0;
  while (space < SPACE_COUNT && strcmp(space_name((enum space)space), name) != 0)
    space++;
  return (enum space)space;
}

/* Where the numbers lie; NULL when the memory has no such place. */
static const uint8_t *find_bytes(const struct source_core *core, const struct vinci_cce_dump *dump,
                                 uint64_t bytes) {
  const struct source *source = core->source;
  enum space space = find_space(dump->memory);
  if (space == SPACE_COUNT)
    return NULL;
  const uint8_t *memory =
      space == SPACE_GM ? core->gm : source->program.values->cores[core->place.core].bytes[space];
  uint64_t size = space == SPACE_GM ? source->trace->gm_bytes : soc_space_bytes(source->soc, space);
  uint64_t address =
      (uint64_t)dump->address - (space == SPACE_GM ? (uint64_t)(uintptr_t)memory : 0);
  return memory && address <= size && bytes <= size - address ? memory + address : NULL;
}

/* The elements of a shape; without one, those of the dump. */
static uint64_t elements_of(const struct vinci_cce_dump *dump) {
  uint64_t elements = dump->dimensions > 0 ? 1 : dump->count;
  for (uint32_t i = 0; i < dump->dimensions; i++)
    elements *= dump->shape[i];
  return elements;
}

/* Whether a row of some dimension begins (or, behind an element, ends) here: how many do. */
static unsigned brackets_at(const struct vinci_cce_dump *dump, uint64_t element) {
  uint64_t row = 1;
  unsigned count = 0;
  for (uint32_t i = dump->dimensions; i-- > 0;) {
    row *= dump->shape[i];
    count += element % row == 0;
  }
  return dump->dimensions > 0 ? count : element == 0 || element == dump->count;
}

static void put(FILE *out, char byte, unsigned count) {
  while (count-- > 0)
    fputc(byte, out);
}

static void print_all(const struct vinci_cce_dump *dump, const struct kind *kind,
                      const uint8_t *bytes, FILE *out) {
  uint64_t elements = elements_of(dump);
  for (uint64_t i = 0; i < elements; i++) {
    put(out, '[', brackets_at(dump, i));
    if (i < dump->count)
      kind->print(out, bytes + i * kind->bytes);
    else
      fputc('-', out); /* the shape has more than the dump */
    unsigned closed = brackets_at(dump, i + 1);
    put(out, ']', closed);
    if (i + 1 < elements)
      fputs(closed > 0 ? ",\n" : ", ", out);
  }
  fputc('\n', out);
}

const char *source_dump(const struct source_core *core, const struct vinci_cce_dump *dump,
                        FILE *out) {
  const struct kind *kind = find_kind(dump->type);
  const uint8_t *bytes = kind ? find_bytes(core, dump, (uint64_t)dump->count * kind->bytes) : NULL;
  if (!bytes)
    return "a dump of memory that this core does not have";
  uint64_t base = find_space(dump->memory) == SPACE_GM ? (uint64_t)(uintptr_t)core->gm : 0;
  fprintf(out, "DumpTensor: desc=%u, addr=0x%" PRIx64 ", data_type=%s, position=%s, dump_size=%u",
          dump->desc, (uint64_t)dump->address - base, dump->type, dump->memory, dump->count);
  fprintf(out, ", block=%u\n", core->place.blk);
  print_all(dump, kind, bytes, out);
  return NULL;
}
