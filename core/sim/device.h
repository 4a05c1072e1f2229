/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip: its cores, the memory system behind them, the dispatcher that puts the
 * blocks of one kernel after the other on free cores, and the fabric that carries
 * flags between cores.
 */
#ifndef VINCI_CORE_SIM_DEVICE_H
#define VINCI_CORE_SIM_DEVICE_H

#include "core/control/signals.h"
#include "core/isa/known.h"
#include "core/sim/aicore.h"
#include "core/sim/code.h"

struct automatic;

/* Memory that outlives the run (core/sim/kept.h). */
struct device_kept {
  struct memsys *tags; /* of memsys_ops.create_tags() */
  struct code_caches *code;
  const uint64_t *addresses; /* as those of a device */
  struct arena *arena;       /* that runs one after another have for their models */
};

struct device {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  struct vinci_run_options options;
  const struct device_kept *kept;         /* NULL: fresh memory */
  const uint64_t *addresses;              /* of the tensors, in the order of the trace; NULL: of the
                                             trace */
  const struct memory_host *host;         /* who owns the memory; NULL: the model */
  const struct aicore_observer *observer; /* NULL: nobody looks */
  struct automatic *automatic;            /* core/sim/auto.c; NULL: the model is given */
  /* Then: a core starts a transfer of bytes to or from GM. */
  void (*note)(struct device *device, uint32_t core, uint64_t bytes);
  struct vinci_diag *diag;
  struct arena arena; /* all of one run's model */
  struct engine *engine;
  struct vinci_result *result;
  enum vinci_status status;
  double start_seconds; /* CPU time of the process when the run began */

  struct placement placement;
  struct signals signals;
  struct aicore *cores;                 /* placement.core_count of them */
  struct known *known;                  /* instructions, of all cores */
  struct vector_functions *functions;   /* of all cores; NULL: the chip has none */
  struct code_caches *code, fresh_code; /* that outlive the run, or those of the run */
  uint64_t code_kernel;                 /* of the running kernel */

  const struct network_ops *network_ops;
  struct network *network;
  const struct memsys_ops *memory_ops;
  struct memsys *memory;

  uint32_t kernel;       /* running */
  uint32_t deliveries;   /* of signals between cores, so far */
  uint32_t next_unit;    /* where the search for a free one starts */
  uint64_t instructions; /* of all kernels, for progress */
  uint64_t last_dispatch_ps;
  bool dispatched_any;
  bool finished; /* the last kernel has ended */
  struct engine_event dispatch;
  struct engine_event watch; /* progress and cycle limit */
};

/* vinci_run(), on kept memory unless that is NULL. */
VINCI_MUST_CHECK enum vinci_status device_run(const struct vinci_soc *soc,
                                              const struct vinci_trace *trace,
                                              const struct vinci_run_options *options,
                                              const struct device_kept *kept,
                                              struct vinci_result **out, struct vinci_diag *diag);
/*
 * The parts of device_run(), for a caller who fires the events of the engine himself. soc, trace,
 * diag, kept and observer of the device are set, all else is zero; it stays where it is until
 * device_close(), which is due after VINCI_OK and takes all memory back.
 */
VINCI_MUST_CHECK enum vinci_status device_open(struct device *device,
                                               const struct vinci_run_options *options);
/* The caller's progress function wants no more: the run ends, partial. */
void device_interrupt(struct device *device);
/* Ends a run of which `status` is known so far; as vinci_run(). */
VINCI_MUST_CHECK enum vinci_status device_close(struct device *device, enum vinci_status status,
                                                struct vinci_result **out);
/* Builds the chip for a trace. */
enum vinci_status device_create(struct device *device);
/* Why L2, network or memory of a chip could not be made in an arena: memory is short, or numbers of
 * the chip do not fit each other. */
enum vinci_status memory_not_created(const struct vinci_soc *soc, const struct arena *arena,
                                     struct vinci_diag *diag);
/* Brings L2 into the state that the options ask for; once the memory system is there. */
void device_start_l2(struct device *device);
/* Launches the first kernel; the engine does the rest. */
void device_launch(struct device *device);
/* After the engine has ended: makes a run that came to the end of time one that hit a limit. */
void device_end_of_time(struct device *device);
/* Ends the run early with a status. */
void device_stop(struct device *device, enum vinci_status status);
void device_core_finished(struct device *device, struct aicore *core);
/* Cores of a kind that execute blocks of the present kernel at the same time, at most. */
uint64_t device_running_cores(const struct device *device, enum core_kind kind);
/* Where a byte of a tensor of the trace lies in device memory. */
uint64_t device_address(const struct device *device, uint64_t address);
/* Instructions that all cores have issued. */
uint64_t device_issued(const struct device *device);
/* Of the instructions of all kernels; known with progress and with `automatic`. */
unsigned device_done_permille(const struct device *device);
/* Simulated time of the limit of cycles; UINT64_MAX: no limit, or one beyond what time can count.
 */
uint64_t device_limit_ps(const struct device *device);
/* Hands a transfer to the memory system. */
void device_start_transfer(struct device *device, struct gm_transfer *transfer, uint64_t start_ps);
/* A core signals cross-core flag `id` in a mode at the present time. */
void device_signal(struct device *device, struct aicore *core, enum cross_mode mode, uint32_t id,
                   uint32_t line, struct result_event *event);

/* Describes a run that ended with parts still waiting (core/sim/device_hang.c). */
enum vinci_status device_report_hang(const struct device *device, struct vinci_diag *diag);

#endif
