/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of read rows: what the scalar unit reads of UB, and the number of lanes that vreducev2
 * has taken. Operators that follow their data are right as they are, and wrong without any of the
 * flags that the scalar unit waits for.
 */
#include <stdlib.h>

#include "tests/support/checks.h"
#include "tests/support/words.h"

enum { RACE = VINCI_CHECK_RACECHECK, INIT = VINCI_CHECK_INITCHECK, MEM = VINCI_CHECK_MEMCHECK };

#define COMPACT "vreducev2,dst=uby,src0=ubx,src1=ubx+1024,repeat=1,pattern=7,type=uint16\n"
#define DUP(dst) "vector_dup,dst=" dst ",scalar=0,repeat=1,type=fp16\n"

static void test_read_of_what_is_on_its_way(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) COPY_IN "read,n,0,ubx+8\n", RACE,
                "====== ERROR: Potential RAW hazard detected at UB in k:\n"
                "======    PIPE_MTE2 Write at 0x8, 4 bytes, in block aiv(0)\n"
                "======    #0 t.csv:8 copy_gm_to_ubuf\n"
                "======    PIPE_S Read at 0x8, 4 bytes, in block aiv(0)\n"
                "======    #0 t.csv:9 read\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_clean(CHECK_HEAD(1) COPY_IN SET(MTE2, S) WAIT(MTE2, S) "read,n,0,ubx+8\n");
  expect_clean(CHECK_HEAD(1) COPY_IN BARRIER(ALL) "read,n,0,ubx+8\n");
  /* A barrier of the pipe does not hold the scalar unit, nor does a flag of another pipe. */
  assert_true(finds(CHECK_HEAD(1) COPY_IN BARRIER(MTE2) "read,n,0,ubx+8\n", RACE, FINDING_RAW, 10));
  assert_true(
      finds(CHECK_HEAD(1) SET(V, S) WAIT(V, S) COPY_IN "read,n,0,ubx+8\n", RACE, FINDING_RAW, 11));
  /* Other bytes are no hazard. */
  assert_false(finds(CHECK_HEAD(1) COPY_IN "read,n,0,ubx+256\n", RACE, FINDING_RAW, 9));
}

/* The value is in a register before anything else is issued. A write that was issued before waits
 * here for a flag that is set behind the read. */
static void test_write_after_a_read(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(1) COPY_IN SET(MTE2, S) WAIT(MTE2, S) "read,n,0,ubx+8\n" COPY_IN);
  expect_clean(CHECK_HEAD(1) COPY_IN SET(MTE2, S) WAIT(MTE2, S) WAIT(S, V)
                   DUP("ubx") "read,n,0,ubx+8\n" SET(S, V));
}

static void test_read_of_what_nobody_wrote(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) "read,n,0,ubx+8\n" BARRIER(ALL), INIT,
                "====== ERROR: uninitialized read of size 4\n"
                "======    at 0x8 on UB in k\n"
                "======    operand \"from\" reads 4 bytes, of which 4 have never been written\n"
                "======    in block aiv(0) on PIPE_S\n"
                "======    #0 t.csv:8 read\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  /* The 256 bytes of the copy end there. */
  assert_true(finds(CHECK_HEAD(1) COPY_IN BARRIER(ALL) "read,n,0,ubx+256\n", INIT,
                    FINDING_UNINITIALIZED, 10));
}

static void test_read_outside(void **state) {
  (void)state;
  assert_true(
      finds(CHECK_HEAD(1) BARRIER(V) "read,n,0,ubx+4096+blk\n", MEM, FINDING_ILLEGAL_READ, 9));
  assert_true(finds(CHECK_HEAD(1) BARRIER(V) "read,n,0,1048576\n", MEM, FINDING_ILLEGAL_READ, 9));
  assert_true(finds(CHECK_HEAD(1) BARRIER(V) "read,n,0,ubx+6\n", MEM, FINDING_MISALIGNED, 9));
}

/* Addresses whose end no number of 64 bits holds are outside, not before the start. */
static void test_read_at_the_end_of_numbers(void **state) {
  (void)state;
  static const char *const from[] = {"9223372036854775804", "9223372036854775800",
                                     "x+9223372036854771708"};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    char text[512];
    (void)snprintf(text, sizeof text, "%sread,n,0,%s\n%s", CHECK_HEAD(1), from[i], BARRIER(V));
    assert_true(finds(text, MEM, FINDING_ILLEGAL_READ, 8));
  }
}

/* Of a tensor that the row names. */
static void test_read_of_device_memory(void **state) {
  (void)state;
  expect_clean(CHECK_HEAD(1) "read,n,0,x+4088,int64\n" BARRIER(V));
  assert_true(
      finds(CHECK_HEAD(1) "read,n,0,x+4092+4*blk+4\n" BARRIER(V), MEM, FINDING_ILLEGAL_READ, 8));
  assert_true(finds(CHECK_HEAD(1) "read,n,0,x+4,int64\n" BARRIER(V), MEM, FINDING_MISALIGNED, 8));
  assert_true(finds(CHECK_HEAD(1) "read,n,0,y+8\n" BARRIER(V), INIT, FINDING_UNINITIALIZED, 8));
  assert_true(finds(CHECK_HEAD(1) DUP("uby") SET(V, MTE3) WAIT(V, MTE3) COPY_OUT "read,n,0,y+8\n",
                    RACE, FINDING_RAW, 12));
  expect_clean(CHECK_HEAD(1) DUP("uby") SET(V, MTE3) WAIT(V, MTE3) COPY_OUT SET(MTE3, S)
                   WAIT(MTE3, S) "read,n,0,y+8\n");
  /* Of what another block writes. */
  assert_true(finds(CHECK_HEAD(2) DUP("uby") SET(V, MTE3) WAIT(
                        V, MTE3) "copy_ubuf_to_gm,dst=y+256*blk,src=uby,len_burst=8\n" SET(MTE3, S)
                        WAIT(MTE3, S) "read,n,0,y+256-256*blk\n",
                    RACE, FINDING_RAW, 14));
}

static void test_lanes_taken(void **state) {
  (void)state;
  expect_report(CHECK_HEAD(1) DUP("ubx") BARRIER(V) COMPACT "read,n,0,taken\n", RACE,
                "====== ERROR: Potential RAW hazard detected in k\n"
                "======    the register with the number of lanes that vreducev2 has taken\n"
                "======    in block aiv(0) on PIPE_S\n"
                "======    #0 t.csv:11 read\n"
                "======    and\n"
                "======    #0 t.csv:10 vreducev2\n"
                "======\n"
                "====== SUMMARY: 1 error\n");
  expect_clean(CHECK_HEAD(1) DUP("ubx") BARRIER(V) COMPACT SET(V, S) WAIT(V, S) "read,n,0,taken\n");
  /* Not the first vreducev2 but the last counts. */
  assert_true(finds(CHECK_HEAD(1) DUP("ubx") BARRIER(V) COMPACT SET(V, S) WAIT(V, S) BARRIER(V)
                        COMPACT "read,n,0,taken\n",
                    RACE, FINDING_RAW, 15));
  assert_true(finds(CHECK_HEAD(1) DUP("ubx") SET(V, S) WAIT(V, S) "read,n,0,taken\n", INIT,
                    FINDING_UNINITIALIZED, 11));
}

/* ---- operators that follow their data ------------------------------------------------- */

static char *text_of(const char *request) {
  struct vinci_diag diag = {0};
  struct words words;
  char *text;
  words_split(&words, request);
  if (vinci_compile_text(fixture_shared, words.item[0], words.item + 1, words.count - 1, &text,
                         &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  return text;
}

/* A copy without two lines, from their starts on. */
static char *without(const char *text, const char *first, const char *second) {
  size_t length = strlen(text), at = 0;
  char *out = malloc(length + 1);
  assert_non_null(out);
  for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
    size_t bytes = strcspn(line, "\n") + 1;
    if (line == first || line == second)
      continue;
    memcpy(out + at, line, bytes);
    at += bytes;
  }
  out[at] = '\0';
  return out;
}

/* The start of the next line from `line` on that begins with the words; NULL. */
static const char *next_line(const char *line, const char *words) {
  for (; *line; line += strcspn(line, "\n") + 1)
    if (strncmp(line + strspn(line, " "), words, strlen(words)) == 0)
      return line;
  return NULL;
}

/* Each pair of a set_flag to the scalar unit and the wait_flag of the same words is left out. */
static void expect_found_without_flags(const char *request) {
  char *text = text_of(request), wait[128];
  unsigned pairs = 0;
  assert_null(find_with(fixture_shared, text, 0));
  for (const char *set = text; (set = next_line(set, "set_flag,")) != NULL;
       set += strcspn(set, "\n") + 1) {
    const char *words = strchr(set, ',');
    int length = (int)strcspn(words, "\n");
    snprintf(wait, sizeof wait, "wait_flag%.*s\n", length, words);
    if (!strstr(wait, "dst=S,"))
      continue;
    const char *other = next_line(text, wait);
    assert_non_null(other);
    char *cut = without(text, set, other);
    vinci_findings *findings = find_with(fixture_shared, cut, RACE);
    if (!findings)
      fail_msg("%s: nothing found without %s", request, wait);
    vinci_findings_free(findings);
    free(cut);
    pairs++;
  }
  assert_true(pairs > 0);
  vinci_text_free(text);
}

static void test_operators_without_a_flag(void **state) {
  (void)state;
  static const char *const requests[] = {
      "gather shape=101x64 count=300",         "gather shape=101x64 count=300 dtype1=int64",
      "scatter_update shape=101x64 count=90",  "scatter_add shape=101x64 count=90 dtype=fp32",
      "masked_select shape=64x100 count=3000", "nonzero shape=64x100 count=3000",
  };
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    expect_found_without_flags(requests[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_of_what_is_on_its_way),
      cmocka_unit_test(test_write_after_a_read),
      cmocka_unit_test(test_read_of_what_nobody_wrote),
      cmocka_unit_test(test_read_outside),
      cmocka_unit_test(test_read_of_device_memory),
      cmocka_unit_test(test_read_at_the_end_of_numbers),
      cmocka_unit_test(test_lanes_taken),
      cmocka_unit_test(test_operators_without_a_flag),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
