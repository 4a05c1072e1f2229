/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of lists of operators: those of the vendor's profilers, of SCALE-Sim, and of vinci. Names
 * are compared without case, blanks and underscores.
 */
#ifndef VINCI_TRACES_FORMAT_CALL_COLUMNS_H
#define VINCI_TRACES_FORMAT_CALL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"

/* Columns that rows may have: id, then names that stand for it, without blanks and underscores. */
#define CALL_COLUMN_LIST(X)                                                                        \
  X(SOC, "soc|socversion")                                                                         \
  X(NAME, "opname|name|layername|layer")                                                           \
  X(TYPE, "op|optype|type")                                                                        \
  X(DEVICE, "deviceid")                                                                            \
  X(CORE, "core|tasktype|acceleratorcore")                                                         \
  X(ARGS, "args|arguments")                                                                        \
  X(IN_SHAPES, "inputshapes")                                                                      \
  X(IN_TYPES, "inputdatatypes|dtypes")                                                             \
  X(IN_FORMATS, "inputformats|formats")                                                            \
  X(OUT_SHAPES, "outputshapes")                                                                    \
  X(OUT_TYPES, "outputdatatypes")                                                                  \
  X(OUT_FORMATS, "outputformats")                                                                  \
  X(HF32, "hf32eligible")                                                                          \
  X(BLOCKS, "blocks|blockdim|blocknum")                                                            \
  X(DURATION, "durationus|duration(us)|taskduration(us)")                                          \
  X(START, "starttime(us)|taskstarttime(us)|relstartus")                                           \
  X(MAC_TIME, "macus|aicmactime(us)|mactime(us)")                                                  \
  X(VEC_TIME, "vecus|vectime(us)|aivvectime(us)")                                                  \
  X(SCALAR_TIME, "scalarus|scalartime(us)")                                                        \
  X(MTE1_TIME, "mte1us|mte1time(us)|aicmte1time(us)")                                              \
  X(MTE2_TIME, "mte2us|mte2time(us)")                                                              \
  X(MTE3_TIME, "mte3us|mte3time(us)|aivmte3time(us)")                                              \
  X(FIXPIPE_TIME, "fixpipeus|fixpipetime(us)|aicfixpipetime(us)")                                  \
  X(CORE_TIME, "aicoretime(us)")                                                                   \
  X(AIC_MISSES, "aicicachemissrate|icachemissrate")                                                \
  X(AIV_MISSES, "aivicachemissrate")                                                               \
  X(CORE_CYCLES, "totalcycles")                                                                    \
  X(START_TIME, "simstartus")                                                                      \
  X(STATUS, "status")                                                                              \
  X(LOWERED, "lowered")                                                                            \
  X(SOURCE, "source")                                                                              \
  X(GEMM_M, "m")                                                                                   \
  X(GEMM_N, "n")                                                                                   \
  X(GEMM_K, "k")                                                                                   \
  X(A_T, "at|transposea")                                                                          \
  X(B_T, "bt|transposeb")                                                                          \
  X(DTYPE, "dtype|precision")                                                                      \
  X(BATCH, "batch")                                                                                \
  X(IFMAP_H, "ifmapheight|h")                                                                      \
  X(IFMAP_W, "ifmapwidth|w")                                                                       \
  X(FILTER_H, "filterheight|filterh|filterh(r)|r")                                                 \
  X(FILTER_W, "filterwidth|filterw|filterw(s)|s")                                                  \
  X(CHANNELS, "channels|c")                                                                        \
  X(FILTERS, "numfilter|numfilters|filters")                                                       \
  X(STRIDES, "strides|stride|convstride|convstrides")                                              \
  X(STRIDE_H, "hstride|hstrides|strideh|stridesh|strideheight|stridesheight|stridey")              \
  X(STRIDE_W, "wstride|wstrides|stridew|stridesw|stridewidth|strideswidth|stridex")                \
  X(PADS, "pad|pads|padding")                                                                      \
  X(PAD_H, "padh|hpad|padheight|paddingh|paddingheight|pady")                                      \
  X(PAD_W, "padw|wpad|padwidth|paddingw|paddingwidth|padx")                                        \
  X(DILATIONS, "dilation|dilations")                                                               \
  X(DILATION_H, "dilationh|hdilation|dilationheight|dilationy")                                    \
  X(DILATION_W, "dilationw|wdilation|dilationwidth|dilationx")                                     \
  X(GROUPS, "group|groups|numgroups")                                                              \
  X(WEIGHT, "weight")

enum call_column {
#define X(id, names) CALL_##id,
  CALL_COLUMN_LIST(X)
#undef X
      CALL_COLUMN_COUNT
};

/* Kinds of lists, by their columns. */
enum call_kind { CALL_KIND_PROFILE, CALL_KIND_ARGS, CALL_KIND_GEMM, CALL_KIND_CONVOLUTION };

enum { CALL_NAME_MAX = 48 };
/* Lower case, without blanks and underscores: "Block Dim" is "blockdim". */
void calls_plain_name(const char *text, size_t length, char name[CALL_NAME_MAX]);
/* The column of a plain name; CALL_COLUMN_COUNT: none. */
int calls_find_column(const char *name);
/* The nearest name of a column, or NULL; in the arena. */
const char *calls_nearest_column(struct arena *arena, const char *name);
/* Whether a plain name is known and not needed; is known and has no model (call_columns.def). */
bool calls_is_needless(const char *name);
bool calls_is_unmodelled(const char *name);
enum call_kind calls_kind(const bool has[CALL_COLUMN_COUNT]);
/* Whether lists of a kind are simulated with regard to a column, or it is for tables alone. */
bool calls_reads(enum call_kind kind, enum call_column column);

#endif
