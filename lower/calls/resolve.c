/* SPDX-License-Identifier: Apache-2.0 */
/* From a row of a list to an operator with its arguments. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "lower/calls/calls.h"

static bool refuse(struct call_request *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(struct call_request *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out->reason, sizeof out->reason, format, arguments);
  va_end(arguments);
  return false;
}

static bool refuse_for_memory(struct call_request *out) {
  out->no_memory = true;
  return refuse(out, "out of memory");
}

/* ---- cells of a profile ---- */

/* The index-th of "a;b;c", which may be empty; false behind the last. */
static bool part_of(const char *list, unsigned index, const char **text, size_t *length) {
  for (; index > 0; index--) {
    list += strcspn(list, ";");
    if (*list == '\0')
      return false;
    list++;
  }
  *text = list;
  *length = strcspn(list, ";");
  return true;
}

const char *calls_part(const char *cell, unsigned index, size_t *length) {
  const char *text = "";
  *length = 0;
  return part_of(cell, index, &text, length) ? text : "";
}

/* Quotes are those of the whole cell; nothing between them is a scalar. */
static bool parse_shape(const char *text, size_t length, struct lower_tensor *tensor) {
  while (length > 0 && (*text == '"' || *text == ' ')) {
    text++;
    length--;
  }
  uint64_t extent = 0;
  bool digits = false;
  tensor->rank = 0;
  for (size_t i = 0; i <= length; i++) {
    char c = i < length ? text[i] : ',';
    if (c >= '0' && c <= '9' && extent < UINT64_C(100000000000)) {
      extent = extent * 10 + (uint64_t)(c - '0');
      digits = true;
    } else if (c == ',' && digits) {
      if (tensor->rank == TENSOR_RANK_MAX)
        return false;
      tensor->shape[tensor->rank++] = extent;
      extent = 0;
      digits = false;
    } else if (c != '"' && c != ' ' && !(c == ',' && length == 0)) {
      return false;
    }
  }
  return true;
}

/* The vendor's names of types, with or without DT_ before them, and those of PyTorch's profiler,
 * with or without c10::, torch. before them; DTYPE_COUNT when unknown. */
static enum dtype parse_type(const char *text, size_t length) {
  static const struct {
    const char *name;
    enum dtype type;
  } names[] = {{"FLOAT16", DTYPE_FP16},        {"HALF", DTYPE_FP16},
               {"BF16", DTYPE_BF16},           {"BFLOAT16", DTYPE_BF16},
               {"FLOAT", DTYPE_FP32},          {"FLOAT32", DTYPE_FP32},
               {"INT8", DTYPE_INT8},           {"UINT8", DTYPE_UINT8},
               {"BOOL", DTYPE_UINT8},          {"INT16", DTYPE_INT16},
               {"UINT16", DTYPE_UINT16},       {"INT32", DTYPE_INT32},
               {"UINT32", DTYPE_UINT32},       {"INT64", DTYPE_INT64},
               {"LONG INT", DTYPE_INT64},      {"INT", DTYPE_INT32},
               {"SHORT INT", DTYPE_INT16},     {"SIGNED CHAR", DTYPE_INT8},
               {"UNSIGNED CHAR", DTYPE_UINT8}, {"NUMBER_TYPE_BEGIN", DTYPE_UINT8},
               {"INT4", DTYPE_INT4},           {"FLOAT8_E4M3FN", DTYPE_FP8_E4M3},
               {"FLOAT8_E5M2", DTYPE_FP8_E5M2}};
  static const char *const prefixes[] = {"DT_", "c10::", "torch."};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t skip = strlen(prefixes[i]);
    if (length > skip && strncasecmp(text, prefixes[i], skip) == 0) {
      text += skip;
      length -= skip;
    }
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == length && strncasecmp(names[i].name, text, length) == 0)
      return names[i].type;
  return DTYPE_COUNT;
}

static void parse_format(const char *text, size_t length, struct lower_tensor *tensor) {
  static const char prefix[] = "FORMAT_";
  size_t skip = sizeof prefix - 1;
  if (length > skip && memcmp(text, prefix, skip) == 0) {
    text += skip;
    length -= skip;
  }
  size_t colon = 0;
  while (colon < length && text[colon] != ':') /* "FRACTAL_Z:4" has four groups */
    colon++;
  if (colon >= sizeof tensor->format)
    colon = sizeof tensor->format - 1;
  memcpy(tensor->format, text, colon);
  tensor->format[colon] = '\0';
}

/* As part_of(); one part alone stands for all tensors. */
static bool part_or_all(const char *cell, unsigned index, const char **text, size_t *length) {
  return part_of(cell, strchr(cell, ';') ? index : 0, text, length);
}

static bool parse_tensors(const char *shapes, const char *types, const char *formats,
                          struct lower_tensor *tensors, unsigned *count) {
  const char *text;
  size_t length;
  *count = 0;
  if (strcmp(shapes, "N/A") == 0)
    return true;
  for (unsigned i = 0; part_of(shapes, i, &text, &length); i++) {
    if (i == LOWER_TENSORS_MAX)
      return true; /* lists of tensors are longer: the first ones decide */
    struct lower_tensor *tensor = &tensors[i];
    *tensor = (struct lower_tensor){.dtype = DTYPE_COUNT};
    if (!parse_shape(text, length, tensor))
      return false;
    if (part_or_all(types, i, &text, &length))
      tensor->dtype = parse_type(text, length);
    if (part_or_all(formats, i, &text, &length))
      parse_format(text, length, tensor);
    *count = i + 1;
  }
  return true;
}

/* The types of inputs, in the buffer where those of results stand behind: "FLOAT>FLOAT16". What has
 * no room stays as it is, and is refused as a type that is not known. */
enum { TYPES_BYTES = 1024 };
static const char *split_types(const struct call_row *row, char buffer[static TYPES_BYTES],
                               const char **out_types) {
  const char *types = row->cell[CALL_IN_TYPES];
  size_t length = strcspn(types, ">");
  *out_types = row->cell[CALL_OUT_TYPES];
  if (types[length] == '\0' || length >= TYPES_BYTES)
    return types;
  *out_types = types + length + 1;
  memcpy(buffer, types, length);
  buffer[length] = '\0';
  return buffer;
}

bool calls_parse(const struct call_row *row, struct lower_call *call) {
  const char *order;
  if (row->tensors) {
    *call = *row->tensors;
    return true;
  }
  if (!calls_take_name(row->cell[CALL_TYPE], call, &order))
    return false;
  char buffer[TYPES_BYTES];
  const char *out_types, *in_types = split_types(row, buffer, &out_types);
  if (!parse_tensors(row->cell[CALL_IN_SHAPES], in_types, row->cell[CALL_IN_FORMATS], call->input,
                     &call->input_count) ||
      !parse_tensors(row->cell[CALL_OUT_SHAPES], out_types, row->cell[CALL_OUT_FORMATS],
                     call->output, &call->output_count))
    return lower_cannot(call, "a shape cannot be read");
  calls_order_inputs(call, order);
  /* Tables without types and formats of results: those of the first input. */
  for (unsigned i = 0; i < call->output_count && call->input_count > 0; i++) {
    struct lower_tensor *output = &call->output[i];
    output->typed = output->dtype != DTYPE_COUNT;
    if (!output->typed)
      output->dtype = call->input[0].dtype;
    if (*output->format == '\0' && output->rank == call->input[0].rank)
      memcpy(output->format, call->input[0].format, sizeof output->format);
  }
  call->hf32 = strcasecmp(row->cell[CALL_HF32], "YES") == 0  ? LOWER_HF32_ON
               : strcasecmp(row->cell[CALL_HF32], "NO") == 0 ? LOWER_HF32_OFF
                                                             : LOWER_HF32_UNTOLD;
  for (const char *digit = row->cell[CALL_BLOCKS]; *digit >= '0' && *digit <= '9'; digit++)
    call->blocks = call->blocks * 10 + (uint64_t)(*digit - '0');
  return true;
}

/* The time of a call that ran elsewhere is no time of an AI Core. */
bool calls_on_cores(const struct call_row *row) {
  static const char *const others[] = {"AI_CPU",   "AICPU", "HCCL",    "COMMUNICATION", "HOST",
                                       "HOST_CPU", "DSA",   "DSA_SQE", "DVPP",          "SDMA"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcasecmp(row->cell[CALL_CORE], others[i]) == 0)
      return false;
  return true;
}

bool calls_communicates(const struct call_row *row) {
  const char *core = row->cell[CALL_CORE];
  return strcasecmp(core, "COMMUNICATION") == 0 || strcasecmp(core, "HCCL") == 0;
}

/* As many as the profile says, if that counts here; else all cores that have something to do, as
 * the vendor's kernels take them also where fewer were quicker. */
static void add_blocks(struct lower_call *call, const struct lower_op *op, uint64_t blocks) {
  static const char name[] = "blocks";
  for (size_t i = 0; i < call->arg_count; i++)
    if (strncmp(call->args[i], "blocks=", sizeof name) == 0)
      return;
  for (size_t i = 0; i < op->key_count; i++)
    if (strcmp(op->keys[i].name, name) == 0 && op->keys[i].choices)
      lower_arg(call, "blocks=%" PRIu64, blocks);
}

static const struct lower_tensor *tensor_of(const struct lower_call *call, size_t index) {
  return index < call->input_count ? &call->input[index] : &call->output[index - call->input_count];
}

static bool has_empty_tensor(const struct lower_call *call) {
  for (size_t i = 0; i < call->input_count + call->output_count; i++)
    for (unsigned d = 0; d < tensor_of(call, i)->rank; d++)
      if (tensor_of(call, i)->shape[d] == 0)
        return true;
  return false;
}

/* Of an input or output that is there; those that are not may have any. */
static bool has_unknown_type(const struct lower_call *call) {
  for (size_t i = 0; i < call->input_count + call->output_count; i++)
    if (tensor_of(call, i)->rank > 0 && tensor_of(call, i)->dtype == DTYPE_COUNT)
      return true;
  return false;
}

static bool add_word(struct call_request *out, struct arena *arena, const char *word,
                     size_t length) {
  if (out->arg_count == LOWER_KEYS_MAX)
    return refuse(out, "too many arguments");
  const char *copy = arena_strndup(arena, word, length);
  if (!copy)
    return refuse_for_memory(out);
  out->args[out->arg_count++] = copy;
  return true;
}

static bool add(struct call_request *out, struct arena *arena, const char *key, const char *value) {
  char text[256];
  if (*value == '\0')
    return true;
  snprintf(text, sizeof text, "%s=%s", key, value);
  return add_word(out, arena, text, strlen(text));
}

/* The words of a cell. */
static bool add_words(struct call_request *out, struct arena *arena, const char *cell) {
  for (const char *next = cell; *next;) {
    size_t length = strcspn(next, " ");
    if (length > 0 && !add_word(out, arena, next, length))
      return false;
    next += length;
    next += strspn(next, " ");
  }
  return true;
}

/* Kernels that exchange tokens with other devices while they compute. */
static bool exchanges(const char *type) {
  static const char *const starts[] = {"MoeDistribute", "DispatchFFN"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (strncmp(type, starts[i], strlen(starts[i])) == 0)
      return true;
  return false;
}

static bool from_profile(const struct call_list *list, const struct call_row *row,
                         const struct vinci_soc *soc, struct arena *arena,
                         struct call_request *out) {
  struct lower_call *call = ARENA_NEW(arena, struct lower_call);
  if (!call)
    return refuse_for_memory(out);
  call->soc = soc;
  call->arena = arena;
  call->given = row->cell[CALL_ARGS];
  if (!calls_parse(row, call))
    return refuse(out, "%s: %s", call->type, call->reason);
  if (!calls_on_cores(row))
    return refuse(out, "%s does not run on AI Cores but on %s", call->type, row->cell[CALL_CORE]);
  out->op = calls_operator(call->type);
  if (!out->op && exchanges(call->type))
    return refuse(out, "%s exchanges tokens with other devices; a trace is of one device",
                  call->type);
  if (!out->op)
    return refuse(out, "no operator stands for '%s'", call->type);
  if (has_unknown_type(call))
    return refuse(out, "the data types '%s' are not known", row->cell[CALL_IN_TYPES]);
  if (has_empty_tensor(call))
    return refuse(out, "%s: a tensor has no elements", call->type);
  if (!out->op->from_tensors || !out->op->from_tensors(call))
    return refuse(out, "%s: %s", call->type, *call->reason ? call->reason : "shapes are not known");
  if (call->untyped)
    return refuse(out, "the data types '%s' are not known", row->cell[CALL_IN_TYPES]);
  out->op = call->op ? call->op : out->op;
  size_t before = call->arg_count;
  add_blocks(call, out->op, list->as_launched ? call->blocks : 0);
  out->arg_count = call->arg_count;
  out->launched = list->as_launched && call->blocks > 0 && out->arg_count > before;
  out->launched_arg = before;
  memcpy(out->args, call->args, sizeof call->args);
  return add_words(out, arena, call->given);
}

/* ---- rows of the other kinds ---- */

static bool from_args(const struct call_row *row, struct arena *arena, struct call_request *out) {
  out->op = lower_find(row->cell[CALL_TYPE]);
  if (!out->op)
    return refuse(out, "no operator is called %s", row->cell[CALL_TYPE]);
  return add_words(out, arena, row->cell[CALL_ARGS]);
}

/* "0", "1", "N", "T", "true" ... */
static const char *flag_word(const char *cell) {
  return *cell == '1' || *cell == 'T' || *cell == 't' || *cell == 'Y' ? "1" : *cell ? "0" : "";
}

/* Both the vendor's names of types and ours. */
static const char *dtype_word(const char *cell) {
  enum dtype type = parse_type(cell, strlen(cell));
  return type == DTYPE_COUNT ? cell : dtype_name(type);
}

static bool from_gemm(const struct call_row *row, struct arena *arena, struct call_request *out) {
  out->op = lower_find("matmul");
  return add(out, arena, "m", row->cell[CALL_GEMM_M]) &&
         add(out, arena, "k", row->cell[CALL_GEMM_K]) &&
         add(out, arena, "n", row->cell[CALL_GEMM_N]) &&
         add(out, arena, "transpose_a", flag_word(row->cell[CALL_A_T])) &&
         add(out, arena, "transpose_b", flag_word(row->cell[CALL_B_T])) &&
         add(out, arena, "batch", row->cell[CALL_BATCH]) &&
         add(out, arena, "dtype", dtype_word(row->cell[CALL_DTYPE]));
}

struct pair {
  char text[64];
};
static const char *pair(struct pair *out, const char *high, const char *wide) {
  if (*high == '\0' && *wide == '\0')
    return "";
  snprintf(out->text, sizeof out->text, "%sx%s", *high ? high : wide, *wide ? wide : high);
  return out->text;
}

/* One number for both directions, or one for each. */
static const char *both_or_each(struct pair *out, const char *both, const char *high,
                                const char *wide) {
  return *both && strchr(both, 'x') ? both
         : *both                    ? pair(out, both, both)
                                    : pair(out, high, wide);
}

/* SCALE-Sim's k is "Num Filter" and it has no batch; DeepBench has k and n. */
static bool from_convolution(const struct call_row *row, struct arena *arena,
                             struct call_request *out) {
  const char *const *cell = row->cell;
  struct pair pairs[4];
  out->op = lower_find("conv2d");
  if (!out->op)
    return refuse(out, "no operator is called conv2d");
  const char *filters = *cell[CALL_FILTERS] ? cell[CALL_FILTERS] : cell[CALL_GEMM_K];
  const char *images = *cell[CALL_GEMM_N] ? cell[CALL_GEMM_N] : cell[CALL_BATCH];
  const char *stride =
      both_or_each(&pairs[0], cell[CALL_STRIDES], cell[CALL_STRIDE_H], cell[CALL_STRIDE_W]);
  const char *pad = both_or_each(&pairs[1], cell[CALL_PADS], cell[CALL_PAD_H], cell[CALL_PAD_W]);
  const char *dilation =
      both_or_each(&pairs[2], cell[CALL_DILATIONS], cell[CALL_DILATION_H], cell[CALL_DILATION_W]);
  return add(out, arena, "n", images) && add(out, arena, "c", cell[CALL_CHANNELS]) &&
         add(out, arena, "h", cell[CALL_IFMAP_H]) && add(out, arena, "w", cell[CALL_IFMAP_W]) &&
         add(out, arena, "k", filters) &&
         add(out, arena, "kernel", pair(&pairs[3], cell[CALL_FILTER_H], cell[CALL_FILTER_W])) &&
         add(out, arena, "stride", stride) && add(out, arena, "pad", pad) &&
         add(out, arena, "dilation", dilation) && add(out, arena, "groups", cell[CALL_GROUPS]) &&
         add(out, arena, "dtype", dtype_word(cell[CALL_DTYPE]));
}

bool calls_forget_launch(struct call_request *request) {
  bool launched = request->launched;
  request->launched = false;
  if (launched)
    request->args[request->launched_arg] = "blocks=0";
  return launched;
}

bool calls_resolve(const struct call_list *list, const struct call_row *row,
                   const struct vinci_soc *soc, struct arena *arena, struct call_request *out) {
  *out = (struct call_request){0};
  switch (calls_kind(list->has)) {
  case CALL_KIND_PROFILE:
    return from_profile(list, row, soc, arena, out);
  case CALL_KIND_ARGS:
    return from_args(row, arena, out);
  case CALL_KIND_CONVOLUTION:
    return from_convolution(row, arena, out);
  case CALL_KIND_GEMM:
    break;
  }
  return from_gemm(row, arena, out);
}
