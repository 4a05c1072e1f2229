/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks issue: of each instruction its row and the difference of each operand from the last
 * instruction of that row in the block, as numbers of variable length. A loop that copies tile
 * after tile takes a byte an operand.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "kernels/source/log.h"
#include "kernels/source/source.h"

/* The stream of one block on one core. */
struct stream_log {
  uint8_t *bytes;
  size_t length, capacity;
  int64_t *last; /* [row][operand], while the stream is written */
  uint32_t last_rows;
  uint32_t alike; /* instructions in a row that say nothing new of their operands */
  struct log_set *sets;
  uint32_t set_count, set_capacity;
  uint32_t *first_set; /* by release, counted from 1: index of its first set and 1 */
  uint32_t release_count, release_capacity;
};

/* A flag that is set behind a release of a token. */
struct log_set {
  uint32_t next; /* of the same release: its index and 1 */
  uint8_t to, flag;
};

/* A release is a set_flag with this number. */
enum { RELEASE = -1 };

/* Where a core reads. */
struct cursor {
  const struct stream_log *stream;
  enum core_kind kind;
  bool begun; /* the code that the block needs has been told */
  size_t at;
  int64_t *last;
  uint32_t release; /* the last that was read */
  uint32_t set;     /* the next set behind it: index and 1 */
  struct inst released;
};

struct source_log {
  struct stream_log *streams; /* [kind][block][sub] */
  uint32_t stream_count;
  struct cursor *cursors; /* by core */
};

enum { SUBS = 2 };
/* Instructions without a new operand, one behind the other, after which a block counts as endless.
 */
enum { ALIKE_MAX = 1 << 22 };

static struct stream_log *stream_of(const struct source *source, const struct source_place *place) {
  uint32_t blocks = source->trace->kernels[0].blocks;
  return &source->log->streams[((uint32_t)place->kind * blocks + place->blk) * SUBS + place->sub];
}

bool source_log_create(struct source *source) {
  struct source_log *log = calloc(1, sizeof *log);
  source->log = log;
  if (!log)
    return false;
  log->stream_count = CORE_KIND_COUNT * source->trace->kernels[0].blocks * SUBS;
  log->streams = calloc(log->stream_count, sizeof *log->streams);
  log->cursors = calloc(source->core_count, sizeof *log->cursors);
  return log->streams && log->cursors;
}

void source_log_free(struct source *source) {
  struct source_log *log = source->log;
  if (!log)
    return;
  for (uint32_t i = 0; log->streams && i < log->stream_count; i++) {
    free(log->streams[i].bytes);
    free(log->streams[i].last);
    free(log->streams[i].sets);
    free(log->streams[i].first_set);
  }
  for (uint32_t i = 0; log->cursors && i < source->core_count; i++)
    free(log->cursors[i].last);
  free(log->streams);
  free(log->cursors);
  free(log);
  source->log = NULL;
}

static int64_t *new_last(uint64_t rows) {
  return calloc((size_t)(rows + 1) * ISA_ARGS_MAX, sizeof(int64_t));
}

/* ---- writing ---- */

/* A number of N bytes, N up to 8, has N - 1 bits of zero and a bit of one at its lower end, and 7 N
 * bits behind; a larger number stands behind a byte of zero. So a number is written and read whole,
 * and up to 8 bytes behind are touched. */
enum { NUMBER_BYTES = 9, TOUCHED = 8, BITS = 7, WORD_BITS = 64 };

static inline void put_word(uint8_t *out, uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  memcpy(out, &word, sizeof word);
}

static inline size_t put(uint8_t *out, uint64_t number) {
  if (number >> BITS == 0) { /* most */
    *out = (uint8_t)(number << 1 | 1);
    return 1;
  }
  unsigned bits = (unsigned)(WORD_BITS - __builtin_clzll(number));
  unsigned bytes = (bits + BITS - 1) / BITS;
  if (bytes >= NUMBER_BYTES) {
    *out = 0;
    put_word(out + 1, number);
    return NUMBER_BYTES;
  }
  put_word(out, (number << 1 | 1) << (bytes - 1));
  return bytes;
}

static bool reserve(struct stream_log *stream, size_t bytes) {
  if (stream->capacity - stream->length >= bytes)
    return true;
  size_t capacity = 2 * stream->capacity + bytes;
  uint8_t *grown = realloc(stream->bytes, capacity);
  if (!grown)
    return false;
  stream->bytes = grown;
  stream->capacity = capacity;
  return true;
}

/* The last operands of a row; rows become known while the code runs. */
static int64_t *last_of(struct stream_log *stream, uint32_t row) {
  if (row >= stream->last_rows) {
    uint32_t rows = 2 * (row + 32);
    int64_t *more = new_last(rows);
    if (!more)
      return NULL;
    if (stream->last)
      memcpy(more, stream->last, (size_t)stream->last_rows * ISA_ARGS_MAX * sizeof *more);
    free(stream->last);
    stream->last = more;
    stream->last_rows = rows;
  }
  return &stream->last[(size_t)row * ISA_ARGS_MAX];
}

bool source_log_add(struct source *source, const struct source_place *place,
                    const struct inst *inst) {
  struct stream_log *stream = stream_of(source, place);
  unsigned args = source->trace->rows[inst->row].arg_count;
  int64_t *last = last_of(stream, inst->row);
  if (!last || !reserve(stream, (size_t)NUMBER_BYTES * (1 + args) + TOUCHED))
    return false;
  uint64_t any = 0;
  stream->length += put(stream->bytes + stream->length, inst->row);
  for (unsigned i = 0; i < args; i++) {
    uint64_t change = (uint64_t)inst->arg[i] - (uint64_t)last[i];
    stream->length +=
        put(stream->bytes + stream->length, change << 1 ^ (uint64_t)((int64_t)change >> 63));
    last[i] = inst->arg[i];
    any |= change;
  }
  stream->alike = any ? 0 : stream->alike + 1;
  return true;
}

/* One more place in a list whose items begin with all bits 0; false: out of memory. */
static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity)
    return true;
  uint32_t more = 2 * *capacity + 16;
  uint8_t *grown = realloc(*items, more * size);
  if (!grown)
    return false;
  memset(grown + *capacity * size, 0, (more - *capacity) * size);
  *items = grown;
  *capacity = more;
  return true;
}

bool source_log_release(struct source *source, const struct source_place *place, uint32_t row,
                        enum pipe pipe) {
  struct stream_log *stream = stream_of(source, place);
  struct inst inst = {.op = OP_SET_FLAG, .row = row};
  inst.arg[SET_FLAG_SRC] = inst.arg[SET_FLAG_DST] = (int64_t)pipe;
  inst.arg[SET_FLAG_ID] = RELEASE;
  void *first = stream->first_set;
  if (!grow(&first, ++stream->release_count, &stream->release_capacity, sizeof *stream->first_set))
    return false;
  stream->first_set = first;
  return source_log_add(source, place, &inst);
}

bool source_log_set(struct source *source, const struct source_place *place, uint32_t release,
                    enum pipe to, uint8_t flag) {
  struct stream_log *stream = stream_of(source, place);
  void *sets = stream->sets;
  if (!grow(&sets, stream->set_count, &stream->set_capacity, sizeof *stream->sets))
    return false;
  stream->sets = sets;
  stream->sets[stream->set_count] =
      (struct log_set){.next = stream->first_set[release], .to = (uint8_t)to, .flag = flag};
  stream->first_set[release] = ++stream->set_count;
  return true;
}

bool source_log_repeats(const struct source *source, const struct source_place *place) {
  return stream_of(source, place)->alike >= ALIKE_MAX;
}

/* ---- reading ---- */

void source_log_start(struct source *source, const struct source_place *place) {
  struct cursor *cursor = &source->log->cursors[place->core];
  struct stream_log *stream = stream_of(source, place);
  free(stream->last);
  stream->last = NULL;
  stream->last_rows = 0;
  free(cursor->last);
  *cursor = (struct cursor){
      .stream = stream, .kind = place->kind, .last = new_last(source->trace->row_count)};
}

static inline uint64_t word_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline uint64_t take(struct cursor *cursor) {
  const uint8_t *at = cursor->stream->bytes + cursor->at;
  if (*at & 1) { /* most */
    cursor->at++;
    return *at >> 1;
  }
  if (*at == 0) {
    cursor->at += NUMBER_BYTES;
    return word_at(at + 1);
  }
  unsigned bytes = (unsigned)__builtin_ctz(*at) + 1;
  cursor->at += bytes;
  return word_at(at) << (WORD_BITS - BITS_PER_BYTE * bytes) >>
         (WORD_BITS - (BITS_PER_BYTE - 1) * bytes);
}

/* The next flag that is set behind the release that was read; false: no more. */
static bool next_set(struct cursor *cursor, struct inst *inst) {
  if (cursor->set == 0)
    return false;
  const struct log_set *set = &cursor->stream->sets[cursor->set - 1];
  *inst = cursor->released;
  inst->arg[SET_FLAG_DST] = set->to;
  inst->arg[SET_FLAG_ID] = set->flag;
  cursor->set = set->next;
  return true;
}

static void read_inst(const struct source *source, struct cursor *cursor, struct inst *inst) {
  inst->row = (uint32_t)take(cursor);
  const struct program_row *row = &source->trace->rows[inst->row];
  inst->op = row->op;
  inst->line = row->line;
  int64_t *last = &cursor->last[(size_t)inst->row * ISA_ARGS_MAX];
  for (unsigned i = 0; i < row->arg_count; i++) {
    uint64_t change = take(cursor);
    last[i] = (int64_t)((uint64_t)last[i] + (change >> 1 ^ -(change & 1)));
    inst->arg[i] = last[i];
  }
}

enum stream_step source_log_next(struct source *source, uint32_t core, struct inst *inst,
                                 struct vinci_diag *diag) {
  struct cursor *cursor = &source->log->cursors[core];
  if (!cursor->last) { /* source_log_start() found no memory */
    (void)diag_error(diag, VINCI_E_NOMEM, "out of memory");
    return STREAM_ERROR;
  }
  if (!cursor->begun) {
    cursor->begun = true;
    if (source_issue_fetch(source, cursor->kind, inst))
      return STREAM_INST;
  }
  while (!next_set(cursor, inst)) {
    if (cursor->at == cursor->stream->length)
      return STREAM_END;
    read_inst(source, cursor, inst);
    if (inst->op != OP_SET_FLAG || inst->arg[SET_FLAG_ID] != RELEASE)
      return STREAM_INST;
    cursor->released = *inst;
    cursor->set = cursor->stream->first_set[++cursor->release];
  }
  return STREAM_INST;
}
