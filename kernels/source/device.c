/* SPDX-License-Identifier: Apache-2.0 */
/* Devices whose memory outlives kernels: pieces of memory, and launches that see them as tensors.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/arith.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "core/machine/values.h"
#include "core/machine/values_unknown.h"
#include "core/result/result.h"
#include "core/sim/kept.h"
#include "core/vinci_device.h"
#include "kernels/source/source.h"

/* Between two pieces, so that what runs over the end of one does not hit the next. Pieces share no
 * page of the host: what a run without values closes is a page (values_unknown.h). */
enum { GAP_BYTES = PROGRAM_TENSOR_ALIGNMENT, PIECE_ALIGNMENT = 4096 };
/* Closed, in front of the memory and behind: as of guarded.c. */
enum { GUARD_BYTES = 1 << 26 };

struct vinci_device {
  const struct vinci_soc *soc;
  struct kept_memory *kept;
  uint8_t *memory; /* address 0 of the device */
  uint64_t bytes;
  struct program_tensor *pieces; /* in the order of addresses */
  uint32_t piece_count, piece_capacity;
  uint8_t *workspace; /* of launches; one of the pieces */
  uint64_t workspace_bytes;
  struct source_library *libraries; /* that kernels were launched from */
  char warning[1024];               /* of the last launch */
  struct unknown_pages *unknown;    /* of the memory; NULL: no launch has left values out */
};

enum vinci_status vinci_device_create(const vinci_soc *soc, enum vinci_memory memory,
                                      vinci_device **out, struct vinci_diag *diag) {
  struct vinci_device *device = calloc(1, sizeof *device);
  *out = NULL;
  if (!device)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  device->soc = soc;
  device->bytes = (uint64_t)soc->hbm_bytes;
  /* The system hands out pages when they are touched; those of no piece are closed. */
  void *mapped = mmap(NULL, (size_t)device->bytes + 2 * (size_t)GUARD_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  device->memory = mapped == MAP_FAILED ? NULL : (uint8_t *)mapped + GUARD_BYTES;
  enum vinci_status status =
      device->memory ? kept_create(soc, memory, &device->kept, diag)
                     : diag_error(diag, VINCI_E_NOMEM, "no room for the %llu bytes of a %s",
                                  (unsigned long long)device->bytes, soc->name);
  if (status != VINCI_OK) {
    vinci_device_free(device);
    return status;
  }
  *out = device;
  return VINCI_OK;
}

void vinci_device_free(vinci_device *device) {
  if (!device)
    return;
  unknown_pages_free(device->unknown);
  if (device->memory)
    munmap(device->memory - GUARD_BYTES, (size_t)device->bytes + 2 * (size_t)GUARD_BYTES);
  kept_free(device->kept);
  for (struct source_library *library = device->libraries, *next; library; library = next) {
    next = library->next;
    source_library_close(library);
  }
  free(device->pieces);
  free(device);
}

/* ---- memory ------------------------------------------------------------------------------- */

static uint64_t behind(const struct program_tensor *piece) {
  return round_up(piece->address + piece->bytes + GAP_BYTES, PIECE_ALIGNMENT);
}

static bool reserve(struct vinci_device *device) {
  if (device->piece_count < device->piece_capacity)
    return true;
  uint32_t capacity = 2 * device->piece_capacity + 64;
  struct program_tensor *grown = realloc(device->pieces, capacity * sizeof *grown);
  if (!grown)
    return false;
  device->pieces = grown;
  device->piece_capacity = capacity;
  return true;
}

static uint64_t page_of(uint64_t address) { return address - address % PIECE_ALIGNMENT; }

/* Where in its first page a piece starts: as late as its alignment allows, so that its end is that
 * of a page and the first byte behind is closed, or one that is 511 bytes further at most. */
static uint64_t start_in_page(uint64_t bytes) {
  return round_up(bytes, PIECE_ALIGNMENT) - round_up(bytes, PROGRAM_TENSOR_ALIGNMENT);
}

/* Of the pages of a piece. */
static size_t open_bytes(uint64_t address, uint64_t bytes) {
  return (size_t)round_up(address - page_of(address) + bytes, PIECE_ALIGNMENT);
}

/* Opens the pages of a piece to the host, or closes them. */
static bool open_piece(const struct vinci_device *device, uint64_t address, uint64_t bytes,
                       bool open) {
  return mprotect(device->memory + page_of(address), open_bytes(address, bytes),
                  open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

/* The first gap with room. */
void *vinci_device_malloc(vinci_device *device, uint64_t bytes) {
  uint64_t address = PROGRAM_GM_BASE, skipped = start_in_page(bytes);
  uint32_t at = 0;
  if (bytes == 0 || bytes > device->bytes || !reserve(device))
    return NULL;
  for (; at < device->piece_count; at++) {
    if (page_of(device->pieces[at].address) >= address + skipped + bytes + GAP_BYTES)
      break;
    address = behind(&device->pieces[at]);
  }
  address += skipped;
  if (address > device->bytes || bytes > device->bytes - address ||
      !open_piece(device, address, bytes, true))
    return NULL;
  memmove(device->pieces + at + 1, device->pieces + at,
          (device->piece_count - at) * sizeof *device->pieces);
  device->piece_count++;
  device->pieces[at] = (struct program_tensor){.name = "device memory",
                                               .format = "ND",
                                               .dtype = DTYPE_UINT8,
                                               .io = TENSOR_INOUT,
                                               .rank = 1,
                                               .shape = {bytes},
                                               .address = address,
                                               .bytes = bytes};
  return device->memory + address;
}

/* The piece in which an address lies; the count when there is none. */
static uint32_t find_piece(const struct vinci_device *device, const void *address) {
  uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)device->memory);
  uint32_t low = 0, count = device->piece_count;
  while (count > 0) { /* the first piece behind the address */
    uint32_t half = count / 2;
    bool before = device->pieces[low + half].address <= offset;
    low = before ? low + half + 1 : low;
    count = before ? count - half - 1 : half;
  }
  if (low == 0 || offset - device->pieces[low - 1].address >= device->pieces[low - 1].bytes)
    return device->piece_count;
  return low - 1;
}

bool vinci_device_release(vinci_device *device, void *memory) {
  uint32_t at = find_piece(device, memory);
  if (at == device->piece_count || device->memory + device->pieces[at].address != memory)
    return false;
  uint64_t address = device->pieces[at].address, bytes = device->pieces[at].bytes;
  /* What is given out again are zeros, as on the first time; kernels can have written all of the
   * pages, and the next piece may begin elsewhere in them. */
  memset(device->memory + page_of(address), 0, open_bytes(address, bytes));
  vinci_device_wrote(device, memory, bytes, true);
  (void)open_piece(device, address, bytes, false);
  memmove(device->pieces + at, device->pieces + at + 1,
          (device->piece_count - at - 1) * sizeof *device->pieces);
  device->piece_count--;
  return true;
}

bool vinci_device_holds(const vinci_device *device, const void *address, uint64_t bytes) {
  uint32_t at = find_piece(device, address);
  if (at == device->piece_count)
    return false;
  const struct program_tensor *piece = &device->pieces[at];
  uint64_t offset = (uint64_t)((const uint8_t *)address - device->memory) - piece->address;
  return bytes <= piece->bytes - offset;
}

bool vinci_device_is_unknown(const vinci_device *device, const void *address, uint64_t bytes) {
  uint64_t offset = (uint64_t)((const uint8_t *)address - device->memory);
  return device->unknown && unknown_pages_any(device->unknown, offset, bytes);
}

void vinci_device_wrote(vinci_device *device, const void *address, uint64_t bytes, bool known) {
  uint64_t offset = (uint64_t)((const uint8_t *)address - device->memory);
  if (device->unknown && known)
    unknown_pages_clear(device->unknown, offset, bytes);
  else if (device->unknown)
    (void)unknown_pages_mark(device->unknown, offset,
                             bytes); /* pages are open: nothing to refuse */
}

uint64_t vinci_device_bytes(const vinci_device *device, uint64_t *used) {
  *used = 0;
  for (uint32_t i = 0; i < device->piece_count; i++)
    *used += device->pieces[i].bytes;
  return device->bytes;
}

/* ---- launches ----------------------------------------------------------------------------- */

static enum vinci_status make_workspace(struct vinci_device *device, uint64_t bytes,
                                        struct vinci_diag *diag) {
  if (bytes <= device->workspace_bytes)
    return VINCI_OK;
  if (device->workspace)
    (void)vinci_device_release(device, device->workspace);
  device->workspace = vinci_device_malloc(device, bytes);
  device->workspace_bytes = device->workspace ? bytes : 0;
  return device->workspace ? VINCI_OK
                           : diag_error(diag, VINCI_E_LIMIT,
                                        "device memory has no room for a workspace of %llu bytes",
                                        (unsigned long long)bytes);
}

/* A library is read once: it does not change while a program runs. */
static enum vinci_status find_library(struct vinci_device *device, const char *path,
                                      struct source_library **out, struct vinci_diag *diag) {
  for (*out = device->libraries; *out; *out = (*out)->next)
    if (strcmp((*out)->path, path) == 0)
      return VINCI_OK;
  enum vinci_status status = source_library_open(path, out, diag);
  if (status != VINCI_OK)
    return status;
  (*out)->next = device->libraries;
  device->libraries = *out;
  return VINCI_OK;
}

static enum vinci_status load(struct vinci_device *device, const struct vinci_launch *launch,
                              struct vinci_trace **trace, struct vinci_diag *diag) {
  struct source_library *library;
  enum vinci_status status = find_library(device, launch->library, &library, diag);
  *trace = NULL;
  if (status == VINCI_OK)
    status = make_workspace(device, launch->workspace_bytes, diag);
  if (status != VINCI_OK)
    return status;
  const struct source_launch on_memory = {
      .enter = launch->enter,
      .arguments = launch->arguments,
      .tensors = device->pieces,
      .tensor_count = device->piece_count,
      .workspace = device->workspace ? (uint64_t)(device->workspace - device->memory) : 0};
  const struct source_request request = {.path = launch->library,
                                         .library = library,
                                         .kernel = launch->kernel,
                                         .blocks = launch->blocks,
                                         .launch = &on_memory,
                                         .wants_caches = launch->data_caches,
                                         .wants_accesses = launch->checks != 0,
                                         .last_look = launch->values_only && !launch->checks};
  return source_load(device->soc, &request, trace, diag);
}

static enum vinci_status execute(struct vinci_device *device, bool time_only,
                                 struct vinci_trace *trace, struct vinci_diag *diag) {
  struct vinci_values *values;
  if (time_only && !device->unknown)
    device->unknown = unknown_pages_new(device->memory, device->bytes);
  if (time_only && (!device->unknown || !unknown_pages_close(device->unknown, true)))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for a launch without values");
  enum vinci_status status = values_create_on(device->soc, trace, device->memory,
                                              time_only ? device->unknown : NULL, &values, diag);
  if (status == VINCI_OK) {
    vinci_values_zero(values);
    status = source_record(trace, values, NULL, NULL, diag);
    vinci_values_free(values);
  }
  if (time_only && !unknown_pages_close(device->unknown, false) && status == VINCI_OK)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory after a launch without values");
  return status;
}

static void note_cuts(struct vinci_device *device, const struct vinci_trace *trace) {
  const struct program_source *source = trace->source;
  if (source->cut_count == 0)
    return;
  const struct program_row *row = &trace->rows[source->cuts[0].row];
  char text[256];
  program_cut_text(&source->cuts[0], (enum isa_op)row->op, text, sizeof text);
  int length =
      snprintf(device->warning, sizeof device->warning, "%s:%u: %s", trace->path, row->line, text);
  if (source->cut_count > 1 && length > 0 && (size_t)length < sizeof device->warning)
    snprintf(device->warning + length, sizeof device->warning - (size_t)length,
             "; %u more operands of the kernel are cut", source->cut_count - 1);
}

const char *vinci_device_warning(const vinci_device *device) { return device->warning; }

enum vinci_status vinci_device_launch(vinci_device *device, const struct vinci_launch *launch,
                                      const struct vinci_run_options *options, vinci_result **out,
                                      vinci_findings **findings, struct vinci_diag *diag) {
  struct vinci_trace *trace;
  vinci_findings *found = NULL;
  *out = NULL;
  if (findings)
    *findings = NULL;
  if (launch->struct_size != sizeof *launch)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of a launch is %zu, not %zu",
                      launch->struct_size, sizeof *launch);
  if (launch->blocks == 0)
    return diag_error(diag, VINCI_E_USAGE, "a kernel has at least one block");
  if (launch->values_only && launch->time_only)
    return diag_error(diag, VINCI_E_USAGE, "a launch without values and without time does nothing");
  *device->warning = '\0';
  enum vinci_status status = load(device, launch, &trace, diag);
  if (status == VINCI_OK)
    status = execute(device, launch->time_only, trace, diag);
  if (trace)
    note_cuts(device, trace);
  if (status == VINCI_OK && launch->checks) {
    const struct vinci_check_options checks = {.struct_size = sizeof checks,
                                               .checks = launch->checks};
    status = vinci_check(device->soc, trace, &checks, &found, diag);
  }
  if ((status == VINCI_OK || status == VINCI_E_CHECK) && !launch->values_only) {
    const struct vinci_run_options usual = {.struct_size = sizeof usual};
    enum vinci_status ran =
        kept_run(device->kept, trace, NULL, options ? options : &usual, out, diag);
    status = status == VINCI_OK ? ran : status;
  }
  vinci_trace_free(trace);
  if (findings)
    *findings = found;
  else
    vinci_findings_free(found);
  return status;
}

char *vinci_function_symbol(const char *path, uint64_t offset) {
  enum { FILE_BYTES_MAX = 1 << 30 };
  struct vinci_diag diag = {0};
  struct source_file file = {0};
  char *bytes = file_read(path, FILE_BYTES_MAX, &file.length, &diag);
  file.bytes = bytes;
  const char *found = bytes ? source_function_at(&file, offset) : NULL;
  char *symbol = found ? strdup(found) : NULL;
  free(bytes);
  return symbol;
}

void vinci_function_name(const char *symbol, char *out, size_t size) {
  source_plain_name(symbol, out, size);
}

uint64_t vinci_result_picoseconds(const vinci_result *result) { return result->total_ps; }
