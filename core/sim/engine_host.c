/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs the engine: nobody but itself, or the kernel of SystemC. Events are the same and come in
 * the same order, so that no result depends on the choice.
 *
 * The kernel of SystemC is asked for by a process that has SystemC in it already, where other
 * models share its time, and by the variable VINCI_HOST. Everybody else is spared the 7 million
 * instructions that SystemC takes to load.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/place.h"
#include "core/sim/engine_host.h"

static const struct engine_host_calls calls = {
    .now_ps = engine_now_ps,
    .next_ps = engine_next_ps,
    .run_until = engine_run_until,
    .error = diag_error,
};

/* sc_core::sc_stop(), which every libsystemc has. */
static bool process_has_systemc(void) {
  return dlsym(RTLD_DEFAULT, "_ZN7sc_core7sc_stopEv") != NULL;
}

/* The kernel knows no threads: it belongs to the first of a process. */
static bool is_first_thread(void) { return getpid() == gettid(); }

static enum vinci_status ask_for_systemc(bool *asked, struct vinci_diag *diag) {
  const char *host = getenv("VINCI_HOST");
  *asked = false;
  if (!host || !*host) {
    *asked = process_has_systemc();
    return VINCI_OK;
  }
  *asked = strcmp(host, "systemc") == 0;
  if (*asked || strcmp(host, "native") == 0)
    return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "VINCI_HOST is '%s'", host);
  diag_hint(diag, "systemc runs in the kernel of SystemC, native without; unset, the kernel is "
                  "taken where the process has SystemC");
  return VINCI_E_USAGE;
}

/* The module lies beside the libraries of the build folder, or where it was installed. */
static enum vinci_status module_path(char *path, size_t size, struct vinci_diag *diag) {
  char build[PATH_MAX];
  int length = place_build_folder(build, sizeof build)
                   ? snprintf(path, size, "%s/.libs/%s", build, ENGINE_HOST_FILE)
                   : snprintf(path, size, "%s/%s", VINCI_PKGLIBDIR, ENGINE_HOST_FILE);
  if (length < 0 || (size_t)length >= size)
    return diag_error(diag, VINCI_E_IO, "the path of %s is too long", ENGINE_HOST_FILE);
  return VINCI_OK;
}

/* The module stays: SystemC does not survive that its code is taken away. */
static enum vinci_status load_module(engine_host_run **run, struct vinci_diag *diag) {
  char path[PATH_MAX];
  enum vinci_status status = module_path(path, sizeof path, diag);
  if (status != VINCI_OK)
    return status;
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *symbol = module ? dlsym(module, ENGINE_HOST_SYMBOL) : NULL;
  if (!symbol) {
    const char *reason = dlerror();
    (void)diag_error(diag, VINCI_E_IO, "the host for the kernel of SystemC cannot be loaded: %s",
                     reason ? reason : path);
    diag_hint(diag, "VINCI_HOST=native runs without SystemC; results are the same");
    return VINCI_E_IO;
  }
  memcpy(run, &symbol, sizeof *run);
  return VINCI_OK;
}

bool engine_has_systemc(void) {
  char path[PATH_MAX];
  return module_path(path, sizeof path, NULL) == VINCI_OK && access(path, R_OK) == 0;
}

enum vinci_status engine_run(struct engine *engine, struct vinci_diag *diag) {
  static _Atomic(engine_host_run *) loaded;
  bool asked = false;
  enum vinci_status status = is_first_thread() ? ask_for_systemc(&asked, diag) : VINCI_OK;
  if (status != VINCI_OK)
    return status;
  if (!asked) {
    engine_run_until(engine, UINT64_MAX);
    return VINCI_OK;
  }
  engine_host_run *run = atomic_load(&loaded);
  if (!run && (status = load_module(&run, diag)) != VINCI_OK)
    return status;
  atomic_store(&loaded, run);
  return run(&calls, engine, diag);
}
