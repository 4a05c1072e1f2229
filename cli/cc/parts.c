/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device code in parts: the kernel in one object calls device functions of another (-dc). Such an
 * object holds its device code for each kind of core a second time, as an object that was not
 * linked. Who links a program takes these out and makes one image of all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cc/build.h"
#include "core/base/file.h"
#include "kernels/source/source.h"

enum { OBJECT_BYTES_MAX = 1 << 30 };

const char *const cc_section_part[CORE_KIND_COUNT] = {[CORE_AIC] = ".vinci.part.aic",
                                                      [CORE_AIV] = ".vinci.part.aiv",
                                                      [CORE_AICORE] = ".vinci.part.aicore"};
const char cc_section_part_source[] = ".vinci.part.source";

static bool is_object(const char *word) {
  size_t length = strlen(word);
  return length > 2 && *word != '-' && strcmp(word + length - 2, ".o") == 0;
}

static void write_part(void *context, FILE *out) {
  const struct source_file *part = context;
  fwrite(part->bytes, 1, part->length, out);
}

/* Kernels lie in sections of their own, named after the cores that they run on. */
static bool has_kernel(const struct source_file *part) {
  static const char *const sections[] = {"vinci_aiv", "vinci_aic", "vinci_mix_1_1",
                                         "vinci_mix_1_2"};
  struct source_file found;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if (source_section(part, sections[i], &found))
      return true;
  return false;
}

/* The source with the kernels is the one whose lines a run can name. */
static void note_source(struct cc_build *build, const struct source_file *object, bool kernel) {
  struct source_file path;
  if ((*build->part_source && !kernel) || !source_section(object, cc_section_part_source, &path))
    return;
  snprintf(build->part_source, sizeof build->part_source, "%.*s", (int)path.length, path.bytes);
}

static enum vinci_status take_from(struct cc_build *build, const struct source_file *object) {
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    struct source_file part;
    if (!source_section(object, cc_section_part[kind], &part))
      continue;
    size_t index = build->source_count + build->part_count[kind]++;
    struct cc_path path = cc_object_path(build, (enum core_kind)kind, index);
    enum vinci_status status = file_replace(path.text, write_part, &part, build->diag);
    if (status != VINCI_OK)
      return status;
    note_source(build, object, has_kernel(&part));
  }
  return VINCI_OK;
}

enum vinci_status cc_take_parts(struct cc_build *build) {
  bool links = build->result == CC_PROGRAM || build->result == CC_SHARED;
  for (size_t i = 0; i < build->link.count && links && !build->dry; i++) {
    struct source_file object = {0};
    struct vinci_diag ignored = {0}; /* the linker tells what it does not find */
    char *bytes = is_object(build->link.item[i])
                      ? file_read(build->link.item[i], OBJECT_BYTES_MAX, &object.length, &ignored)
                      : NULL;
    object.bytes = bytes;
    enum vinci_status status = bytes ? take_from(build, &object) : VINCI_OK;
    free(bytes);
    if (status != VINCI_OK)
      return status;
  }
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    build->wanted[kind] =
        (build->source_count > 0 && build->wanted[kind]) || build->part_count[kind] > 0;
  build->deduced &= build->part_count[CORE_AIC] == 0 && build->part_count[CORE_AIV] == 0;
  return VINCI_OK;
}
