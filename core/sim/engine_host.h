/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the engine and the kernel of another simulator. The host for the kernel of SystemC is a
 * module of its own (engine_systemc.cc), which is loaded when somebody asks: the library itself
 * needs neither SystemC nor the runtime of C++. The module refers to no symbol of the library, so
 * that the program, the library and the modules of other languages can all load the same file.
 */
#ifndef VINCI_CORE_SIM_ENGINE_HOST_H
#define VINCI_CORE_SIM_ENGINE_HOST_H

#include "core/sim/engine.h"

/* What the module calls; diag_error() of core/base/diag.h, the others of core/sim/engine.h. */
struct engine_host_calls {
  uint64_t (*now_ps)(const struct engine *engine);
  uint64_t (*next_ps)(struct engine *engine);
  void (*run_until)(struct engine *engine, uint64_t until_ps);
  enum vinci_status (*error)(struct vinci_diag *diag, enum vinci_status status, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
};

/* Runs the engine to its end inside the kernel, or without the kernel where that is under way or
 * has ended. Called by the first thread of a process alone. */
typedef enum vinci_status engine_host_run(const struct engine_host_calls *calls,
                                          struct engine *engine, struct vinci_diag *diag);

/* The file of the module, and its one symbol, an engine_host_run. */
#define ENGINE_HOST_FILE "vinci_systemc.so"
#define ENGINE_HOST_SYMBOL "vinci_systemc_host_run"

#endif
