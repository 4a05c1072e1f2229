/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments "key=value" of an operator: parsed by its table of keys, and printed again. */
#include <inttypes.h>
#include <string.h>

#include "core/base/decimal.h"
#include "lower/kernel/lower.h"

enum vinci_status lower_error(struct lower_job *job, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  enum vinci_status status = diag_error(job->diag, VINCI_E_USAGE, "%s: %s", job->op->name, text);
  diag_hint(job->diag, "'vinci compile %s --help' explains its keys", job->op->name);
  return status;
}

static size_t find_key(const struct lower_op *op, const char *name) {
  size_t i = 0;
  while (i < op->key_count && strcmp(op->keys[i].name, name) != 0)
    i++;
  return i;
}

const struct lower_value *lower_get(const struct lower_job *job, const char *name) {
  size_t i = find_key(job->op, name);
  return i < job->op->key_count && job->value[i].present ? &job->value[i] : NULL;
}

void lower_choose(struct lower_job *job, const char *name, uint64_t size) {
  job->value[find_key(job->op, name)] = (struct lower_value){.present = true, .size = size};
}

void *lower_data(struct lower_job *job, size_t size) {
  job->data = arena_alloc(job->arena, 1, size);
  if (!job->data)
    (void)diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
  return job->data;
}

/* Largest numbers: fp16 rounds below 65520 to 65504; those of bf16 and fp32 are about the same. */
static const struct {
  double low, high;
  bool whole;
} ranges[DTYPE_COUNT] = {
    [DTYPE_FP16] = {-65504, 65504, false},
    [DTYPE_BF16] = {-3.3895313892515355e38, 3.3895313892515355e38, false},
    [DTYPE_FP32] = {-3.4028234663852886e38, 3.4028234663852886e38, false},
    [DTYPE_INT8] = {INT8_MIN, INT8_MAX, true},
    [DTYPE_UINT8] = {0, UINT8_MAX, true},
    [DTYPE_INT16] = {INT16_MIN, INT16_MAX, true},
    [DTYPE_UINT16] = {0, UINT16_MAX, true},
    [DTYPE_INT32] = {INT32_MIN, INT32_MAX, true},
    [DTYPE_UINT32] = {0, UINT32_MAX, true},
};

enum vinci_status lower_fits(struct lower_job *job, const char *key, enum dtype dtype,
                             double number) {
  double low = ranges[dtype].low, high = ranges[dtype].high;
  bool whole = ranges[dtype].whole;
  if (low == high)
    vinci_bug("no range of %s", dtype_name(dtype));
  if (number >= low && number <= high && (!whole || number == (double)(int64_t)number))
    return VINCI_OK;
  return lower_error(job, "%s cannot hold %s=%.9g, only %s from %.10g to %.10g", dtype_name(dtype),
                     key, number, whole ? "whole numbers" : "numbers", low, high);
}

enum vinci_status lower_bounded(struct lower_job *job, const uint64_t *shape, unsigned rank) {
  uint64_t elements = 1;
  for (unsigned i = 0; i < rank; i++) {
    if (shape[i] > 0 && elements > LOWER_ELEMENTS_MAX / shape[i])
      return lower_error(job, "y has more than 2^40 elements");
    elements *= shape[i];
  }
  return VINCI_OK;
}

bool lower_refuse(struct lower_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(job->reason, sizeof job->reason, format, arguments);
  va_end(arguments);
  return false;
}

bool lower_has_cores(struct lower_job *job, uint64_t blocks, enum core_kind kind) {
  unsigned cores = soc_core_count(job->soc, kind);
  return blocks <= cores ||
         lower_refuse(job, "more cores than the chip has: %" PRIu64 " and %u", blocks, cores);
}

bool lower_cannot(struct lower_call *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->reason, sizeof call->reason, format, arguments);
  va_end(arguments);
  return false;
}

void lower_arg(struct lower_call *call, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (call->arg_count == LOWER_KEYS_MAX)
    vinci_bug("more arguments than keys: %s", text);
  const char *copy = arena_strdup(call->arena, text);
  call->args[call->arg_count++] = copy ? copy : "";
}

void lower_arg_dtype(struct lower_call *call, const char *key, const struct lower_tensor *tensor) {
  if (tensor->dtype >= DTYPE_COUNT)
    call->untyped = true;
  else
    lower_arg(call, "%s=%s", key, dtype_name(tensor->dtype));
}

void lower_arg_shape(struct lower_call *call, const char *key, const uint64_t *extents,
                     unsigned rank) {
  char text[TENSOR_RANK_MAX * 24] = "1";
  size_t at = 0;
  for (unsigned i = 0; i < rank; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64, i ? "x" : "", extents[i]);
  lower_arg(call, "%s=%s", key, text);
}

void lower_arg_tensor(struct lower_call *call, const struct lower_tensor *tensor) {
  lower_arg_shape(call, "shape", tensor->shape, tensor->rank);
  lower_arg_dtype(call, "dtype", tensor);
}

void lower_arg_elements(struct lower_call *call, const struct lower_tensor *tensor) {
  lower_arg(call, "shape=%" PRIu64, lower_elements(tensor->shape, tensor->rank));
  lower_arg_dtype(call, "dtype", tensor);
}

/* ---- values ---- */

/* Digits only, so that no locale and no sign has a say; *end is behind them. */
static bool parse_size(const char *text, uint64_t *out, const char **end) {
  uint64_t value = 0;
  const char *start = text;
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value * 10 + (uint64_t)(*text - '0');
    if (value > LOWER_SIZE_MAX)
      return false;
  }
  *out = value;
  *end = text;
  return text > start;
}

static enum vinci_status take_size(struct lower_job *job, const struct lower_key *key,
                                   const char *text, struct lower_value *value) {
  const char *end;
  bool zero = key->choices != NULL;
  if (!parse_size(text, &value->size, &end) || *end != '\0' || (value->size == 0 && !zero))
    return lower_error(job, "%s takes a whole number from %d to %d, not '%s'", key->name,
                       zero ? 0 : 1, LOWER_SIZE_MAX, text);
  return VINCI_OK;
}

static enum vinci_status take_shape(struct lower_job *job, const struct lower_key *key,
                                    const char *text, struct lower_value *value) {
  const char *next = text;
  uint64_t elements = 1;
  value->rank = 0;
  while (true) {
    uint64_t extent;
    if (value->rank == TENSOR_RANK_MAX || !parse_size(next, &extent, &next) ||
        (extent == 0 && !key->choices) || (*next != '\0' && *next != 'x'))
      return lower_error(job, "%s takes 1 to %d extents such as 8x128x512, not '%s'", key->name,
                         TENSOR_RANK_MAX, text);
    value->shape[value->rank++] = extent;
    if (extent > 0 && elements > LOWER_ELEMENTS_MAX / extent)
      return lower_error(job, "%s has more than 2^40 elements: '%s'", key->name, text);
    elements *= extent;
    if (*next++ == '\0')
      return VINCI_OK;
  }
}

static enum vinci_status take_word(struct lower_job *job, const struct lower_key *key,
                                   const char *text, struct lower_value *value) {
  char word[WORD_BYTES_MAX];
  for (unsigned i = 0; words_nth(key->choices, i, word); i++) {
    if (strcmp(word, text) != 0)
      continue;
    value->word = i;
    if (key->kind == LOWER_DTYPE)
      value->dtype = dtype_by_name(word);
    return VINCI_OK;
  }
  return lower_error(job, "%s takes %s, not '%s'", key->name, key->choices, text);
}

static enum vinci_status take_number(struct lower_job *job, const struct lower_key *key,
                                     const char *text, struct lower_value *value) {
  if (!decimal_parse(text, &value->number))
    return lower_error(job, "%s takes a decimal number, not '%s'", key->name, text);
  return lower_fits(job, key->name, DTYPE_FP32, value->number);
}

static enum vinci_status take_text(struct lower_job *job, const char *text,
                                   struct lower_value *value) {
  value->text = arena_strdup(job->arena, text);
  return value->text ? VINCI_OK : diag_error(job->diag, VINCI_E_NOMEM, "out of memory");
}

static enum vinci_status take(struct lower_job *job, const struct lower_key *key, const char *text,
                              struct lower_value *value) {
  value->present = true;
  switch (key->kind) {
  case LOWER_SIZE:
    return take_size(job, key, text, value);
  case LOWER_SHAPE:
    return take_shape(job, key, text, value);
  case LOWER_DTYPE:
  case LOWER_WORD:
    return take_word(job, key, text, value);
  case LOWER_NUMBER:
    return take_number(job, key, text, value);
  case LOWER_TEXT:
    return take_text(job, text, value);
  default:
    vinci_bug("key %s has no kind", key->name);
  }
}

/* ---- the list ---- */

static const char *key_name(const void *context, size_t index) {
  const struct lower_op *op = context;
  return op->keys[index].name;
}

static enum vinci_status unknown_key(struct lower_job *job, const char *arg, size_t length) {
  char name[WORD_BYTES_MAX];
  length = length < sizeof name ? length : sizeof name - 1;
  memcpy(name, arg, length);
  name[length] = '\0';
  const char *near = diag_nearest(name, job->op->key_count, key_name, job->op);
  enum vinci_status status =
      diag_error(job->diag, VINCI_E_USAGE, "%s has no key '%s'", job->op->name, name);
  if (near)
    diag_hint(job->diag, "did you mean '%s'?", near);
  else
    diag_hint(job->diag, "'vinci compile %s --help' lists its keys", job->op->name);
  return status;
}

static enum vinci_status parse_arg(struct lower_job *job, const char *arg) {
  const char *equals = strchr(arg, '=');
  if (!equals)
    return lower_error(job, "arguments are key=value, not '%s'", arg);
  size_t length = (size_t)(equals - arg);
  for (size_t i = 0; i < job->op->key_count; i++) {
    const struct lower_key *key = &job->op->keys[i];
    if (strlen(key->name) != length || memcmp(key->name, arg, length) != 0)
      continue;
    if (job->value[i].given)
      return lower_error(job, "%s is given twice", key->name);
    job->value[i].given = true;
    return take(job, key, equals + 1, &job->value[i]);
  }
  return unknown_key(job, arg, length);
}

/* Types that no instruction of the chip takes. */
static enum vinci_status check_dtypes(struct lower_job *job) {
  for (size_t i = 0; i < job->op->key_count; i++) {
    const struct lower_value *value = &job->value[i];
    bool is_type = job->op->keys[i].kind == LOWER_DTYPE && value->present;
    if (is_type && value->dtype < DTYPE_COUNT && !arch_has_dtype(job->soc->arch, value->dtype))
      return lower_error(job, "%s has no data type %s", job->soc->name, dtype_name(value->dtype));
  }
  return VINCI_OK;
}

enum vinci_status lower_parse_args(struct lower_job *job, const char *const *args, size_t count) {
  enum vinci_status status = VINCI_OK;
  if (job->op->key_count > LOWER_KEYS_MAX)
    vinci_bug("%s has too many keys", job->op->name);
  for (size_t i = 0; i < count && status == VINCI_OK; i++)
    status = parse_arg(job, args[i]);
  for (size_t i = 0; i < job->op->key_count && status == VINCI_OK; i++) {
    const struct lower_key *key = &job->op->keys[i];
    if (job->value[i].given || key->tiling)
      continue;
    if (!key->fallback)
      status = lower_error(job, "%s is missing: %s", key->name, key->text);
    else if (*key->fallback)
      status = take(job, key, key->fallback, &job->value[i]);
  }
  return status == VINCI_OK ? check_dtypes(job) : status;
}

/* ---- back to text ---- */

bool lower_format_arg(const struct lower_key *key, const struct lower_value *value, char *text,
                      size_t size) {
  char word[WORD_BYTES_MAX] = "";
  if (!value->present)
    return false;
  int used = snprintf(text, size, "%s=", key->name);
  size_t at = (size_t)used < size ? (size_t)used : size;
  switch (key->kind) {
  case LOWER_SIZE:
    snprintf(text + at, size - at, "%" PRIu64, value->size);
    break;
  case LOWER_SHAPE:
    for (unsigned i = 0; i < value->rank && at < size; i++)
      at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, i ? "x" : "", value->shape[i]);
    break;
  case LOWER_NUMBER:
    snprintf(text + at, size - at, "%.9g", value->number);
    break;
  case LOWER_TEXT:
    snprintf(text + at, size - at, "%s", value->text);
    break;
  default:
    (void)words_nth(key->choices, value->word, word);
    snprintf(text + at, size - at, "%s", word);
    break;
  }
  return true;
}

static void as_rows(struct lower_tensor *tensor) {
  enum { TAIL = 4 };
  if (!strstr(tensor->format, "NZ") || tensor->rank < TAIL)
    return;
  uint64_t *end = tensor->shape + tensor->rank - TAIL;
  uint64_t rows = end[1] * end[2], columns = end[0] * end[3];
  end[0] = rows;
  end[1] = columns;
  tensor->rank -= TAIL - 2;
  snprintf(tensor->format, sizeof tensor->format, "ND");
}

void lower_as_rows(struct lower_call *call) {
  for (unsigned i = 0; i < call->input_count; i++)
    as_rows(&call->input[i]);
  for (unsigned i = 0; i < call->output_count; i++)
    as_rows(&call->output[i]);
}
