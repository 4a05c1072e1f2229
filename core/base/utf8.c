/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: which bytes are a character, and back. */
#include "core/base/utf8.h"

#include <stdbool.h>

size_t utf8_length(const char *text, size_t left) {
  const unsigned char *at = (const unsigned char *)text;
  size_t length = at[0] < 0x80   ? 1
                  : at[0] < 0xc2 ? 0
                  : at[0] < 0xe0 ? 2
                  : at[0] < 0xf0 ? 3
                  : at[0] < 0xf5 ? 4
                                 : 0;
  if (length == 0 || length > left)
    return 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
  bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
  bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

size_t utf8_write(unsigned code, char out[UTF8_BYTES_MAX]) {
  static const unsigned heads[] = {0, 0xc0, 0xe0, 0xf0};
  size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out[0] = (char)(heads[more] | code >> 6 * more);
  for (size_t i = 1; i <= more; i++)
    out[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
  return more + 1;
}
