/* SPDX-License-Identifier: Apache-2.0 */
/* A call of an operator: the host program is asked, its answer becomes arguments of the kernel. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "kernels/library/library.h"
#include "traces/values/npy.h"

enum { ANSWER_BYTES_MAX = 1 << 26, SHOWN_LINES = 20 };

const char *answer_next(const struct answer *answer, const char *word, size_t *from) {
  size_t length = strlen(word);
  for (; *from < answer->lines.count; ++*from) {
    const char *line = answer->lines.items[*from];
    if (strncmp(line, word, length) == 0 && line[length] == ' ') {
      ++*from;
      return line + length + 1;
    }
  }
  return NULL;
}

const char *answer_text(const struct answer *answer, const char *word) {
  size_t from = 0;
  return answer_next(answer, word, &from);
}

static void write_numbers(void *context, FILE *out) {
  const vinci_soc *soc = context;
  for (size_t i = 0; i < soc_param_count(); i++)
    fprintf(out, "%s %" PRId64 "\n", soc_param(i)->key, soc_get(soc, i));
}

const char *library_family(const char *chip) {
  static const char *const families[][2] = {
      {"Ascend910_93", "ascend910_93"}, {"Ascend910B", "ascend910b"}, {"Ascend950", "ascend950"}};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strncasecmp(chip, families[i][0], strlen(families[i][0])) == 0)
      return families[i][1];
  return NULL;
}

bool library_has_registers(const struct library *library) {
  return library->family && strcmp(library->family, "ascend950") == 0;
}

static enum vinci_status read_answer(const struct library *library, const char *path,
                                     struct answer *answer) {
  size_t length;
  char *text = file_read(path, ANSWER_BYTES_MAX, &length, library->diag), *rest = text, *line;
  if (!text)
    return library->diag->status;
  while ((line = strsep(&rest, "\n")))
    if (*line)
      command_add(&answer->lines, "%s", line);
  free(text);
  return answer->lines.no_memory ? diag_error(library->diag, VINCI_E_NOMEM, "out of memory")
                                 : VINCI_OK;
}

struct ask {
  const struct library *library;
  const struct library_operator *which;
  const vinci_soc *soc;
  char folder[PATH_MAX - 256]; /* temporary */
};

static void file_of(const struct ask *ask, const char *name, char *out) {
  snprintf(out, PATH_MAX, "%s/%s", ask->folder, name);
}

/* words: NULL for a call that the host program chooses. */
static enum vinci_status ask_host(const struct ask *ask, const char *const *words, size_t count,
                                  struct answer *answer) {
  char program[PATH_MAX], numbers[PATH_MAX], data[PATH_MAX], out[PATH_MAX], errors[PATH_MAX];
  struct command command = {0};
  int ended = 0;
  struct vinci_diag *diag = ask->library->diag;
  const char *family = library_family(vinci_soc_name(ask->soc));
  if (!family)
    return diag_error(diag, VINCI_E_INPUT,
                      "libraries have kernels of the 910B family and of the 950, not of %s",
                      vinci_soc_name(ask->soc));
  enum vinci_status status =
      words ? library_host(ask->library, ask->which, program, sizeof program)
            : library_trials(ask->library, ask->which, program, sizeof program);
  if (status != VINCI_OK)
    return status;
  file_of(ask, "numbers", numbers);
  file_of(ask, "data", data);
  file_of(ask, "answer", out);
  file_of(ask, "errors", errors);
  status = file_replace(numbers, write_numbers, (void *)(uintptr_t)ask->soc, diag);
  if (status != VINCI_OK)
    return status;
  command_add(&command, "%s", program);
  command_add(&command, words ? "tile" : "try");
  command_add(&command, "%s", ask->which->name);
  command_add(&command, "%s", family);
  command_add(&command, "%s", numbers);
  command_add(&command, "%s", data);
  for (size_t i = 0; i < count; i++)
    command_add(&command, "%s", words[i]);
  if (!words)
    command_add(&command, "%u", ask->library->trial);
  status = library_run(ask->library, &command, out, errors, &ended);
  command_free(&command);
  if (status == VINCI_OK)
    status = read_answer(ask->library, out, answer);
  if (status != VINCI_OK || ended == 0)
    return status;
  library_show(ask->library, errors, SHOWN_LINES);
  const char *error = answer_text(answer, "error"), *hint = answer_text(answer, "hint");
  if (error)
    status = diag_error(diag, VINCI_E_USAGE, "%s", error);
  else
    status = diag_error(diag, VINCI_E_INPUT, "the tiling of %s ended with exit code %d",
                        ask->which->name, ended);
  if (hint)
    diag_hint(diag, "%s", hint);
  else if (ended == 128 + SIGSEGV && !library_tiling())
    diag_hint(diag, "host functions of the headers, which it may call, are found by VINCI_TILING: "
                    "vinci cc --tiling -o libtiling_api.so");
  return status;
}

/* ---- arguments of the kernel ------------------------------------------------------------------
 */

struct data {
  const char *bytes;
  size_t length;
};

static void write_npy(void *context, FILE *out) {
  const struct data *data = context;
  npy_write_header(&(struct npy){.kind = 'u', .item_bytes = 1, .rank = 1, .shape = {data->length}},
                   out);
  fwrite(data->bytes, 1, data->length, out);
}

/* The tiling data of a call stay in the cache, as a trace may name their file. */
static enum vinci_status keep_data(const struct ask *ask, char *out, size_t size, size_t *bytes) {
  char path[PATH_MAX], folder[PATH_MAX - 256];
  size_t length;
  file_of(ask, "data", path);
  char *text = file_read(path, ANSWER_BYTES_MAX, &length, ask->library->diag);
  if (!text)
    return ask->library->diag->status;
  struct data data = {text, length};
  char none = 0;
  if (length == 0)
    data = (struct data){&none, 1};
  enum vinci_status status = library_cache_folder(ask->library, ask->which, folder, sizeof folder);
  if (status == VINCI_OK) {
    snprintf(out, size, "%s/%016" PRIx64 ".npy", folder,
             digest_bytes(DIGEST_SEED, data.bytes, data.length));
    if (access(out, R_OK) != 0)
      status = file_replace(out, write_npy, &data, ask->library->diag);
  }
  *bytes = data.length;
  free(text);
  return status;
}

static enum vinci_status take_args(const struct ask *ask, const struct answer *answer,
                                   struct library_call *call) {
  char data[PATH_MAX];
  const char *text, *blocks = answer_text(answer, "blocks");
  const char *workspace = answer_text(answer, "workspace");
  unsigned long long room = workspace ? strtoull(workspace, NULL, 10) : 0;
  size_t bytes = 0;
  enum vinci_status status = keep_data(ask, data, sizeof data, &bytes);
  if (status != VINCI_OK)
    return status;
  for (size_t at = 0; (text = answer_next(answer, "arg", &at));)
    command_add(&call->args, "%s", text);
  command_add(&call->args, "name=workspace,dtype=uint8,shape=%llu,io=workspace", room ? room : 32);
  command_add(&call->args, "name=tiling,dtype=uint8,shape=%zu,io=in,file=%s", bytes, data);
  snprintf(call->blocks, sizeof call->blocks, "%s", blocks ? blocks : "1");
  return call->args.no_memory ? diag_error(ask->library->diag, VINCI_E_NOMEM, "out of memory")
                              : VINCI_OK;
}

enum vinci_status library_call(const struct library *library, const struct library_operator *which,
                               const vinci_soc *soc, const char *const *words, size_t word_count,
                               struct library_call *out) {
  struct library own = *library;
  struct library_operator operator_of = *which;
  struct ask ask = {.library = &own, .which = &operator_of, .soc = soc};
  struct answer answer = {0};
  own.family = library_family(vinci_soc_name(soc));
  library_choose(&operator_of, own.family);
  *out = (struct library_call){0};
  enum vinci_status status =
      folder_make_temporary("vinci-library", ask.folder, sizeof ask.folder, library->diag);
  if (status != VINCI_OK)
    return status;
  status = ask_host(&ask, words, word_count, &answer);
  if (status == VINCI_OK)
    status = take_args(&ask, &answer, out);
  if (status == VINCI_OK && !words) {
    const char *chosen = answer_text(&answer, "words");
    snprintf(out->words, sizeof out->words, "%s", chosen ? chosen : "");
  }
  if (status == VINCI_OK)
    status = library_kernel(&own, ask.which, &answer, out->kernel, sizeof out->kernel);
  command_free(&answer.lines);
  folder_remove(ask.folder);
  return status;
}

void library_call_free(struct library_call *call) { command_free(&call->args); }
