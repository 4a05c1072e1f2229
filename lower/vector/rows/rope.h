/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotary position embedding and its gradient as the vendor's kernels have them: ops-transformer,
 * posembedding/rotary_position_embedding (rotate_half) and rotary_position_embedding_grad. A tile
 * is some positions; cos and sin come once for all heads of a tile, heads one after the other.
 */
#ifndef VINCI_LOWER_VECTOR_ROWS_ROPE_H
#define VINCI_LOWER_VECTOR_ROWS_ROPE_H

#include "lower/kernel/lower.h"

/* Whether the halves of heads are whole blocks, and the chip copies within UB. */
bool rope_fits(const struct lower_job *job);
extern const struct lower_template rope_template;

#endif
