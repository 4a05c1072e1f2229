/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of a layer is written with (build.h). */
#include "networks/layers/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/vinci.h"

enum { ARGS_BYTES = 1024, BLOCK_BYTES = 32 };

static uint32_t short_of_memory(struct build *build) {
  build->no_memory = true;
  return GRAPH_NONE;
}

static bool stopped(const struct build *build) { return build->no_memory || build->refused; }

bool build_refuse(struct build *build, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!build->refused)
    vsnprintf(build->reason, sizeof build->reason, format, arguments);
  va_end(arguments);
  build->refused = true;
  return false;
}

/* ---- what the network says ----------------------------------------------------------------- */

const struct graph_tensor *build_tensor(const struct build *build, unsigned input) {
  if (input >= build->layer->input_count || build->layer->inputs[input] == GRAPH_NONE)
    return NULL;
  return &build->from->tensors[build->layer->inputs[input]];
}

const struct graph_tensor *build_result(const struct build *build, unsigned output) {
  if (output >= build->layer->output_count || build->layer->outputs[output] == GRAPH_NONE)
    return NULL;
  return &build->from->tensors[build->layer->outputs[output]];
}

bool build_number(const struct build *build, unsigned input, uint64_t index, double *out) {
  const struct graph_tensor *tensor = build_tensor(build, input);
  if (!tensor || !tensor->data || index >= graph_elements(tensor))
    return false;
  return graph_number(tensor, index, out);
}

uint64_t build_extent(const struct graph_tensor *tensor, unsigned first, unsigned last) {
  uint64_t product = 1;
  for (unsigned i = first; i < last && i < tensor->rank; i++)
    product *= tensor->shape[i];
  return product;
}

/* ---- layouts ------------------------------------------------------------------------------- */

bool build_image(const struct graph_tensor *tensor, unsigned rank, struct image *out) {
  uint64_t extent[4] = {1, 1, 1, 1};
  if ((rank != 3 && rank != 4) || tensor->rank > rank)
    return false;
  for (unsigned i = 0; i < tensor->rank; i++) {
    unsigned at = rank - tensor->rank + i;
    extent[rank == 3 && at == 2 ? 3 : at] = tensor->shape[i];
  }
  *out = (struct image){extent[0], extent[1], extent[2], extent[3]};
  return true;
}

uint64_t build_c0(enum dtype dtype) { return BLOCK_BYTES * UINT64_C(8) / dtype_bits(dtype); }

void build_block_shape(const struct image *image, enum dtype dtype, uint64_t shape[5]) {
  uint64_t c0 = build_c0(dtype);
  shape[0] = image->n;
  shape[1] = (image->c + c0 - 1) / c0;
  shape[2] = image->h;
  shape[3] = image->w;
  shape[4] = c0;
}

bool build_same_bytes(const struct image *image, enum dtype dtype) {
  return image->h * image->w == 1 && image->c % build_c0(dtype) == 0;
}

/* ---- tensors ------------------------------------------------------------------------------- */

static uint32_t new_tensor(struct build *build, const char *base, enum dtype dtype,
                           const uint64_t *shape, unsigned rank, const char *format) {
  if (stopped(build))
    return GRAPH_NONE;
  const char *name = graph_new_name(build->to, base);
  uint32_t index = name ? graph_add_tensor(build->to, name) : GRAPH_NONE;
  if (index == GRAPH_NONE)
    return short_of_memory(build);
  if (index >= build->offline_room) {
    uint32_t room = build->offline_room ? 2 * build->offline_room : 256;
    bool *more = realloc(build->offline, room * sizeof *more);
    if (!more)
      return short_of_memory(build);
    build->offline = more;
    build->offline_room = room;
  }
  build->offline[index] = false;
  struct graph_tensor *tensor = &build->to->tensors[index];
  tensor->dtype = dtype;
  graph_set_shape(tensor, shape, rank);
  snprintf(tensor->format, sizeof tensor->format, "%s", format);
  return index;
}

uint32_t build_temp(struct build *build, enum dtype dtype, const uint64_t *shape, unsigned rank) {
  char base[128];
  snprintf(base, sizeof base, "%.100s.part", build->layer->name);
  return new_tensor(build, base, dtype, shape, rank, "ND");
}

/* The tensor of `to` that stands for one of the network in a layout, made anew. */
static uint32_t make_version(struct build *build, uint32_t tensor, unsigned rank,
                             enum layout layout) {
  const struct graph_tensor *own = &build->from->tensors[tensor];
  char base[128];
  uint64_t shape[5];
  struct image image;
  if (layout == LAYOUT_ND)
    return new_tensor(build, own->name, own->dtype, own->shape, own->rank, own->format);
  if (!build_image(own, rank, &image)) {
    build_refuse(build, "\"%s\" of %u dimensions has no channels to block", own->name, own->rank);
    return GRAPH_NONE;
  }
  snprintf(base, sizeof base, "%.100s.5hd", own->name);
  build_block_shape(&image, own->dtype, shape);
  return new_tensor(build, base, own->dtype, shape, 5, "NC1HWC0");
}

static void set_offline(struct build *build, uint32_t tensor, bool offline) {
  if (tensor != GRAPH_NONE)
    build->offline[tensor] = offline;
}

/* Weights alone, or nothing. */
static bool all_offline(const struct build *build, const struct build_list *inputs) {
  for (uint32_t i = 0; i < inputs->count; i++)
    if (inputs->items[i] != GRAPH_NONE && !build->offline[inputs->items[i]])
      return false;
  return true;
}

uint32_t build_given(struct build *build, const struct graph_tensor *tensor) {
  uint32_t index =
      new_tensor(build, tensor->name, tensor->dtype, tensor->shape, tensor->rank, tensor->format);
  if (index == GRAPH_NONE)
    return index;
  build->to->tensors[index].io = tensor->io == GRAPH_IN ? GRAPH_IN : GRAPH_WEIGHT;
  build->to->tensors[index].data = tensor->data;
  build->offline[index] = tensor->io != GRAPH_IN;
  return index;
}

uint32_t build_view_part(struct build *build, uint32_t tensor, const uint64_t *shape, unsigned rank,
                         uint64_t skip) {
  char base[128];
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, tensor);
  snprintf(base, sizeof base, "%.100s.view", own.name);
  uint32_t view = new_tensor(build, base, own.dtype, shape, rank, own.format);
  if (view == GRAPH_NONE)
    return view;
  build->to->tensors[view].memory = tensor;
  build->to->tensors[view].skip = skip;
  set_offline(build, view, build->offline[tensor]);
  char name[128];
  snprintf(name, sizeof name, "%.100s.shape", build->to->tensors[view].name);
  struct graph_node node = {.name = name,
                            .kind = GRAPH_VIEW,
                            .op = "",
                            .inputs = &tensor,
                            .outputs = &view,
                            .input_count = 1,
                            .output_count = 1,
                            .offline = build->offline[tensor],
                            .origin = build->layer->name,
                            .source = build->layer->origin};
  if (graph_add_node(build->to, &node) == GRAPH_NONE)
    return short_of_memory(build);
  return view;
}

uint32_t build_view(struct build *build, uint32_t tensor, const uint64_t *shape, unsigned rank) {
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  const struct graph_tensor *own = build_at(build, tensor);
  if (own->rank == rank && memcmp(own->shape, shape, rank * sizeof *shape) == 0)
    return tensor;
  return build_view_part(build, tensor, shape, rank, 0);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void add_node(struct build *build, enum graph_kind kind, bool offline, const char *op,
                     const struct build_list *inputs, const struct build_list *outputs,
                     const char *format, va_list arguments) {
  char text[ARGS_BYTES], name[160];
  const char *args[GRAPH_ARGS_MAX];
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (length < 0 || (size_t)length >= sizeof text)
    build_refuse(build, "the arguments of %s are too long", op);
  if (stopped(build))
    return;
  for (uint32_t i = 0; i < outputs->count; i++)
    set_offline(build, outputs->items[i], offline);
  snprintf(name, sizeof name, "%.120s/%s.%u", build->layer->name, op, build->to->node_count);
  struct graph_node node = {.name = name,
                            .kind = kind,
                            .op = op,
                            .args = args,
                            .arg_count = graph_split_args(text, args),
                            .inputs = inputs->items,
                            .input_count = inputs->count,
                            .outputs = outputs->items,
                            .output_count = outputs->count,
                            .stream = build->layer->stream,
                            .offline = offline,
                            .origin = build->layer->name,
                            .source = build->layer->origin};
  if (graph_add_node(build->to, &node) == GRAPH_NONE)
    (void)short_of_memory(build);
}

void build_kernel(struct build *build, const char *op, const struct build_list *inputs,
                  const struct build_list *outputs, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!stopped(build))
    add_node(build, GRAPH_KERNEL, all_offline(build, inputs), op, inputs, outputs, format,
             arguments);
  va_end(arguments);
}

void build_offline_layer(struct build *build, const char *op, uint32_t input, uint32_t output,
                         const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!stopped(build))
    add_node(build, GRAPH_LAYER, true, op, &BUILD_LIST(input), &BUILD_LIST(output), format,
             arguments);
  va_end(arguments);
}

bool build_can(const struct build *build, const char *op, const char *format, ...) {
  char text[ARGS_BYTES], tiling_text[ARGS_BYTES];
  const char *args[GRAPH_ARGS_MAX];
  struct vinci_tiling tiling;
  struct vinci_diag diag = {0};
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return length > 0 && (size_t)length < sizeof text &&
         vinci_op_tiling(build->soc, op, args, graph_split_args(text, args), tiling_text,
                         sizeof tiling_text, &tiling, &diag) == VINCI_OK;
}

uint32_t build_cast(struct build *build, uint32_t tensor, enum dtype dtype) {
  if (stopped(build) || tensor == GRAPH_NONE || build_at(build, tensor)->dtype == dtype)
    return stopped(build) ? GRAPH_NONE : tensor;
  struct graph_tensor own = *build_at(build, tensor);
  uint32_t out = build_temp(build, dtype, own.shape, own.rank);
  build_kernel1(build, "cast", &BUILD_LIST(tensor), out, "shape=%llu dtype=%s to=%s",
                (unsigned long long)graph_elements(&own), dtype_name(own.dtype), dtype_name(dtype));
  return out;
}

/* Whether the chip has the transposition in fp32 alone: of 16 bits, short runs of elements are no
 * whole blocks, which is all that some chips copy. */
static bool transposes_wide(const struct build *build, const struct graph_tensor *own,
                            const char *perm) {
  struct shape_text shape = shape_text(own->shape, own->rank);
  return own->dtype == DTYPE_FP16 &&
         !build_can(build, "transpose", "shape=%s perm=%s dtype=fp16", shape.text, perm) &&
         build_can(build, "transpose", "shape=%s perm=%s dtype=fp32", shape.text, perm);
}

uint32_t build_transpose(struct build *build, uint32_t tensor, const unsigned *order) {
  char perm[64] = "";
  uint64_t shape[GRAPH_RANK_MAX];
  size_t at = 0;
  bool moves = false;
  unsigned last = 0;
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, tensor);
  for (unsigned i = 0; i < own.rank; i++) {
    shape[i] = own.shape[order[i]];
    at += (size_t)snprintf(perm + at, sizeof perm - at, "%s%u", i ? "x" : "", order[i] + 1);
    if (shape[i] == 1)
      continue;
    moves = moves || order[i] < last;
    last = order[i];
  }
  if (!moves)
    return build_view(build, tensor, shape, own.rank);
  bool wide = !build->offline[tensor] && transposes_wide(build, &own, perm);
  if (wide)
    tensor = build_cast(build, tensor, DTYPE_FP32);
  enum dtype dtype = wide ? DTYPE_FP32 : own.dtype;
  uint32_t out = build_temp(build, dtype, shape, own.rank);
  build_kernel1(build, "transpose", &BUILD_LIST(tensor), out, "shape=%s perm=%s dtype=%s",
                shape_text(own.shape, own.rank).text, perm, dtype_name(dtype));
  return build_cast(build, out, own.dtype);
}

uint32_t build_broadcast(struct build *build, uint32_t tensor, const uint64_t *shape,
                         unsigned rank) {
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  struct graph_tensor own = *build_at(build, tensor);
  struct graph_tensor wide = {.dtype = own.dtype};
  graph_set_shape(&wide, shape, rank);
  if (graph_elements(&own) == graph_elements(&wide))
    return build_view(build, tensor, shape, rank);
  uint32_t out = build_temp(build, own.dtype, shape, rank);
  build_kernel1(build, "broadcast", &BUILD_LIST(tensor), out, "shape=%s to=%s dtype=%s",
                build_shape(build, tensor).text, shape_text(shape, rank).text,
                dtype_name(own.dtype));
  return out;
}

uint32_t build_row_length(struct build *build, uint32_t in, uint64_t from, uint64_t to) {
  const struct graph_tensor own = *build_at(build, in);
  const uint64_t rows = graph_elements(&own) / from;
  const char *type = dtype_name(own.dtype);
  if (from == to)
    return in;
  uint32_t out = build_temp(build, own.dtype, (uint64_t[]){rows, to}, 2);
  if (from < to)
    build_kernel1(build, "pad", &BUILD_LIST(in), out,
                  "shape=%llux%llu before=0x0 after=0x%llu dtype=%s", (unsigned long long)rows,
                  (unsigned long long)from, (unsigned long long)(to - from), type);
  else
    build_kernel1(build, "slice", &BUILD_LIST(in), out, "shape=%llux%llu out=%llux%llu dtype=%s",
                  (unsigned long long)rows, (unsigned long long)from, (unsigned long long)rows,
                  (unsigned long long)to, type);
  return out;
}

/* ---- inputs and results in a layout -------------------------------------------------------- */

/* No kernel orders bytes well: they move as numbers of 16 bits, whose squares the vector unit
 * turns. Channels that are padding are 0. */
static void convert_bytes(struct build *build, uint32_t from, uint32_t to,
                          const struct image *image, enum layout layout) {
  static const unsigned turned[] = {0, 1, 3, 2};
  enum dtype dtype = build_at(build, from)->dtype;
  uint64_t c0 = build_c0(dtype), c1 = (image->c + c0 - 1) / c0, points = image->h * image->w;
  uint64_t own[4] = {image->n, c1, c0, points}, blocks[4] = {image->n, c1, points, c0};
  uint64_t row = image->c * points, whole = c1 * c0 * points;
  bool there = layout == LAYOUT_5HD;
  uint32_t map = build_cast(build, from, DTYPE_FP16);
  if (map == GRAPH_NONE)
    return;
  if (there)
    map =
        build_row_length(build, build_view(build, map, (uint64_t[]){image->n, row}, 2), row, whole);
  map = build_transpose(build, build_view(build, map, there ? own : blocks, 4), turned);
  if (!there && map != GRAPH_NONE)
    map = build_row_length(build, build_view(build, map, (uint64_t[]){image->n, whole}, 2), whole,
                           row);
  if (map != GRAPH_NONE)
    build_kernel1(build, "cast", &BUILD_LIST(map), to, "shape=%llu dtype=fp16 to=%s",
                  (unsigned long long)(image->n * (there ? whole : row)), dtype_name(dtype));
}

/* NCHW or NC1HWC0, into a tensor that exists. */
static void convert(struct build *build, uint32_t from, uint32_t to, const struct image *image,
                    enum layout layout) {
  uint64_t shape[4] = {image->n, image->c, image->h, image->w};
  if (stopped(build) || from == GRAPH_NONE || to == GRAPH_NONE)
    return;
  if (dtype_bits(build_at(build, from)->dtype) == 8) {
    convert_bytes(build, from, to, image, layout);
    return;
  }
  build_kernel1(build, "transdata", &BUILD_LIST(from), to, "shape=%s way=%s dtype=%s",
                shape_text(shape, 4).text,
                layout == LAYOUT_5HD ? "nchw_to_nc1hwc0" : "nc1hwc0_to_nchw",
                dtype_name(build_at(build, from)->dtype));
}

uint32_t build_to_blocks(struct build *build, uint32_t tensor, const struct image *image) {
  uint64_t shape[5];
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  enum dtype dtype = build_at(build, tensor)->dtype;
  build_block_shape(image, dtype, shape);
  if (build_same_bytes(image, dtype))
    return build_view(build, tensor, shape, 5);
  uint32_t out = build_temp(build, dtype, shape, 5);
  convert(build, tensor, out, image, LAYOUT_5HD);
  return out;
}

uint32_t build_from_blocks(struct build *build, uint32_t tensor, const struct image *image) {
  uint64_t shape[4] = {image->n, image->c, image->h, image->w};
  if (stopped(build) || tensor == GRAPH_NONE)
    return GRAPH_NONE;
  enum dtype dtype = build_at(build, tensor)->dtype;
  if (build_same_bytes(image, dtype))
    return build_view(build, tensor, shape, 4);
  uint32_t out = build_temp(build, dtype, shape, 4);
  convert(build, tensor, out, image, LAYOUT_ND);
  return out;
}

static uint32_t in_layout(struct build *build, uint32_t tensor, unsigned rank, enum layout layout) {
  uint32_t *versions = build->versions[tensor];
  uint32_t other = versions[layout == LAYOUT_ND ? LAYOUT_5HD : LAYOUT_ND];
  struct image image;
  if (stopped(build) || versions[layout] != GRAPH_NONE)
    return stopped(build) ? GRAPH_NONE : versions[layout];
  const struct graph_tensor *own = &build->from->tensors[tensor];
  if (other == GRAPH_NONE) {
    build_refuse(build, "\"%s\" has no value: the layer that makes it was refused", own->name);
    return GRAPH_NONE;
  }
  if (!build_image(own, rank, &image)) {
    build_refuse(build, "\"%s\" of %u dimensions has no channels to block", own->name, own->rank);
    return GRAPH_NONE;
  }
  if (build_same_bytes(&image, own->dtype)) {
    uint64_t blocks[5];
    build_block_shape(&image, own->dtype, blocks);
    versions[layout] = layout == LAYOUT_5HD ? build_view(build, other, blocks, 5)
                                            : build_view(build, other, own->shape, own->rank);
    return versions[layout];
  }
  uint32_t made = make_version(build, tensor, rank, layout);
  if (made != GRAPH_NONE)
    convert(build, other, made, &image, layout);
  if (!stopped(build))
    versions[layout] = made;
  return made;
}

uint32_t build_input(struct build *build, unsigned input, enum layout layout) {
  const struct graph_tensor *tensor = build_tensor(build, input);
  if (!tensor) {
    build_refuse(build, "input %u is missing", input);
    return GRAPH_NONE;
  }
  return in_layout(build, build->layer->inputs[input], tensor->rank, layout);
}

uint32_t build_blocks(struct build *build, unsigned input, unsigned rank) {
  const struct graph_tensor *tensor = build_tensor(build, input);
  if (!tensor) {
    build_refuse(build, "input %u is missing", input);
    return GRAPH_NONE;
  }
  return in_layout(build, build->layer->inputs[input], rank, LAYOUT_5HD);
}

uint32_t build_output(struct build *build, unsigned output, enum layout layout) {
  const struct graph_tensor *tensor = build_result(build, output);
  if (!tensor) {
    build_refuse(build, "result %u is missing", output);
    return GRAPH_NONE;
  }
  uint32_t made = stopped(build)
                      ? GRAPH_NONE
                      : make_version(build, build->layer->outputs[output], tensor->rank, layout);
  if (made != GRAPH_NONE)
    build->versions[build->layer->outputs[output]][layout] = made;
  return made;
}

void build_is_output(struct build *build, unsigned output, enum layout layout, uint32_t tensor) {
  if (!stopped(build) && tensor != GRAPH_NONE)
    build->versions[build->layer->outputs[output]][layout] = tensor;
}

void build_view_output(struct build *build, unsigned output, enum layout layout, uint32_t tensor) {
  const struct graph_tensor *own = build_result(build, output);
  if (!own || stopped(build))
    return;
  if (layout == LAYOUT_ND)
    tensor = build_view(build, tensor, own->shape, own->rank);
  build_is_output(build, output, layout, tensor);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct shape_text shape_text(const uint64_t *shape, unsigned rank) {
  struct shape_text out = {"1"};
  size_t at = 0;
  for (unsigned i = 0; i < rank && at < sizeof out.text; i++)
    at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%llu", i ? "x" : "",
                           (unsigned long long)shape[i]);
  return out;
}

struct shape_text build_shape(const struct build *build, uint32_t tensor) {
  if (tensor == GRAPH_NONE)
    return (struct shape_text){"1"};
  return shape_text(build_at(build, tensor)->shape, build_at(build, tensor)->rank);
}
