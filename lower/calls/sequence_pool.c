/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the tensors of a sequence lie: PyTorch's caching allocator, as its sources and
 * documentation describe. Requests are rounded up to 512 bytes, behind 32 bytes more (the NPU's:
 * operator_memory.csv of a profile has 8192.5 KB for 8 MiB). Segments of 2 MiB serve requests up to
 * 1 MiB, segments of 20 MiB those below 10 MiB, larger ones have their own, rounded up to 2 MiB. A
 * request takes the smallest free block that is large enough, and the lowest of these; the rest
 * stays free where it is large enough to be used. Freed neighbours become one block.
 */
#include <stdlib.h>

#include "core/base/arith.h"
#include "lower/calls/sequence.h"
#include "traces/format/growing.h"

#define MIB UINT64_C(1048576)

static const uint64_t padding = 32, rounding = 512, small_max = MIB, small_segment = 2 * MIB,
                      middle_max = 10 * MIB, middle_segment = 20 * MIB, large_rounding = 2 * MIB;

/* In the order of addresses. */
struct block {
  uint64_t address, bytes;
  bool used, small;
  bool starts; /* a segment: never one with the block before */
};

struct sequence_pool {
  struct growing blocks;
  struct growing scratch; /* addresses, of the present row */
  uint64_t end;
};

static struct block *block_at(const struct sequence_pool *pool, size_t index) {
  return GROWING_AT(&pool->blocks, struct block, index);
}

bool sequence_pool_create(struct sequence *sequence) {
  sequence->pool = calloc(1, sizeof *sequence->pool);
  if (sequence->pool)
    sequence->pool->end = large_rounding; /* address 0 stays free */
  return sequence->pool != NULL;
}

void sequence_free(struct sequence *sequence) {
  if (sequence->pool) {
    growing_free(&sequence->pool->blocks);
    growing_free(&sequence->pool->scratch);
  }
  free(sequence->pool);
  arena_free(&sequence->arena);
  *sequence = (struct sequence){0};
}

/* Memory that is never given back. */
static uint64_t take_own(struct sequence_pool *pool, uint64_t bytes) {
  uint64_t address = pool->end;
  pool->end += round_up(bytes + padding, rounding);
  return address;
}

static bool insert(struct sequence_pool *pool, size_t index, struct block block) {
  if (!GROWING_PUSH(&pool->blocks, struct block))
    return false;
  for (size_t i = pool->blocks.count - 1; i > index; i--)
    *block_at(pool, i) = *block_at(pool, i - 1);
  *block_at(pool, index) = block;
  return true;
}

static bool add_segment(struct sequence_pool *pool, uint64_t bytes, bool small) {
  uint64_t size = small                ? small_segment
                  : bytes < middle_max ? middle_segment
                                       : round_up(bytes, large_rounding);
  struct block block = {.address = round_up(pool->end, large_rounding),
                        .bytes = size,
                        .small = small,
                        .starts = true};
  pool->end = block.address + size;
  return insert(pool, pool->blocks.count, block);
}

/* The index of the smallest free block that is large enough, SEQUENCE_NONE when there is none. */
static size_t find_block(const struct sequence_pool *pool, uint64_t bytes, bool small) {
  size_t best = SEQUENCE_NONE;
  for (size_t i = 0; i < pool->blocks.count; i++) {
    const struct block *block = block_at(pool, i);
    if (!block->used && block->small == small && block->bytes >= bytes &&
        (best == SEQUENCE_NONE || block->bytes < block_at(pool, best)->bytes))
      best = i;
  }
  return best;
}

/* 0 when memory of the host is short. */
static uint64_t take(struct sequence_pool *pool, uint64_t wanted) {
  uint64_t bytes = round_up(wanted + padding, rounding);
  bool small = bytes <= small_max;
  size_t index = find_block(pool, bytes, small);
  if (index == SEQUENCE_NONE) {
    if (!add_segment(pool, bytes, small))
      return 0;
    index = pool->blocks.count - 1;
  }
  struct block *block = block_at(pool, index);
  uint64_t rest = block->bytes - bytes;
  block->used = true;
  uint64_t address = block->address;
  if (rest < (small ? rounding : small_max + 1))
    return address;
  block->bytes = bytes;
  struct block free_block = {.address = address + bytes, .bytes = rest, .small = small};
  return insert(pool, index + 1, free_block) ? address : 0;
}

/* Joins a block with the one behind where both are free. */
static void join(struct sequence_pool *pool, size_t index) {
  if (index + 1 >= pool->blocks.count || block_at(pool, index)->used ||
      block_at(pool, index + 1)->used || block_at(pool, index + 1)->starts)
    return;
  block_at(pool, index)->bytes += block_at(pool, index + 1)->bytes;
  for (size_t i = index + 1; i + 1 < pool->blocks.count; i++)
    *block_at(pool, i) = *block_at(pool, i + 1);
  pool->blocks.count--;
}

static void give_back(struct sequence_pool *pool, uint64_t address) {
  size_t low = 0, high = pool->blocks.count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    *(block_at(pool, middle)->address <= address ? &low : &high) = middle;
  }
  block_at(pool, low)->used = false;
  join(pool, low);
  if (low > 0)
    join(pool, low - 1);
}

bool sequence_begin_row(struct sequence *sequence, size_t row) {
  const struct sequence_row *known = &sequence->rows[row];
  for (unsigned i = 0; i < known->inputs + known->outputs; i++) {
    size_t index = sequence->uses[known->first_use + i].tensor;
    if (index == SEQUENCE_NONE || sequence->tensors[index].placed)
      continue;
    struct sequence_tensor *tensor = &sequence->tensors[index];
    tensor->address = tensor->pooled ? take(sequence->pool, tensor->bytes)
                                     : take_own(sequence->pool, tensor->bytes);
    tensor->placed = tensor->address != 0;
    if (!tensor->placed)
      return false;
  }
  return true;
}

uint64_t sequence_scratch(struct sequence *sequence, uint64_t bytes) {
  uint64_t *kept = GROWING_PUSH(&sequence->pool->scratch, uint64_t);
  uint64_t address = kept ? take(sequence->pool, bytes) : 0;
  if (kept)
    *kept = address;
  return address;
}

void sequence_end_row(struct sequence *sequence, size_t row) {
  struct sequence_pool *pool = sequence->pool;
  const struct sequence_row *known = &sequence->rows[row];
  for (size_t i = 0; i < pool->scratch.count; i++)
    if (*GROWING_AT(&pool->scratch, uint64_t, i) != 0)
      give_back(pool, *GROWING_AT(&pool->scratch, uint64_t, i));
  pool->scratch.count = 0;
  for (unsigned i = 0; i < known->inputs + known->outputs; i++) {
    size_t index = sequence->uses[known->first_use + i].tensor;
    struct sequence_tensor *tensor = index == SEQUENCE_NONE ? NULL : &sequence->tensors[index];
    if (tensor && tensor->pooled && tensor->placed && tensor->last == row) {
      give_back(pool, tensor->address);
      tensor->pooled = false; /* no row uses the tensor again */
    }
  }
}
