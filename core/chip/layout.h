/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of data that the instruction set is built on, the same in every generation.
 * Source: Ascend C documentation, chapters on data layouts and on vector repeats.
 */
#ifndef VINCI_CORE_CHIP_LAYOUT_H
#define VINCI_CORE_CHIP_LAYOUT_H

enum {
  BLOCK_BYTES = 32,      /* unit of strides, gaps and burst lengths */
  FRACTAL_BYTES = 512,   /* unit of L0A, L0B and of load2d */
  FRACTAL_ROWS = 16,     /* rows of a fractal; its columns are 32 bytes wide */
  L0C_FRACTAL_SIDE = 16, /* L0C keeps 16 x 16 accumulators together, whatever their type */
  ACCUMULATOR_BYTES = 4, /* fp32 or int32 */
  L0C_ALIGNMENT = 1024,  /* of the result of mad */
  L0C_FRACTAL_BYTES = L0C_FRACTAL_SIDE * L0C_FRACTAL_SIDE * ACCUMULATOR_BYTES,
  REPEAT_BYTES = 256,   /* of one operand, which a repeat of a vector instruction takes */
  MASK_LANES = 128,     /* bits of the vector mask registers */
  SORT_ELEMENTS = 32,   /* elements that vbitsort sorts per repeat */
  SORT_ENTRY_BYTES = 8, /* score and index of one sorted element */
  PROPOSALS = 16,       /* that vbitsort16, vconcat and vextract take per repeat */
  PROPOSAL_ELEMENTS = 8,
  PROPOSAL_SCORE = 4, /* the element that a proposal is sorted by */
};

/* Vector functions: a register has REPEAT_BYTES, a mask a bit for each byte of these, and a lane is
 * active when the bit of its first byte is set (Ascend C documentation, MaskReg). Names of
 * registers and of masks: a program has as many as it has variables, and the hardware renames them.
 */
enum { REGISTER_NAMES = 256, MASK_NAMES = 64, MASK_WORDS = 4 };

/* Structured sparsity: of four values along k two are kept, with two bits of an index for each.
 * Source: Ascend C documentation, MmadWithSparse. */
enum {
  SPARSE_OF = 4,
  SPARSE_KEPT = 2,
  SPARSE_INDEX_SHARE = 4, /* bytes of values to a byte of indices */
};

/* Products of scaled operands (microscaling): one scale for this many values along k, and the
 * scales of what lies at an address of L0A or L0B begin at a sixteenth of that address in a buffer
 * of their own. k is a multiple of two blocks. Source: Ascend C documentation, MmadMx, LoadData MX.
 */
enum {
  MX_BLOCK = 32,
  MX_BLOCKS = 2, /* of a row in a fractal of scales, which has 16 rows */
  MX_SHARE = 16,
  MX_FRACTAL_BYTES = 16 * MX_BLOCKS,
};

/* Fewest 16 x 16 tiles of a mad that the next one on the same accumulators may follow with no
 * barrier between them. Source: Ascend C documentation, Mmad. */
enum { MAD_OVERLAP_TILES = 10 };

#endif
