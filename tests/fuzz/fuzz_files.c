/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of readers that want a file. The first line of an input is the name of a reader in
 * the table below, and the rest is the file: any bytes are read without harm.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/vinci_net.h"
#include "lower/calls/calls.h"
#include "studies/diff/diff.h"
#include "studies/gate/gate.h"
#include "studies/gate/rows.h"
#include "traces/import/import.h"
#include "tune/tune.h"

enum { PATH_BYTES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[PATH_BYTES];

static void remove_folder(void) { folder_remove(folder); }

/* Writes a file of the folder; its path. */
static const char *write_file(const char *name, const void *bytes, size_t size) {
  static char path[2 * PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "wb");
  if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
    vinci_bug("%s cannot be written", path);
  return path;
}

/* ---- tunings and journals -------------------------------------------------------------------- */

static void read_tunings(const void *bytes, size_t size) {
  const char *path = write_file("tunings", bytes, size);
  struct vinci_diag diag = {0};
  vinci_tunings *tunings, *again;
  if (vinci_tunings_open(path, &tunings, &diag) != VINCI_OK)
    return;
  size_t count = vinci_tunings_count(tunings);
  if (vinci_tunings_save(tunings, path, &diag) != VINCI_OK ||
      vinci_tunings_open(path, &again, &diag) != VINCI_OK)
    vinci_bug("tunings that were written are not read: %s", diag.text);
  if (vinci_tunings_count(again) != count)
    vinci_bug("%zu tunings, then %zu", count, vinci_tunings_count(again));
  vinci_tunings_free(again);
  vinci_tunings_free(tunings);
}

/* What is kept behind torn lines is found again. */
static void read_tune_journal(const void *bytes, size_t size) {
  const char *path = write_file("tune.journal", bytes, size);
  const struct tune_fact kept = {.cycles = 12, .program_digest = 13};
  struct vinci_diag diag = {0};
  struct tune_journal *journal;
  struct tune_fact found;
  bool read = tune_journal_open(path, &journal, &diag) == VINCI_OK;
  if (read && tune_journal_add(journal, 11, kept, &diag) != VINCI_OK)
    vinci_bug("a journal takes no line: %s", diag.text);
  tune_journal_close(journal);
  if (!read)
    return;
  if (tune_journal_open(path, &journal, &diag) != VINCI_OK ||
      !tune_journal_find(journal, 11, &found) || found.cycles != kept.cycles)
    vinci_bug("a journal has lost a line: %s", diag.text);
  tune_journal_close(journal);
}

static bool count_line(void *context, char *text, uint64_t offset) {
  (void)offset;
  *(size_t *)context += strlen(text) + 1;
  return true;
}

static void read_journal(const void *bytes, size_t size) {
  size_t taken = 0, torn = 0;
  const char *path = write_file("journal", bytes, size);
  if (journal_read(path, count_line, &taken, &torn, NULL) == VINCI_OK && taken > size)
    vinci_bug("%zu bytes of lines in a file of %zu", taken, size);
}

/* ---- studies --------------------------------------------------------------------------------- */

static void read_gate(const void *bytes, size_t size) {
  struct gate_rows rows;
  if (gate_rows_read(&rows, write_file("gate.csv", bytes, size), NULL) == VINCI_OK)
    for (size_t i = 0; i < rows.count; i++)
      if (gate_is_number(&rows.items[i]))
        (void)gate_number(&rows.items[i]);
  gate_rows_free(&rows);
}

static void read_policy(const void *bytes, size_t size) {
  struct gate_policy policy;
  enum vinci_status status = gate_policy_open(&policy, write_file("policy", bytes, size), NULL);
  if (status != VINCI_OK && status != VINCI_E_USAGE)
    vinci_bug("status %d of a policy", (int)status);
  gate_policy_free(&policy);
}

static void read_kept_list(const void *bytes, size_t size) {
  struct vinci_diff *diff = calloc(1, sizeof *diff);
  const char *path = write_file("op_summary.csv", bytes, size);
  if (diff && diff_list_is_kept(path) && diff_list_read(diff, EXPLAIN_A, path, NULL) == VINCI_OK)
    for (size_t i = 0; i < diff->side[EXPLAIN_A].operator_count; i++)
      if (!diff->side[EXPLAIN_A].operators[i].name)
        vinci_bug("operator %zu has no name", i);
  if (diff)
    arena_free(&diff->arena);
  free(diff);
}

static void visit(void *context, const char *way, const char *text) {
  *(size_t *)context += strlen(way) + strlen(text);
}

static void read_json(const void *bytes, size_t size) {
  size_t visited = 0;
  char *text = strndup(bytes, size);
  if (text)
    (void)!json_read("fuzz", text, strlen(text), visit, &visited, NULL);
  free(text);
}

/* ---- profiles and what other tools write -------------------------------------------------------
 */

static void import(const char *path) {
  static const struct import_options options = {.core_hz = 1800000000};
  struct arena arena = {0};
  struct imported imported;
  char *text = NULL;
  size_t length;
  if (import_read(path, &options, &arena, &imported, NULL) == VINCI_OK)
    for (unsigned form = IMPORT_TEXT; form <= IMPORT_JSON; form++) {
      FILE *out = open_memstream(&text, &length);
      import_write(&imported, &path, 1, (enum import_form)form, out);
      fclose(out);
      free(text);
    }
  arena_free(&arena);
}

static void read_profile(const void *bytes, size_t size) {
  import(write_file("profile.csv", bytes, size));
}

static void read_timeline(const void *bytes, size_t size) {
  import(write_file("trace.json", bytes, size));
}

static void in_folder(const char *name, const char *other, const void *bytes, size_t size) {
  char own[PATH_BYTES];
  (void)write_file(name, bytes, size);
  (void)write_file(other, bytes, size);
  import(folder);
  snprintf(own, sizeof own, "%s", write_file(name, "", 0));
  (void)remove(own);
  (void)remove(write_file(other, "", 0));
}

/* The same log for the starts and the ends of instructions. */
static void read_dump(const void *bytes, size_t size) {
  in_folder("core0.veccore0.instr_popped_log.dump", "core0.veccore0.instr_log.dump", bytes, size);
}

static void read_pipes(const void *bytes, size_t size) {
  in_folder("PipeUtilization.csv", "OpBasicInfo.csv", bytes, size);
}

static void check_list(struct call_list *list) {
  size_t bytes = 0;
  for (size_t i = 0; i < list->count; i++)
    for (unsigned c = 0; c < CALL_COLUMN_COUNT; c++)
      bytes += strlen(list->rows[i].cell[c]);
  (void)bytes;
  arena_free(&list->arena);
}

static void read_sums(const void *bytes, size_t size) {
  struct call_list list;
  bool are_sums;
  if (calls_read_sums(write_file("sums.csv", bytes, size), &list, &are_sums, NULL) == VINCI_OK &&
      are_sums)
    check_list(&list);
}

/* Databases of profilers, and lists as they are. */
static void read_list(const void *bytes, size_t size) {
  struct call_list list;
  if (calls_read(write_file("list", bytes, size), &list, NULL) == VINCI_OK)
    check_list(&list);
}

static void read_requests(const void *bytes, size_t size) {
  struct vinci_net_request *requests;
  size_t count;
  if (vinci_net_requests(write_file("requests.csv", bytes, size), &requests, &count, NULL) ==
      VINCI_OK)
    for (size_t i = 1; i < count; i++)
      if (requests[i].arrival_ps < requests[i - 1].arrival_ps)
        vinci_bug("request %zu comes before the one before", i);
  free(requests);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static const struct reader {
  const char *name;
  void (*read)(const void *bytes, size_t size);
} readers[] = {
    {"tunings", read_tunings},   {"tune journal", read_tune_journal},
    {"journal", read_journal},   {"gate", read_gate},
    {"policy", read_policy},     {"kept list", read_kept_list},
    {"json", read_json},         {"profile", read_profile},
    {"timeline", read_timeline}, {"dump", read_dump},
    {"pipes", read_pipes},       {"sums", read_sums},
    {"list", read_list},         {"requests", read_requests},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *end = size > 0 ? memchr(data, '\n', size) : NULL;
  size_t length = end ? (size_t)(end - (const char *)data) : 0;
  if (!end)
    return 0;
  if (!*folder) {
    if (folder_make_temporary("vinci-fuzz", folder, sizeof folder, NULL) != VINCI_OK)
      vinci_bug("no folder for files");
    atexit(remove_folder);
  }
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (strlen(readers[i].name) == length && memcmp(readers[i].name, data, length) == 0)
      readers[i].read(end + 1, size - length - 1);
  return 0;
}
