/* SPDX-License-Identifier: Apache-2.0 */
/* The command x of `vinci debug`: values in memories. */
#include <inttypes.h>
#include <string.h>

#include "cli/debug/session.h"
#include "core/base/number.h"
#include "core/base/sheet.h"

struct format {
  char letter;
  unsigned bytes;
  unsigned in_row;
  enum dtype type;
};

static const struct format formats[] = {
    {'f', 4, 8, DTYPE_FP32},  {'h', 2, 8, DTYPE_FP16},   {'g', 2, 8, DTYPE_BF16},
    {'d', 4, 8, DTYPE_INT32}, {'x', 4, 8, DTYPE_UINT32}, {'b', 1, 16, DTYPE_UINT8},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats, COUNT_DEFAULT = 8, COUNT_MAX = 65536 };
enum { NARROW_ROW = 4 }; /* values of 32 bits in a row of a terminal */

static void print_element(const struct format *format, const uint8_t *bytes, FILE *out) {
  switch (format->letter) {
  case 'f':
    fprintf(out, " %.9g", (double)load_fp32(bytes));
    break;
  case 'h':
    fprintf(out, " %.5g", (double)fp16_to_fp32(load_u16(bytes)));
    break;
  case 'g':
    fprintf(out, " %.4g", (double)bf16_to_fp32(load_u16(bytes)));
    break;
  case 'd':
    fprintf(out, " %" PRId32, (int32_t)load_u32(bytes));
    break;
  case 'x':
    fprintf(out, " 0x%08" PRIx32, load_u32(bytes));
    break;
  default:
    fprintf(out, " %02x", bytes[0]);
    break;
  }
}

/* What the tensor at an address holds; NULL: no tensor, or a type without a format. */
static const struct format *format_of_tensor(const struct session *session,
                                             const struct place *place) {
  for (uint32_t i = 0; place->space == SPACE_GM && i < session->trace->tensor_count; i++) {
    const struct program_tensor *tensor = &session->trace->tensors[i];
    if (place->address < tensor->address || place->address >= tensor->address + tensor->bytes)
      continue;
    for (size_t f = 0; f < FORMAT_COUNT; f++)
      if (formats[f].type == tensor->dtype)
        return &formats[f];
  }
  return NULL;
}

/* "/16f" of "x/16f". */
static enum vinci_status read_format(const char *word, uint64_t *count, const struct format **out,
                                     struct vinci_diag *diag) {
  size_t digits = strspn(word, "0123456789");
  char number[24];
  *count = COUNT_DEFAULT;
  *out = NULL;
  snprintf(number, sizeof number, "%.*s", (int)digits, word);
  if (digits > 0) {
    enum vinci_status status =
        word_number(number, "how many values to print", 1, COUNT_MAX, count, diag);
    if (status != VINCI_OK)
      return status;
  }
  if (word[digits] == '\0')
    return VINCI_OK;
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (word[digits] == formats[i].letter && word[digits + 1] == '\0')
      *out = &formats[i];
  if (*out)
    return VINCI_OK;
  enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "unknown format '%s'", word + digits);
  diag_hint(diag, "f fp32, h fp16, g bf16, d int32, x words of 32 bits, b bytes");
  return status;
}

static void print_values(const struct place *place, const struct format *format, uint64_t count,
                         const uint8_t *bytes, FILE *out) {
  unsigned in_row = format->bytes == 4 && sheet_width(stdout) > 0 ? NARROW_ROW : format->in_row;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t address = place->address + i * format->bytes;
    if (i % in_row == 0)
      fprintf(out, "%s%s+0x%" PRIx64 ":", i > 0 ? "\n" : "", space_name(place->space), address);
    print_element(format, bytes + address, out);
  }
  fputc('\n', out);
}

static enum vinci_status no_bytes(const struct session *session, struct vinci_diag *diag) {
  enum vinci_status status;
  if (!session->values) {
    status = diag_error(diag, VINCI_E_USAGE, "this session computes no values");
    diag_hint(diag, "start 'vinci debug' with --values, --fill=random:1 or --input=NAME=FILE");
    return status;
  }
  const char *core = session_core_name(session, session->core);
  status =
      diag_error(diag, VINCI_E_USAGE, "%s has had no block yet: its buffers hold nothing", core);
  diag_hint(diag, "'core' lists the cores, 'step' goes on");
  return status;
}

enum vinci_status command_x(struct session *session, const struct words *words,
                            struct vinci_diag *diag) {
  const char *slash = strchr(words->item[0], '/');
  const char *form = slash ? slash + 1 : "", *address = words->item[1];
  if (words->count > 2) { /* "x /16f UB" */
    if (slash || *words->item[1] != '/')
      return diag_error(diag, VINCI_E_USAGE, "'x' takes one address, not '%s'", words->item[2]);
    form = words->item[1] + 1;
    address = words->item[2];
  }
  uint64_t count;
  const struct format *format;
  struct place place;
  enum vinci_status status = read_format(form, &count, &format, diag);
  if (status == VINCI_OK)
    status = word_place(session, address, &place, diag);
  if (status != VINCI_OK)
    return status;
  if (!format)
    format = format_of_tensor(session, &place);
  if (!format)
    format = &formats[0];
  if (count * format->bytes > place.left) {
    status =
        diag_error(diag, VINCI_E_USAGE,
                   "%" PRIu64 " values of %u bytes from %s on: only %" PRIu64 " bytes are there",
                   count, format->bytes, address, place.left);
    diag_hint(diag, "x/%" PRIu64 "%c reaches the end", place.left / format->bytes, format->letter);
    return status;
  }
  const uint8_t *bytes = debug_bytes(session->debug, session->core, place.space);
  if (!bytes)
    return no_bytes(session, diag);
  print_values(&place, format, count, bytes, session->out);
  return VINCI_OK;
}
