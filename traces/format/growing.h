/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow by doubling while a trace is read. They live on the heap; the
 * finished program gets exact copies in its arena.
 */
#ifndef VINCI_TRACES_FORMAT_GROWING_H
#define VINCI_TRACES_FORMAT_GROWING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* All zero is an empty array. Every use of one array passes the same element size. */
struct growing {
  void *data;
  size_t count;
  size_t capacity;
};

enum { GROWING_START = 64 };

static inline bool growing_reserve(struct growing *array, size_t more, size_t element_bytes) {
  size_t capacity = array->capacity ? array->capacity : GROWING_START;
  while (capacity - array->count < more) {
    if (capacity > SIZE_MAX / 2 / element_bytes)
      return false;
    capacity *= 2;
  }
  void *data = realloc(array->data, capacity * element_bytes);
  if (!data)
    return false;
  array->data = data;
  array->capacity = capacity;
  return true;
}

/* Room for `more` elements at the end, not cleared; NULL when memory is short. */
static inline void *growing_push(struct growing *array, size_t more, size_t element_bytes) {
  if ((array->capacity - array->count < more || !array->data) &&
      !growing_reserve(array, more, element_bytes))
    return NULL;
  void *at = (char *)array->data + array->count * element_bytes;
  array->count += more;
  return at;
}

#define GROWING_PUSH(array, type) ((type *)growing_push((array), 1, sizeof(type)))
#define GROWING_AT(array, type, index) (&((type *)(array)->data)[index])

static inline void growing_free(struct growing *array) {
  free(array->data);
  *array = (struct growing){0};
}

#endif
