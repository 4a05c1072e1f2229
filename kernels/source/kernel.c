/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel libraries: reading, arguments, and the trace that stands for a kernel with its arguments.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "core/base/digest.h"
#include "core/control/placement.h"
#include "core/machine/machine.h"
#include "core/machine/values.h"
#include "core/vinci_kernel.h"
#include "kernels/source/log.h"
#include "kernels/source/source.h"

enum { HEADER_BYTES = 1 << 16, HEX = 16 };

/* ---- the library ------------------------------------------------------------------------- */

static enum vinci_status check_arch(const struct source_file *image, const struct vinci_soc *soc,
                                    const char *path, struct vinci_diag *diag) {
  const char *arch = arch_name(soc->arch);
  struct source_file found;
  if (source_section(image, source_section_arch, &found) && found.length == strlen(arch) &&
      memcmp(found.bytes, arch, found.length) == 0)
    return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_INPUT, "%s is not compiled for %s, the architecture of %s", path,
                 arch, soc->name);
  diag_hint(diag, soc->arch == ARCH_C310
                      ? "vinci cc --npu-arch=dav-3510 compiles for this chip"
                      : "kernels are compiled for the cores of the 910B family (dav-2201), "
                        "or for those of the 950 (--npu-arch=dav-3510)");
  return status;
}

/* ---- the kernel --------------------------------------------------------------------------- */

/* The cores that a kernel runs on. */
struct cores {
  bool has[CORE_KIND_COUNT];
  uint32_t vectors_per_cube; /* of those with both */
};

/* By the mark of the kernel, the section of its code (include/vinci/cce/types.h); by the images,
 * when there is none. */
static struct cores cores_of(const struct source *source, const char *section) {
  unsigned cubes, vectors;
  struct cores cores = {.vectors_per_cube = 2};
  if (strcmp(section, "vinci_aiv") == 0) {
    cores.has[CORE_AIV] = true;
  } else if (strcmp(section, "vinci_aic") == 0) {
    cores.has[CORE_AIC] = true;
  } else if (sscanf(section, "vinci_mix_%u_%u", &cubes, &vectors) == 2) {
    cores.has[CORE_AIC] = cubes > 0;
    cores.has[CORE_AIV] = vectors > 0;
    cores.vectors_per_cube = vectors;
  } else {
    for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
      cores.has[kind] = source->image[kind].bytes != NULL;
  }
  return cores;
}

/* The images with the kernel; false when the file has no images at all. */
static bool find_images(const struct source_file *library, const char *name, struct source *source,
                        struct source_symbol *symbol) {
  bool any = false;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    struct source_file images, image;
    if (!source_section(library, source_section_image[kind], &images))
      continue;
    any = true;
    for (size_t at = 0; source_next_image(&images, &at, &image);)
      if (source_find_kernel(&image, name, symbol)) {
        source->image[kind] = (struct source_image){.bytes = image.bytes, .length = image.length};
        break;
      }
  }
  return any;
}

/* A kernel without the code for a kind of core. */
static enum vinci_status report_kind(const struct source_request *request,
                                     const struct cores *cores, enum core_kind kind,
                                     struct vinci_diag *diag) {
  enum vinci_status status =
      diag_error(diag, VINCI_E_INPUT, "%s has no code of kernel \"%s\" for %s", request->path,
                 request->kernel, core_kind_name(kind));
  diag_hint(diag, "compile with --core=%s", cores->has[CORE_AIV] ? "mix" : "aic");
  return status;
}

/* Finds the kernel and leaves the images that it runs on. */
static enum vinci_status choose_kernel(const struct source_request *request,
                                       const struct source_file *library, struct source *source,
                                       struct cores *cores, struct vinci_diag *diag) {
  struct source_symbol symbol = {0};
  struct source_file image = {0};
  if (!find_images(library, request->kernel, source, &symbol)) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_INPUT, "%s is not a kernel library", request->path);
    diag_hint(diag, "`vinci cc` makes such libraries");
    return status;
  }
  if (!symbol.name) {
    enum vinci_status status =
        diag_error(diag, VINCI_E_INPUT, "%s has no kernel \"%s\"", request->path, request->kernel);
    diag_hint(diag, "a kernel is a function __global__ __aicore__");
    return status;
  }
  *cores = cores_of(source, symbol.section);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    struct source_image *own = &source->image[kind];
    if (cores->has[kind] && !own->bytes)
      return report_kind(request, cores, (enum core_kind)kind, diag);
    if (!cores->has[kind])
      own->bytes = NULL;
    else
      image = (struct source_file){own->bytes, own->length};
  }
  source->kernel = arena_strdup(&source->arena, symbol.name);
  struct source_file marked;
  source->syncs = source_section(&image, source_section_sync, &marked);
  source->in_order = source_section(&image, source_section_in_order, &marked);
  return source->kernel ? check_arch(&image, source->soc, request->path, diag)
                        : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- the trace ---------------------------------------------------------------------------- */

struct header {
  char text[HEADER_BYTES];
  size_t length;
  bool full;
};

static void add(struct header *header, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct header *header, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(header->text + header->length, sizeof header->text - header->length,
                         format, arguments);
  va_end(arguments);
  header->full |= length < 0 || header->length + (size_t)length >= sizeof header->text;
  header->length += header->full ? 0 : (size_t)length;
}

/* Digits of either base, as the trace format has numbers. */
static bool read_digits(const char *text, uint64_t *value) {
  if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
    return decimal_whole(text, value);
  char *end;
  errno = 0;
  *value = strtoull(text + 2, &end, HEX);
  return isxdigit((unsigned char)text[2]) && *end == '\0' && errno == 0;
}

/* "value=7" or "value=0x1f": a number of the kernel. */
static bool is_number(const char *arg, uint64_t *value, bool *whole) {
  static const char key[] = "value=";
  if (strncmp(arg, key, strlen(key)) != 0)
    return false;
  const char *text = arg + strlen(key);
  bool negative = *text == '-';
  *whole = read_digits(text + negative, value) && (!negative || *value <= (uint64_t)INT64_MAX + 1);
  *value = negative ? 0 - *value : *value;
  return true;
}

/* The row of a list in front of the rows of its tensors. */
static enum vinci_status add_list(struct header *header, const struct source_request *request,
                                  size_t at, uint64_t count, struct vinci_diag *diag) {
  uint64_t ignored;
  bool whole;
  for (size_t i = at + 1; i <= at + count; i++)
    if (i >= request->arg_count || is_number(request->args[i], &ignored, &whole) ||
        source_list_count(request->args[i], &ignored, &whole))
      return diag_error(diag, VINCI_E_USAGE, "behind %s stand its tensors, as many as it says",
                        request->args[at]);
  add(header, "tensor,name=list%zu,dtype=int64,shape=%llu,io=in\n", at,
      (unsigned long long)source_list_words(count));
  return VINCI_OK;
}

/* Rows of the trace for the arguments; the kernel's numbers go to source->arg. */
static enum vinci_status add_arguments(struct header *header, const struct source_request *request,
                                       struct source *source, struct vinci_diag *diag) {
  uint32_t tensors = 0;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < request->arg_count && status == VINCI_OK; i++) {
    uint64_t parts = 0, value = 0;
    bool whole = true;
    if (source->arg_count == SOURCE_ARGS_MAX)
      return diag_error(diag, VINCI_E_USAGE, "a kernel has at most %d arguments", SOURCE_ARGS_MAX);
    struct source_arg *arg = &source->arg[source->arg_count++];
    bool lists = source_list_count(request->args[i], &parts, &whole);
    if (!lists && is_number(request->args[i], &value, &whole)) {
      *arg = (struct source_arg){.value = value};
      if (!whole)
        return diag_error(diag, VINCI_E_USAGE, "'%s' is not a whole number of 64 bits",
                          request->args[i]);
      continue;
    }
    *arg = (struct source_arg){.is_tensor = true, .tensor = tensors, .parts = (uint32_t)parts};
    if (!whole)
      return diag_error(diag, VINCI_E_USAGE, "'%s': a list has 1 to 256 tensors", request->args[i]);
    if (lists)
      status = add_list(header, request, i, parts, diag);
    else
      add(header, "tensor,%s\n", request->args[i]);
    for (uint64_t p = 1; p <= parts && status == VINCI_OK; p++)
      add(header, "tensor,%s\n", request->args[i + p]);
    tensors += 1 + (uint32_t)parts;
    i += parts;
  }
  return status;
}

/* The memory of a launch in place of tensors of a trace. */
static bool take_launch(struct source *source, const struct source_launch *launch) {
  struct vinci_trace *trace = source->trace;
  struct program_tensor *tensors =
      ARENA_ARRAY(&source->arena, struct program_tensor, launch->tensor_count + 1);
  if (!tensors)
    return false;
  for (uint32_t i = 0; i < launch->tensor_count; i++) {
    tensors[i] = launch->tensors[i];
    trace->gm_bytes = tensors[i].address + tensors[i].bytes;
  }
  trace->tensors = tensors;
  trace->tensor_count = trace->kernels[0].tensor_count = launch->tensor_count;
  source->enter = arena_strdup(&source->arena, launch->enter);
  source->arguments = launch->arguments;
  source->workspace = launch->workspace;
  return source->enter != NULL;
}

/* Moves tensors apart by their own size, at most: who takes the part of the next block, or a tensor
 * for another, then meets nobody's memory. One name is one piece of memory. */
static void move_apart(struct vinci_trace *trace) {
  enum { APART_MAX = 1 << 26, PAGE = 4096 };
  uint64_t moved = 0, behind = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    struct program_tensor *tensor = &trace->tensors[i];
    uint64_t own = tensor->address;
    for (uint32_t earlier = 0; earlier < i; earlier++)
      if (strcmp(trace->tensors[earlier].name, tensor->name) == 0)
        tensor->address = trace->tensors[earlier].address;
    if (tensor->address != own || own < behind)
      continue;
    behind = own + tensor->bytes + tensor->tail;
    tensor->address += moved;
    trace->gm_bytes = tensor->address + tensor->bytes + tensor->tail;
    moved += round_up(min_u64(tensor->bytes + tensor->tail, APART_MAX), PAGE);
  }
}

/* A workspace is also what the headers' library asks for, unless the kernel names another: the
 * system's part lies at its begin. */
static void note_arguments(struct source *source) {
  struct program_tensor *tensors = source->trace->tensors;
  for (uint32_t i = 0; i < source->arg_count; i++) {
    const struct source_arg *arg = &source->arg[i];
    if (arg->parts > 0)
      tensors[arg->tensor].is_list = true;
    else if (arg->is_tensor && tensors[arg->tensor].io == TENSOR_WORKSPACE)
      source->workspace = tensors[arg->tensor].address;
  }
}

static enum vinci_status parse_header(const struct vinci_soc *soc,
                                      const struct source_request *request, struct source *source,
                                      const struct cores *cores, struct vinci_diag *diag) {
  struct header *header = calloc(1, sizeof *header);
  if (!header)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  bool mixed = cores->has[CORE_AIC] && cores->has[CORE_AIV];
  add(header, "trace,version=1\nkernel,name=kernel,arch=%s,blocks=%u", arch_name(soc->arch),
      request->blocks);
  if (mixed)
    add(header, ",vectors_per_cube=%u", cores->vectors_per_cube);
  add(header, "\n");
  enum vinci_status status = add_arguments(header, request, source, diag);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    if (cores->has[kind])
      add(header, "stream,core=%s\nscalar,cycles=1\n", core_kind_name((enum core_kind)kind));
  if (status == VINCI_OK && header->full)
    status = diag_error(diag, VINCI_E_USAGE, "the arguments of the kernel are too long");
  if (status == VINCI_OK)
    status = vinci_trace_parse("the kernel's arguments", header->text, header->length, soc,
                               &source->trace, diag);
  free(header);
  if (status == VINCI_OK && request->apart)
    move_apart(source->trace);
  if (status == VINCI_OK)
    note_arguments(source);
  return status;
}

/* The path of the source file as an image has it; that of the library, when it has none. */
static const char *source_name(const struct source *source, const char *path, char *text,
                               size_t size) {
  struct source_file found;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    const struct source_file image = {source->image[kind].bytes, source->image[kind].length};
    if (!image.bytes || !source_section(&image, source_section_path, &found) ||
        found.length >= size)
      continue;
    memcpy(text, found.bytes, found.length);
    text[found.length] = '\0';
    return text;
  }
  return path;
}

static enum vinci_status make_trace(const struct source_request *request,
                                    const struct source_file *library, struct source *source,
                                    struct vinci_diag *diag) {
  char plain[SOURCE_NAME_BYTES], path[4096];
  struct cores cores = {.vectors_per_cube = 2};
  enum vinci_status status = choose_kernel(request, library, source, &cores, diag);
  if (status == VINCI_OK)
    status = parse_header(source->soc, request, source, &cores, diag);
  if (status != VINCI_OK)
    return status;
  source_plain_name(source->kernel, plain, sizeof plain);
  source->trace->path =
      arena_strdup(&source->arena, source_name(source, request->path, path, sizeof path));
  source->trace->kernels[0].name = arena_strdup(&source->arena, plain);
  if (source->trace->path && source->trace->kernels[0].name &&
      (!request->launch || take_launch(source, request->launch)))
    return VINCI_OK;
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for a kernel");
}

static void free_source(struct program_source *program) {
  struct source *source = (struct source *)program;
  source_fibers_free(source);
  source_log_free(source);
  arena_free(&source->arena);
  if (source->owns_library)
    source_library_close(source->library);
  free(source->place_of_row);
  free(source->cuts);
  free(source->looked_at);
  free(source);
}

/* With values the code itself runs: scalar code writes some of them. */
static bool is_replayed(const struct source *source) { return !source->program.values; }

static void start(struct program_source *program, const struct source_place *place) {
  struct source *source = (struct source *)program;
  if (is_replayed(source)) {
    source_log_start(source, place);
    return;
  }
  source_lists_write(source);
  source_fiber_start(source, place);
}

static enum stream_step next(struct program_source *program, uint32_t core, struct inst *inst,
                             struct vinci_diag *diag) {
  struct source *source = (struct source *)program;
  if (is_replayed(source))
    return source_log_next(source, core, inst, diag);
  enum stream_step step = source_fiber_next(source, core, inst, diag);
  if (step != STREAM_INST || source->recorded || source_fiber_is_late(source, core))
    return step;
  if (source_log_repeats(source, source_fiber_place(source, core))) {
    diag_error_at(diag, VINCI_E_INPUT,
                  program_position(source->trace, source->trace->rows[inst->row].line),
                  "block %u: " SOURCE_TEXT_ROUND, source_fiber_place(source, core)->blk);
    return STREAM_ERROR;
  }
  if (!source_log_add(source, source_fiber_place(source, core), inst)) {
    diag_error(diag, VINCI_E_NOMEM, "out of memory for the instructions of a kernel");
    return STREAM_ERROR;
  }
  return step;
}

/* The rows of the header give way to those of the code. */
static bool attach(struct source *source) {
  struct vinci_trace *trace = source->trace;
  struct placement placement;
  placement_count(&placement, source->soc, trace);
  source->core_count = placement.core_count;
  source->fibers = calloc(source->core_count, sizeof *source->fibers);
  source->place_of_row = calloc((size_t)SOURCE_ROWS_MAX * 4, sizeof *source->place_of_row);
  trace->rows = ARENA_ARRAY(&source->arena, struct program_row, SOURCE_ROWS_MAX);
  trace->row_count = 0;
  trace->any_unit_flag = true;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    trace->kernels[0].stream[kind].first_row = trace->kernels[0].stream[kind].row_count = 0;
  source->program = (struct program_source){.start = start,
                                            .next = next,
                                            .free = free_source,
                                            .auto_sync = source->enter || source->syncs,
                                            .in_order = source->in_order};
  return source->fibers && source->place_of_row && trace->rows && source_log_create(source);
}

enum vinci_status source_load(const struct vinci_soc *soc, const struct source_request *request,
                              struct vinci_trace **out, struct vinci_diag *diag) {
  *out = NULL;
  struct source *source = calloc(1, sizeof *source);
  if (!source)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = VINCI_OK;
  source->soc = soc;
  source->library = request->library;
  source->owns_library = !request->library;
  source->wants_accesses = request->wants_accesses;
  source->last_look = request->last_look;
  source->wants_caches = request->wants_caches;
  if (source->owns_library)
    status = source_library_open(request->path, &source->library, diag);
  if (status == VINCI_OK)
    status = make_trace(request, &source->library->file, source, diag);
  if (status != VINCI_OK) {
    vinci_trace_free(source->trace);
    free_source(&source->program);
    return status;
  }
  struct vinci_trace *trace = source->trace;
  trace->digest = digest_bytes(trace->digest, &source->library->digest, sizeof(uint64_t));
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    if (source->image[kind].bytes)
      source_library_lines(source->library, &source->image[kind]);
  bool room = attach(source);
  trace->source = &source->program;
  if (!room) {
    vinci_trace_free(trace);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the kernel");
  }
  *out = trace;
  return VINCI_OK;
}

enum vinci_status source_record(struct vinci_trace *trace, struct vinci_values *values,
                                bool (*progress)(void *context, uint64_t instructions,
                                                 unsigned done_permille),
                                void *context, struct vinci_diag *diag) {
  struct source *source = (struct source *)trace->source;
  struct vinci_diag own = {0};
  enum vinci_status status =
      values_run_leniently(values, !source->last_look, progress, context, &own);
  /* A kernel that hangs has issued something up to there, and a run or a check will tell why. */
  source->recorded = status == VINCI_OK || source->program.stopped ||
                     (status == VINCI_E_DEADLOCK && !source_fibers_look(source));
  source->program.scalar = source_fibers_scalar(source);
  if (!source->recorded)
    *diag = own;
  if (source->recorded && !source->wants_accesses) /* else checks tell, and where */
    return source_look_at_gaps(source, values, diag);
  return source->recorded ? VINCI_OK : status;
}

enum vinci_status vinci_kernel_load(const vinci_soc *soc, const struct vinci_kernel *kernel,
                                    vinci_trace **out, struct vinci_diag *diag) {
  *out = NULL;
  if (kernel->struct_size != sizeof *kernel)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of a kernel is %zu, not %zu",
                      kernel->struct_size, sizeof *kernel);
  if (kernel->blocks == 0)
    return diag_error(diag, VINCI_E_USAGE, "a kernel has at least one block");
  const struct source_request request = {.path = kernel->library,
                                         .kernel = kernel->name,
                                         .blocks = kernel->blocks,
                                         .args = kernel->args,
                                         .arg_count = kernel->arg_count,
                                         .wants_accesses = true};
  vinci_trace *trace;
  vinci_values *values = NULL;
  enum vinci_status status = source_load(soc, &request, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_values_create(soc, trace, &values, diag);
  if (status == VINCI_OK)
    status = vinci_values_load_files(values, diag);
  if (status == VINCI_OK) {
    vinci_values_zero(values);
    status = source_record(trace, values, NULL, NULL, diag);
  }
  vinci_values_free(values);
  if (status == VINCI_OK)
    *out = trace;
  else
    vinci_trace_free(trace);
  return status;
}
