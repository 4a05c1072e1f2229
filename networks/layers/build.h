/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lowering of a layer is written with: inputs in a layout, results, kernels, views. Each
 * function that makes something returns GRAPH_NONE when memory is short or the layer was refused;
 * both are remembered, and inputs that are GRAPH_NONE make nothing.
 */
#ifndef VINCI_NETWORKS_LAYERS_BUILD_H
#define VINCI_NETWORKS_LAYERS_BUILD_H

#include <string.h>

#include "core/chip/soc.h"
#include "networks/graph/graph.h"
#include "networks/layers/layout.h"

enum { BUILD_REASON_BYTES = 200, BUILD_INPUTS_MAX = 4096 };

struct build {
  const struct graph *from;
  struct graph *to;
  const struct vinci_soc *soc;
  const struct layer_row *row;
  const struct graph_node *layer;
  uint32_t (*versions)[LAYOUT_COUNT]; /* by tensor of from: tensors of to, or GRAPH_NONE */
  bool *offline;                      /* by tensor of to: depends on weights alone */
  uint32_t offline_room;
  enum layout layout; /* that the layer computes in */
  bool no_memory, refused;
  char reason[BUILD_REASON_BYTES];
};

/* How a layer becomes kernels; false: refused, with a reason. */
typedef bool (*layer_lower)(struct build *build);

enum layer_flags {
  LAYER_BLOCKS = 1 << 0,   /* needs NC1HWC0 */
  LAYER_ANYWHERE = 1 << 1, /* computes alike on each element: any layout */
  LAYER_CHANNELS = 1 << 2, /* knows how to compute in NC1HWC0 too */
  LAYER_POLES = 1 << 3,    /* of 0 it may make infinity or NaN: not on the padding of channels */
};

struct layer_row {
  const char *op;
  layer_lower lower;
  const char *kernel; /* operator of `vinci compile` for the function; "" */
  unsigned flags;
};

/* ---- what the network says ---- */

/* The index-th input or output as the network has it; NULL when left out. */
const struct graph_tensor *build_tensor(const struct build *build, unsigned input);
const struct graph_tensor *build_result(const struct build *build, unsigned output);
/* An input whose values are known: its index-th number; false when it is not. */
bool build_number(const struct build *build, unsigned input, uint64_t index, double *out);
/* Product of extents first .. last - 1. */
uint64_t build_extent(const struct graph_tensor *tensor, unsigned first, unsigned last);

/* ---- layouts ---- */

/* Extents N, C, H, W; of N, C, L these are N, C, 1, L. A tensor of fewer dimensions than `rank` has
 * extents of 1 before its own, as it broadcasts. False unless rank is 3 or 4. */
struct image {
  uint64_t n, c, h, w;
};
bool build_image(const struct graph_tensor *tensor, unsigned rank, struct image *out);
/* Channels to a block of 32 bytes. */
uint64_t build_c0(enum dtype dtype);
/* N, C1, H, W, C0. */
void build_block_shape(const struct image *image, enum dtype dtype, uint64_t shape[5]);
/* An image lies in memory alike in both layouts. */
bool build_same_bytes(const struct image *image, enum dtype dtype);

/* ---- making ---- */

/* A tensor that exists before the first layer. */
uint32_t build_given(struct build *build, const struct graph_tensor *tensor);
/* An input in a layout. */
uint32_t build_input(struct build *build, unsigned input, enum layout layout);
/* An input in NC1HWC0 as it broadcasts with tensors of that many dimensions. */
uint32_t build_blocks(struct build *build, unsigned input, unsigned rank);
/* The layer's result in a layout. */
uint32_t build_output(struct build *build, unsigned output, enum layout layout);
/* Declares that a tensor of `to` is the layer's result. */
void build_is_output(struct build *build, unsigned output, enum layout layout, uint32_t tensor);
/* An intermediate tensor. */
uint32_t build_temp(struct build *build, enum dtype dtype, const uint64_t *shape, unsigned rank);
/* The same memory with another shape. */
uint32_t build_view(struct build *build, uint32_t tensor, const uint64_t *shape, unsigned rank);
/* A part of the same memory, `skip` bytes behind its start: a multiple of 512. */
uint32_t build_view_part(struct build *build, uint32_t tensor, const uint64_t *shape, unsigned rank,
                         uint64_t skip);
/* The layer's result is the same memory as a tensor of as many bytes. */
void build_view_output(struct build *build, unsigned output, enum layout layout, uint32_t tensor);

struct build_list {
  uint32_t items[BUILD_INPUTS_MAX];
  uint32_t count;
};
#define BUILD_LIST(...)                                                                            \
  ((struct build_list){.items = {__VA_ARGS__},                                                     \
                       .count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})

/* A kernel of the layer: "shape=8x128 dtype=fp16", its tensors in the order of the kernel's. */
void build_kernel(struct build *build, const char *op, const struct build_list *inputs,
                  const struct build_list *outputs, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same with one result. */
#define build_kernel1(build, op, inputs, output, ...)                                              \
  build_kernel(build, op, inputs, &BUILD_LIST(output), __VA_ARGS__)
/* An offline node for what no kernel computes: values of weights in another order. */
void build_offline_layer(struct build *build, const char *op, uint32_t input, uint32_t output,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));
/* From NCHW to NC1HWC0 and back, by a kernel unless both lie in memory alike. */
uint32_t build_to_blocks(struct build *build, uint32_t tensor, const struct image *image);
uint32_t build_from_blocks(struct build *build, uint32_t tensor, const struct image *image);
/* Whether the chip can run an operator with these arguments. */
bool build_can(const struct build *build, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A tensor in another type, by a kernel unless it has that type. */
uint32_t build_cast(struct build *build, uint32_t tensor, enum dtype dtype);
/* A tensor with its dimensions in another order, by a kernel unless only extents of 1 move. */
uint32_t build_transpose(struct build *build, uint32_t tensor, const unsigned *order);
/* A tensor repeated along its dimensions of extent 1, by a kernel unless it has the shape. */
uint32_t build_broadcast(struct build *build, uint32_t tensor, const uint64_t *shape,
                         unsigned rank);

/* A tensor of rows of `from` elements with rows of `to`: zeros behind, or fewer elements. */
uint32_t build_row_length(struct build *build, uint32_t tensor, uint64_t from, uint64_t to);
/* A part of a tensor, of as many dimensions, `begin` elements behind its first. */
uint32_t build_part(struct build *build, uint32_t tensor, const uint64_t *shape, uint64_t begin);
/* Tensors one after another along a dimension; *parts is used up. */
uint32_t build_join(struct build *build, struct build_list *parts, unsigned axis);

struct shape_text {
  char text[192];
};
struct shape_text shape_text(const uint64_t *shape, unsigned rank);
/* Of a tensor of `to`; a scalar is "1". */
struct shape_text build_shape(const struct build *build, uint32_t tensor);
static inline const struct graph_tensor *build_at(const struct build *build, uint32_t tensor) {
  return &build->to->tensors[tensor];
}

/* Refuses the layer; returns false. */
bool build_refuse(struct build *build, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- the rows ---- */

#define OPERATOR(name, read, kernel) kernel
#define KERNEL(lower, op, flags) bool layer_##lower(struct build *build);
#define NO_KERNEL
#include "networks/graph/operators.def"
#undef OPERATOR
#undef KERNEL
#undef NO_KERNEL

#endif
