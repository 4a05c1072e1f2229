/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the additions that count what scalar code executes: their numbers, and that flags stay
 * where somebody reads them. The expected texts are written by hand from the rules of x86-64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/source/source.h"

#define COUNT(n) "\taddq\t$" #n ", vinci_cce_count(%rip)\n"
#define COUNT_KEEPING_FLAGS(n)                                                                     \
  "\tleaq\t-128(%rsp), %rsp\n\tpushfq\n" COUNT(n) "\tpopfq\n\tleaq\t128(%rsp), %rsp\n"

static void assert_counts(const char *text, const char *expected) {
  size_t length;
  char *counted = source_count_instructions(text, strlen(text), &length);
  assert_non_null(counted);
  char *ended = calloc(1, length + 1);
  memcpy(ended, counted, length);
  assert_string_equal(ended, expected);
  free(ended);
  free(counted);
}

/* Nobody reads the flags that a caller or a called function leaves. */
static void test_functions_and_calls(void **state) {
  (void)state;
  assert_counts(
      "kernel: # @kernel\n\t.cfi_startproc\n\tmovl\t$1, %edi\n\tcallq\t*(%rax)\n"
      "\tmovq\t%rax, %rbx\n\tretq\n",
      "kernel: # @kernel\n\t.cfi_startproc\n" COUNT(2) "\tmovl\t$1, %edi\n\tcallq\t*(%rax)\n" COUNT(
          2) "\tmovq\t%rax, %rbx\n\tretq\n");
}

/* In a block that sets all flags the addition stands before that instruction. */
static void test_blocks_that_set_flags(void **state) {
  (void)state;
  assert_counts(".LBB0_1:\n\tmovl\t%eax, %ecx\n\tincl\t%ecx\n\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n",
                ".LBB0_1:\n\tmovl\t%eax, %ecx\n\tincl\t%ecx\n" COUNT(
                    4) "\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n");
}

/* Behind a jump the flags may still be read: by a second jump, or by an addition with carry. */
static void test_flags_that_are_read(void **state) {
  (void)state;
  assert_counts(
      "f:\n\ttestl\t%edi, %edi\n\tje\t.LBB0_2\n\tjs\t.LBB0_3\n.LBB0_2:\n\tadcq\t$0, %rax\n"
      "\txorps\t%xmm0, %xmm0\n\taddss\t%xmm1, %xmm0\n\tjmp\t.LBB0_3\n",
      "f:\n" COUNT(2) "\ttestl\t%edi, %edi\n\tje\t.LBB0_2\n" COUNT_KEEPING_FLAGS(
          1) "\tjs\t.LBB0_3\n.LBB0_2:\n" COUNT_KEEPING_FLAGS(4) "\tadcq\t$0, %rax\n"
                                                                "\txorps\t%xmm0, "
                                                                "%xmm0\n\taddss\t%xmm1, "
                                                                "%xmm0\n\tjmp\t.LBB0_3\n");
}

/* Data, directives and comments are not executed. */
static void test_no_instructions(void **state) {
  (void)state;
  const char *text = "\t.section\t.rodata\n.LJTI0_0:\n\t.long\t.LBB0_1-.LJTI0_0\n# add a comment\n"
                     "name:\n\t.asciz\t\"\\tret\\n\"\n";
  assert_counts(text, text);
  assert_counts("f:\n\tretq", "f:\n" COUNT(1) "\tretq"); /* without the end of the last line */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions_and_calls),
      cmocka_unit_test(test_blocks_that_set_flags),
      cmocka_unit_test(test_flags_that_are_read),
      cmocka_unit_test(test_no_instructions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
