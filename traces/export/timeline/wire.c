/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers in the wire format, built in memory. */
#include "traces/export/timeline/wire.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of fields, in the low three bits of a key. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_KIND_BITS = 3 };
enum { VARINT_BITS = 7, VARINT_MORE = 0x80, VARINT_BYTES_MAX = 10, FIRST_CAPACITY = 4096 };

/* Makes room for more bytes; false when memory is short. */
static bool grow(struct wire *wire, size_t bytes) {
  size_t capacity = wire->capacity ? wire->capacity : FIRST_CAPACITY;
  while (capacity - wire->count < bytes)
    capacity *= 2;
  unsigned char *grown = wire->failed ? NULL : realloc(wire->bytes, capacity);
  wire->failed = grown == NULL;
  if (!grown)
    return false;
  wire->bytes = grown;
  wire->capacity = capacity;
  return true;
}

static inline bool reserve(struct wire *wire, size_t bytes) {
  return wire->capacity - wire->count >= bytes || grow(wire, bytes);
}

static inline size_t encode(uint64_t value, unsigned char *out) {
  size_t count = 0;
  for (; value >= VARINT_MORE; value >>= VARINT_BITS)
    out[count++] = (unsigned char)(value | VARINT_MORE);
  out[count++] = (unsigned char)value;
  return count;
}

/* A key and a varint, or the key alone. Room for both is made before. */
static inline void key(struct wire *wire, unsigned field, unsigned kind) {
  wire->count += encode((uint64_t)field << WIRE_KIND_BITS | kind, wire->bytes + wire->count);
}

void wire_number(struct wire *wire, unsigned field, uint64_t value) {
  if (!reserve(wire, 2 * VARINT_BYTES_MAX))
    return;
  key(wire, field, WIRE_VARINT);
  wire->count += encode(value, wire->bytes + wire->count);
}

void wire_fixed64(struct wire *wire, unsigned field, uint64_t value) {
  if (!reserve(wire, VARINT_BYTES_MAX + sizeof value))
    return;
  key(wire, field, WIRE_FIXED64);
  for (size_t i = 0; i < sizeof value; i++)
    wire->bytes[wire->count++] = (unsigned char)(value >> 8 * i);
}

void wire_double(struct wire *wire, unsigned field, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  wire_fixed64(wire, field, bits);
}

void wire_text(struct wire *wire, unsigned field, const char *text) {
  size_t length = strlen(text);
  if (!reserve(wire, 2 * VARINT_BYTES_MAX + length))
    return;
  key(wire, field, WIRE_LENGTH);
  wire->count += encode(length, wire->bytes + wire->count);
  memcpy(wire->bytes + wire->count, text, length);
  wire->count += length;
}

/* The length stands before the message and is known at its end. Most messages are short, and one
 * byte is kept free for the length. */
size_t wire_begin(struct wire *wire, unsigned field) {
  if (!reserve(wire, VARINT_BYTES_MAX + 1))
    return 0;
  key(wire, field, WIRE_LENGTH);
  return ++wire->count;
}

void wire_end(struct wire *wire, size_t place) {
  unsigned char text[VARINT_BYTES_MAX];
  if (wire->failed || !reserve(wire, VARINT_BYTES_MAX))
    return;
  size_t length = wire->count - place, count = encode(length, text);
  if (count > 1)
    memmove(wire->bytes + place + count - 1, wire->bytes + place, length);
  memcpy(wire->bytes + place - 1, text, count);
  wire->count += count - 1;
}

void wire_flush(struct wire *wire, FILE *out) {
  if (!wire->failed && wire->count > 0)
    fwrite(wire->bytes, 1, wire->count, out);
  wire->count = 0;
}

void wire_free(struct wire *wire) {
  free(wire->bytes);
  *wire = (struct wire){0};
}
