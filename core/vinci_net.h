/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: whole networks. A graph of kernels as text, or an ONNX model (GRAPH.md), runs on one chip:
 * each kernel finds in L2 what those before have left, and the queue says when each starts.
 *
 *     struct vinci_net_options options = {.struct_size = sizeof options, .host = "eager"};
 *     struct vinci_net_result result;
 *     if (vinci_net_run(soc, "net.csv", text, length, &options, NULL, NULL, &result, &diag) ==
 *         VINCI_OK)
 *       printf("%" PRIu64 " ps, %" PRIu64 " of them on AI Cores\n", result.end_ps, result.core_ps);
 */
#ifndef VINCI_NET_H
#define VINCI_NET_H

#include "vinci_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is open in an ONNX model, as lists of "NAME=VALUE". */
struct vinci_net_model {
  size_t struct_size;        /* sizeof(struct vinci_net_model) */
  const char *const *shapes; /* of inputs: "x=1x3x224x224"; "x=" of a scalar */
  size_t shape_count;
  const char *const *dims; /* of dimensions that have a name: "batch=4" */
  size_t dim_count;
  const char *const *inputs; /* values of inputs, of all their elements: "sr=16000" */
  size_t input_count;
};

struct vinci_net_options {
  size_t struct_size; /* sizeof(struct vinci_net_options) */
  enum vinci_memory memory;
  enum vinci_network network;
  const char *plan; /* none, first, best, pack; NULL: pack */
  const char *host; /* sink, eager, graph; NULL: sink */
  unsigned depth;   /* nodes that the host may be ahead; 0: any number */
  unsigned repeat;  /* runs one after another, the last is told; 0: 2 */
  /* Simulates also kernels that met the same context before; with results: and compares with
   * those that are kept (VINCI_E_MISMATCH). */
  bool exact;
  /* A folder: results of kernels that met the same chip, models, program and state of L2 are taken
   * from there, others are kept there. Several processes may use one folder. NULL: none. */
  const char *results;
  /* Of a family of graphs: the batch, for which {batch} in the text stands. 0: the text is one
   * graph. */
  unsigned batch;
  bool (*progress)(void *context, size_t done, size_t all); /* false ends the run; may be NULL */
  void *progress_context;
  const struct vinci_net_model *model; /* of ONNX models; NULL: nothing is open */
  const char *passes;       /* of networks of layers: as --passes of vinci net run; NULL: all */
  const char *memory_limit; /* of networks of layers: as --memory-limit, "512MiB"; NULL: none */
};

/* A node of the last run; the texts live as long as the call of visit. */
struct vinci_net_node {
  const char *name, *op, *origin;
  const char *from;   /* simulated, remembered, given, computed, none, refused */
  const char *bound;  /* of kernels, else "" */
  const char *reason; /* why a kernel was refused, else "" */
  unsigned stream, blocks;
  uint64_t start_ps, duration_ps, gap_ps, host_wait_ps, other_wait_ps;
  uint64_t input_bytes, l2_found_bytes; /* of kernels: bytes of inputs, and what L2 had of them */
  uint64_t hbm_bytes;                   /* of kernels: read and written in device memory */
  /* What it does, without what the chip takes all the time; 0: the chip keeps no account. */
  uint64_t energy_pj, energy_low_pj, energy_high_pj;
};

struct vinci_net_result {
  uint64_t end_ps, first_end_ps;                  /* of the last run and of the first */
  uint64_t core_ps;                               /* the AI Cores were busy */
  uint64_t host_bound_ps, gap_ps, wait_ps;        /* and waited for these */
  uint64_t memory_bytes, live_bytes, fixed_bytes; /* of the plan; alive at once; shared by none */
  size_t nodes, refused;
  /* What end_ps is made of: kernels by what bounds them, tasks on the AI Cores; the cores wait for
   * the host, between kernels (gap_ps), for other things (wait_ps); what runs after them. */
  uint64_t cube_ps, vector_ps, memory_ps, latency_ps, scalar_ps, task_ps, tail_ps;
  const char *bound;  /* the largest of these parts: cube, vector, ..., host, gap, wait, tail */
  uint64_t slowed_ps; /* of core_ps, because of copies */
  size_t kernels, launches;
  uint64_t input_bytes, output_bytes, l2_found_bytes; /* of all kernels */
  uint64_t hbm_bytes, h2d_bytes, d2h_bytes, d2d_bytes;
  uint64_t problem_digest; /* of types and shapes of inputs and outputs: what is computed */
  size_t simulated;        /* kernels in all runs that were not remembered */
  size_t stored;           /* kernels in all runs whose result came from the folder */
  /* Of the last run, with the interval (vinci_energy.h); 0: the chip keeps no account. */
  uint64_t energy_pj, energy_low_pj, energy_high_pj;
};

/*
 * Reads an ONNX model and gives it as a graph of layers, as text of *out_length bytes and a zero,
 * for free(): all shapes are computed, and what is known before a run is folded away. `bytes` NULL:
 * the model is the file `name`, which may be of any length, as may its weights; only what is needed
 * of the file is read. Else name is for messages. VINCI_E_INPUT for what is no model, for shapes
 * that are open and operators that cannot be read; VINCI_E_USAGE for names that the model does not
 * have, and when this library was built without ONNX.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_net_import(const char *name, const void *bytes,
                                                              size_t length,
                                                              const struct vinci_net_model *model,
                                                              char **out, size_t *out_length,
                                                              struct vinci_diag *diag);

/*
 * Reads a profile (kernel_details.csv) and gives its rows as a graph, as text of *out_length bytes
 * and a zero, for free(): kernels where a row can be lowered, else tasks of the measured time.
 * host_costs: a CSV file with columns type and mean_us, the host's time before a launch; NULL: none
 * is known. Gaps of at least host_wait_us microseconds become waits of the host; 0: none does.
 * device: whose rows are taken, of a profile of several devices ("0"); NULL: it has one alone.
 * VINCI_E_INPUT for files that are no such tables.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_profile(const vinci_soc *soc, const char *path, const char *host_costs,
                  uint64_t host_wait_us, const char *device, char **out, size_t *out_length,
                  struct vinci_diag *diag);

/*
 * Runs a graph or an ONNX model, given as in vinci_net_import(). visit gets the nodes in their
 * order and returns false to stop; NULL: none. VINCI_E_INPUT for a text that is no graph, and for
 * tensors that overlap or do not fit; VINCI_E_USAGE for an unknown plan or host. A kernel that
 * cannot be lowered is counted in result->refused, and the others run.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_run(const vinci_soc *soc, const char *name, const char *text, size_t length,
              const struct vinci_net_options *options,
              bool (*visit)(void *context, const struct vinci_net_node *node), void *context,
              struct vinci_net_result *result, struct vinci_diag *diag);

/*
 * What of the network can be turned, passes, cuts by L2 and the host: runs the network once for
 * each, and once as it is. visit gets those that change the time, the largest saving first, and
 * returns false to stop; the texts live as long as its call. progress of the options gets the nodes
 * of the first run, then levers.
 * Errors as of vinci_net_run(), VINCI_E_INPUT when a node has no kernel, and VINCI_E_LIMIT when
 * progress has ended the search; visit has got what was measured before then.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_levers(const vinci_soc *soc, const char *name, const char *text, size_t length,
                 const struct vinci_net_options *options,
                 bool (*visit)(void *context, const struct vinci_proven *lever), void *context,
                 struct vinci_diag *diag);

/* ---- a family of graphs, one for each batch size, and a stream of requests ---- */

/* One of the family: how many samples fit, what a run takes. */
struct vinci_net_gear {
  uint64_t batch, duration_ps;
};

struct vinci_net_request {
  uint64_t arrival_ps; /* not before that of the request before */
  uint64_t size;       /* samples, at least 1 */
};

/* A run of a gear. */
struct vinci_net_batch {
  uint64_t start_ps, end_ps;
  size_t gear;
  uint64_t samples; /* of gear.batch */
};

struct vinci_net_served {
  uint64_t p50_ps, p90_ps, p99_ps, max_ps; /* latency of requests: of that many per cent at most */
  uint64_t end_ps;                         /* of the last batch; all began at the first arrival */
  uint64_t busy_ps, span_ps;               /* of batches; from the first arrival to the end */
  uint64_t samples, slots, batches;        /* samples of requests; sum of the gears that ran */
};

/* Requests of a CSV file "arrival_us,size" (size may be left out: 1), or of
 * "poisson:rate=R,count=N[,seed=S][,size=K]": N requests of K samples, R a second on average, the
 * same on every host. The caller frees *out with free(). */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_net_requests(const char *spec,
                                                                struct vinci_net_request **out,
                                                                size_t *count,
                                                                struct vinci_diag *diag);

/*
 * Serves requests on a chip that runs one batch at a time. A batch begins when the chip is free and
 * the samples that wait fill the largest gear, or the oldest of them has waited for max_wait_ps. It
 * takes the smallest gear that holds what waits, or else the largest; samples leave in the order in
 * which they came, and a request is done when its last sample is. Gears grow in batch. latencies
 * (of each request) and visit may be NULL; visit returns false to stop being told.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_net_serve(const struct vinci_net_gear *gears, size_t gear_count,
                const struct vinci_net_request *requests, size_t request_count,
                uint64_t max_wait_ps, uint64_t *latencies,
                bool (*visit)(void *context, const struct vinci_net_batch *batch), void *context,
                struct vinci_net_served *result, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
