/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of several dimensions of the 950 (Ascend C documentation, DataCopy with MultiCopyParams),
 * in three loops; code with five issues one for each turn of the outer two. Cost: that of bursts as
 * long as the numbers in GM adjoin, at one distance (assumed). Left out: the cache that this engine
 * has, so that numbers which come several times are read as often.
 */
#include <string.h>

#include "memhier/transfer/transfer.h"

enum { LOOPS = 3 };

struct loop {
  uint64_t count, src_bytes, dst_bytes; /* strides */
  uint64_t left, places;                /* in UB, with fills */
};

static struct loop loop_of(const struct inst *inst, unsigned i) {
  uint64_t element = transfer_element_bytes(inst), left = (uint64_t)inst->arg[NDDMA_LEFT0 + i];
  uint64_t count = (uint64_t)inst->arg[NDDMA_N0 + i];
  return (struct loop){.count = count,
                       .src_bytes = (uint64_t)inst->arg[NDDMA_SRC0 + i] * element,
                       .dst_bytes = (uint64_t)inst->arg[NDDMA_DST0 + i] * element,
                       .left = left,
                       .places = left + count + (uint64_t)inst->arg[NDDMA_RIGHT0 + i]};
}

static void fill_levels(const struct inst *inst, bool of_gm, struct transfer_runs *levels) {
  uint64_t element = transfer_element_bytes(inst);
  for (unsigned i = 0; i < LOOPS; i++) {
    struct loop loop = loop_of(inst, i);
    levels[LOOPS - 1 - i] = (struct transfer_runs){of_gm ? loop.count : loop.places, element,
                                                   of_gm ? loop.src_bytes : loop.dst_bytes};
  }
}

/* Numbers in GM in runs as long as they adjoin, at one distance. */
static struct transfer_runs bursts_of(const struct inst *inst) {
  struct transfer_runs bursts = {1, transfer_element_bytes(inst), 0};
  bool adjoins = true;
  for (unsigned i = 0; i < LOOPS; i++) {
    struct loop loop = loop_of(inst, i);
    adjoins = adjoins && loop.src_bytes == bursts.bytes && loop.count > 0;
    if (adjoins) {
      bursts.bytes *= loop.count;
      continue;
    }
    if (loop.count != 1 && bursts.count == 1)
      bursts.stride_bytes = loop.src_bytes;
    bursts.count *= loop.count;
  }
  return bursts;
}

void transfer_nddma_cost(const struct vinci_soc *soc, const struct inst *inst,
                         struct inst_cost *cost) {
  transfer_cost_gm(soc, transfer_path(inst), transfer_address(inst, TRANSFER_SRC), bursts_of(inst),
                   cost);
  transfer_overlap(soc, cost);
}

unsigned transfer_nddma_access(const struct vinci_soc *soc, const struct inst *inst,
                               struct inst_access *access) {
  (void)soc;
  struct transfer_runs src[LOOPS], dst[LOOPS];
  uint64_t read = 1, written = 1;
  unsigned count = 0;
  fill_levels(inst, true, src);
  fill_levels(inst, false, dst);
  for (unsigned i = 0; i < LOOPS; i++) {
    read *= src[i].count;
    written *= dst[i].count;
  }
  if (read > 0)
    count = transfer_touch(inst, access, count, TRANSFER_SRC, 0, src, LOOPS);
  if (written == 0)
    return count;
  count = transfer_touch(inst, access, count, TRANSFER_DST, 0, dst, LOOPS);
  access[count - 1].alignment = (uint16_t)transfer_element_bytes(inst);
  return count;
}

/* The number that a place in UB gets; false: the value of fills. */
static bool source_of(const struct loop *loop, uint64_t place, bool nearest, uint64_t *at) {
  bool inside = place >= loop->left && place < loop->left + loop->count;
  if (!inside && !(nearest && loop->count > 0))
    return false;
  uint64_t index = place < loop->left ? 0 : place - loop->left;
  *at += min_u64(index, loop->count - 1) * loop->src_bytes;
  return true;
}

void transfer_nddma_values(const struct vinci_soc *soc, const struct inst *inst,
                           struct value_core *core) {
  (void)soc;
  struct loop loop[LOOPS];
  uint64_t element = transfer_element_bytes(inst), place[LOOPS];
  bool nearest = inst->arg[NDDMA_NEAREST] != 0;
  uint8_t *to = transfer_bytes(inst, core, TRANSFER_DST);
  const uint8_t *from = transfer_bytes(inst, core, TRANSFER_SRC);
  for (unsigned i = 0; i < LOOPS; i++)
    loop[i] = loop_of(inst, i);
  for (place[2] = 0; place[2] < loop[2].places; place[2]++)
    for (place[1] = 0; place[1] < loop[1].places; place[1]++)
      for (place[0] = 0; place[0] < loop[0].places; place[0]++) {
        uint64_t at = 0, offset = 0;
        bool copies = true;
        for (unsigned i = 0; i < LOOPS; i++) {
          copies &= source_of(&loop[i], place[i], nearest, &at);
          offset += place[i] * loop[i].dst_bytes;
        }
        if (copies)
          memcpy(to + offset, from + at, element);
        else
          for (unsigned i = 0; i < element; i++)
            to[offset + i] = (uint8_t)((uint64_t)inst->arg[NDDMA_VALUE] >> i * BITS_PER_BYTE);
      }
}
