/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of operators: "m=4096 dtype=fp16" by a table of rows, and their values. */
#ifndef VINCI_LOWER_KERNEL_KEY_H
#define VINCI_LOWER_KERNEL_KEY_H

#include "core/base/words.h"
#include "core/isa/program.h"

/* Kinds of key: id, name in listings, how a value is written. */
#define LOWER_KIND_LIST(X)                                                                         \
  X(SIZE, "size", "whole number")                                                                  \
  X(SHAPE, "shape", "extents such as 8x128x512")                                                   \
  X(DTYPE, "dtype", "data type")                                                                   \
  X(WORD, "word", "one of the words")                                                              \
  X(NUMBER, "number", "decimal number")                                                            \
  X(TEXT, "text", "text, in a form of the operator's own")

enum lower_kind {
#define X(id, name, text) LOWER_##id,
  LOWER_KIND_LIST(X)
#undef X
      LOWER_KIND_COUNT
};

enum {
  LOWER_KEYS_MAX = 32,
  LOWER_SIZE_MAX = 2147483647,
  LOWER_TENSORS_MAX = 64,
};

struct lower_key {
  const char *name;
  enum lower_kind kind;
  const char *fallback; /* NULL: has to be given; "": absent unless given */
  const char *choices;  /* WORD and DTYPE: "a|b|c"; SIZE, SHAPE: NULL, or "0" when 0 is allowed */
  const char *text;     /* one line */
  bool tiling;          /* chosen by cost unless given */
  bool cores;           /* how many cores share the work: candidates for fewer are tried as well */
  bool cube_cores;      /* the same of the cube: also candidates of chips with smaller buffers */
  bool for_tuners;      /* WORD: the default takes the first, tuners try all with each tiling */
};

/* Rows of a table of keys. */
/* clang-format off */
#define LOWER_KEY(name_, kind_, fallback_, choices_, text_)                                        \
  {.name = (name_), .kind = LOWER_##kind_, .fallback = (fallback_), .choices = (choices_), .text = (text_)}
#define SHAPE_KEY(text_) LOWER_KEY("shape", SHAPE, NULL, NULL, text_)
#define DTYPE_KEY(fallback_, types_, text_) LOWER_KEY("dtype", DTYPE, fallback_, types_, text_)
#define NUMBER_KEY(name_, fallback_, text_) LOWER_KEY(name_, NUMBER, fallback_, NULL, text_)
#define WORD_KEY(name_, fallback_, words_, text_) LOWER_KEY(name_, WORD, fallback_, words_, text_)
#define TILING_KEY(name_, text_) \
  {.name = (name_), .kind = LOWER_SIZE, .text = (text_), .tiling = true}
/* How many vector cores share the work. */
#define BLOCKS_KEY(text_) \
  {.name = "blocks", .kind = LOWER_SIZE, .choices = "0", .text = (text_), .tiling = true, .cores = true}
/* clang-format on */

/* The value of one key. `given`: by the caller, not by default or choice. */
struct lower_value {
  bool given;
  bool present;
  uint64_t size;
  unsigned rank;
  uint64_t shape[TENSOR_RANK_MAX];
  enum dtype dtype;
  unsigned word; /* index in choices */
  double number;
  const char *text;
};

#endif
