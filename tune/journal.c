/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of searches: a line for each evaluation, written at once with a checksum, so that a
 * kill costs at most the evaluations under way. A line is found by the digest of its question, of
 * which the chip, the models and the model revision are a part: what is of another chip or an older
 * model is never taken.
 *
 * Several processes may keep one journal at a time: each adds whole lines at the end, and holds the
 * file by a shared lock. Who is the last to hold the file may remove the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "tune/tune.h"

#define LINE_FORMAT "%016" PRIx64 " %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n"
enum { FIRST_SLOTS = 1024, LINE_BYTES = 96, LOCK_TRIES = 20, LOCK_NS = 100000000 };

struct entry {
  uint64_t question; /* 0: free */
  struct tune_fact fact;
};

struct tune_journal {
  int file; /* -1: none */
  char path[4096];
  struct entry *slot;
  size_t slot_count, count;
};

static size_t slot_of(const struct tune_journal *journal, uint64_t question) {
  size_t slot = question % journal->slot_count;
  while (journal->slot[slot].question && journal->slot[slot].question != question)
    slot = (slot + 1) % journal->slot_count;
  return slot;
}

static bool remember(struct tune_journal *journal, uint64_t question, struct tune_fact fact) {
  if (2 * journal->count >= journal->slot_count) {
    struct tune_journal larger = {.slot_count = 2 * journal->slot_count};
    larger.slot = calloc(larger.slot_count, sizeof *larger.slot);
    if (!larger.slot)
      return false;
    for (size_t i = 0; i < journal->slot_count; i++)
      if (journal->slot[i].question)
        larger.slot[slot_of(&larger, journal->slot[i].question)] = journal->slot[i];
    free(journal->slot);
    journal->slot = larger.slot;
    journal->slot_count = larger.slot_count;
  }
  size_t slot = slot_of(journal, question);
  journal->count += journal->slot[slot].question == 0;
  journal->slot[slot] = (struct entry){question, fact};
  return true;
}

static uint64_t checksum(uint64_t question, struct tune_fact fact) {
  uint64_t words[] = {question, fact.cycles, fact.program_digest};
  return digest_bytes(DIGEST_SEED, words, sizeof words);
}

/* Takes the lines that are whole; a torn line is passed over. */
static bool read_lines(struct tune_journal *journal, char *text) {
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    uint64_t question, sum;
    struct tune_fact fact;
    if (sscanf(line, "%16" SCNx64 " %" SCNu64 " %16" SCNx64 " %16" SCNx64, &question, &fact.cycles,
               &fact.program_digest, &sum) == 4 &&
        sum == checksum(question, fact) && !remember(journal, question, fact))
      return false;
  }
  return true;
}

/* Who removes a journal has it for a moment. File systems without locks do without. */
static bool take_lock(int file) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      return true;
    nanosleep(&(struct timespec){.tv_nsec = LOCK_NS}, NULL);
  }
  return false;
}

enum vinci_status tune_journal_hold(const char *path, int *file, struct vinci_diag *diag) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file < 0)
      return file_error(diag, path, "keep the journal");
    bool locked = take_lock(*file);
    if (locked && file_is_at(*file, path))
      return VINCI_OK;
    close(*file); /* it has been removed meanwhile */
  }
  *file = -1;
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = path},
                       "another process has locked this journal");
}

void tune_journal_drop(const char *path, int *file) {
  if (*file >= 0 && flock(*file, LOCK_EX | LOCK_NB) == 0 && file_is_at(*file, path))
    (void)unlink(path);
  if (*file >= 0)
    close(*file);
  *file = -1;
}

static enum vinci_status open_file(struct tune_journal *journal, const char *path,
                                   struct vinci_diag *diag) {
  enum { JOURNAL_BYTES_MAX = 1 << 30 };
  snprintf(journal->path, sizeof journal->path, "%s", path);
  enum vinci_status status = tune_journal_hold(path, &journal->file, diag);
  if (status != VINCI_OK)
    return status;
  size_t length;
  char *text = file_read(path, JOURNAL_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  /* What a kill has torn ends where the next line begins. */
  bool torn = length > 0 && text[length - 1] != '\n';
  bool kept = read_lines(journal, text);
  free(text);
  if (!kept)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  return torn && write(journal->file, "\n", 1) != 1 ? file_error(diag, path, "keep the journal")
                                                    : VINCI_OK;
}

enum vinci_status tune_journal_open(const char *path, struct tune_journal **out,
                                    struct vinci_diag *diag) {
  struct tune_journal *journal = calloc(1, sizeof *journal);
  *out = journal;
  if (journal)
    *journal = (struct tune_journal){
        .file = -1, .slot = calloc(FIRST_SLOTS, sizeof *journal->slot), .slot_count = FIRST_SLOTS};
  if (!journal || !journal->slot)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  return path ? open_file(journal, path, diag) : VINCI_OK;
}

void tune_journal_close(struct tune_journal *journal) {
  if (!journal)
    return;
  if (journal->file >= 0)
    close(journal->file);
  free(journal->slot);
  free(journal);
}

bool tune_journal_find(const struct tune_journal *journal, uint64_t question,
                       struct tune_fact *out) {
  const struct entry *entry = &journal->slot[slot_of(journal, question)];
  *out = entry->fact;
  return entry->question != 0;
}

enum vinci_status tune_journal_add(struct tune_journal *journal, uint64_t question,
                                   struct tune_fact fact, struct vinci_diag *diag) {
  char line[LINE_BYTES];
  if (!remember(journal, question, fact))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the journal");
  if (journal->file < 0)
    return VINCI_OK;
  int length = snprintf(line, sizeof line, LINE_FORMAT, question, fact.cycles, fact.program_digest,
                        checksum(question, fact));
  return write(journal->file, line, (size_t)length) == length
             ? VINCI_OK
             : file_error(diag, journal->path, "keep the journal");
}
