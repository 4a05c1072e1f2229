/* SPDX-License-Identifier: Apache-2.0 */
/* Of matmul.h: texts of keys, what vector cores do in the kernel of a product, rows in groups,
 * tensors. */
#ifndef VINCI_LOWER_CUBE_MATMUL_PARTS_H
#define VINCI_LOWER_CUBE_MATMUL_PARTS_H

#include "lower/kernel/lower.h"

/* Of keys that products and convolutions have. */
#define MATMUL_RELU_TEXT "negative results become 0, as the sums leave the cube, before a scale"
#define MATMUL_RESIDUAL_TEXT "adds the tensor residual, in the shape of the result, before relu"

struct writer;
struct matmul;
struct matmul_tiling;

/* What the vector cores of a block do in the kernel of a matmul: they make the panels of B, in the
 * order in which the cube core loads them, or take over what it stores. */
struct matmul_vectors {
  bool make_b;
  bool (*fits)(struct lower_job *job, const struct matmul_tiling *tiling); /* NULL: always */
  void (*tensors)(const struct writer *w); /* beside those of the matmul */
  void (*buffers)(const struct writer *w);
  void (*stream)(const struct writer *w);
  /* Of a vector core. The cube core has that many blocks, and that many times all of k of B. */
  uint64_t (*cycles)(const struct vinci_soc *soc, const struct matmul *mm,
                     const struct matmul_tiling *tiling, uint64_t blocks, uint64_t loads);
};

/* Rows of A in groups, each with a B of its own (grouped.c). */
struct matmul_groups {
  uint64_t count, all_rows;
  unsigned listed;                /* whose rows are given; later ones repeat those */
  uint64_t rows[TENSOR_RANK_MAX]; /* of each */
};
/* Blocks of the first groups, of bm rows, in nt columns of blocks. */
uint64_t grouped_blocks(const struct matmul_groups *groups, uint64_t count, uint64_t bm,
                        uint64_t nt);

struct matmul_tensor {
  const char *name;
  enum dtype type;
  unsigned rank;
  uint64_t shape[5];
  const char *format;
};
/* An operand of some batches, in ND or in NZ. */
struct matmul_tensor matmul_operand(const char *name, enum dtype type, uint64_t batches,
                                    uint64_t rows, uint64_t columns, bool nz);

#endif
