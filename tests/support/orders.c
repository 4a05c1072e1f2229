/* SPDX-License-Identifier: Apache-2.0 */
/* Executions with values in chosen orders, with garbage in memory that nobody has written. */
#include "tests/support/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/machine/machine.h"
#include "core/machine/values.h"
#include "tests/support/runs.h"

enum { INPUT_SEED = 7 };

struct run_values {
  struct vinci_values *values;
  uint64_t seed;
};

static void fill_garbage(uint8_t *bytes, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bytes[i] = (uint8_t)(seed >> 56) & 0x3b; /* finite in every format */
  }
}

static bool begin_block(void *context, const struct machine_step *step) {
  struct run_values *run = context;
  struct value_core *core = &run->values->cores[step->core];
  if (!values_begin_block(run->values, step))
    return false;
  for (unsigned space = 0; space < SPACE_COUNT; space++) {
    uint64_t bytes = soc_space_bytes(fixture_shared, (enum space)space);
    if (space == SPACE_GM || bytes == 0 || !core_has_space(step->kind, (enum space)space))
      continue;
    fill_garbage(core->bytes[space], bytes < 65536 ? bytes : 65536,
                 run->seed + step->block * 8 + space);
  }
  return true;
}

static bool execute(void *context, const struct machine_step *step) {
  struct run_values *run = context;
  registry_values((enum isa_op)step->inst->op)(fixture_shared, step->inst,
                                               &run->values->cores[step->core]);
  return true;
}

static struct machine_options order_of(unsigned order) {
  struct machine_options options = {.order = MACHINE_SHUFFLED, .seed = order};
  if (order == 0)
    options.order = MACHINE_CONSUMERS_FIRST;
  else if (order == 1)
    options.order = MACHINE_PRODUCERS_FIRST;
  else
    options.relaxed = order % 2 == 0;
  return options;
}

uint8_t *orders_run(const vinci_trace *trace, unsigned order, uint64_t *bytes) {
  struct vinci_diag diag = {0};
  struct vinci_values *values;
  assert_int_equal(vinci_values_create(fixture_shared, trace, &values, &diag), VINCI_OK);
  vinci_values_fill(values, INPUT_SEED);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (tensor->io == TENSOR_OUT || tensor->io == TENSOR_WORKSPACE)
      fill_garbage(values_bytes(values, i), tensor->bytes,
                   tensor->io == TENSOR_OUT ? 1 : 100 + order);
  }
  struct run_values run = {.values = values, .seed = 1000 * order};
  struct machine_observer observer = {
      .context = &run, .begin_block = begin_block, .execute = execute};
  struct machine_options options = order_of(order);
  options.data = values_stream_data;
  options.data_context = values;
  enum vinci_status status = machine_run_with(fixture_shared, trace, &options, &observer, 1, &diag);
  uint8_t *outputs = NULL;
  *bytes = 0;
  for (uint32_t i = 0; i < trace->tensor_count && status == VINCI_OK; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (tensor->io != TENSOR_OUT && tensor->io != TENSOR_INOUT)
      continue;
    outputs = realloc(outputs, *bytes + tensor->bytes);
    memcpy(outputs + *bytes, values_bytes(values, i), tensor->bytes);
    *bytes += tensor->bytes;
  }
  vinci_values_free(values);
  return outputs;
}

unsigned orders_first_change(const vinci_trace *trace, unsigned orders, const uint8_t *expected,
                             uint64_t bytes) {
  for (unsigned order = 0; order < orders; order++) {
    uint64_t got_bytes;
    uint8_t *got = orders_run(trace, order, &got_bytes);
    bool same = got && got_bytes == bytes && memcmp(got, expected, bytes) == 0;
    free(got);
    if (!same)
      return order;
  }
  return orders;
}
