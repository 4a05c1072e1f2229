/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers in the wire format, built in memory. */
#include "traces/export/wire.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of fields, in the low three bits of a key. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_KIND_BITS = 3 };
enum { VARINT_BITS = 7, VARINT_MORE = 0x80, VARINT_BYTES_MAX = 10, FIRST_CAPACITY = 4096 };

static unsigned char *room(struct wire *wire, size_t bytes) {
  if (wire->failed)
    return NULL;
  if (wire->capacity - wire->count < bytes) {
    size_t capacity = wire->capacity ? wire->capacity : FIRST_CAPACITY;
    while (capacity - wire->count < bytes)
      capacity *= 2;
    unsigned char *grown = realloc(wire->bytes, capacity);
    wire->failed = grown == NULL;
    if (!grown)
      return NULL;
    wire->bytes = grown;
    wire->capacity = capacity;
  }
  wire->count += bytes;
  return wire->bytes + wire->count - bytes;
}

static size_t encode(uint64_t value, unsigned char *out) {
  size_t count = 0;
  for (; value >= VARINT_MORE; value >>= VARINT_BITS)
    out[count++] = (unsigned char)(value | VARINT_MORE);
  out[count++] = (unsigned char)value;
  return count;
}

static void varint(struct wire *wire, uint64_t value) {
  unsigned char text[VARINT_BYTES_MAX];
  size_t count = encode(value, text);
  unsigned char *place = room(wire, count);
  if (place)
    memcpy(place, text, count);
}

static void key(struct wire *wire, unsigned field, unsigned kind) {
  varint(wire, (uint64_t)field << WIRE_KIND_BITS | kind);
}

void wire_number(struct wire *wire, unsigned field, uint64_t value) {
  key(wire, field, WIRE_VARINT);
  varint(wire, value);
}

void wire_fixed64(struct wire *wire, unsigned field, uint64_t value) {
  key(wire, field, WIRE_FIXED64);
  unsigned char *place = room(wire, sizeof value);
  for (size_t i = 0; place && i < sizeof value; i++)
    place[i] = (unsigned char)(value >> 8 * i);
}

void wire_double(struct wire *wire, unsigned field, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  wire_fixed64(wire, field, bits);
}

void wire_text(struct wire *wire, unsigned field, const char *text) {
  size_t length = strlen(text);
  key(wire, field, WIRE_LENGTH);
  varint(wire, length);
  unsigned char *place = room(wire, length);
  if (place)
    memcpy(place, text, length);
}

size_t wire_begin(struct wire *wire, unsigned field) {
  key(wire, field, WIRE_LENGTH);
  return wire->count;
}

/* The length stands before the message and is known only now. */
void wire_end(struct wire *wire, size_t place) {
  unsigned char text[VARINT_BYTES_MAX];
  if (wire->failed)
    return;
  size_t length = wire->count - place, count = encode(length, text);
  if (!room(wire, count))
    return;
  memmove(wire->bytes + place + count, wire->bytes + place, length);
  memcpy(wire->bytes + place, text, count);
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
