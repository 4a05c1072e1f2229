/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of layers on integers of 8 bits share (quantised.c, quantised_conv.c). */
#ifndef VINCI_NETWORKS_LAYERS_QUANTISED_H
#define VINCI_NETWORKS_LAYERS_QUANTISED_H

#include "networks/layers/build.h"

/* A zero point that holds for all elements: known, or a number that the run computes. */
struct zero {
  bool known;
  double number;  /* when known */
  unsigned input; /* else, */
  double shift;   /* and this is to be taken from that input */
};

/* Signed bytes for the cube, and the number among them that stands for 0. */
struct bytes {
  uint32_t tensor;
  struct zero zero;
};

static inline bool zero_is_nought(const struct zero *zero) {
  return zero->known && zero->number == 0;
}
/* Minus the zero point times sums of bytes (fp32), in int32, which has all digits of that. */
uint32_t zero_terms(struct build *build, uint32_t sums, const struct zero *zero);

/* An input of 8 bits and its zero point, which may be left out; false: refused. */
bool bytes_take(struct build *build, unsigned input, unsigned zero, struct bytes *out);
/* Bytes as this chip moves them: those that copy whole blocks alone take numbers of 16 bits. */
uint32_t bytes_movable(struct build *build, uint32_t tensor);
/* Their numbers without the zero point, in fp16, which has all of them. */
uint32_t bytes_without_zero(struct build *build, const struct bytes *bytes);
/* Sums of a matrix [rows, columns] of bytes along a dimension, in fp32: below 2^24, so exact. */
uint32_t bytes_sums(struct build *build, uint32_t bytes, uint64_t rows, uint64_t columns,
                    unsigned axis);

/* What the zero point of x adds to each channel of a product, from the sums of the channels'
 * weights, and the bias of an input, which may be left out: int32. */
uint32_t bytes_terms(struct build *build, uint32_t sums, const struct bytes *x, unsigned bias);

/* What the zero point of x adds to each channel of a convolution, and the bias: int32, or
 * GRAPH_NONE for nothing. */
uint32_t bytes_of_channels(struct build *build, const struct bytes *x, const struct bytes *w,
                           uint64_t channels, unsigned bias);

/* Two scales as one, in fp32: of the first input one for all, of the second one for all or for each
 * index of an axis of a tensor of `rank` dimensions. Without the second the first is the scale. */
uint32_t scale_product(struct build *build, unsigned first, unsigned second, unsigned rank,
                       unsigned axis);
/* Integers of 32 bits times their scale. */
uint32_t scaled_sums(struct build *build, uint32_t sums, uint32_t scale, enum dtype dtype);
/* Real numbers to bytes, with a known zero point, into a tensor of int8. */
void quantise(struct build *build, uint32_t x, uint32_t scale, double zero, uint32_t out);
/* Scales (fp32, one for all or one for each channel) as the words that the fixpipe reads, of so
 * many channels: for fp16, or for int8 with a zero point. Refuses scales that are not known
 * offline. */
uint32_t fixpipe_scales(struct build *build, uint32_t scale, uint64_t channels, enum dtype dtype,
                        double zero);
/* Scales over the one scale of the result, an input. */
uint32_t scale_between(struct build *build, uint32_t scale, unsigned input);
/* The type of the layer's result; of a layer without a result, which is refused later, fp32. */
enum dtype type_of_result(const struct build *build);
/* A tensor as the layer's result; false: GRAPH_NONE, what made the tensor has refused. */
bool give_real(struct build *build, uint32_t real);
/* The same into a result of 8 bits, with the scale and the zero point of these inputs. */
bool give_quantised(struct build *build, uint32_t real, unsigned scale, unsigned zero);

#endif
