/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes single instructions on given bytes, many per process, for references in other
 * languages: `driver SOC` reads batches from standard input and answers on standard output.
 *
 *   batch  := "BATCH <text bytes> <cases> <bytes of UB per case>\n" text images
 *   answer := images
 *
 * The text is a trace. Each instruction of pipe V in it is one case: UB starts with the case's
 * image (the rest keeps what it holds), the instruction is checked and executed, and the same
 * bytes of UB are the answer. Register writes between them last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stream.h"
#include "core/values.h"

struct driver {
  vinci_soc *soc;
  uint8_t *ub;
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

static size_t run_cases(struct driver *driver, const vinci_trace *trace, uint8_t *images,
                        size_t cases) {
  struct arena arena = {0};
  struct stream stream = {0};
  struct vinci_diag diag = {0};
  struct inst inst = {0};
  struct value_core core = {.bytes[SPACE_UB] = driver->ub};
  const struct program_kernel *kernel = &trace->kernels[0];
  enum core_kind kind = kernel->stream[CORE_AIV].present ? CORE_AIV : CORE_AICORE;
  if (!stream_create(&stream, &arena, kernel->stream[kind].var_count))
    fail(NULL, "out of memory");
  stream_start(&stream, driver->soc, trace, kernel, kind, 0, 0);
  inst_reset_registers(&inst);
  size_t done = 0;
  enum stream_step step;
  while ((step = stream_next(&stream, &inst, &diag)) == STREAM_INST) {
    inst_write_registers(&inst);
    if (isa_row((enum isa_op)inst.op)->pipe != PIPE_V)
      continue;
    if (done == cases || stream_check_access(&stream, &inst, &diag) != VINCI_OK)
      fail(&diag, "an instruction cannot be executed");
    uint8_t *image = images + done++ * driver->image_bytes;
    memcpy(driver->ub, image, driver->image_bytes);
    registry_values((enum isa_op)inst.op)(driver->soc, &inst, &core);
    memcpy(image, driver->ub, driver->image_bytes);
  }
  if (step == STREAM_ERROR)
    fail(&diag, "the trace ends with an error");
  arena_free(&arena);
  return done;
}

static bool run_batch(struct driver *driver) {
  size_t text_bytes, cases;
  if (scanf("BATCH %zu %zu %zu", &text_bytes, &cases, &driver->image_bytes) != 3 ||
      getchar() != '\n')
    return false;
  if (driver->image_bytes > (size_t)driver->soc->ub_bytes)
    fail(NULL, "an image is larger than UB");
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

int main(int argc, char **argv) {
  struct driver driver = {0};
  struct vinci_diag diag = {0};
  if (argc != 2)
    fail(NULL, "usage: driver SOC");
  if (vinci_soc_load(argv[1], NULL, &driver.soc, &diag) != VINCI_OK)
    fail(&diag, "no such SoC");
  driver.ub = calloc(1, (size_t)driver.soc->ub_bytes);
  if (!driver.ub)
    fail(NULL, "out of memory");
  while (run_batch(&driver))
    continue;
  free(driver.ub);
  vinci_soc_free(driver.soc);
  return 0;
}
