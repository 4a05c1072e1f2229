/* SPDX-License-Identifier: Apache-2.0 */
/* What blocks issue, kept for runs with time and for checks (log.c). */
#ifndef VINCI_KERNELS_SOURCE_LOG_H
#define VINCI_KERNELS_SOURCE_LOG_H

#include "core/base/diag.h"
#include "core/isa/inst.h"
#include "core/isa/source.h"

struct source;

void source_log_start(struct source *source, const struct source_place *place);
bool source_log_add(struct source *source, const struct source_place *place,
                    const struct inst *inst);
/* A release of a token in a row with set_flag, and a flag that is set behind the Nth release. */
bool source_log_release(struct source *source, const struct source_place *place, uint32_t row,
                        enum pipe pipe);
bool source_log_set(struct source *source, const struct source_place *place, uint32_t release,
                    enum pipe to, uint8_t flag);
/* Whether the block does the same again and again, for too long. */
#define SOURCE_TEXT_ROUND                                                                          \
  "the kernel goes round in a loop: 4 million instructions without a new operand"
bool source_log_repeats(const struct source *source, const struct source_place *place);
enum stream_step source_log_next(struct source *source, uint32_t core, struct inst *inst,
                                 struct vinci_diag *diag);
bool source_log_create(struct source *source);
void source_log_free(struct source *source);

#endif
