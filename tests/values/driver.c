/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes single instructions on given bytes, many per process, for references in other
 * languages: `driver SOC SPACE=BYTES...` reads batches from standard input and answers on
 * standard output. `driver --list` prints what there is to execute: a line for each architecture
 * of each instruction with values, "vadd dav-c220 fp16 fp32 int16 int32".
 *
 *   batch  := "BATCH <text bytes> <cases> <bytes of an image>\n" text images
 *   answer := images
 *
 * The text is a trace. Each instruction of it that a pipe but S executes is one case: the first
 * bytes of the named spaces are the case's image (the rest keeps what it holds), the instruction
 * is checked and executed, and the same bytes are the answer. GM begins with the first tensor.
 * Register writes between them last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/stream.h"
#include "core/machine/values.h"

enum { WINDOWS_MAX = SPACE_COUNT + 3 }; /* UB of both AIV of the block besides, and a mask */

struct driver {
  vinci_soc *soc;
  struct value_core core;
  struct value_registers registers;
  uint8_t *window[WINDOWS_MAX]; /* in the order of the arguments */
  size_t bytes[WINDOWS_MAX];
  size_t window_count;
  size_t image_bytes;
};

static void fail(const struct vinci_diag *diag, const char *text) {
  if (diag)
    vinci_diag_print(diag, stderr);
  fprintf(stderr, "driver: %s\n", text);
  exit(1);
}

static uint8_t *read_bytes(size_t count) {
  uint8_t *bytes = malloc(count + 1);
  if (!bytes || fread(bytes, 1, count, stdin) != count)
    fail(NULL, "the batch is cut short");
  bytes[count] = '\0';
  return bytes;
}

/* Runs one case on its image. */
static void run_case(struct driver *driver, const struct inst *inst, uint8_t *image) {
  uint8_t *at = image;
  for (size_t i = 0; i < driver->window_count; at += driver->bytes[i++])
    memcpy(driver->window[i], at, driver->bytes[i]);
  registry_values((enum isa_op)inst->op)(driver->soc, inst, &driver->core);
  at = image;
  for (size_t i = 0; i < driver->window_count; at += driver->bytes[i++])
    memcpy(at, driver->window[i], driver->bytes[i]);
}

static enum core_kind first_stream(const struct program_kernel *kernel) {
  enum core_kind kind = CORE_AIC;
  while (!kernel->stream[kind].present)
    kind++;
  return kind;
}

static size_t run_cases(struct driver *driver, const vinci_trace *trace, uint8_t *images,
                        size_t cases) {
  struct arena arena = {0};
  struct stream stream = {0};
  struct vinci_diag diag = {0};
  struct inst inst = {0};
  const struct program_kernel *kernel = &trace->kernels[0];
  enum core_kind kind = first_stream(kernel);
  if (!stream_create(&stream, &arena, 0, kernel->stream[kind].var_count))
    fail(NULL, "out of memory");
  stream_start(&stream, driver->soc, trace, kernel, kind, 0, 0);
  inst_reset_registers(&inst);
  size_t done = 0;
  enum stream_step step;
  while ((step = stream_next(&stream, &inst, &diag)) == STREAM_INST) {
    inst_write_registers(&inst);
    if (isa_row((enum isa_op)inst.op)->pipe == PIPE_S)
      continue;
    if (done == cases || stream_check_access(&stream, &inst, &diag) != VINCI_OK)
      fail(&diag, "an instruction cannot be executed");
    run_case(driver, &inst, images + done++ * driver->image_bytes);
  }
  if (step == STREAM_ERROR)
    fail(&diag, "the trace ends with an error");
  arena_free(&arena);
  return done;
}

static bool run_batch(struct driver *driver) {
  size_t text_bytes, cases, image_bytes;
  if (scanf("BATCH %zu %zu %zu", &text_bytes, &cases, &image_bytes) != 3 || getchar() != '\n')
    return false;
  if (image_bytes != driver->image_bytes)
    fail(NULL, "an image is not as large as all spaces together");
  uint8_t *text = read_bytes(text_bytes);
  uint8_t *images = read_bytes(cases * driver->image_bytes);
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  if (vinci_trace_parse("batch", (char *)text, text_bytes, driver->soc, &trace, &diag) != VINCI_OK)
    fail(&diag, "the trace is rejected");
  if (run_cases(driver, trace, images, cases) != cases)
    fail(NULL, "the trace has fewer cases than the batch");
  fwrite(images, 1, cases * driver->image_bytes, stdout);
  fflush(stdout);
  vinci_trace_free(trace);
  free(images);
  free(text);
  return true;
}

static bool starts(const char *text, const char *equals, const char *name) {
  return strlen(name) == (size_t)(equals - text) && strncmp(name, text, strlen(name)) == 0;
}

/* Of a vector core of the block: UB0 or UB1, which an AIC writes. */
static bool add_remote(struct driver *driver, const char *text, const char *equals) {
  unsigned sub = starts(text, equals, "UB1");
  if (!sub && !starts(text, equals, "UB0"))
    return false;
  size_t bytes = strtoul(equals + 1, NULL, 10);
  if (driver->core.aiv_ub[sub] || bytes > (size_t)soc_space_bytes(driver->soc, SPACE_UB))
    fail(NULL, "UB0 and UB1 are given once each and no larger than UB");
  driver->core.aiv_ub[sub] = calloc(1, (size_t)soc_space_bytes(driver->soc, SPACE_UB));
  if (!driver->core.aiv_ub[sub])
    fail(NULL, "out of memory");
  driver->window[driver->window_count] = driver->core.aiv_ub[sub];
  driver->bytes[driver->window_count++] = bytes;
  driver->image_bytes += bytes;
  return true;
}

/* "UB=16384"; nothing lies behind the end, so that a stray access shows under a sanitizer. */
static void add_window(struct driver *driver, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals && add_remote(driver, text, equals))
    return;
  if (equals && starts(text, equals, "MASK")) { /* of the last comparison of registers */
    driver->core.registers = &driver->registers;
    driver->window[driver->window_count] = (uint8_t *)driver->registers.mask;
    driver->bytes[driver->window_count++] = sizeof driver->registers.mask;
    driver->image_bytes += sizeof driver->registers.mask;
    return;
  }
  unsigned space = 0;
  while (equals && space < SPACE_COUNT && !starts(text, equals, space_name((enum space)space)))
    space++;
  if (!equals || space == SPACE_COUNT || driver->core.bytes[space])
    fail(NULL, "a space is given as UB=16384, each once");
  size_t bytes = strtoul(equals + 1, NULL, 10);
  size_t base = space == SPACE_GM ? PROGRAM_GM_BASE : 0;
  size_t capacity =
      space == SPACE_GM ? bytes + base : (size_t)soc_space_bytes(driver->soc, (enum space)space);
  if (base + bytes > capacity)
    fail(NULL, "an image is larger than its space");
  driver->core.bytes[space] = calloc(1, capacity);
  if (!driver->core.bytes[space])
    fail(NULL, "out of memory");
  driver->window[driver->window_count] = driver->core.bytes[space] + base;
  driver->bytes[driver->window_count++] = bytes;
  driver->image_bytes += bytes;
}

/* All that computes or moves values: the function `control` does neither. */
static void list_instructions(void) {
  static const char *const values_of[] = {
#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, ...) #values,
#include "core/isa/isa.def"
#undef ISA
  };
  for (unsigned op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    for (unsigned arch = 0; arch < ARCH_COUNT; arch++) {
      if (strcmp(values_of[op], "control") == 0 || !(row->archs >> arch & 1))
        continue;
      printf("%s %s", row->name, arch_name((enum arch)arch));
      for (unsigned type = 0; type < DTYPE_COUNT; type++)
        if (isa_dtypes((enum isa_op)op, (enum arch)arch) >> type & 1)
          printf(" %s", dtype_name((enum dtype)type));
      putchar('\n');
    }
  }
}

int main(int argc, char **argv) {
  struct driver driver = {0};
  struct vinci_diag diag = {0};
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    list_instructions();
    return 0;
  }
  if (argc < 3)
    fail(NULL, "usage: driver SOC SPACE=BYTES..., or driver --list");
  if (vinci_soc_load(argv[1], NULL, &driver.soc, &diag) != VINCI_OK)
    fail(&diag, "no such SoC");
  for (int i = 2; i < argc; i++)
    add_window(&driver, argv[i]);
  while (run_batch(&driver))
    continue;
  for (unsigned i = 0; i < SPACE_COUNT; i++)
    free(driver.core.bytes[i]);
  free(driver.core.aiv_ub[0]);
  free(driver.core.aiv_ub[1]);
  vinci_soc_free(driver.soc);
  return 0;
}
