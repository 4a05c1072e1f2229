/* SPDX-License-Identifier: Apache-2.0 */
/* Values of weights that no kernel lays out (offline.h). */
#include "networks/layers/offline.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/base/number.h"

/*
 * FRACTAL_Z is [c1 x points, n1, 16, c0]: c1 blocks of channels of the map, points of the window,
 * n1 groups of 16 channels of the result. Joined groups follow one another along the first.
 */
static bool fractal_weights(const struct graph_node *node, const struct graph_tensor *from,
                            const unsigned char *from_bytes, const struct graph_tensor *to,
                            unsigned char *to_bytes) {
  uint64_t groups = (uint64_t)graph_arg_int(node, "group", 1), points = 1;
  if (from->rank < 3 || to->rank != 4 || groups == 0 || from->dtype != to->dtype)
    return false;
  for (unsigned i = 2; i < from->rank; i++)
    points *= from->shape[i];
  uint64_t k = from->shape[0], cg = from->shape[1], kg = k / groups;
  uint64_t n1 = to->shape[1], rows = to->shape[2], c0 = to->shape[3];
  size_t bytes = dtype_bits(from->dtype) / 8;
  /* Groups that are joined: as many as fill the columns of the result. */
  uint64_t joined = 1;
  while (joined < groups && (joined + 1) * kg <= n1 * rows)
    joined++;
  uint64_t c1 = to->shape[0] / points / ((groups + joined - 1) / joined);
  memset(to_bytes, 0, graph_bytes(to));
  for (uint64_t row = 0; row < k; row++)
    for (uint64_t channel = 0; channel < cg; channel++)
      for (uint64_t point = 0; point < points; point++) {
        uint64_t group = row / kg, part = group / joined;
        uint64_t column = row - part * joined * kg, c = (group - part * joined) * cg + channel;
        uint64_t block = (part * c1 + c / c0) * points + point;
        uint64_t at = ((block * n1 + column / rows) * rows + column % rows) * c0 + c % c0;
        if (at >= graph_elements(to))
          return false;
        memcpy(to_bytes + at * bytes, from_bytes + ((row * cg + channel) * points + point) * bytes,
               bytes);
      }
  return true;
}

enum { WINDOW = 3, POINTS = 16, SIDE = 4 };

/*
 * [16, C, K], the point of row i and column j being number 4 j + i: G w G^T of each window w, with
 * the G that belongs to winograd_input and winograd_output (lower/vector/maps/winograd.c).
 */
static bool winograd_weights(const struct graph_tensor *from, const unsigned char *from_bytes,
                             const struct graph_tensor *to, unsigned char *to_bytes) {
  static const double g[SIDE][WINDOW] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  struct graph_tensor weights = *from;
  weights.data = from_bytes;
  if (from->rank != 4 || from->shape[2] != WINDOW || from->shape[3] != WINDOW || to->rank != 3 ||
      graph_elements(to) != POINTS * from->shape[0] * from->shape[1])
    return false;
  uint64_t k = from->shape[0], c = from->shape[1];
  for (uint64_t at = 0; at < k * c; at++) {
    double window[WINDOW * WINDOW];
    for (unsigned i = 0; i < WINDOW * WINDOW; i++)
      if (!graph_number(&weights, at * WINDOW * WINDOW + i, &window[i]))
        return false;
    for (unsigned point = 0; point < POINTS; point++) {
      double sum = 0;
      for (unsigned i = 0; i < WINDOW * WINDOW; i++)
        sum += g[point % SIDE][i / WINDOW] * window[i] * g[point / SIDE][i % WINDOW];
      if (!graph_put_number(to->dtype, to_bytes, (point * c + at % c) * k + at / c, sum))
        return false;
    }
  }
  return true;
}

/* The sign of two's complement is the highest bit of each number. */
static bool signed_weights(const struct graph_node *node, const struct graph_tensor *from,
                           const unsigned char *from_bytes, unsigned char *to_bytes) {
  unsigned char highest = graph_arg_int(node, "bits", 8) == 4 ? 0x88 : 0x80;
  for (uint64_t i = 0; i < graph_bytes(from); i++)
    to_bytes[i] = from_bytes[i] ^ highest;
  return true;
}

/* A number of some bits. Those of E2M1: two bits of exponent, one of mantissa (OCP Microscaling
 * Formats 1.0, 5.3.3). */
static double number_of(unsigned bits, const char *form, unsigned number) {
  static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if (strcmp(form, "signed") == 0)
    return number >> (bits - 1) ? (double)number - (double)(1U << bits) : (double)number;
  if (strcmp(form, "e4m3") == 0)
    return (double)number_decode(&number_fp8_e4m3, number);
  if (strcmp(form, "e5m2") == 0)
    return (double)number_decode(&number_fp8_e5m2, number);
  if (strcmp(form, "e2m1") == 0)
    return number & 8 ? -e2m1[number & 7] : e2m1[number & 7];
  return number;
}

/* The first number of a byte is in its lowest bits. */
static bool unpacked_numbers(const struct graph_node *node, const struct graph_tensor *from,
                             const unsigned char *from_bytes, const struct graph_tensor *to,
                             unsigned char *to_bytes) {
  const char *form = graph_arg(node, "form");
  uint64_t row = (uint64_t)graph_arg_int(node, "row", 1);
  unsigned bits = graph_arg_int(node, "bits", 8) == 4 ? 4U : 8U;
  uint64_t each = 8 / bits;
  uint64_t rows = row == 0 ? 0 : graph_elements(to) / row,
           row_bytes = row == 0 ? 0 : ceil_div(row, each);
  if (row == 0 || rows * row_bytes > graph_bytes(from))
    return false;
  for (uint64_t i = 0; i < graph_elements(to); i++) {
    unsigned byte = from_bytes[i / row * row_bytes + i % row / each];
    unsigned number = each == 1 ? byte : byte >> (i % row % each * 4) & 15;
    if (!graph_put_number(to->dtype, to_bytes, i, number_of(bits, form ? form : "", number)))
      return false;
  }
  return true;
}

/*
 * Scales as words of set_quant_pre: bits 31..13 the upper bits of an fp32, rounded to the nearest,
 * 45..37 the offset, 46 whether results have a sign. Channels that are padding have a scale, too.
 */
static bool scale_words(const struct graph_node *node, const struct graph_tensor *from,
                        const unsigned char *from_bytes, const struct graph_tensor *to,
                        unsigned char *to_bytes) {
  enum { LOST_BITS = 13, OFFSET_BIT = 37, OFFSET_MASK = 511, SIGNED_BIT = 46 };
  uint64_t count = graph_elements(from);
  uint64_t offset = (uint64_t)graph_arg_int(node, "offset", 0) & OFFSET_MASK;
  uint64_t more = offset << OFFSET_BIT | (uint64_t)(graph_arg_int(node, "signed", 0) != 0)
                                             << SIGNED_BIT;
  if (from->dtype != DTYPE_FP32 || count == 0)
    return false;
  for (uint64_t i = 0; i < graph_elements(to); i++) {
    uint64_t at = count == 1 ? 0 : min_u64(i, count - 1);
    uint64_t bits = load_u32(from_bytes + at * sizeof(uint32_t));
    bits = (bits + (UINT64_C(1) << (LOST_BITS - 1))) >> LOST_BITS << LOST_BITS;
    store_u64(to_bytes + i * sizeof(uint64_t), bits | more);
  }
  return true;
}

bool offline_layer(const struct graph_node *node, const struct graph_tensor *from,
                   const void *from_bytes, const struct graph_tensor *to, void *to_bytes) {
  if (strcmp(node->op, "SignedWeights") == 0)
    return signed_weights(node, from, from_bytes, to_bytes);
  if (strcmp(node->op, "ScaleWords") == 0)
    return scale_words(node, from, from_bytes, to, to_bytes);
  if (strcmp(node->op, "UnpackedNumbers") == 0)
    return unpacked_numbers(node, from, from_bytes, to, to_bytes);
  if (strcmp(node->op, "WinogradWeights") == 0)
    return winograd_weights(from, from_bytes, to, to_bytes);
  return strcmp(node->op, "FractalWeights") == 0 &&
         fractal_weights(node, from, from_bytes, to, to_bytes);
}
