/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel has issued, as a trace. Loops are found again: instructions of the same rows whose
 * operands grow by the same amounts are turns of a loop, and turns of such loops likewise. Nothing
 * is lost: the loops give the same operands. Blocks that differ by multiples of their number share
 * one text.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "kernels/source/log.h"
#include "kernels/source/source.h"

enum { PERIOD_MAX = 512, DEPTH_MAX = 24, TURNS_MIN = 3 };

/* An instruction, or a loop over nodes. */
struct node {
  uint64_t shape; /* digest of all but `base`: equal for turns of a loop */
  uint32_t row;   /* of an instruction */
  uint64_t count; /* turns of a loop; 0: an instruction */
  struct node *body;
  size_t body_count;
  size_t args;     /* operands of all instructions inside */
  int64_t *base;   /* [args]: in the first turn of all loops */
  int64_t *stride; /* [args]: of a loop, from turn to turn */
};

struct sequence {
  struct node *nodes;
  size_t count, room;
};

struct recording {
  const struct source *source;
  struct arena arena;
  struct sequence *streams; /* [block][sub] of the kind of core at hand */
  FILE *out;
  bool failed; /* memory is short */
};

static uint64_t mix(uint64_t digest, uint64_t value) {
  digest ^= value;
  digest *= UINT64_C(0x9E3779B97F4A7C15);
  return digest ^ digest >> 29;
}

/* ---- instructions of a block ---- */

static void add_node(struct recording *recording, struct sequence *sequence, struct node node) {
  if (sequence->count == sequence->room) {
    size_t room = 2 * sequence->room + 64;
    struct node *grown = realloc(sequence->nodes, room * sizeof *grown);
    recording->failed |= !grown;
    if (!grown)
      return;
    sequence->nodes = grown;
    sequence->room = room;
  }
  sequence->nodes[sequence->count++] = node;
}

static int64_t *new_args(struct recording *recording, size_t count) {
  int64_t *args = ARENA_ARRAY(&recording->arena, int64_t, count);
  recording->failed |= !args;
  return args;
}

static void read_block(struct recording *recording, const struct source_place *place,
                       struct sequence *sequence) {
  struct source *source = (struct source *)(uintptr_t)recording->source;
  struct inst inst;
  enum stream_step step = STREAM_END;
  source_log_start(source, place);
  while (!recording->failed &&
         (step = source_log_next(source, place->core, &inst, NULL)) == STREAM_INST) {
    if (inst.op >= OP_COUNT)
      continue;
    struct node node = {.row = inst.row, .args = source->trace->rows[inst.row].arg_count};
    node.shape = mix(1, inst.row);
    node.base = new_args(recording, node.args);
    if (node.base)
      memcpy(node.base, inst.arg, node.args * sizeof *node.base);
    add_node(recording, sequence, node);
  }
  recording->failed |= step == STREAM_ERROR;
}

/* ---- loops ---- */

static bool same_shapes(const struct node *one, const struct node *other, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (one[i].shape != other[i].shape)
      return false;
  return true;
}

static size_t args_of(const struct node *nodes, size_t count) {
  size_t args = 0;
  for (size_t i = 0; i < count; i++)
    args += nodes[i].args;
  return args;
}

/* Whether operands differ by strides; sets the strides when `set`. */
static bool differ_by(const struct node *from, const struct node *to, size_t count, int64_t *stride,
                      bool set) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t a = 0; a < from[i].args; a++, at++) {
      int64_t change = (int64_t)((uint64_t)to[i].base[a] - (uint64_t)from[i].base[a]);
      if (set)
        stride[at] = change;
      else if (stride[at] != change)
        return false;
    }
  return true;
}

/* How many turns of `period` nodes begin at the first; strides of the second turn. */
static size_t turns_at(const struct node *nodes, size_t count, size_t period, int64_t *stride) {
  if (2 * period > count || !same_shapes(nodes, nodes + period, period))
    return 1;
  size_t turns = 2;
  (void)differ_by(nodes, nodes + period, period, stride, true);
  while ((turns + 1) * period <= count && same_shapes(nodes, nodes + turns * period, period) &&
         differ_by(nodes + (turns - 1) * period, nodes + turns * period, period, stride, false))
    turns++;
  return turns;
}

static struct node make_loop(struct recording *recording, const struct node *nodes, size_t period,
                             size_t turns, const int64_t *stride) {
  struct node loop = {.count = turns, .body_count = period, .args = args_of(nodes, period)};
  loop.body = ARENA_ARRAY(&recording->arena, struct node, period);
  loop.base = new_args(recording, loop.args);
  loop.stride = new_args(recording, loop.args);
  recording->failed |= !loop.body;
  if (recording->failed)
    return loop;
  memcpy(loop.body, nodes, period * sizeof *nodes);
  memcpy(loop.stride, stride, loop.args * sizeof *stride);
  loop.shape = mix(2, turns);
  size_t at = 0;
  for (size_t i = 0; i < period; i++) {
    loop.shape = mix(loop.shape, nodes[i].shape);
    memcpy(loop.base + at, nodes[i].base, nodes[i].args * sizeof *loop.base);
    at += nodes[i].args;
  }
  for (size_t a = 0; a < loop.args; a++)
    loop.shape = mix(loop.shape, (uint64_t)stride[a]);
  return loop;
}

/* Folds turns of one period; whether there were any. */
static bool fold_period(struct recording *recording, struct sequence *sequence, size_t period,
                        int64_t *stride) {
  struct node *nodes = sequence->nodes;
  size_t kept = 0, at = 0;
  while (at < sequence->count && !recording->failed) {
    size_t turns = turns_at(nodes + at, sequence->count - at, period, stride);
    if (turns < TURNS_MIN) {
      nodes[kept++] = nodes[at++];
      continue;
    }
    nodes[kept++] = make_loop(recording, nodes + at, period, turns, stride);
    at += turns * period;
  }
  bool folded = kept < sequence->count;
  sequence->count = kept;
  return folded;
}

static void fold(struct recording *recording, struct sequence *sequence) {
  int64_t *stride = new_args(recording, args_of(sequence->nodes, sequence->count) + 1);
  for (size_t period = 1; period <= PERIOD_MAX && 2 * period <= sequence->count; period++)
    if (!recording->failed && fold_period(recording, sequence, period, stride))
      period = 0; /* what has become loops may be turns of others */
}

/* ---- text ---- */

/* What stands for the difference of blocks: operands + blk * by_block + sub * by_sub. */
struct common {
  const int64_t *by_block, *by_sub; /* NULL: the text is that of one block */
};

static void put_terms(FILE *out, int64_t value, const char *const *names, const int64_t *factors,
                      unsigned count) {
  fprintf(out, "%lld", (long long)value);
  for (unsigned i = 0; i < count; i++)
    if (factors[i] != 0)
      fprintf(out, "%+lld*%s", (long long)factors[i], names[i]);
}

/* The loops around an instruction, outermost first, and where its operands lie in each. */
struct around {
  const struct node *loop[DEPTH_MAX];
  size_t first[DEPTH_MAX];
  unsigned depth;
};

static void put_number(struct recording *recording, const struct around *around,
                       const struct common *common, int64_t base, size_t arg, size_t whole) {
  static const char *const names[DEPTH_MAX + 2] = {
      "blk", "sub", "i0",  "i1",  "i2",  "i3",  "i4",  "i5",  "i6",  "i7",  "i8",  "i9",  "i10",
      "i11", "i12", "i13", "i14", "i15", "i16", "i17", "i18", "i19", "i20", "i21", "i22", "i23"};
  int64_t factor[DEPTH_MAX + 2] = {common->by_block ? common->by_block[whole] : 0,
                                   common->by_sub ? common->by_sub[whole] : 0};
  for (unsigned d = 0; d < around->depth; d++)
    factor[2 + d] = around->loop[d]->stride[around->first[d] + arg];
  put_terms(recording->out, base, names, factor, 2 + around->depth);
}

/* "x+" in front of an address in a tensor, which becomes the distance from the tensor's start. */
static int64_t put_tensor(struct recording *recording, int64_t address) {
  const struct vinci_trace *trace = recording->source->trace;
  for (uint32_t t = 0; t < trace->tensor_count; t++) {
    const struct program_tensor *tensor = &trace->tensors[t];
    if ((uint64_t)address < tensor->address || (uint64_t)address >= tensor->address + tensor->bytes)
      continue;
    fprintf(recording->out, "%s+", tensor->name);
    return address - (int64_t)tensor->address;
  }
  return address;
}

static void put_inst(struct recording *recording, const struct node *node,
                     const struct around *around, const struct common *common, size_t whole) {
  const struct program_row *row = &recording->source->trace->rows[node->row];
  const struct isa_row *isa = isa_row((enum isa_op)row->op);
  enum arch arch = recording->source->trace->kernels[0].arch;
  char word[32];
  fputs(isa->name, recording->out);
  for (unsigned i = 0; i < isa->arg_count; i++) {
    const struct isa_arg *arg = &isa->arg[i];
    if (arg->has_default && arg->archs != 0 && !(arg->archs & 1u << arch))
      continue;
    fprintf(recording->out, ",%s=", arg->name);
    switch ((enum isa_arg_kind)arg->kind) {
    case ARG_WORD:
      isa_word_text(arg, node->base[i], word, sizeof word);
      fputs(word, recording->out);
      break;
    case ARG_DTYPE:
      fputs(dtype_name((enum dtype)node->base[i]), recording->out);
      break;
    case ARG_PIPE:
      fputs(pipe_name((enum pipe)node->base[i]), recording->out);
      break;
    case ARG_ADDRESS:
    case ARG_INTEGER:
      put_number(recording, around, common,
                 arg->kind == ARG_ADDRESS && arg->space == SPACE_GM
                     ? put_tensor(recording, node->base[i])
                     : node->base[i],
                 i, whole + i);
      break;
    }
  }
  fputc('\n', recording->out);
}

static void put_nodes(struct recording *recording, const struct node *nodes, size_t count,
                      struct around *around, const struct common *common, size_t whole) {
  for (size_t i = 0; i < count; i++) {
    const struct node *node = &nodes[i];
    if (node->count == 0) {
      put_inst(recording, node, around, common, whole);
    } else {
      fprintf(recording->out, "loop,i%u,%llu\n", around->depth, (unsigned long long)node->count);
      around->loop[around->depth] = node;
      around->first[around->depth++] = 0;
      put_nodes(recording, node->body, node->body_count, around, common, whole);
      around->depth--;
      fputs("endloop\n", recording->out);
    }
    for (unsigned d = 0; d < around->depth; d++)
      around->first[d] += node->args;
    whole += node->args;
  }
  for (unsigned d = 0; d < around->depth; d++)
    around->first[d] -= args_of(nodes, count);
}

/* ---- blocks ---- */

static bool same_sequence(const struct sequence *one, const struct sequence *other) {
  return one->count == other->count && same_shapes(one->nodes, other->nodes, one->count);
}

/* Whether a block is the first plus multiples of its numbers. */
static bool follows(const struct sequence *first, const struct sequence *other, uint64_t block,
                    uint64_t sub, const struct common *common) {
  size_t at = 0;
  for (size_t i = 0; i < first->count; i++)
    for (size_t a = 0; a < first->nodes[i].args; a++, at++) {
      uint64_t expected = (uint64_t)first->nodes[i].base[a] +
                          block * (uint64_t)common->by_block[at] +
                          sub * (uint64_t)common->by_sub[at];
      if ((uint64_t)other->nodes[i].base[a] != expected)
        return false;
    }
  return true;
}

/* Strides of blocks and subs, if all blocks can share a text. */
static bool find_common(struct recording *recording, uint32_t blocks, uint32_t subs,
                        struct common *common) {
  const struct sequence *first = recording->streams;
  size_t args = args_of(first->nodes, first->count);
  int64_t *by_block = new_args(recording, args + 1), *by_sub = new_args(recording, args + 1);
  *common = (struct common){by_block, by_sub};
  for (uint32_t i = 1; i < blocks * subs; i++)
    if (!same_sequence(first, &first[i]))
      return false;
  if (recording->failed)
    return false;
  if (subs > 1)
    (void)differ_by(first->nodes, first[1].nodes, first->count, by_sub, true);
  if (blocks > 1)
    (void)differ_by(first->nodes, first[subs].nodes, first->count, by_block, true);
  for (uint32_t i = 1; i < blocks * subs; i++)
    if (!follows(first, &first[i], i / subs, i % subs, common))
      return false;
  return true;
}

static void put_stream(struct recording *recording, enum core_kind kind, uint32_t blocks,
                       uint32_t subs) {
  struct common common;
  struct around around = {.depth = 0};
  fprintf(recording->out, "stream,core=%s\n", core_kind_name(kind));
  if (find_common(recording, blocks, subs, &common)) {
    put_nodes(recording, recording->streams->nodes, recording->streams->count, &around, &common, 0);
    return;
  }
  common = (struct common){NULL, NULL};
  for (uint32_t i = 0; i < blocks * subs; i++) {
    const struct sequence *stream = &recording->streams[i];
    fprintf(recording->out, "loop,block%u,(blk==%u)*(sub==%u)\n", i, i / subs, i % subs);
    put_nodes(recording, stream->nodes, stream->count, &around, &common, 0);
    fputs("endloop\n", recording->out);
  }
}

static void record_kind(struct recording *recording, enum core_kind kind) {
  const struct program_kernel *kernel = &recording->source->trace->kernels[0];
  uint32_t subs = kernel->mixed && kind == CORE_AIV ? kernel->vectors_per_cube : 1;
  recording->streams = calloc((size_t)kernel->blocks * subs, sizeof *recording->streams);
  recording->failed |= !recording->streams;
  for (uint32_t i = 0; i < kernel->blocks * subs && !recording->failed; i++) {
    struct source_place place = {.kind = kind, .blk = i / subs, .sub = i % subs};
    read_block(recording, &place, &recording->streams[i]);
    fold(recording, &recording->streams[i]);
  }
  if (!recording->failed)
    put_stream(recording, kind, kernel->blocks, subs);
  for (uint32_t i = 0; recording->streams && i < kernel->blocks * subs; i++)
    free(recording->streams[i].nodes);
  free(recording->streams);
}

/* A field with a text, which may have commas. */
static void put_text(const char *key, const char *value, FILE *out) {
  char field[8192];
  snprintf(field, sizeof field, "%s=%s", key, value);
  fputc(',', out);
  cell_write(out, field);
}

static void put_header(const struct source *source, FILE *out) {
  const struct vinci_trace *trace = source->trace;
  const struct program_kernel *kernel = &trace->kernels[0];
  static const char *const directions[] = {"in", "out", "inout", "workspace"};
  fprintf(out, "trace,version=1\nkernel,name=%s,arch=%s,blocks=%u\n", kernel->name,
          arch_name(kernel->arch), kernel->blocks);
  for (uint32_t t = 0; t < trace->tensor_count; t++) {
    const struct program_tensor *tensor = &trace->tensors[t];
    fprintf(out, "tensor,name=%s,dtype=%s,shape=", tensor->name, dtype_name(tensor->dtype));
    for (unsigned i = 0; i < tensor->rank; i++)
      fprintf(out, "%s%llu", i > 0 ? "x" : "", (unsigned long long)tensor->shape[i]);
    fprintf(out, ",io=%s", directions[tensor->is_list ? TENSOR_WORKSPACE : tensor->io]);
    if (tensor->file)
      put_text("file", tensor->file, out);
    if (strcmp(tensor->format, "ND") != 0)
      put_text("format", tensor->format, out);
    if (tensor->passes_l2)
      fputs(",cache=disable", out);
    if (tensor->tail > 0)
      fprintf(out, ",tail=%llu", (unsigned long long)tensor->tail);
    fputc('\n', out);
  }
}

enum vinci_status source_write(const struct vinci_trace *trace, FILE *out,
                               struct vinci_diag *diag) {
  struct recording recording = {.source = (const struct source *)trace->source, .out = out};
  put_header(recording.source, out);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    if (trace->kernels[0].stream[kind].present)
      record_kind(&recording, (enum core_kind)kind);
  arena_free(&recording.arena);
  return recording.failed ? diag_error(diag, VINCI_E_NOMEM, "out of memory for the recorded trace")
                          : VINCI_OK;
}
