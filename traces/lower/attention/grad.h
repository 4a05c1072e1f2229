/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash_attention_grad: what its files share. With P = exp(scale Q K^T - max) / sum, dP = dY V^T
 * and delta the sums of rows of dY * O: dS = P * (dP - delta), dV = P^T dY, dK = scale dS^T Q, dQ =
 * scale dS K.
 *
 * Three kernels: the first clears the sums in single precision and computes delta; the second walks
 * tasks and steps as flash_attention does, the cube cores a step ahead with Q K^T and dY V^T, then
 * adding three products to the sums in device memory; the third scales and converts them.
 *
 *   grad.c         keys, cost, and how profiles name the operator
 *   grad_emit.c    the second kernel: header, stream of the cube core
 *   grad_vector.c  its stream of the vector cores
 *   grad_ends.c    the first and the third kernel
 */
#ifndef VINCI_TRACES_LOWER_ATTENTION_GRAD_H
#define VINCI_TRACES_LOWER_ATTENTION_GRAD_H

#include "traces/lower/attention/writer.h"

/* Numbers of rows in UB. */
enum { ROW_MAXIMUM, ROW_SUM, ROW_DELTA, ROW_NUMBERS };

/* Rows at once in the first and the last kernel, as UB allows; 0: it is too small. */
uint64_t attention_grad_slice(const struct vinci_soc *soc, uint64_t depth);
/* Cycles of these two kernels. */
uint64_t attention_grad_end_cycles(const struct vinci_soc *soc, const struct attention *at,
                                   uint64_t depth);
void attention_grad_emit(const struct lower_job *job, struct emit *emit);
void attention_grad_vector_stream(const struct attention_writer *w);
void attention_grad_first(const struct attention_writer *w, const struct lower_job *job);
void attention_grad_last(const struct attention_writer *w, const struct lower_job *job);
/* Tensors of the sums and of delta. */
void attention_grad_workspace(const struct attention_writer *w);

#endif
