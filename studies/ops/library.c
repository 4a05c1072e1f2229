/* SPDX-License-Identifier: Apache-2.0 */
/* Rows whose operator a user's library has: the call of the operator, and its kernel's trace. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/vinci_kernel.h"
#include "scripts/host/soc_host.h"
#include "studies/ops/ops.h"

enum { DIMS_BYTES = 256 };

enum vinci_status ops_library_open(struct ops_library *out, const char *folders, const char *data,
                                   struct vinci_diag *diag) {
  char path[PATH_MAX - 64];
  *out = (struct ops_library){0};
  enum vinci_status status = soc_host_data_dir(data, path, sizeof path, diag);
  if (status == VINCI_OK)
    status = library_open(&out->library, folders, path, diag);
  if (status == VINCI_OK)
    status = library_operators(&out->library, &out->operators, &out->count);
  if (status == VINCI_OK && out->count == 0) {
    status =
        diag_error(diag, VINCI_E_USAGE, "the library %s has no operators", out->library.folders[0]);
    diag_hint(diag, "an operator has folders op_host and op_kernel, and OP_ADD in its op_host");
  }
  return status;
}

void ops_library_free(struct ops_library *library) {
  free(library->operators);
  *library = (struct ops_library){0};
}

bool ops_is_unknown(const char *op) { return !lower_find(op); }

uint64_t ops_library_digest(const struct ops_library *library) {
  uint64_t digest = DIGEST_SEED;
  for (size_t i = 0; library && i < library->library.folder_count; i++)
    digest = digest_string(digest, library->library.folders[i]);
  return digest;
}

/* ---- the words of a call ---- */

/* "4096,1,1024" in quotes or not, with an x between. */
static void take_shape(const char *text, size_t length, char out[static DIMS_BYTES]) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < DIMS_BYTES; i++)
    if (text[i] != '"' && text[i] != ' ')
      out[used++] = text[i] == ',' ? 'x' : text[i];
  out[used] = '\0';
}

/* Formats that lay elements out in another way; the others are the definition's own. */
static bool is_private(const char *format, size_t length) {
  static const char fractal[] = "FRACTAL_";
  bool block = false;
  for (size_t i = 0; i + 1 < length; i++)
    block |= format[i] == 'C' && format[i + 1] == '0';
  return block || (length > strlen(fractal) && memcmp(format, fractal, strlen(fractal)) == 0);
}

static void add_tensors(const char *shapes, const char *types, const char *formats, char mark,
                        struct command *words) {
  if (strcmp(shapes, "N/A") == 0 || !*shapes)
    return;
  for (unsigned i = 0;; i++) {
    char dims[DIMS_BYTES];
    size_t length, type_length, format_length;
    const char *shape = calls_part(shapes, i, &length);
    const char *type = calls_part(types, strchr(types, ';') ? i : 0, &type_length);
    const char *format = calls_part(formats, strchr(formats, ';') ? i : 0, &format_length);
    bool last = shape[length] == '\0';
    take_shape(shape, length, dims);
    if (type_length == 0 || strncmp(type, "DT_UNDEFINED", type_length) == 0)
      command_add(words, "%c%u=", mark, i);
    else if (is_private(format, format_length))
      command_add(words, "%c%u=%.*s:%s:%.*s", mark, i, (int)type_length, type, dims,
                  (int)format_length, format);
    else
      command_add(words, "%c%u=%.*s:%s", mark, i, (int)type_length, type, dims);
    if (last)
      return;
  }
}

/* Attributes, or all that a row without tensors says: "x=bf16:4096x1024 dim=-1". */
static void add_args(const char *args, struct command *words) {
  static const char blanks[] = " \t";
  for (args += strspn(args, blanks); *args; args += strspn(args, blanks)) {
    size_t length = strcspn(args, blanks);
    command_add(words, "%.*s", (int)length, args);
    args += length;
  }
}

static void keep_words(const char *name, const struct command *words, struct ops_outcome *outcome) {
  size_t used = (size_t)snprintf(outcome->args, sizeof outcome->args, "%s", name);
  for (size_t i = 0; i < words->count && used < sizeof outcome->args; i++)
    used +=
        (size_t)snprintf(outcome->args + used, sizeof outcome->args - used, " %s", words->items[i]);
}

/* ---- its kernel ---- */

static enum vinci_status load(const vinci_soc *soc, const struct library_call *call,
                              vinci_trace **trace, struct vinci_diag *diag) {
  char path[PATH_MAX];
  const char *colon = strrchr(call->kernel, ':');
  snprintf(path, sizeof path, "%.*s", (int)(colon - call->kernel), call->kernel);
  const struct vinci_kernel kernel = {.struct_size = sizeof kernel,
                                      .library = path,
                                      .name = colon + 1,
                                      .blocks = (uint32_t)strtoul(call->blocks, NULL, 10),
                                      .args = (const char *const *)call->args.items,
                                      .arg_count = call->args.count};
  return vinci_kernel_load(soc, &kernel, trace, diag);
}

void ops_library_refuse(struct ops_outcome *outcome, const char *reason, const char *why) {
  snprintf(outcome->program, sizeof outcome->program, "lowering: %.150s%s%.100s", reason,
           *why ? ": " : "", why);
}

/* What a compiler or a tiling has said stands behind what follows from that. */
static void add_why(struct vinci_diag *diag, const char *why) {
  size_t used = strlen(diag->text);
  if (*why)
    snprintf(diag->text + used, sizeof diag->text - used, ": %s", why);
}

enum vinci_status ops_library_load(const struct ops_worker *worker, const struct call_row *row,
                                   struct ops_outcome *outcome, vinci_trace **trace,
                                   struct vinci_diag *diag) {
  static const char *const none[1]; /* a row without words is no wish for a call of the library's */
  const struct ops_library *all = worker->request->library;
  char name[LIBRARY_NAME_BYTES], why[LIBRARY_WHY_BYTES] = "";
  struct library library = all->library;
  struct library_call call = {0};
  struct command words = {0};
  *trace = NULL;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(row->cell[CALL_TYPE], "@"),
           row->cell[CALL_TYPE]);
  const struct library_operator *which = library_match(all->operators, all->count, name);
  if (!which || (all->of_others && !ops_is_unknown(row->cell[CALL_TYPE])))
    return VINCI_OK;
  library.diag = diag;
  library.why = why;
  if (row->profiled) {
    add_tensors(row->cell[CALL_IN_SHAPES], row->cell[CALL_IN_TYPES], row->cell[CALL_IN_FORMATS],
                '#', &words);
    add_tensors(row->cell[CALL_OUT_SHAPES], row->cell[CALL_OUT_TYPES], row->cell[CALL_OUT_FORMATS],
                '@', &words);
  }
  add_args(row->cell[CALL_ARGS], &words);
  enum vinci_status status =
      words.no_memory
          ? diag_error(diag, VINCI_E_NOMEM, "out of memory for the words of a call")
          : library_call(&library, which, worker->soc,
                         words.count ? (const char *const *)words.items : none, words.count, &call);
  if (status == VINCI_OK)
    status = load(worker->soc, &call, trace, diag);
  if (status == VINCI_OK) {
    keep_words(which->name, &words, outcome);
  } else {
    ops_library_refuse(outcome, diag->text, why);
    add_why(diag, why);
  }
  library_call_free(&call);
  command_free(&words);
  return status;
}
