/* SPDX-License-Identifier: Apache-2.0 */
/* range: numbers at equal distances. A table 0, 1, 2 ... is made once, and each tile begins at its
 * own number of that. */
#include "lower/vector/elementwise/elementwise.h"

static const struct lower_key keys[] = {
    SHAPE_KEY("how many numbers"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32|int32|int64", "type of y; int64 by way of int32"),
    NUMBER_KEY("start", "0", "the first number"),
    NUMBER_KEY("step", "1", "from one number to the next"), VTILE_KEYS_TABLE};
static const char *const numbers[] = {"start", "step", NULL};
enum { START = 1, STEP_BY };

static const struct vstep range_steps[] = {HELD(T3), C("vconv_s322f32", NULL, T0, T0),
                                           P("vmuls", T0, T0, STEP_BY), P("vadds", Y0, T0, START),
                                           END};
static const struct vstep whole_steps[] = {HELD(T3), P("vmuls", T0, T0, STEP_BY),
                                           P("vadds", Y0, T0, START), END};

static enum vinci_status choose(struct lower_job *job, struct vfunc *func) {
  enum dtype type = lower_get(job, "dtype")->dtype;
  if (lower_get(job, "shape")->rank > 1)
    return lower_error(job, "the numbers are one dimension");
  if (type == DTYPE_INT32 || type == DTYPE_INT64) {
    func->types = VTYPES_INT32;
    func->steps = whole_steps;
  }
  return VINCI_OK;
}

static void put_table(struct emit *e, const struct vew *ew) {
  struct vtable table = vtable_series(ew->temp[T3], 1);
  emit_comment(e, "0, 1, 2 ...");
  vtables_fill(e, &table, 1, ew->kernel.tile.cols);
  emit_barrier(e, PIPE_V);
}

/* Start, end and step are scalars whose numbers a profile does not tell. */
static bool call_range(struct lower_call *call) {
  if (call->output_count == 0)
    return lower_cannot(call, "the row names no output, so its size is not known");
  lower_arg_elements(call, &call->output[0]);
  return true;
}

VEW_OPERATOR(range, "Range|Arange", "y = start, start + step, start + 2 step ...", keys, call_range,
             .outputs = 1, .indexed = true, .steps = range_steps, .parameters = numbers,
             .choose = choose, .start = put_table)
