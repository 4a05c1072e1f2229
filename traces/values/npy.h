/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .npy format of NumPy, versions 1 to 3: a header of text, then the elements. Plain
 * little-endian numbers in C order only. Source: NumPy documentation, numpy.lib.format.
 */
#ifndef VINCI_TRACES_VALUES_NPY_H
#define VINCI_TRACES_VALUES_NPY_H

#include "core/base/diag.h"
#include "core/isa/program.h"

enum { NPY_PREFIX_BYTES = 10, NPY_HEADER_MAX = 1 << 16 };

struct npy {
  char kind;           /* 'f', 'i', 'u', 'V' (bytes), 'b' (bool) */
  unsigned item_bytes; /* 1, 2, 4 or 8 */
  unsigned rank;
  uint64_t shape[TENSOR_RANK_MAX];
};

/* Reads the text of a header: NULL, or what is wrong with the text. */
const char *npy_parse(const char *text, size_t length, struct npy *npy);
/* Opens a file; *out stands at the first element, the caller closes the file. */
VINCI_MUST_CHECK enum vinci_status npy_open(const char *path, struct npy *npy, FILE **out,
                                            struct vinci_diag *diag);
/* Writes prefix and header. */
void npy_write_header(const struct npy *npy, FILE *out);
/* "float16 of shape (3, 4)" */
void npy_describe(const struct npy *npy, char *buffer, size_t size);

#endif
