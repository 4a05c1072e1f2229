/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the user's source, by address of the device code. */
#ifndef VINCI_KERNELS_SOURCE_LINES_H
#define VINCI_KERNELS_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct source_lines;

/* The device code for one kind of core. */
struct source_image {
  const char *bytes; /* an ELF shared library; NULL: the kernel has none for this kind */
  size_t length;
  struct source_lines *lines; /* the library's; NULL: lines are not known */
};

/* The line of the source file from which code at an address comes; 0: not known. */
uint32_t source_line(const struct source_image *image, const char *path, uint64_t address);
struct source_lines *source_lines_open(const struct source_image *image);
void source_lines_close(struct source_lines *lines);

#endif
