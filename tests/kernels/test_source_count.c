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

#include "kernels/compile/text.h"

/* Block i, of n instructions, is executed; and its entry, behind the text. */
#define COUNT(i, n)                                                                                \
  "\taddq\t$" #n ", vinci_cce_count(%rip)\n\tmovb\t$1, .Lvinci_block" #i "+2(%rip)\n"
#define COUNT_KEEPING_FLAGS(i, n)                                                                  \
  "\tleaq\t-128(%rsp), %rsp\n\tpushfq\n" COUNT(i, n) "\tpopfq\n\tleaq\t128(%rsp), %rsp\n"
#define ENTRIES "\n\t.section\tvinci_blocks,\"aw\",@progbits\n"
#define ENTRY(i, n) ".Lvinci_block" #i ":\n\t.short\t" #n ", 0\n"

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
      "kernel: # @kernel\n\t.cfi_startproc\n" COUNT(
          0,
          2) "\tmovl\t$1, %edi\n\tcallq\t*(%rax)\n" COUNT(1,
                                                          2) "\tmovq\t%rax, %rbx\n\tretq\n" ENTRIES
          ENTRY(0, 2) ENTRY(1, 2));
}

/* In a block that sets all flags the addition stands before that instruction. */
static void test_blocks_that_set_flags(void **state) {
  (void)state;
  assert_counts(".LBB0_1:\n\tmovl\t%eax, %ecx\n\tincl\t%ecx\n\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n",
                ".LBB0_1:\n\tmovl\t%eax, %ecx\n\tincl\t%ecx\n" COUNT(
                    0, 4) "\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n" ENTRIES ENTRY(0, 4));
}

/* Behind a jump the flags may still be read: by a second jump, or by an addition with carry. */
static void test_flags_that_are_read(void **state) {
  (void)state;
  assert_counts(
      "f:\n\ttestl\t%edi, %edi\n\tje\t.LBB0_2\n\tjs\t.LBB0_3\n.LBB0_2:\n\tadcq\t$0, %rax\n"
      "\txorps\t%xmm0, %xmm0\n\taddss\t%xmm1, %xmm0\n\tjmp\t.LBB0_3\n",
      "f:\n" COUNT(0, 2) "\ttestl\t%edi, %edi\n\tje\t.LBB0_2\n" COUNT_KEEPING_FLAGS(
          1, 1) "\tjs\t.LBB0_3\n.LBB0_2:\n" COUNT_KEEPING_FLAGS(2,
                                                                4) "\tadcq\t$0, %rax\n"
                                                                   "\txorps\t%xmm0, "
                                                                   "%xmm0\n\taddss\t%xmm1, "
                                                                   "%xmm0\n\tjmp\t.LBB0_3\n" ENTRIES
                                                                       ENTRY(0, 2) ENTRY(1, 1)
                                                                           ENTRY(2, 4));
}

/* long double: the brackets are those of a register. */
static void test_registers_with_brackets(void **state) {
  (void)state;
  assert_counts("\tfxch\t%st(1)\n\tfstp\t%st(2)\n\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n",
                "\tfxch\t%st(1)\n\tfstp\t%st(2)\n" COUNT(
                    0, 4) "\tcmpl\t%ecx, %edx\n\tjne\t.LBB0_1\n" ENTRIES ENTRY(0, 4));
}

/* Data, directives and comments are not executed. */
static void test_no_instructions(void **state) {
  (void)state;
  const char *text = "\t.section\t.rodata\n.LJTI0_0:\n\t.long\t.LBB0_1-.LJTI0_0\n# add a comment\n"
                     "name:\n\t.asciz\t\"\\tret\\n\"\n";
  assert_counts(text, text);
  assert_counts("f:\n\tretq", "f:\n" COUNT(0, 1) "\tretq" ENTRIES ENTRY(
                                  0, 1)); /* without the end of the last line */
}

/* A load of two bytes, a sum that takes the load, a store of a packed member, and an address alone.
 */
static void test_marks_of_alignment(void **state) {
  (void)state;
  static const char text[] = "define void @f() {\n"
                             "  %4 = load i16, i16* %1, align 2, !dbg !5\n"
                             "  %5 = add i16 %4, 3, !dbg !6\n"
                             "  store i32 7, i32* %2, align 1, !dbg !6\n"
                             "  store i16 %5, i16* %3, align 2, !dbg !5\n"
                             "}\n"
                             "!1 = !DIFile(filename: \"k.cpp\")\n"
                             "!4 = distinct !DISubprogram(name: \"f\", file: !1)\n"
                             "!5 = !DILocation(line: 4, column: 2, scope: !4)\n"
                             "!6 = !DILocation(line: 5, scope: !4, inlinedAt: !5)\n";
  static const char expected[] = "define void @f() {\n"
                                 "  %4 = load i16, i16* %1, align 2, !dbg !8\n"
                                 "  %5 = add i16 %4, 3, !dbg !10\n"
                                 "  store i32 7, i32* %2, align 1, !dbg !6\n"
                                 "  store i16 %5, i16* %3, align 2, !dbg !8\n"
                                 "}\n";
  static const char added[] = "!7 = !DILexicalBlockFile(scope: !4, file: !1, discriminator: 1)\n"
                              "!8 = !DILocation(line: 4, column: 2, scope: !7)\n"
                              "!9 = !DILexicalBlockFile(scope: !4, file: !1, discriminator: 1)\n"
                              "!10 = !DILocation(line: 5, scope: !9, inlinedAt: !5)\n";
  size_t length;
  char *marked = source_mark_alignment(text, strlen(text), &length);
  assert_non_null(marked);
  assert_memory_equal(marked, expected, strlen(expected));
  assert_true(length > strlen(added));
  assert_memory_equal(marked + length - strlen(added), added, strlen(added));
  free(marked);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions_and_calls),     cmocka_unit_test(test_marks_of_alignment),
      cmocka_unit_test(test_blocks_that_set_flags),   cmocka_unit_test(test_flags_that_are_read),
      cmocka_unit_test(test_registers_with_brackets), cmocka_unit_test(test_no_instructions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
