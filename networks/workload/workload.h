/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What studies, suites and lists of operators run: an operator with its arguments, a trace or a
 * network, on a chip with overrides, by some models of memory and network.
 */
#ifndef VINCI_NETWORKS_WORKLOAD_WORKLOAD_H
#define VINCI_NETWORKS_WORKLOAD_WORKLOAD_H

#include "core/base/arena.h"
#include "core/vinci_study.h"

/* One of op, trace, net, job and model is set. */
struct workload {
  const char *op;
  const char *trace;
  const char *net;   /* a graph (network.h) */
  const char *job;   /* a job of several devices (devices/GROUP.md), of gates and sweeps */
  const char *model; /* a transformer whose training step is split (scripts/LUA.md), of
                        gates and sweeps */
  const char **args; /* "m=512", of op, net, job and model */
  size_t arg_count;
};

/* The models by name, NULL when not given. */
struct workload_models {
  const char *memory;
  const char *network;
  const char *l2;
  const char *code;
};
/* A run in all that may be said of it; NULL or 0 when not given. */
struct run_spec {
  const char *soc;
  const char **sets; /* "l2.size=96MiB" */
  size_t set_count;
  struct workload workload;
  struct workload_models models;
  uint64_t max_cycles;
};
/* A copy of overrides, with their texts, in the arena; false when memory is short. */
bool overrides_keep(const struct vinci_overrides *overrides, struct arena *arena,
                    struct run_spec *out);
/* What the overrides give wins; their numbers of the chip come behind those of the run. */
bool spec_override(struct run_spec *spec, const struct run_spec *overrides, struct arena *arena);

/* The error that no chip is named. */
enum vinci_status spec_lacks_soc(struct vinci_diag *diag);
/* The chip of a run, with its overrides; the caller frees the chip. */
VINCI_MUST_CHECK enum vinci_status spec_load_soc(const struct run_spec *spec, const char *data,
                                                 vinci_soc **out, struct vinci_diag *diag);

/* Chips loaded once by name, from which points make copies of their own. */
enum { CHIPS_MAX = 32 };
struct chip_cache {
  const char *data;      /* the folder that holds soc/, may be NULL */
  char *name[CHIPS_MAX]; /* as asked for: also the path of a file */
  vinci_soc *soc[CHIPS_MAX];
  size_t count;
};
void chip_cache_free(struct chip_cache *cache);
/* The chip of a name as its file describes it; owned by the cache. */
VINCI_MUST_CHECK enum vinci_status chip_cache_get(struct chip_cache *cache, const char *name,
                                                  const vinci_soc **out, struct vinci_diag *diag);

/* A copy of a chip with the overrides of a run; the caller frees the copy. */
VINCI_MUST_CHECK enum vinci_status chip_cache_copy(struct chip_cache *cache, const char *name,
                                                   const struct run_spec *spec, vinci_soc **out,
                                                   struct vinci_diag *diag);

/* How many points run at a time: as given, or with 0 one per processor, at most `most`. */
unsigned workload_jobs(unsigned given, unsigned most);

/* Whether key names something that vinci_soc_set can change; if not, the diagnostic says so. */
VINCI_MUST_CHECK enum vinci_status workload_check_key(const vinci_soc *soc, const char *key,
                                                      struct vinci_diag *diag);

/* Whether the operator exists, and with key not NULL whether it has such an argument. */
VINCI_MUST_CHECK enum vinci_status
workload_check_operator(const struct workload *workload, const char *key, struct vinci_diag *diag);

/* Loads the trace or compiles the operator for a chip; not of networks. */
VINCI_MUST_CHECK enum vinci_status workload_open(const struct workload *workload,
                                                 const vinci_soc *soc, vinci_trace **out,
                                                 struct vinci_diag *diag);
/*
 * Digest of what is asked for: the operator with its arguments in any order, or the text of
 * the trace file, or that of a network with its arguments.
 */
VINCI_MUST_CHECK enum vinci_status workload_digest(const struct workload *workload, uint64_t *out,
                                                   struct vinci_diag *diag);
/* "matmul m=512 k=512", or the name of the trace. */
char *workload_text(const struct workload *workload, struct arena *arena);

/* The member that a word names, or NULL. */
const char **workload_model(struct workload_models *models, const char *word);
/* Into run options; what is not given stays. */
VINCI_MUST_CHECK enum vinci_status workload_choose(const struct workload_models *models,
                                                   struct vinci_run_options *options,
                                                   struct vinci_diag *diag);

/*
 * A warning when one of the keys, or "KEY=VALUE", is a number of L2 and what lies in L2 at the
 * start is assumed: `assumed` says which state, NULL when none is. False when there is none to
 * give.
 */
enum { WORKLOAD_WARNING_MAX = 320 };
bool workload_l2_warning(const char *const *keys, size_t count, const char *assumed, char *text,
                         size_t size);

/* The models by name, with the limit of cycles: what a result depends on beside chip and program.
 */
enum { WORKLOAD_MODELS_MAX = 96 };
void workload_models_text(const struct vinci_run_options *options, char *buffer, size_t size);
/* The models of such a text, back into options; false when it is none. */
bool workload_models_parse(const char *text, struct vinci_run_options *options);

#endif
