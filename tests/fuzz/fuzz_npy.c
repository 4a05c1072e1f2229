/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the headers of .npy files: any bytes are read without harm, and what is
 * accepted is the same when it is written and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "traces/values/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct npy npy, again;
  char words[64]; /* may be too short: the text is cut */
  if (npy_parse((const char *)data, size, &npy))
    return 0;
  npy_describe(&npy, words, sizeof words);
  char *file = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&file, &length);
  npy_write_header(&npy, out);
  fclose(out);
  const char *error = npy_parse(file + NPY_PREFIX_BYTES, length - NPY_PREFIX_BYTES, &again);
  if (error || length % 64 != 0 || again.kind != npy.kind || again.rank != npy.rank ||
      again.item_bytes != npy.item_bytes || memcmp(again.shape, npy.shape, sizeof npy.shape) != 0)
    vinci_bug("a header changes when it is written and read: %s", error ? error : "");
  free(file);
  return 0;
}
