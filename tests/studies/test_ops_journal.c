/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of `vinci run --ops` where reading is interrupted, comes in parts, or fails. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What the next calls of read() do: an error, then at most N bytes at a time. */
static struct {
  int error;
  unsigned errors;
  size_t most;
} faults;

static ssize_t faulty_read(int file, void *bytes, size_t size) {
  if (faults.errors > 0) {
    faults.errors--;
    errno = faults.error;
    return -1;
  }
  return read(file, bytes, faults.most && size > faults.most ? faults.most : size);
}

#define read faulty_read
#include "studies/ops/journal.c"
#undef read

enum { IDENTITY = 77, RECORDS = 3, PART_BYTES = 7 };
static const char *const lines[RECORDS] = {"first\n", "second, longer\n", "third\n"};

static void count_known(void *context, struct ops_record record) {
  unsigned *known = context;
  assert_true(record.row < RECORDS);
  assert_string_equal(record.text, lines[record.row]);
  free(record.text);
  ++*known;
}

static enum vinci_status reopen(struct ops_journal *journal, unsigned *known) {
  struct vinci_diag diag = {0};
  *known = 0;
  return ops_journal_open(journal, ".", IDENTITY, count_known, known, &diag);
}

static int keep_three(void **state) {
  (void)state;
  struct ops_journal journal;
  struct vinci_diag diag = {0};
  unsigned known;
  faults.errors = 0;
  faults.most = 0;
  (void)unlink("op_summary.journal");
  if (reopen(&journal, &known) != VINCI_OK || known != 0)
    return -1;
  for (size_t i = 0; i < RECORDS; i++) {
    char *text = strdup(lines[i]);
    struct ops_record record = {.row = i, .end = OPS_OK, .text = text};
    if (!text || ops_journal_add(&journal, &record, &diag) != VINCI_OK)
      return -1;
    free(text);
  }
  ops_journal_close(&journal, false);
  return 0;
}

static int remove_it(void **state) {
  (void)state;
  return unlink("op_summary.journal");
}

static void all_are_known(void) {
  struct ops_journal journal;
  unsigned known;
  assert_int_equal(reopen(&journal, &known), VINCI_OK);
  assert_int_equal(known, RECORDS);
  ops_journal_close(&journal, false);
}

static void a_signal_loses_nothing(void **state) {
  (void)state;
  faults.error = EINTR;
  faults.errors = 2;
  all_are_known();
  assert_int_equal(faults.errors, 0);
  all_are_known();
}

static void parts_are_put_together(void **state) {
  (void)state;
  faults.most = PART_BYTES;
  all_are_known();
  all_are_known();
}

/* The file stays as it was. */
static void what_cannot_be_read_is_not_cut(void **state) {
  (void)state;
  struct ops_journal journal;
  unsigned known;
  faults.error = EIO;
  faults.errors = 1;
  assert_int_equal(reopen(&journal, &known), VINCI_E_IO);
  ops_journal_close(&journal, false);
  all_are_known();
}

static void two_cannot_have_it(void **state) {
  (void)state;
  struct ops_journal one, other;
  unsigned known;
  assert_int_equal(reopen(&one, &known), VINCI_OK);
  assert_int_equal(reopen(&other, &known), VINCI_E_USAGE);
  assert_int_equal(known, 0);
  ops_journal_close(&other, true);
  ops_journal_close(&one, false);
  all_are_known();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_signal_loses_nothing, keep_three, remove_it),
      cmocka_unit_test_setup_teardown(parts_are_put_together, keep_three, remove_it),
      cmocka_unit_test_setup_teardown(what_cannot_be_read_is_not_cut, keep_three, remove_it),
      cmocka_unit_test_setup_teardown(two_cannot_have_it, keep_three, remove_it),
  };
  return cmocka_run_group_tests_name("ops_journal", tests, NULL, NULL);
}
