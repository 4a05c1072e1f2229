/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel libraries and programs as files in memory: images, sections, symbols of kernels. */
#ifndef VINCI_KERNELS_SOURCE_LIBRARY_H
#define VINCI_KERNELS_SOURCE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/diag.h"
#include "core/chip/arch.h"
#include "kernels/source/lines.h"

enum { SOURCE_NAME_BYTES = 256 };

/* Sections of a library: images for each kind of core, one behind the other. Sections of an image:
 * the path of the first source file, and the architecture that the code was compiled for. */
enum { SOURCE_IMAGE_ALIGNMENT = 64 };
extern const char *const source_section_image[CORE_KIND_COUNT];
extern const char source_section_path[], source_section_arch[], source_section_sync[],
    source_section_in_order[];

/* A file in memory, or a part of a file. */
struct source_file {
  const char *bytes;
  size_t length;
};
/* A library or program that stays in memory from launch to launch. */
struct source_library {
  struct source_library *next; /* for who keeps many */
  char *path;
  struct source_file file;
  uint64_t digest;
  struct source_image *images; /* whose lines are known */
  size_t image_count;
};
/* Reads a file; for source_library_close(). */
VINCI_MUST_CHECK enum vinci_status
source_library_open(const char *path, struct source_library **out, struct vinci_diag *diag);
void source_library_close(struct source_library *library);
/* Gives an image of the library its lines, read when they are first asked for. */
void source_library_lines(struct source_library *library, struct source_image *image);

/* A section of an ELF file; false when there is none, or the file is no such file. */
bool source_section(const struct source_file *file, const char *name, struct source_file *out);

/* The image at an offset of its section; the offset moves on. False behind the last image. */
bool source_next_image(const struct source_file *images, size_t *offset, struct source_file *out);

/* The part of an image that is loaded to run the code; debug information lies behind. */
size_t source_loaded_bytes(const struct source_image *image);

/* A kernel in an image: its symbol, and the name of the section that its code is in. */
struct source_symbol {
  const char *name;
  char section[32];
};
/* Looks for a symbol, or for a function of C++ of that name. */
bool source_find_kernel(const struct source_file *image, const char *name,
                        struct source_symbol *out);
/* Where a function of this symbol lies in a file, a local one too; false when there is none, or
 * when several have the symbol. */
bool source_function(const struct source_file *file, const char *name, uint64_t *value);
/* The symbol of the function that begins at a place of a file; NULL: none. */
const char *source_function_at(const struct source_file *file, uint64_t value);
/* The name of a function without its spaces and parameters: "kernel<float>". */
void source_plain_name(const char *symbol, char *out, size_t size);

#endif
