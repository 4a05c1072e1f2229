/* SPDX-License-Identifier: Apache-2.0 */
/* Journals: what a kill, a signal, a full disk, another process or another version leaves. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* What the next calls of read() do: an error, then at most N bytes at a time; and how many bytes
 * the disk has room for. */
static struct {
  int error;
  unsigned errors;
  size_t most;
  size_t room;
} faults;

static ssize_t faulty_read(int file, void *bytes, size_t size) {
  if (faults.errors > 0) {
    faults.errors--;
    errno = faults.error;
    return -1;
  }
  return read(file, bytes, faults.most && size > faults.most ? faults.most : size);
}

static ssize_t faulty_write(int file, const void *bytes, size_t size) {
  return write(file, bytes, faults.room && size > faults.room ? faults.room : size);
}

static int no_sleep(const struct timespec *time, struct timespec *left) {
  (void)time;
  (void)left;
  return 0;
}

#define read faulty_read
#define write faulty_write
#define nanosleep no_sleep
#include "core/base/journal.c"
#undef read
#undef write
#undef nanosleep

enum { RECORDS = 4, PART_BYTES = 7 };
#define PATH "test_journal.journal"
static const char *const lines[RECORDS] = {"first", "second\tlonger, \"with\" quotes", "", "=4"};

static struct {
  unsigned count;
  unsigned short_after; /* memory is short at this line; 0: never */
} taken;

static bool take(void *context, char *text) {
  (void)context;
  if (taken.short_after > 0 && taken.count + 1 == taken.short_after)
    return false;
  assert_true(taken.count < RECORDS);
  assert_string_equal(text, lines[taken.count]);
  taken.count++;
  return true;
}

/* The only whole line stands at the beginning. */
static bool take_at(void *context, char *text, uint64_t offset) {
  assert_int_equal(offset, 0);
  return take(context, text);
}

static enum vinci_status open_as(struct journal *journal, const char *head,
                                 enum journal_sharing sharing, struct vinci_diag *diag) {
  struct journal_request request = {.path = PATH,
                                    .sharing = sharing,
                                    .busy = "somebody has it",
                                    .busy_at = "there",
                                    .head = head,
                                    .take = take};
  taken.count = 0;
  *journal = (struct journal){.file = -1};
  return journal_open(journal, &request, diag);
}

static enum vinci_status reopen(struct journal *journal) {
  struct vinci_diag diag = {0};
  return open_as(journal, "kind 1 me", JOURNAL_ALONE, &diag);
}

static int keep_all(void **state) {
  (void)state;
  struct journal journal;
  memset(&faults, 0, sizeof faults);
  taken.short_after = 0;
  (void)unlink(PATH);
  if (reopen(&journal) != VINCI_OK || taken.count != 0)
    return -1;
  for (size_t i = 0; i < RECORDS; i++)
    if (!journal_add(&journal, lines[i]))
      return -1;
  journal_close(&journal, false);
  return 0;
}

static int remove_it(void **state) {
  (void)state;
  return unlink(PATH);
}

static void count_is(unsigned count) {
  struct journal journal;
  assert_int_equal(reopen(&journal), VINCI_OK);
  assert_int_equal(taken.count, count);
  journal_close(&journal, false);
}

static void put_into_file(const char *text, const char *mode) {
  FILE *out = fopen(PATH, mode);
  assert_non_null(out);
  fputs(text, out);
  assert_int_equal(fclose(out), 0);
}

static void a_signal_loses_nothing(void **state) {
  (void)state;
  faults.error = EINTR;
  faults.errors = 2;
  count_is(RECORDS);
  assert_int_equal(faults.errors, 0);
  count_is(RECORDS);
}

static void parts_are_put_together(void **state) {
  (void)state;
  faults.most = PART_BYTES;
  count_is(RECORDS);
  count_is(RECORDS);
}

/* The file stays as it was. */
static void what_cannot_be_read_is_not_cut(void **state) {
  (void)state;
  struct journal journal;
  faults.error = EIO;
  faults.errors = 1;
  assert_int_equal(reopen(&journal), VINCI_E_IO);
  count_is(RECORDS);
}

static void two_cannot_have_it(void **state) {
  (void)state;
  struct journal one, other;
  struct vinci_diag diag = {0};
  assert_int_equal(reopen(&one), VINCI_OK);
  assert_int_equal(open_as(&other, "kind 1 me", JOURNAL_ALONE, &diag), VINCI_E_USAGE);
  assert_int_equal(taken.count, 0);
  assert_string_equal(diag.text, "somebody has it");
  assert_string_equal(diag.path, "there");
  journal_close(&other, true);
  journal_close(&one, false);
  count_is(RECORDS);
}

/* Both add lines; only the last can remove the file. */
static void several_may_share_it(void **state) {
  (void)state;
  struct journal one, other;
  struct vinci_diag diag = {0};
  assert_int_equal(open_as(&one, "kind 1 me", JOURNAL_SHARED, &diag), VINCI_OK);
  assert_int_equal(open_as(&other, "kind 1 me", JOURNAL_SHARED, &diag), VINCI_OK);
  assert_int_equal(taken.count, RECORDS);
  journal_close(&other, true);
  assert_int_equal(access(PATH, F_OK), 0);
  journal_close(&one, true);
  assert_int_equal(access(PATH, F_OK), -1);
  put_into_file("", "w");
}

/* A torn line is passed over, what is added later is not part of that line. */
static void a_torn_line_costs_itself(void **state) {
  (void)state;
  struct journal journal;
  size_t torn = 0;
  struct vinci_diag diag = {0};
  static const char *const tails[] = {"half a li", "third\t0123456789abcdef\n", "\n", "\t"};
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    assert_int_equal(keep_all(NULL), 0);
    assert_int_equal(truncate(PATH, 0), 0);
    assert_int_equal(reopen(&journal), VINCI_OK);
    assert_true(journal_add(&journal, lines[0]));
    journal_close(&journal, false);
    put_into_file(tails[i], "a");
    assert_int_equal(reopen(&journal), VINCI_OK);
    assert_int_equal(taken.count, 1);
    assert_true(journal_add(&journal, lines[1]));
    journal_close(&journal, false);
    count_is(2);
  }
  put_into_file("", "w");
  assert_int_equal(open_as(&journal, NULL, JOURNAL_UNLOCKED, &diag), VINCI_OK);
  assert_true(journal_add(&journal, lines[0]));
  journal_close(&journal, false);
  put_into_file("half", "a");
  taken.count = 0;
  assert_int_equal(journal_read(PATH, take_at, NULL, &torn, &diag), VINCI_OK);
  assert_int_equal(taken.count, 1);
  assert_int_equal(torn, 1);
}

static void a_full_disk_is_told(void **state) {
  (void)state;
  struct journal journal;
  assert_int_equal(reopen(&journal), VINCI_OK);
  faults.room = PART_BYTES;
  assert_false(journal_add(&journal, "a line that has no room"));
  assert_int_equal(errno, ENOSPC);
  faults.room = 0;
  journal_close(&journal, false);
  count_is(RECORDS);
}

static void another_identity_is_given_up(void **state) {
  (void)state;
  struct journal journal;
  struct vinci_diag diag = {0};
  assert_int_equal(open_as(&journal, "kind 1 you", JOURNAL_ALONE, &diag), VINCI_OK);
  assert_int_equal(taken.count, 0);
  assert_true(journal_add(&journal, lines[0]));
  journal_close(&journal, false);
  assert_int_equal(open_as(&journal, "kind 1 you", JOURNAL_ALONE, &diag), VINCI_OK);
  assert_int_equal(taken.count, 1);
  journal_close(&journal, false);
}

static void another_version_is_refused(void **state) {
  (void)state;
  struct journal journal;
  struct vinci_diag diag = {0};
  static const enum journal_sharing all[] = {JOURNAL_ALONE, JOURNAL_SHARED};
  for (size_t i = 0; i < 2; i++) {
    memset(&diag, 0, sizeof diag);
    assert_int_equal(open_as(&journal, "kind 2 me", all[i], &diag), VINCI_E_INPUT);
    assert_int_equal(taken.count, 0);
    assert_non_null(strstr(diag.text, "begins with \"kind 2\""));
    assert_int_equal(diag.line, 1);
  }
  put_into_file("0123456789abcdef 17 0123456789abcdef 0123456789abcdef\n", "w");
  memset(&diag, 0, sizeof diag);
  assert_int_equal(open_as(&journal, "kind 1", JOURNAL_SHARED, &diag), VINCI_E_INPUT);
}

static void a_torn_first_line_is_made_again(void **state) {
  (void)state;
  put_into_file("kind 1", "w");
  count_is(0);
  count_is(0);
}

static void memory_that_is_short_is_told(void **state) {
  (void)state;
  struct journal journal;
  taken.short_after = 2;
  assert_int_equal(reopen(&journal), VINCI_E_NOMEM);
  taken.short_after = 0;
  count_is(RECORDS);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, keep_all, remove_it)
  const struct CMUnitTest tests[] = {
      CASE(a_signal_loses_nothing),
      CASE(parts_are_put_together),
      CASE(what_cannot_be_read_is_not_cut),
      CASE(two_cannot_have_it),
      CASE(several_may_share_it),
      CASE(a_torn_line_costs_itself),
      CASE(a_full_disk_is_told),
      CASE(another_identity_is_given_up),
      CASE(another_version_is_refused),
      CASE(a_torn_first_line_is_made_again),
      CASE(memory_that_is_short_is_told),
  };
  return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
