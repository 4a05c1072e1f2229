/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators that keep some elements and replace others: by a mask, by bounds, by sums.
 */
#include "lower/vector/elementwise/elementwise.h"

#define FLOATS "fp16|bf16|fp32"

/* ---- masked_fill ----------------------------------------------------------------------------- */

static const struct lower_key fill_keys[] = {
    SHAPE_KEY("extents of mask"), SHAPE1_KEY, DTYPE_KEY("fp16", FLOATS, "type of x and y"),
    NUMBER_KEY("value", "0", "the number"), VTILE_KEYS_TABLE};
static const char *const fill_names[] = {"mask", "x", "y"}, *const fill_numbers[] = {"value", NULL};
static const struct vstep masked_fill_steps[] = {AS(DTYPE_FP16, 1, Q_("vcmpvs_ne", T0, X0, 0)),
                                                 FILL_BY(T1, 1), SELECT(Y0, T1, X1, T0), END};

/* x, mask, value. */
static bool call_fill(struct lower_call *call) {
  if (call->input_count < 2 || call->input[0].rank == 0 || call->input[1].rank == 0)
    return lower_cannot(call, "x and a mask are needed");
  lower_arg_shape(call, "shape", call->input[1].shape, call->input[1].rank);
  lower_arg_shape(call, "shape1", call->input[0].shape, call->input[0].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

VEW_OPERATOR(masked_fill, "MaskedFill", "y = mask ? value : x; the mask is a byte, 0 or 1",
             fill_keys, call_fill, .inputs = 2, .outputs = 1, .types = VTYPES_FP16, .boolean = 1,
             .names = fill_names, .steps = masked_fill_steps, .parameters = fill_numbers)

/* ---- clip ------------------------------------------------------------------------------------ */

static const struct lower_key clip_keys[] = {
    SHAPE_KEY("extents of x"), DTYPE_KEY("fp16", FLOATS "|int32|int16", "type of x and y"),
    NUMBER_KEY("low", "0", "y is at least"), NUMBER_KEY("high", "1", "y is at most"),
    VTILE_KEYS_TABLE};
static const char *const clip_numbers[] = {"low", "high", NULL};
static const struct vstep clip_steps[] = {P("vmaxs", Y0, X0, 1), P("vmins", Y0, Y0, 2), END};

VEW_OPERATOR(clip, "ClipByValueV2|ClipByValue", "y = min(max(x, low), high)", clip_keys, vew_call_x,
             .inputs = 1, .outputs = 1, .types = VTYPES_FP16 | VTYPES_INT32 | VTYPES_INT16,
             .steps = clip_steps, .parameters = clip_numbers)

/* ---- top p ----------------------------------------------------------------------------------- */

static const struct lower_key top_p_keys[] = {
    SHAPE_KEY("extents of x and x1"), DTYPE_KEY("fp32", FLOATS, "type of all"),
    NUMBER_KEY("p", "0.9", "what the kept ones add up to, at least"), VTILE_KEYS_TABLE};
static const char *const top_p_numbers[] = {"p", NULL};
static const struct vstep top_p_steps[] = {B("vsub", T1, X1, X0),
                                           STEP(.inst = "vcmpvs_lt", .form = VFORM_COMPARE,
                                                .dst = T0, .a = T1, .scalar = 1, .parameter = 1),
                                           FILL(T2, 0), SELECT(Y0, X0, T2, T0), END};

VEW_OPERATOR(top_p_mask, "",
             "y = x1 - x < p ? x : 0, x1 being the cumsum of x, in descending order", top_p_keys,
             NULL, .inputs = 2, .outputs = 1, .steps = top_p_steps, .parameters = top_p_numbers)
