/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of L0A and L0B: by fractals (load2d), transposed, by convolution windows
 * (load3d), and fills with a constant. Left out: the penalty of load3d windows that
 * cross many rows of the feature map, for which no measurement is public.
 */
#include "memhier/transfer/transfer.h"

struct transfer_runs transfer_load2d_src(const struct inst *inst, uint64_t unit_bytes) {
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[LOAD2D_REPEAT],
      .bytes = unit_bytes,
      .stride_bytes = (uint64_t)inst->arg[LOAD2D_SRC_STRIDE] * unit_bytes,
  };
}

uint64_t transfer_load2d_offset(const struct inst *inst, uint64_t unit_bytes) {
  return (uint64_t)inst->arg[LOAD2D_BASE] * unit_bytes;
}

void transfer_load2d_cost(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_cost *cost) {
  enum path path = transfer_path(inst);
  struct transfer_runs runs = transfer_load2d_src(inst, FRACTAL_BYTES);
  if (path_from(path) == SPACE_GM)
    transfer_cost_gm(soc, path,
                     transfer_address(inst, TRANSFER_SRC) +
                         transfer_load2d_offset(inst, FRACTAL_BYTES),
                     runs, cost);
  else
    transfer_cost_local(soc, path, runs.count * runs.bytes, cost);
}

unsigned transfer_load2d_access(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  (void)soc;
  struct transfer_runs dst = {
      .count = (uint64_t)inst->arg[LOAD2D_REPEAT],
      .bytes = FRACTAL_BYTES,
      .stride_bytes = (uint64_t)(inst->arg[LOAD2D_DST_GAP] + 1) * FRACTAL_BYTES,
  };
  struct transfer_runs src = transfer_load2d_src(inst, FRACTAL_BYTES);
  unsigned count = transfer_touch(inst, access, 0, TRANSFER_SRC,
                                  transfer_load2d_offset(inst, FRACTAL_BYTES), &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
}

uint64_t transfer_square_fractals(const struct inst *inst) {
  switch (dtype_bits(inst_dtype(inst))) {
  case 4:
    return 4;
  case 16:
    return 1;
  default:
    return 2;
  }
}

void transfer_load2dt_cost(const struct vinci_soc *soc, const struct inst *inst,
                           struct inst_cost *cost) {
  uint64_t bytes =
      (uint64_t)inst->arg[LOAD2D_REPEAT] * transfer_square_fractals(inst) * FRACTAL_BYTES;
  transfer_cost_local(soc, transfer_path(inst), bytes, cost);
}

unsigned transfer_load2dt_access(const struct vinci_soc *soc, const struct inst *inst,
                                 struct inst_access *access) {
  (void)soc;
  uint64_t fractals = transfer_square_fractals(inst);
  uint64_t square = fractals * FRACTAL_BYTES;
  struct transfer_runs src = transfer_load2d_src(inst, square);
  struct transfer_runs dst[] = {
      {.count = (uint64_t)inst->arg[LOAD2D_REPEAT],
       .stride_bytes = (uint64_t)(inst->arg[LOAD2D_DST_GAP] + 1) * FRACTAL_BYTES},
      {.count = fractals,
       .bytes = FRACTAL_BYTES,
       .stride_bytes = (uint64_t)(inst->arg[LOAD2DT_FRAC_GAP] + 1) * FRACTAL_BYTES},
  };
  unsigned count =
      transfer_touch(inst, access, 0, TRANSFER_SRC, transfer_load2d_offset(inst, square), &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, 2);
}

/* Bytes of a run and of its distance are those of a column of fractals. */
struct transfer_runs transfer_load2dv2_src(const struct inst *inst) {
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[LOAD2DV2_K_STEP],
      .bytes = (uint64_t)inst->arg[LOAD2DV2_M_STEP] * FRACTAL_BYTES,
      .stride_bytes = (uint64_t)inst->arg[LOAD2DV2_SRC_STRIDE] * FRACTAL_BYTES,
  };
}

uint64_t transfer_load2dv2_offset(const struct inst *inst) {
  return ((uint64_t)inst->arg[LOAD2DV2_K_START] * (uint64_t)inst->arg[LOAD2DV2_SRC_STRIDE] +
          (uint64_t)inst->arg[LOAD2DV2_M_START]) *
         FRACTAL_BYTES;
}

/* Transposed: rows of the result are the elements of a row of the source, of whole fractals. */
struct transfer_runs transfer_load2dv2_dst(const struct inst *inst) {
  struct transfer_runs dst = transfer_load2dv2_src(inst);
  uint64_t columns = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(inst_dtype(inst));
  dst.stride_bytes = (uint64_t)inst->arg[LOAD2DV2_DST_STRIDE] * FRACTAL_BYTES;
  if (inst->arg[LOAD2DV2_TRANSPOSE]) {
    dst.count = (uint64_t)inst->arg[LOAD2DV2_M_STEP] * FRACTAL_ROWS / columns;
    dst.bytes = (uint64_t)inst->arg[LOAD2DV2_K_STEP] * columns / FRACTAL_ROWS * FRACTAL_BYTES;
  }
  return dst;
}

void transfer_load2dv2_cost(const struct vinci_soc *soc, const struct inst *inst,
                            struct inst_cost *cost) {
  struct transfer_runs src = transfer_load2dv2_src(inst);
  transfer_cost_local(soc, transfer_path(inst), src.count * src.bytes, cost);
}

unsigned transfer_load2dv2_access(const struct vinci_soc *soc, const struct inst *inst,
                                  struct inst_access *access) {
  (void)soc;
  struct transfer_runs src = transfer_load2dv2_src(inst), dst = transfer_load2dv2_dst(inst);
  unsigned count =
      transfer_touch(inst, access, 0, TRANSFER_SRC, transfer_load2dv2_offset(inst), &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
}

struct transfer_runs transfer_load_scales_rows(const struct inst *inst, unsigned stride_arg) {
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[LOAD_SCALES_X_STEP],
      .bytes = (uint64_t)inst->arg[LOAD_SCALES_Y_STEP] * MX_FRACTAL_BYTES,
      .stride_bytes = (uint64_t)inst->arg[stride_arg] * MX_FRACTAL_BYTES,
  };
}

uint64_t transfer_load_scales_offset(const struct inst *inst) {
  return ((uint64_t)inst->arg[LOAD_SCALES_X_START] * (uint64_t)inst->arg[LOAD_SCALES_SRC_STRIDE] +
          (uint64_t)inst->arg[LOAD_SCALES_Y_START]) *
         MX_FRACTAL_BYTES;
}

void transfer_load_scales_cost(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_cost *cost) {
  struct transfer_runs rows = transfer_load_scales_rows(inst, LOAD_SCALES_SRC_STRIDE);
  transfer_cost_local(soc, transfer_path(inst), rows.count * rows.bytes, cost);
}

unsigned transfer_load_scales_access(const struct vinci_soc *soc, const struct inst *inst,
                                     struct inst_access *access) {
  (void)soc;
  struct transfer_runs src = transfer_load_scales_rows(inst, LOAD_SCALES_SRC_STRIDE);
  struct transfer_runs dst = transfer_load_scales_rows(inst, LOAD_SCALES_DST_STRIDE);
  unsigned count =
      transfer_touch(inst, access, 0, TRANSFER_SRC, transfer_load_scales_offset(inst), &src, 1);
  return transfer_touch(inst, access, count, TRANSFER_DST, 0, &dst, 1);
}

/* The documented rate is that of the values; the indices go beside them, which is derived. */
void transfer_load_sparse_cost(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_cost *cost) {
  transfer_cost_local(soc, transfer_path(inst),
                      (uint64_t)inst->arg[LOAD_SPARSE_REPEAT] * FRACTAL_BYTES, cost);
}

unsigned transfer_load_sparse_access(const struct vinci_soc *soc, const struct inst *inst,
                                     struct inst_access *access) {
  (void)soc;
  uint64_t values = (uint64_t)inst->arg[LOAD_SPARSE_REPEAT] * FRACTAL_BYTES;
  uint64_t base = (uint64_t)inst->arg[LOAD_SPARSE_BASE] * FRACTAL_BYTES;
  uint64_t indices = values / SPARSE_INDEX_SHARE;
  unsigned count = inst_touch(inst, access, 0, TRANSFER_SRC, base, values);
  count = inst_touch(inst, access, count, LOAD_SPARSE_INDEX, base / SPARSE_INDEX_SHARE, indices);
  count = inst_touch(inst, access, count, TRANSFER_DST, 0, values);
  access[count] = access[count - 1];
  access[count].space = SPACE_IDX;
  access[count].address /= SPARSE_INDEX_SHARE;
  access[count].bytes = indices;
  return count + 1;
}

static uint64_t load3d_bytes(const struct inst *inst) {
  uint64_t k_bytes =
      ceil_div((uint64_t)inst->arg[LOAD3D_K_EXT] * dtype_bits(inst_dtype(inst)), BITS_PER_BYTE);
  return ceil_div((uint64_t)inst->arg[LOAD3D_M_EXT], FRACTAL_ROWS) *
         ceil_div(k_bytes, BLOCK_BYTES) * FRACTAL_BYTES;
}

bool transfer_load3d_transposes(const struct inst *inst) {
  return inst->op == OP_IMG2COLV2_CBUF_TO_CB || inst->arg[LOAD3D_TRANSPOSE];
}

uint64_t transfer_load3d_columns(const struct inst *inst) {
  uint64_t rows = ceil_div((uint64_t)inst->arg[LOAD3D_M_EXT], FRACTAL_ROWS) * FRACTAL_ROWS;
  return ceil_div(rows * dtype_bits(inst_dtype(inst)), BLOCK_BYTES * BITS_PER_BYTE);
}

void transfer_load3d_cost(const struct vinci_soc *soc, const struct inst *inst,
                          struct inst_cost *cost) {
  transfer_cost_local(soc, transfer_path(inst), load3d_bytes(inst), cost);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Rows of the feature map under the windows of output rows m_start to m_start + m_ext. */
static void load3d_rows(const struct inst *inst, int64_t *first, int64_t *last) {
  const int64_t *arg = inst->arg;
  int64_t window_w = arg[LOAD3D_DILATION_W] * (arg[LOAD3D_FILTER_W] - 1) + 1;
  int64_t window_h = arg[LOAD3D_DILATION_H] * (arg[LOAD3D_FILTER_H] - 1) + 1;
  int64_t padded_w = arg[LOAD3D_L1_W] + arg[LOAD3D_PAD_LEFT] + arg[LOAD3D_PAD_RIGHT];
  int64_t bottom = arg[LOAD3D_L1_H] - 1;
  *first = 0;
  *last = bottom;
  if (padded_w < window_w)
    return;
  int64_t out_w = (padded_w - window_w) / arg[LOAD3D_STRIDE_W] + 1;
  int64_t out_first = arg[LOAD3D_M_START] / out_w;
  int64_t out_last = (arg[LOAD3D_M_START] + arg[LOAD3D_M_EXT] - 1) / out_w;
  *first = clamp(out_first * arg[LOAD3D_STRIDE_H] - arg[LOAD3D_PAD_TOP], 0, bottom);
  *last = clamp(out_last * arg[LOAD3D_STRIDE_H] - arg[LOAD3D_PAD_TOP] + window_h - 1, 0, bottom);
}

uint64_t transfer_load3d_boundary(const struct inst *inst) {
  return inst->registers.load3d_boundary / BLOCK_BYTES * BLOCK_BYTES;
}

/*
 * What lies behind the boundary of L1 is read from its start on: a hull that crosses the boundary
 * becomes its two ends, or all of L1 before the boundary. Which rows of them is not looked at.
 */
static unsigned load3d_wrap(const struct inst *inst, struct inst_access *access, unsigned count) {
  uint64_t boundary = transfer_load3d_boundary(inst);
  struct inst_access hull = access[0];
  if (count != 1 || boundary == 0 || hull.bytes == 0 || hull.address < 0 ||
      (uint64_t)hull.address + hull.bytes <= boundary)
    return count;
  hull.runs = (struct inst_runs){0};
  uint64_t start = (uint64_t)hull.address % boundary;
  uint64_t end = start + hull.bytes;
  bool whole = hull.bytes > boundary;
  access[0] = hull;
  access[0].address = whole ? 0 : (int64_t)start;
  access[0].bytes = whole ? boundary : min_u64(end, boundary) - start;
  if (whole || end <= boundary)
    return 1;
  access[1] = hull;
  access[1].address = 0;
  access[1].bytes = end - boundary;
  return 2;
}

/* Elements of the last fractals beyond m_ext and k_ext stay as they are. */
static bool load3d_leaves_bytes(const struct inst *inst) {
  uint64_t c0 = BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(inst_dtype(inst));
  bool turned = transfer_load3d_transposes(inst);
  uint64_t rows = (uint64_t)inst->arg[turned ? LOAD3D_K_EXT : LOAD3D_M_EXT];
  uint64_t columns = (uint64_t)inst->arg[turned ? LOAD3D_M_EXT : LOAD3D_K_EXT];
  return rows % FRACTAL_ROWS != 0 || columns % c0 != 0;
}

/* The part of the NC1HWC0 feature map under the windows: from first to last row of
 * the channel groups that the columns k_start to k_start + k_ext come from. */
static unsigned load3d_touch_src(const struct inst *inst, struct inst_access *access) {
  const int64_t *arg = inst->arg;
  int64_t bits = dtype_bits(inst_dtype(inst));
  int64_t c0 = (int64_t)BLOCK_BYTES * BITS_PER_BYTE / bits;
  if (arg[LOAD3D_CHANNELS] < c0) /* few channels lie packed */
    c0 = arg[LOAD3D_CHANNELS];
  int64_t row_bytes = arg[LOAD3D_L1_W] * ((c0 * bits + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
  int64_t group_bytes = arg[LOAD3D_L1_H] * row_bytes;
  int64_t group_columns = arg[LOAD3D_FILTER_H] * arg[LOAD3D_FILTER_W] * c0;
  int64_t groups = (arg[LOAD3D_CHANNELS] + c0 - 1) / c0;
  int64_t last_k = arg[LOAD3D_K_START] + arg[LOAD3D_K_EXT] - 1;
  int64_t group_first = clamp(arg[LOAD3D_K_START] / group_columns, 0, groups - 1);
  int64_t group_last = clamp(last_k / group_columns, 0, groups - 1);
  int64_t row_first, row_last;
  load3d_rows(inst, &row_first, &row_last);
  int64_t start = (group_first * group_bytes + row_first * row_bytes) / BLOCK_BYTES * BLOCK_BYTES;
  int64_t end = group_last * group_bytes + (row_last + 1) * row_bytes;
  unsigned count =
      inst_touch(inst, access, 0, TRANSFER_SRC, (uint64_t)start, (uint64_t)(end - start));
  /* The same rows of each group; which columns of them is not looked at. */
  if (group_last > group_first) {
    int64_t first_end = group_first * group_bytes + (row_last + 1) * row_bytes;
    inst_set_runs(access, 0, count,
                  (struct inst_runs){.bytes = (uint64_t)(first_end - start),
                                     .level = {{(uint64_t)(group_last - group_first + 1),
                                                (uint64_t)group_bytes}}});
  }
  return count;
}

unsigned transfer_load3d_access(const struct vinci_soc *soc, const struct inst *inst,
                                struct inst_access *access) {
  (void)soc;
  uint64_t bytes = load3d_bytes(inst);
  if (bytes == 0)
    return 0;
  if (transfer_load3d_transposes(inst))
    bytes = ceil_div((uint64_t)inst->arg[LOAD3D_K_EXT], FRACTAL_ROWS) *
            transfer_load3d_columns(inst) * FRACTAL_BYTES;
  unsigned count = load3d_wrap(inst, access, load3d_touch_src(inst, access));
  count = inst_touch(inst, access, count, TRANSFER_DST, 0, bytes);
  access[count - 1].partial = load3d_leaves_bytes(inst);
  return count;
}

struct transfer_runs transfer_fill_runs(const struct inst *inst) {
  uint64_t unit = inst->op == OP_CREATE_CBUF_MATRIX ? BLOCK_BYTES : FRACTAL_BYTES;
  uint64_t bytes = (uint64_t)inst->arg[FILL_BLOCKS] * unit;
  return (struct transfer_runs){
      .count = (uint64_t)inst->arg[FILL_REPEAT],
      .bytes = bytes,
      .stride_bytes = bytes + (uint64_t)inst->arg[FILL_DST_GAP] * unit,
  };
}

/*
 * A fill is taken to write at the rate of the path that brings data into the same
 * buffer; it moves nothing between buffers and does not wait for GM.
 */
void transfer_fill_cost(const struct vinci_soc *soc, const struct inst *inst,
                        struct inst_cost *cost) {
  enum path path = inst->op == OP_CREATE_CA_MATRIX   ? PATH_L1_L0A
                   : inst->op == OP_CREATE_CB_MATRIX ? PATH_L1_L0B
                                                     : PATH_GM_L1;
  struct transfer_runs runs = transfer_fill_runs(inst);
  uint64_t rate = (uint64_t)soc->path[path].mbytes_per_cycle;
  uint64_t cycles = rate ? ceil_div(runs.count * runs.bytes * MILLI, rate) : 0;
  if (cycles == 0)
    cycles = (uint64_t)soc->scalar_issue_cycles; /* as any instruction */
  *cost = (struct inst_cost){.issue_cycles = cycles, .latency_cycles = cycles, .path = PATH_NONE};
}

unsigned transfer_fill_access(const struct vinci_soc *soc, const struct inst *inst,
                              struct inst_access *access) {
  (void)soc;
  struct transfer_runs runs = transfer_fill_runs(inst);
  return transfer_touch(inst, access, 0, TRANSFER_DST, 0, &runs, 1);
}
