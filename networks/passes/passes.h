/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a network of layers to a graph of kernels: passes that rewrite layers, one row each
 * (passes.def), then the lowering (networks/layers). Each pass can be left out, and tells what
 * it changed by estimates of the kernels before and after.
 */
#ifndef VINCI_NETWORKS_PASSES_PASSES_H
#define VINCI_NETWORKS_PASSES_PASSES_H

#include "networks/layers/layers.h"
#include "networks/passes/estimate.h"
#include "networks/passes/history.h"

/* Kernels, from the first to the last, that pass split runs in some parts. */
struct split_choice {
  const char *first, *last;
  uint64_t parts; /* 1: they stay whole */
};
struct split_choices {
  const struct split_choice *items;
  size_t count;
};

enum pass_id {
#define PASS(id, name, stage, function, text) PASS_##id,
#define PASS_LAYOUTS(id, name, text) PASS_##id,
#include "networks/passes/passes.def"
#undef PASS_LAYOUTS
#undef PASS
  PASS_COUNT
};
const char *pass_name(enum pass_id pass);

struct compile_options {
  bool off[PASS_COUNT];
  enum dtype dtype; /* of pass dtype: fp16 or bf16 */
  bool keep_ends;   /* pass dtype leaves the types of the network's inputs and results: no casts */
  /* Pass algorithm may take Winograd's for 3 x 3 windows. The results round in another way, with
   * larger errors, as fp16 is between its steps: the caller has to want that. */
  bool winograd;
  /* Bytes of device memory that the plan "pack" may need, for passes recompute and swap; 0: any. */
  uint64_t memory_limit;
  bool over_limit; /* a limit that is not met is no error */
  bool report;     /* fills the estimates of pass_report; takes more time */
  /* Of the chip, for net_run() and other compilations; NULL: none outlive the compilation. */
  struct estimates *estimates;
  bool record;                        /* fills compiled.history */
  const struct split_choices *splits; /* that pass split makes, and no others; NULL: by estimate */
};

struct pass_report {
  bool on;
  size_t changed;                      /* places */
  size_t refused;                      /* places where the estimate says that the change loses */
  struct graph_estimate before, after; /* with options.report */
};

struct compiled {
  struct graph layers;    /* as the passes left them */
  struct graph graph;     /* of kernels; what has no kernel stays a layer with its reason */
  struct graph unlimited; /* with a limit of memory, the same before the passes for that */
  struct layers_counts counts;
  struct pass_report passes[PASS_COUNT];
  struct history history; /* with options.record */
};

/*
 * Reads a list of passes into options->off: "all", "none", "fold,dtype" (these alone), "-layout"
 * (all but this). VINCI_E_USAGE names an unknown pass and the nearest name.
 */
VINCI_MUST_CHECK enum vinci_status passes_choose(const char *list, struct compile_options *options,
                                                 struct vinci_diag *diag);

/* Reads a limit of memory, "512MiB"; VINCI_E_USAGE names what is no size. */
VINCI_MUST_CHECK enum vinci_status passes_limit(const char *text, struct compile_options *options,
                                                struct vinci_diag *diag);

/* Whether a graph has layers, so that it needs net_compile() before a run. */
bool graph_has_layers(const struct graph *graph);

void compiled_free(struct compiled *compiled);

/* The caller frees the result, also after an error; it refers to values of tensors of `from`.
 * VINCI_E_INPUT: the passes do not meet options->memory_limit; the text says what they reach. */
VINCI_MUST_CHECK enum vinci_status net_compile(const struct graph *from,
                                               const struct vinci_soc *soc,
                                               const struct compile_options *options,
                                               struct compiled *out, struct vinci_diag *diag);

#endif
