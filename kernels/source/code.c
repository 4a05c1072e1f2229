/* SPDX-License-Identifier: Apache-2.0 */
/* Loading and calling the device code of a core. */
#include "kernels/source/code.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGISTER_ARGS = 6 };

static void call_with_words(const struct source_code *code, const struct source_core *core) {
  const struct source *source = core->source;
  uint64_t in_register[REGISTER_ARGS] = {0};
  struct stack_args rest = {{0}};
  for (uint32_t i = 0; i < source->arg_count; i++) {
    const struct source_arg *arg = &source->arg[i];
    uint64_t value = arg->value;
    if (arg->is_tensor)
      value = (uint64_t)(uintptr_t)(core->gm + source->trace->tensors[arg->tensor].address);
    if (i < REGISTER_ARGS)
      in_register[i] = value;
    else
      rest.word[i - REGISTER_ARGS] = value;
  }
  code->kernel(in_register[0], in_register[1], in_register[2], in_register[3], in_register[4],
               in_register[5], rest);
}

void source_code_call(const struct source_code *code, const struct source_core *core) {
  if (code->prepare && core->source->trace->kernels[0].mixed)
    code->prepare();
  if (code->enter)
    code->enter(*(void *const *)&code->kernel, core->source->arguments);
  else
    call_with_words(code, core);
}

/* An own copy of an image, as a file that only this process sees. The file stays open as long as
 * the library is in use, because two libraries of one path would be taken for the same. */
static void *load_image(const struct source_image *image, int *file, const char **why) {
  char path[64];
  size_t bytes = source_loaded_bytes(image);
  *file = memfd_create("vinci-kernel", MFD_CLOEXEC);
  if (*file < 0 || write(*file, image->bytes, bytes) != (ssize_t)bytes) {
    *why = strerror(errno);
    return NULL;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", *file);
  /* Lazily: what host code needs may be missing. */
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  *why = library ? NULL : dlerror();
  return library;
}

/* A function of the code that is loaded; NULL when there is none. */
static void *function_of(const struct source_core *core, const char *name) {
  const struct source_image *image = &core->source->image[core->place.kind];
  const struct source_file file = {image->bytes, image->length};
  uint64_t value;
  return source_function(&file, name, &value) ? (void *)(uintptr_t)(core->base + value) : NULL;
}

bool source_code_open(struct source_code *code, struct source_core *core,
                      const struct vinci_cce_host *host, struct vinci_diag *diag) {
  const struct source *source = core->source;
  const char *why = NULL;
  code->library = load_image(&source->image[core->place.kind], &code->file, &why);
  if (!code->library) {
    diag_error(diag, VINCI_E_INPUT, "%s: the device code cannot be loaded: %s", source->trace->path,
               why);
    return false;
  }
  const struct vinci_cce_host **asked = dlsym(code->library, "vinci_cce_host");
  *(void **)&code->prepare = dlsym(code->library, "vinci_cce_prepare");
  const volatile uint64_t *const *counter = dlsym(code->library, "vinci_cce_counter");
  core->counter = counter ? *counter : NULL;
  struct vinci_cce_watch *const *watch = dlsym(code->library, "vinci_cce_watched");
  core->watch = watch ? *watch : NULL;
  struct vinci_cce_block *const *blocks = dlsym(code->library, "vinci_cce_blocks");
  core->blocks = blocks ? blocks[0] : NULL;
  core->block_count = blocks ? (size_t)(blocks[1] - blocks[0]) : 0;
  core->tells = watch && dlsym(code->library, "vinci_cce_told");
  struct link_map *map = NULL;
  if (dlinfo(code->library, RTLD_DI_LINKMAP, &map) == 0) {
    core->base = (uint64_t)map->l_addr;
    *(void **)&code->kernel = function_of(core, source->kernel);
    core->entry = code->kernel ? (uint64_t)(uintptr_t) * (void **)&code->kernel - core->base : 0;
    *(void **)&code->enter = source->enter ? function_of(core, source->enter) : NULL;
  }
  if (!code->kernel || (source->enter && !code->enter)) {
    diag_error(diag, VINCI_E_INPUT, "%s has no kernel \"%s\" for %s", source->trace->path,
               source->trace->kernels[0].name, core_kind_name(core->place.kind));
    return false;
  }
  if (asked) /* else the code has no intrinsic */
    *asked = host;
  return true;
}

void source_code_unload(struct source_code *code) {
  if (code->library)
    dlclose(code->library);
  code->library = NULL;
}

void source_code_close(struct source_code *code) {
  if (code->file >= 0)
    close(code->file);
}
