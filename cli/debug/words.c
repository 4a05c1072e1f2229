/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the commands of `vinci debug`: numbers, cores, pipes, flags, places in memories. */
#include "cli/debug/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct program_kernel *session_kernel(const struct session *session) {
  return &session->trace->kernels[debug_device(session->debug)->kernel];
}

bool session_core_has(const struct session *session, enum space space) {
  return core_has_space(debug_device(session->debug)->cores[session->core].kind, space) &&
         (space == SPACE_GM || soc_space_bytes(session->soc, space) > 0);
}

/* Decimal, or hexadecimal with 0x; `end` is where the number ends. */
static bool read_number(const char *text, uint64_t *out, const char **end) {
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  char *stop;
  if (text[0] < '0' || text[0] > '9')
    return false;
  errno = 0;
  unsigned long long number = strtoull(text, &stop, hex ? 16 : 10);
  *out = number;
  *end = stop;
  return errno == 0 && (!hex || stop > text + 2);
}

enum vinci_status word_number(const char *word, const char *what, uint64_t least, uint64_t most,
                              uint64_t *out, struct vinci_diag *diag) {
  const char *end;
  if (read_number(word, out, &end) && *end == '\0' && *out >= least && *out <= most)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "%s is a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                    what, least, most, word);
}

static const char *core_at(const void *context, size_t index) {
  return session_core_name(context, (uint32_t)index);
}

enum vinci_status word_core(const struct session *session, const char *word, uint32_t *out,
                            struct vinci_diag *diag) {
  uint32_t count = debug_device(session->debug)->placement.core_count;
  uint64_t number;
  const char *end;
  if (read_number(word, &number, &end) && *end == '\0' && number < count) {
    *out = (uint32_t)number;
    return VINCI_OK;
  }
  for (*out = 0; *out < count; ++*out)
    if (strcmp(session_core_name(session, *out), word) == 0)
      return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE, "unknown core '%s' among %" PRIu32, word, count);
  const char *nearest = diag_nearest(word, count, core_at, session);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    diag_hint(diag, "'core' lists them");
  return status;
}

const char *session_file(const struct session *session) {
  const char *path = session->trace->path, *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

enum vinci_status word_line(const struct session *session, const char *word, uint64_t most,
                            uint64_t *out, struct vinci_diag *diag) {
  const char *colon = strrchr(word, ':'), *file = session_file(session);
  if (colon && (strlen(file) != (size_t)(colon - word) ||
                strncmp(word, file, (size_t)(colon - word)) != 0)) {
    enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "'%.*s' is not the file at hand",
                                          (int)(colon - word), word);
    diag_hint(diag, "lines are those of %s", file);
    return status;
  }
  return word_number(colon ? colon + 1 : word, "a line", 1, most, out, diag);
}

enum vinci_status word_pipe(const struct session *session, const char *word, enum pipe *out,
                            struct vinci_diag *diag) {
  enum core_kind kind = debug_device(session->debug)->cores[session->core].kind;
  *out = pipe_by_name(word);
  if (*out < PIPE_COUNT && core_has_pipe(kind, *out))
    return VINCI_OK;
  char list[64] = "";
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    if (core_has_pipe(kind, (enum pipe)pipe))
      snprintf(list + strlen(list), sizeof list - strlen(list), " %s", pipe_name((enum pipe)pipe));
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE, "no pipe '%s' on a core %s", word, core_kind_name(kind));
  diag_hint(diag, "its pipes are%s", list);
  return status;
}

/* The pipe that the first bytes of a word name. */
static enum pipe pipe_of(const char *word, size_t length) {
  char name[8] = "";
  if (length < sizeof name)
    memcpy(name, word, length);
  return pipe_by_name(name);
}

enum vinci_status word_flag(const struct session *session, const char *word, struct stop *out,
                            struct vinci_diag *diag) {
  size_t from = strcspn(word, ">");
  const char *rest = word[from] ? word + from + 1 : "";
  size_t to = strcspn(rest, ":");
  uint64_t id = ANY_FLAG_ID;
  out->from = pipe_of(word, from);
  out->to = pipe_of(rest, to);
  if (out->from >= PIPE_COUNT || out->to >= PIPE_COUNT) {
    enum vinci_status status = diag_error(diag, VINCI_E_USAGE, "'%s' names no flag", word);
    diag_hint(diag, "a flag is written SRC>DST or SRC>DST:ID, such as MTE2>V:0");
    return status;
  }
  if (rest[to] == ':') {
    enum vinci_status status = word_number(rest + to + 1, "the id of a flag", 0,
                                           (uint64_t)session->soc->flag_ids - 1, &id, diag);
    if (status != VINCI_OK)
      return status;
  }
  out->id = (uint32_t)id;
  return VINCI_OK;
}

/* ---- places in memories ---- */

/* Memories of the core, then the buffers and the tensors of the kernel, by number. */
static const char *place_at(const void *context, size_t index) {
  const struct session *session = context;
  const struct program_kernel *kernel = session_kernel(session);
  if (index < SPACE_COUNT)
    return session_core_has(session, (enum space)index) ? space_name((enum space)index) : NULL;
  index -= SPACE_COUNT;
  if (index < kernel->buffer_count)
    return session->trace->buffers[kernel->first_buffer + index].name;
  return session->trace->tensors[kernel->first_tensor + index - kernel->buffer_count].name;
}

static struct place place_of(const struct session *session, size_t index) {
  const struct program_kernel *kernel = session_kernel(session);
  if (index < SPACE_COUNT)
    return (struct place){.space = (enum space)index,
                          .left = index == SPACE_GM
                                      ? session->trace->gm_bytes
                                      : soc_space_bytes(session->soc, (enum space)index)};
  index -= SPACE_COUNT;
  if (index < kernel->buffer_count) {
    const struct program_buffer *buffer = &session->trace->buffers[kernel->first_buffer + index];
    return (struct place){buffer->space, buffer->address, buffer->bytes};
  }
  const struct program_tensor *tensor =
      &session->trace->tensors[kernel->first_tensor + index - kernel->buffer_count];
  return (struct place){SPACE_GM, tensor->address, tensor->bytes};
}

/* "UB (196608 bytes), a (4096 bytes at UB+0x0)" */
static void hint_places(const struct session *session, size_t count, struct vinci_diag *diag) {
  char list[200] = "";
  for (size_t i = 0; i < count; i++) {
    const char *name = place_at(session, i);
    size_t used = strlen(list);
    if (name && used + 60 < sizeof list)
      snprintf(list + used, sizeof list - used, "%s%s (%" PRIu64 " bytes)", used ? ", " : "", name,
               place_of(session, i).left);
    else if (name) {
      snprintf(list + used, sizeof list - used, " ...");
      break;
    }
  }
  diag_hint(diag, "there are %s", list);
}

static enum vinci_status no_place(const struct session *session, const char *name, size_t count,
                                  struct vinci_diag *diag) {
  const char *core = session_core_name(session, session->core);
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE, "%s has no memory, buffer or tensor '%s'", core, name);
  const char *nearest = diag_nearest(name, count, place_at, session);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  else
    hint_places(session, count, diag);
  return status;
}

enum vinci_status word_place(const struct session *session, const char *word, struct place *out,
                             struct vinci_diag *diag) {
  const struct program_kernel *kernel = session_kernel(session);
  size_t count = SPACE_COUNT + kernel->buffer_count + kernel->tensor_count, i = 0;
  size_t length = strcspn(word, "+");
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)length, word);
  for (; i < count; i++) {
    const char *candidate = place_at(session, i);
    if (candidate && strcmp(candidate, name) == 0)
      break;
  }
  if (i == count)
    return no_place(session, name, count, diag);
  *out = place_of(session, i);
  for (const char *rest = word + length; *rest;) {
    uint64_t offset;
    if (*rest != '+' || !read_number(rest + 1, &offset, &rest))
      return diag_error(diag, VINCI_E_USAGE,
                        "'%s' is not an address: a name, then '+' and a number", word);
    if (offset >= out->left) {
      enum vinci_status status = diag_error(
          diag, VINCI_E_USAGE, "%s lies outside of %s, which has %" PRIu64 " bytes (0x%" PRIx64 ")",
          word, name, place_of(session, i).left, place_of(session, i).left);
      hint_places(session, count, diag);
      return status;
    }
    out->address += offset;
    out->left -= offset;
  }
  return VINCI_OK;
}
