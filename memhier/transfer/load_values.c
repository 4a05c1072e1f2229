/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the loads of L0A and L0B: fractals as they are or transposed, and convolution
 * windows. Left out: the packed last group of feature maps whose channels are no multiple of
 * those of a block; here that group counts as a full group.
 */
#include "core/base/number.h"
#include "memhier/transfer/transfer.h"

/* Elements of a given width, at any position; those of 4 bits may begin inside a byte. */
static void copy_elements(unsigned bits, uint8_t *to, size_t to_index, const uint8_t *from,
                          size_t from_index, size_t count) {
  if (bits >= BITS_PER_BYTE || (to_index % 2 == 0 && from_index % 2 == 0 && count % 2 == 0)) {
    memcpy(to + to_index * bits / BITS_PER_BYTE, from + from_index * bits / BITS_PER_BYTE,
           count * bits / BITS_PER_BYTE);
    return;
  }
  for (size_t i = 0; i < count; i++)
    int4_store(to, to_index + i, int4_load(from, from_index + i));
}

/* ---- load2d ---- */

static void transpose_fractal(uint8_t *to, const uint8_t *from) {
  for (size_t row = 0; row < FRACTAL_ROWS; row++)
    for (size_t column = 0; column < FRACTAL_ROWS; column++)
      store_u16(to + (column * FRACTAL_ROWS + row) * sizeof(uint16_t),
                load_u16(from + (row * FRACTAL_ROWS + column) * sizeof(uint16_t)));
}

void transfer_load2d_values(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core) {
  (void)soc;
  struct transfer_runs src = transfer_load2d_src(inst, FRACTAL_BYTES);
  bool from_l1 = path_from(transfer_path(inst)) == SPACE_L1;
  bool transpose = from_l1 && inst->arg[LOAD2D_TRANSPOSE];
  const uint8_t *from =
      transfer_bytes(inst, core, TRANSFER_SRC) + transfer_load2d_offset(inst, FRACTAL_BYTES);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  for (uint64_t i = 0; i < src.count; i++) {
    if (transpose)
      transpose_fractal(to, from);
    else
      memcpy(to, from, FRACTAL_BYTES);
    from += src.stride_bytes;
    to += (uint64_t)(inst->arg[LOAD2D_DST_GAP] + 1) * FRACTAL_BYTES;
  }
}

/* A row of the source, one block of each of its fractals, becomes a column of the result. */
static void load2dv2_turn(const struct inst *inst, uint8_t *to, const uint8_t *from) {
  struct transfer_runs src = transfer_load2dv2_src(inst), dst = transfer_load2dv2_dst(inst);
  unsigned bits = dtype_bits(inst_dtype(inst));
  size_t block = (size_t)BLOCK_BYTES * BITS_PER_BYTE / bits; /* elements */
  size_t columns = dst.bytes / BLOCK_BYTES;
  for (size_t row = 0; row < dst.count * block; row++)
    for (size_t column = 0; column < columns; column++)
      copy_elements(bits, to + row / block * dst.stride_bytes + column * BLOCK_BYTES, row % block,
                    from + column / block * src.stride_bytes + row * BLOCK_BYTES, column % block,
                    1);
}

void transfer_load2dv2_values(const struct vinci_soc *soc, const struct inst *inst,
                              struct value_core *core) {
  (void)soc;
  struct transfer_runs src = transfer_load2dv2_src(inst), dst = transfer_load2dv2_dst(inst);
  const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC) + transfer_load2dv2_offset(inst);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  if (inst->arg[LOAD2DV2_TRANSPOSE]) {
    load2dv2_turn(inst, to, from);
    return;
  }
  for (uint64_t i = 0; i < src.count; i++)
    memcpy(to + i * dst.stride_bytes, from + i * src.stride_bytes, src.bytes);
}

void transfer_load_scales_values(const struct vinci_soc *soc, const struct inst *inst,
                                 struct value_core *core) {
  (void)soc;
  struct transfer_runs src = transfer_load_scales_rows(inst, LOAD_SCALES_SRC_STRIDE);
  struct transfer_runs dst = transfer_load_scales_rows(inst, LOAD_SCALES_DST_STRIDE);
  const uint8_t *from =
      transfer_bytes(inst, core, TRANSFER_SRC) + transfer_load_scales_offset(inst);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  for (uint64_t i = 0; i < src.count; i++)
    memcpy(to + i * dst.stride_bytes, from + i * src.stride_bytes, src.bytes);
}

void transfer_load_sparse_values(const struct vinci_soc *soc, const struct inst *inst,
                                 struct value_core *core) {
  (void)soc;
  size_t values = (size_t)inst->arg[LOAD_SPARSE_REPEAT] * FRACTAL_BYTES;
  size_t base = (size_t)inst->arg[LOAD_SPARSE_BASE] * FRACTAL_BYTES;
  memcpy(transfer_bytes(inst, core, TRANSFER_DST), transfer_bytes(inst, core, TRANSFER_SRC) + base,
         values);
  memcpy(core->bytes[SPACE_IDX] + inst->arg[TRANSFER_DST] / SPARSE_INDEX_SHARE,
         transfer_bytes(inst, core, LOAD_SPARSE_INDEX) + base / SPARSE_INDEX_SHARE,
         values / SPARSE_INDEX_SHARE);
}

/*
 * A square is one fractal of 16-bit elements, two of 8 bits or four of 4 bits below each other,
 * or two of 32 bits side by side.
 */
static void transpose_square(const struct inst *inst, uint8_t *to, const uint8_t *from) {
  unsigned bits = dtype_bits(inst_dtype(inst));
  size_t columns = (size_t)BLOCK_BYTES * BITS_PER_BYTE / bits; /* of a fractal */
  size_t side = columns > FRACTAL_ROWS ? columns : FRACTAL_ROWS;
  size_t gap = (size_t)(inst->arg[LOAD2DT_FRAC_GAP] + 1) * FRACTAL_BYTES;
  for (size_t row = 0; row < side; row++) {
    for (size_t column = 0; column < side; column++) {
      size_t source = (row / FRACTAL_ROWS + column / columns) * FRACTAL_BYTES +
                      row % FRACTAL_ROWS * BLOCK_BYTES;
      size_t target =
          (column / FRACTAL_ROWS + row / columns) * gap + column % FRACTAL_ROWS * BLOCK_BYTES;
      copy_elements(bits, to + target, row % columns, from + source, column % columns, 1);
    }
  }
}

void transfer_load2dt_values(const struct vinci_soc *soc, const struct inst *inst,
                             struct value_core *core) {
  (void)soc;
  uint64_t square = transfer_square_fractals(inst) * FRACTAL_BYTES;
  struct transfer_runs src = transfer_load2d_src(inst, square);
  const uint8_t *from =
      transfer_bytes(inst, core, TRANSFER_SRC) + transfer_load2d_offset(inst, square);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  for (uint64_t i = 0; i < src.count; i++) {
    transpose_square(inst, to, from);
    from += src.stride_bytes;
    to += (uint64_t)(inst->arg[LOAD2D_DST_GAP] + 1) * FRACTAL_BYTES;
  }
}

/* ---- load3d ---- */

/* The matrix of windows: row m is an output position, column k a channel of a window's point. */
struct windows {
  const int64_t *arg;
  const uint8_t *l1;
  size_t map, boundary; /* offsets in L1; boundary 0: none */
  uint8_t padding[BLOCK_BYTES];
  unsigned bits;
  size_t c0;          /* elements of a block */
  size_t channels;    /* that lie together: c0, or all of a few, packed */
  size_t group_bytes; /* of one point */
  int64_t groups;     /* of channels */
  int64_t out_w;
};

static struct windows windows_of(const struct inst *inst, const struct value_core *core) {
  const int64_t *arg = inst->arg;
  unsigned bits = dtype_bits(inst_dtype(inst));
  size_t c0 = (size_t)BLOCK_BYTES * BITS_PER_BYTE / bits;
  size_t channels = (size_t)arg[LOAD3D_CHANNELS] < c0 ? (size_t)arg[LOAD3D_CHANNELS] : c0;
  int64_t window = arg[LOAD3D_DILATION_W] * (arg[LOAD3D_FILTER_W] - 1) + 1;
  int64_t width = arg[LOAD3D_L1_W] + arg[LOAD3D_PAD_LEFT] + arg[LOAD3D_PAD_RIGHT];
  struct windows windows = {
      .arg = arg,
      .l1 = core->bytes[SPACE_L1],
      .map = (size_t)arg[TRANSFER_SRC],
      .boundary = transfer_load3d_boundary(inst),
      .bits = bits,
      .c0 = c0,
      .channels = channels,
      .group_bytes = (channels * bits + BITS_PER_BYTE - 1) / BITS_PER_BYTE,
      .groups = ((int64_t)arg[LOAD3D_CHANNELS] + (int64_t)channels - 1) / (int64_t)channels,
      .out_w = width < window ? 1 : (width - window) / arg[LOAD3D_STRIDE_W] + 1,
  };
  /* The padding register holds one element; of 4 bits a pair. */
  size_t element = bits < BITS_PER_BYTE ? 1 : bits / BITS_PER_BYTE;
  for (size_t i = 0; i < BLOCK_BYTES; i++)
    windows.padding[i] = (uint8_t)(inst->registers.load3d_padding >> (i % element * BITS_PER_BYTE));
  return windows;
}

/* The channels of one point of a window; outside of the feature map there is padding. */
static const uint8_t *window_point(const struct windows *windows, int64_t m, int64_t point) {
  const int64_t *arg = windows->arg;
  int64_t filter_x = point % arg[LOAD3D_FILTER_W];
  int64_t filter_y = point / arg[LOAD3D_FILTER_W] % arg[LOAD3D_FILTER_H];
  int64_t group = point / arg[LOAD3D_FILTER_W] / arg[LOAD3D_FILTER_H];
  int64_t x = m % windows->out_w * arg[LOAD3D_STRIDE_W] + filter_x * arg[LOAD3D_DILATION_W] -
              arg[LOAD3D_PAD_LEFT];
  int64_t y = m / windows->out_w * arg[LOAD3D_STRIDE_H] + filter_y * arg[LOAD3D_DILATION_H] -
              arg[LOAD3D_PAD_TOP];
  if (x < 0 || y < 0 || x >= arg[LOAD3D_L1_W] || y >= arg[LOAD3D_L1_H] || group >= windows->groups)
    return windows->padding;
  int64_t index = (group * arg[LOAD3D_L1_H] + y) * arg[LOAD3D_L1_W] + x;
  size_t at = windows->map + (size_t)index * windows->group_bytes;
  if (windows->boundary) {
    at %= windows->boundary;
    /* Few channels of an odd width may lie across the boundary. */
    if (at + windows->group_bytes > windows->boundary)
      at = 0;
  }
  return windows->l1 + at;
}

/* Columns first to first + count of row m, count at most those of a block. */
static void window_block(const struct windows *windows, size_t m, size_t first, size_t count,
                         uint8_t out[BLOCK_BYTES]) {
  for (size_t done = 0; done < count;) {
    size_t k = first + done;
    size_t channel = k % windows->channels;
    size_t part = windows->channels - channel;
    part = part < count - done ? part : count - done;
    const uint8_t *point = window_point(windows, (int64_t)m, (int64_t)(k / windows->channels));
    copy_elements(windows->bits, out, done, point, channel, part);
    done += part;
  }
}

/* The matrix as it is, into L0A. */
static void store_rows(const struct inst *inst, const struct windows *windows, uint8_t *to) {
  size_t m_ext = (size_t)inst->arg[LOAD3D_M_EXT], k_ext = (size_t)inst->arg[LOAD3D_K_EXT];
  size_t m_blocks = ceil_div(m_ext, FRACTAL_ROWS), k_blocks = ceil_div(k_ext, windows->c0);
  for (size_t m = 0; m < m_ext; m++) {
    for (size_t block = 0; block < k_blocks; block++) {
      size_t fractal = inst->arch == ARCH_C310 ? block * m_blocks + m / FRACTAL_ROWS
                                               : m / FRACTAL_ROWS * k_blocks + block;
      size_t first = block * windows->c0;
      window_block(windows, (size_t)inst->arg[LOAD3D_M_START] + m,
                   (size_t)inst->arg[LOAD3D_K_START] + first,
                   k_ext - first < windows->c0 ? k_ext - first : windows->c0,
                   to + fractal * FRACTAL_BYTES + m % FRACTAL_ROWS * BLOCK_BYTES);
    }
  }
}

/* Transposed, rows of the result being columns k: ZZ into L0A, NZ on C310; ZN into L0B. */
static void store_columns(const struct inst *inst, const struct windows *windows, uint8_t *to) {
  size_t m_ext = (size_t)inst->arg[LOAD3D_M_EXT], k_ext = (size_t)inst->arg[LOAD3D_K_EXT];
  bool rows_first = inst->op == OP_IMG2COLV2_CBUF_TO_CA && inst->arch != ARCH_C310;
  size_t row_blocks = ceil_div(k_ext, FRACTAL_ROWS);
  size_t column_blocks = transfer_load3d_columns(inst);
  for (size_t m = 0; m < m_ext; m++) {
    size_t column = m / windows->c0;
    for (size_t k = 0; k < k_ext; k++) {
      uint8_t block[BLOCK_BYTES];
      if (k % windows->c0 == 0)
        window_block(windows, (size_t)inst->arg[LOAD3D_M_START] + m,
                     (size_t)inst->arg[LOAD3D_K_START] + k,
                     k_ext - k < windows->c0 ? k_ext - k : windows->c0, block);
      size_t row = k / FRACTAL_ROWS;
      size_t fractal = rows_first ? row * column_blocks + column : column * row_blocks + row;
      copy_elements(windows->bits, to + fractal * FRACTAL_BYTES + k % FRACTAL_ROWS * BLOCK_BYTES,
                    m % windows->c0, block, k % windows->c0, 1);
    }
  }
}

void transfer_load3d_values(const struct vinci_soc *soc, const struct inst *inst,
                            struct value_core *core) {
  (void)soc;
  if (inst->arg[LOAD3D_M_EXT] == 0 || inst->arg[LOAD3D_K_EXT] == 0)
    return;
  struct windows windows = windows_of(inst, core);
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  if (transfer_load3d_transposes(inst))
    store_columns(inst, &windows, to);
  else
    store_rows(inst, &windows, to);
}
