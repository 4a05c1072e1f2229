// SPDX-License-Identifier: Apache-2.0
// Copies with the room of the target, as host code of a library uses them; 0: done.
#ifndef VINCI_CCE_LIBRARY_SECUREC_H
#define VINCI_CCE_LIBRARY_SECUREC_H

#include <cstddef>
#include <cstring>

typedef int errno_t;
enum { EOK = 0, ERANGE_OF_COPY = 34 };

inline int memcpy_s(void *to, size_t room, const void *from, size_t bytes) {
  if (bytes > room)
    return ERANGE_OF_COPY;
  memcpy(to, from, bytes);
  return EOK;
}
inline int memset_s(void *to, size_t room, int value, size_t bytes) {
  if (bytes > room)
    return ERANGE_OF_COPY;
  memset(to, value, bytes);
  return EOK;
}
inline int strcpy_s(char *to, size_t room, const char *from) { return memcpy_s(to, room, from, strlen(from) + 1); }
inline int strcat_s(char *to, size_t room, const char *from) {
  size_t length = strnlen(to, room);
  return strcpy_s(to + length, room - length, from);
}

#endif
