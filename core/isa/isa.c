/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction table of core/isa/isa.def. A signature is parsed when its instruction is first
 * asked for: a run has a dozen of the instructions, and all of them cost 1.2 million instructions
 * of the host. A mistake in the table is a bug of vinci and ends the program; tests/core/test_isa.c
 * asks for each row.
 */
#include "core/isa/isa.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/chip/soc.h"

#define ACCESS_ROW(text_name, of_pipe)                                                             \
  {                                                                                                \
    .name = text_name, .pipe = of_pipe, .type_arg = -1, .unit_flag_arg = -1, .arg_count = 4,       \
    .arg = {                                                                                       \
      {.name = "address", .kind = ARG_INTEGER},                                                    \
      {.name = "bytes", .kind = ARG_INTEGER},                                                      \
      {.name = "space", .kind = ARG_INTEGER},                                                      \
      {.name = "mask", .kind = ARG_INTEGER}                                                        \
    }                                                                                              \
  }

struct isa_row isa_rows[OP_END] = {
#define ISA(id, text_name, text_pipe, arch_set, text_signature, dtype_set, stem, values, about,    \
            origin, ...)                                                                           \
  [OP_##id] = {.name = text_name,                                                                  \
               .pipe = text_pipe,                                                                  \
               .archs = arch_set,                                                                  \
               .dtypes = dtype_set,                                                                \
               .signature = text_signature,                                                        \
               .text = about,                                                                      \
               .source = origin,                                                                   \
               .type_arg = -1,                                                                     \
               .unit_flag_arg = -1,                                                                \
               __VA_ARGS__},
#include "core/isa/isa.def"
#undef ISA
    [OP_READ_ROW] =
        {.name = "read",
         .pipe = PIPE_S,
         .type_arg = -1,
         .unit_flag_arg = -1,
         .arg_count = 3,
         .arg = {{.name = "value", .kind = ARG_INTEGER},
                 {.name = "from", .kind = ARG_ADDRESS, .space = SPACE_UB, .reads = true},
                 {.name = "bytes", .kind = ARG_INTEGER}}},
    [OP_SCALAR_LOAD] = ACCESS_ROW("scalar load", PIPE_S),
    [OP_SCALAR_STORE] = ACCESS_ROW("scalar store", PIPE_S),
    [OP_SCALAR_CLEAN] = ACCESS_ROW("dcci", PIPE_S),
    [OP_THREAD_LOAD] = ACCESS_ROW("thread load", PIPE_V),
    [OP_THREAD_STORE] = ACCESS_ROW("thread store", PIPE_V),
};

/* Open addressing, at most a quarter full: nearly every name sits in its own slot. The names are
 * known when vinci is built, so that this table needs no memory as core/base/lookup.h does. */
enum { HASH_BITS = 11, HASH_SLOTS = 1 << HASH_BITS };
_Static_assert(OP_COUNT * 4 <= HASH_SLOTS, "raise HASH_BITS");
_Static_assert(OP_COUNT < UINT16_MAX, "instructions are numbered in 16 bits");

static uint16_t slots[HASH_SLOTS]; /* instruction + 1, 0 = free */
static uint8_t name_lengths[OP_COUNT];

/* What is filled already: a row is written once, under the lock, before its flag says so. */
atomic_bool isa_is_parsed[OP_END] = {
    [OP_READ_ROW] = true,     [OP_SCALAR_LOAD] = true, [OP_SCALAR_STORE] = true,
    [OP_SCALAR_CLEAN] = true, [OP_THREAD_LOAD] = true, [OP_THREAD_STORE] = true};
static atomic_bool is_hashed;
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

/* Mixes the first and last eight bytes and the length: names differ in one of them. */
static uint32_t hash_name(const char *name, size_t length) {
  uint64_t head = 0, tail = 0;
  if (length >= sizeof head) {
    memcpy(&head, name, sizeof head);
    memcpy(&tail, name + length - sizeof tail, sizeof tail);
  } else {
    memcpy(&head, name, length);
  }
  /* Odd constants from the golden ratio and from FNV; any odd ones would do. */
  uint64_t mixed = (head + length) * UINT64_C(0x9e3779b97f4a7c15);
  mixed ^= tail * UINT64_C(0x00000100000001b3) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((mixed ^ mixed >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HASH_BITS));
}

/* A place in the signature being parsed. */
struct cursor {
  const char *at;
  const struct isa_row *row;
};

_Noreturn static void malformed(const struct cursor *cursor, const char *what) {
  vinci_bug("isa.def, %s: %s at \"%s\"", cursor->row->name, what, cursor->at);
}

static bool accept(struct cursor *cursor, const char *text) {
  size_t length = strlen(text);
  if (strncmp(cursor->at, text, length) != 0)
    return false;
  cursor->at += length;
  return true;
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Copies a word of at most size - 1 characters; its length. */
static size_t parse_word(struct cursor *cursor, char *out, size_t size) {
  size_t length = 0;
  while (is_word_char(cursor->at[length]))
    length++;
  if (length == 0 || length >= size)
    malformed(cursor, "a name of fitting length is missing");
  memcpy(out, cursor->at, length);
  out[length] = '\0';
  cursor->at += length;
  return length;
}

/* By hand: strtoll() alone took a sixth of what a short command costs. */
static int64_t parse_number(struct cursor *cursor) {
  bool negative = accept(cursor, "-");
  uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;
  if (!isdigit((unsigned char)*cursor->at))
    malformed(cursor, "a number is missing");
  for (; isdigit((unsigned char)*cursor->at); cursor->at++) {
    uint64_t digit = (uint64_t)(*cursor->at - '0');
    if (value > (limit - digit) / 10)
      malformed(cursor, "a number is too big");
    value = 10 * value + digit;
  }
  return (int64_t)(negative ? 0 - value : value);
}

static void parse_words(struct cursor *cursor, struct isa_arg *arg) {
  arg->kind = ARG_WORD;
  arg->words = cursor->at;
  do {
    char word[32];
    parse_word(cursor, word, sizeof word);
  } while (accept(cursor, "|"));
  if (!accept(cursor, "}"))
    malformed(cursor, "\"}\" is missing");
}

static void parse_address(struct cursor *cursor, struct isa_arg *arg) {
  char name[16];
  parse_word(cursor, name, sizeof name);
  unsigned space = 0;
  while (space < SPACE_COUNT && strcmp(space_name((enum space)space), name) != 0)
    space++;
  if (space == SPACE_COUNT || !accept(cursor, ":"))
    malformed(cursor, "unknown kind of operand");
  arg->kind = ARG_ADDRESS;
  arg->space = (uint8_t)space;
  arg->reads = accept(cursor, "r");
  arg->writes = accept(cursor, "w");
  if (!arg->reads && !arg->writes)
    malformed(cursor, "r, w or rw is missing");
}

static void parse_kind(struct cursor *cursor, struct isa_arg *arg) {
  if (accept(cursor, "{")) {
    parse_words(cursor, arg);
  } else if (*cursor->at == '-' || isdigit((unsigned char)*cursor->at)) {
    arg->kind = ARG_INTEGER;
    arg->low = parse_number(cursor);
    if (!accept(cursor, ".."))
      malformed(cursor, "\"..\" is missing");
    arg->high = parse_number(cursor);
    if (arg->low > arg->high)
      malformed(cursor, "empty range before");
    arg->has_gap = accept(cursor, "!");
    if (arg->has_gap)
      arg->gap = parse_number(cursor);
  } else if (accept(cursor, "dtype")) {
    arg->kind = ARG_DTYPE;
  } else if (accept(cursor, "pipe")) {
    arg->kind = ARG_PIPE;
  } else {
    parse_address(cursor, arg);
  }
}

/* The value after "=": a number, or one of the names the kind allows. */
static void parse_default(struct cursor *cursor, struct isa_arg *arg) {
  char word[32];
  size_t length;
  arg->has_default = true;
  switch (arg->kind) {
  case ARG_ADDRESS:
    arg->default_value = parse_number(cursor);
    break;
  case ARG_INTEGER:
    arg->default_value = parse_number(cursor);
    if (!isa_arg_allows(arg, arg->default_value))
      malformed(cursor, "default outside the range before");
    break;
  case ARG_WORD:
    length = parse_word(cursor, word, sizeof word);
    arg->default_value = isa_word_find(arg, word, length);
    if (arg->default_value < 0)
      malformed(cursor, "unknown default word before");
    break;
  case ARG_DTYPE:
    parse_word(cursor, word, sizeof word);
    arg->default_value = dtype_by_name(word);
    if (arg->default_value == DTYPE_COUNT)
      malformed(cursor, "unknown default type before");
    break;
  default:
    parse_word(cursor, word, sizeof word);
    arg->default_value = pipe_by_name(word);
    if (arg->default_value == PIPE_COUNT)
      malformed(cursor, "unknown default pipe before");
    break;
  }
}

/* The architectures after "@". */
static void parse_archs(struct cursor *cursor, struct isa_arg *arg) {
  arg->archs = 0;
  do {
    unsigned arch = 0;
    while (arch < ARCH_COUNT && !accept(cursor, arch_name((enum arch)arch)))
      arch++;
    if (arch == ARCH_COUNT)
      malformed(cursor, "unknown architecture");
    arg->archs |= (uint8_t)(1u << arch);
  } while (accept(cursor, "|"));
}

static void parse_operand(struct cursor *cursor, struct isa_row *row) {
  if (row->arg_count == ISA_ARGS_MAX)
    malformed(cursor, "too many operands");
  struct isa_arg arg = {.archs = (1u << ARCH_COUNT) - 1};
  arg.name_length = (uint8_t)parse_word(cursor, arg.name, sizeof arg.name);
  if (isa_arg_find(row, arg.name, arg.name_length) >= 0)
    malformed(cursor, "second operand of the name before");
  if (!accept(cursor, ":"))
    malformed(cursor, "\":\" is missing");
  parse_kind(cursor, &arg);
  if (accept(cursor, "="))
    parse_default(cursor, &arg);
  if (arg.has_default && accept(cursor, "@"))
    parse_archs(cursor, &arg);
  if (arg.kind == ARG_DTYPE) {
    if (row->type_arg >= 0)
      malformed(cursor, "second dtype operand before");
    row->type_arg = (int8_t)row->arg_count;
  }
  if (strcmp(arg.name, "unit_flag") == 0)
    row->unit_flag_arg = (int8_t)row->arg_count;
  row->arg[row->arg_count++] = arg;
}

static void parse_signature(struct isa_row *row) {
  row->signature += *row->signature == ' '; /* lists of operands begin each with a space */
  struct cursor cursor = {.at = row->signature, .row = row};
  while (*cursor.at != '\0') {
    parse_operand(&cursor, row);
    if (*cursor.at != '\0' && !accept(&cursor, " "))
      malformed(&cursor, "operands are separated by one space");
  }
  if ((row->type_arg >= 0) != (row->dtypes != 0))
    malformed(&cursor, "a dtype operand and a set of data types go together");
  if (row->type_arg >= 0 && row->has_fixed_types)
    malformed(&cursor, "a dtype operand and fixed types exclude each other");
}

static enum isa_op look_up(const char *name, size_t length) {
  for (uint32_t slot = hash_name(name, length); slots[slot] != 0; slot = (slot + 1) % HASH_SLOTS) {
    unsigned op = slots[slot] - 1u;
    if (name_lengths[op] == length && memcmp(isa_rows[op].name, name, length) == 0)
      return (enum isa_op)op;
  }
  return OP_COUNT;
}

static void add_to_hash(unsigned op) {
  size_t length = strlen(isa_rows[op].name);
  if (length == 0 || length > UINT8_MAX || look_up(isa_rows[op].name, length) != OP_COUNT)
    vinci_bug("isa.def: \"%s\" is not a name or not unique", isa_rows[op].name);
  name_lengths[op] = (uint8_t)length;
  uint32_t slot = hash_name(isa_rows[op].name, length);
  while (slots[slot] != 0)
    slot = (slot + 1) % HASH_SLOTS;
  slots[slot] = (uint16_t)(op + 1);
}

static void lock(void) { pthread_mutex_lock(&filling); }
static void unlock(void) { pthread_mutex_unlock(&filling); }

/* A process that is forked while a thread fills the table gets a table that nobody fills. */
static __attribute__((constructor)) void keep_whole(void) { pthread_atfork(lock, unlock, unlock); }

void isa_parse_row(enum isa_op op) {
  lock();
  if (!atomic_load_explicit(&isa_is_parsed[op], memory_order_relaxed)) {
    parse_signature(&isa_rows[op]);
    atomic_store_explicit(&isa_is_parsed[op], true, memory_order_release);
  }
  unlock();
}

static __attribute__((noinline)) void hash_names(void) {
  lock();
  for (unsigned op = 0; op < OP_COUNT && !atomic_load_explicit(&is_hashed, memory_order_relaxed);
       op++)
    add_to_hash(op);
  atomic_store_explicit(&is_hashed, true, memory_order_release);
  unlock();
}

enum isa_op isa_find(const char *name, size_t length) {
  if (!atomic_load_explicit(&is_hashed, memory_order_acquire))
    hash_names();
  return look_up(name, length);
}

int isa_arg_find(const struct isa_row *row, const char *name, size_t length) {
  for (int i = 0; i < row->arg_count; i++)
    if (row->arg[i].name_length == length && memcmp(row->arg[i].name, name, length) == 0)
      return i;
  return -1;
}

void isa_range_text(const struct isa_arg *arg, char *buffer, size_t size) {
  int used = snprintf(buffer, size, "%" PRId64 "..%" PRId64, arg->low, arg->high);
  if (arg->has_gap && used >= 0 && (size_t)used < size)
    snprintf(buffer + used, size - (size_t)used, ", not %" PRId64, arg->gap);
}

static size_t word_length(const char *words) { return strcspn(words, "|}"); }

int isa_word_find(const struct isa_arg *arg, const char *word, size_t length) {
  const char *at = arg->words;
  for (int index = 0;; index++) {
    size_t n = word_length(at);
    if (n == length && memcmp(at, word, n) == 0)
      return index;
    if (at[n] != '|')
      return -1;
    at += n + 1;
  }
}

void isa_word_text(const struct isa_arg *arg, int64_t index, char *buffer, size_t size) {
  const char *at = arg->words;
  buffer[0] = '\0';
  for (int64_t i = 0; i < index; i++) {
    at += word_length(at);
    if (*at != '|')
      return;
    at++;
  }
  size_t n = word_length(at);
  if (n >= size)
    n = size - 1;
  memcpy(buffer, at, n);
  buffer[n] = '\0';
}

/*
 * Which generations compute in which types: CANN platform files (lists of types per
 * intrinsic) and Ascend C documentation: bf16 and hf32 came with the split cores,
 * int4 is in 310P and 910B alone, fp8 and fp4 came with the 950.
 */
bool arch_has_dtype(enum arch arch, enum dtype dtype) {
  switch (dtype) {
  case DTYPE_BF16:
  case DTYPE_HF32:
    return arch == ARCH_C220 || arch == ARCH_C310;
  case DTYPE_INT4:
    return arch == ARCH_M200 || arch == ARCH_C220;
  case DTYPE_FP8_E4M3:
  case DTYPE_FP8_E5M2:
  case DTYPE_FP4_E2M1:
  case DTYPE_FP4_E1M2:
    return arch == ARCH_C310;
  default:
    return true;
  }
}

uint32_t isa_dtypes(enum isa_op op, enum arch arch) {
  static const struct {
    uint16_t op;
    uint8_t archs;
    uint32_t dtypes;
  } fewer[] = {
#define ISA_TYPES(id, archs, dtypes) {OP_##id, archs, dtypes},
#include "core/isa/isa_types.def"
#undef ISA_TYPES
  };
  uint32_t types = isa_row(op)->dtypes;
  for (unsigned dtype = 0; dtype < DTYPE_COUNT; dtype++)
    if (!arch_has_dtype(arch, (enum dtype)dtype))
      types &= ~(1u << dtype);
  for (size_t i = 0; i < sizeof fewer / sizeof *fewer; i++)
    if (fewer[i].op == op && fewer[i].archs >> arch & 1)
      types &= fewer[i].dtypes;
  return types;
}
