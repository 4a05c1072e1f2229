/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes protocol buffers, in the wire format that protobuf.dev/programming-guides/encoding
 * describes: a message is built in memory, field by field, and then written as a whole. Numbers of
 * fields belong to the caller. Code generated from a schema would have to hold a whole trace as
 * objects, and would make a timeline depend on a package that is optional.
 */
#ifndef VINCI_TRACES_EXPORT_WIRE_H
#define VINCI_TRACES_EXPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wire {
  unsigned char *bytes;
  size_t count, capacity;
  bool failed; /* memory is short; what follows is ignored */
};

/* Fields of the message that is open. */
void wire_number(struct wire *wire, unsigned field,
                 uint64_t value); /* varint, also bool and enum */
void wire_fixed64(struct wire *wire, unsigned field, uint64_t value);
void wire_double(struct wire *wire, unsigned field, double value);
void wire_text(struct wire *wire, unsigned field, const char *text);
/* A field that is a message: returns its place, for wire_end(). Messages nest. */
size_t wire_begin(struct wire *wire, unsigned field);
void wire_end(struct wire *wire, size_t place);

/* Writes what was built and starts anew, keeping the memory. Errors show in ferror(). */
void wire_flush(struct wire *wire, FILE *out);
void wire_free(struct wire *wire);

#endif
