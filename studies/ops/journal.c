/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a list of operators: a line "ROW END OTHER_TYPE TEXT" for each finished row. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/ops/ops.h"

enum { HEAD_BYTES = 64, RECORD_HEAD_BYTES = 96 };

struct reading {
  void (*known)(void *context, struct ops_record record);
  void *context;
};

/* The text of a record ends with the end of its line. */
static bool take_record(void *context, char *text) {
  const struct reading *reading = context;
  struct ops_record record;
  unsigned end;
  int head = 0;
  if (sscanf(text, "%zu %u %u %n", &record.row, &end, &record.other_type, &head) != 3 ||
      end == OPS_OPEN || end >= OPS_ENDS)
    return true;
  size_t length = strlen(text + head);
  record.end = (enum ops_end)end;
  record.text = malloc(length + 2);
  if (!record.text)
    return false;
  memcpy(record.text, text + head, length);
  memcpy(record.text + length, "\n", 2);
  reading->known(reading->context, record);
  return true;
}

enum vinci_status ops_journal_open(struct journal *journal, const char *folder, uint64_t identity,
                                   void (*known)(void *context, struct ops_record record),
                                   void *context, struct vinci_diag *diag) {
  char head[HEAD_BYTES], path[JOURNAL_PATH_BYTES];
  struct reading reading = {known, context};
  snprintf(head, sizeof head, "vinci-ops 6 %016" PRIx64, identity);
  snprintf(path, sizeof path, "%s/op_summary.journal", folder);
  struct journal_request request = {.path = path,
                                    .sharing = JOURNAL_ALONE,
                                    .busy = "another run is working in this folder",
                                    .busy_at = folder,
                                    .head = head,
                                    .take = take_record,
                                    .context = &reading};
  return journal_open(journal, &request, diag);
}

enum vinci_status ops_journal_add(const struct journal *journal, const struct ops_record *record,
                                  struct vinci_diag *diag) {
  int length = (int)strcspn(record->text, "\n");
  char *text = malloc(RECORD_HEAD_BYTES + (size_t)length);
  if (!text)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  snprintf(text, RECORD_HEAD_BYTES + (size_t)length, "%zu %u %u %.*s", record->row,
           (unsigned)record->end, record->other_type, length, record->text);
  bool added = journal_add(journal, text);
  int error = errno;
  free(text);
  errno = error;
  return added ? VINCI_OK : file_error(diag, journal->path, "keep the journal");
}
