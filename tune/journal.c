/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of searches: a line "QUESTION CYCLES PROGRAM" for each evaluation, so that a kill
 * costs at most the evaluations under way. A line is found by the digest of its question, of which
 * the chip, the models and the model revision are a part: what is of another chip or an older model
 * is never taken.
 *
 * Several processes may keep one journal at a time. Who is the last to hold the file may remove the
 * file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/lookup.h"
#include "tune/tune.h"

#define LINE_FORMAT "%016" PRIx64 " %" PRIu64 " %016" PRIx64
enum { LINE_BYTES = 80, FIRST_ROOM = 512 };

struct tune_journal {
  struct journal file;
  struct tune_fact *facts;
  size_t count, room;
  struct lookup known; /* facts by question */
};

static bool remember(struct tune_journal *journal, uint64_t question, struct tune_fact fact) {
  uintptr_t known = lookup_find(&journal->known, question);
  if (known != LOOKUP_NONE) {
    journal->facts[known] = fact;
    return true;
  }
  if (journal->count == journal->room) {
    size_t room = journal->room ? 2 * journal->room : FIRST_ROOM;
    struct tune_fact *facts = realloc(journal->facts, room * sizeof *facts);
    if (!facts)
      return false;
    journal->facts = facts;
    journal->room = room;
  }
  journal->facts[journal->count] = fact;
  return lookup_add(&journal->known, NULL, question, journal->count++);
}

static bool take_line(void *context, char *text) {
  uint64_t question;
  struct tune_fact fact;
  return sscanf(text, "%16" SCNx64 " %" SCNu64 " %16" SCNx64, &question, &fact.cycles,
                &fact.program_digest) != 3 ||
         remember(context, question, fact);
}

/* Opens a file that others may have; context NULL: and reads nothing. */
static enum vinci_status open_shared(struct journal *file, const char *path, void *context,
                                     struct vinci_diag *diag) {
  struct journal_request request = {.path = path,
                                    .sharing = JOURNAL_SHARED,
                                    .busy = "another process has locked this journal",
                                    .busy_at = path,
                                    .head = context ? "vinci-tune 2" : NULL,
                                    .take = take_line,
                                    .context = context};
  return journal_open(file, &request, diag);
}

enum vinci_status tune_journal_hold(const char *path, struct journal *file,
                                    struct vinci_diag *diag) {
  return open_shared(file, path, NULL, diag);
}

enum vinci_status tune_journal_open(const char *path, struct tune_journal **out,
                                    struct vinci_diag *diag) {
  struct tune_journal *journal = calloc(1, sizeof *journal);
  *out = journal;
  if (!journal)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  journal->file.file = -1;
  return path ? open_shared(&journal->file, path, journal, diag) : VINCI_OK;
}

void tune_journal_close(struct tune_journal *journal) {
  if (!journal)
    return;
  journal_close(&journal->file, false);
  lookup_free(&journal->known);
  free(journal->facts);
  free(journal);
}

bool tune_journal_find(const struct tune_journal *journal, uint64_t question,
                       struct tune_fact *out) {
  uintptr_t known = lookup_find(&journal->known, question);
  *out = known != LOOKUP_NONE ? journal->facts[known] : (struct tune_fact){0};
  return known != LOOKUP_NONE;
}

enum vinci_status tune_journal_add(struct tune_journal *journal, uint64_t question,
                                   struct tune_fact fact, struct vinci_diag *diag) {
  char line[LINE_BYTES];
  if (!remember(journal, question, fact))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  snprintf(line, sizeof line, LINE_FORMAT, question, fact.cycles, fact.program_digest);
  return journal->file.file < 0 || journal_add(&journal->file, line)
             ? VINCI_OK
             : file_error(diag, journal->file.path, "keep the journal");
}
