/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings and notes, which leave the status as it is: state that a kernel uses and never set, and
 * behaviour that boards are said to differ in.
 */
#include <stdlib.h>

#include "tests/support/checks.h"

enum { INIT = VINCI_CHECK_INITCHECK, SYNC = VINCI_CHECK_SYNCCHECK, RACE = VINCI_CHECK_RACECHECK };

/* The report of a trace without errors. */
static const char *warnings_of(const char *text, unsigned checks) {
  static char report[16384];
  struct vinci_diag diag = {0};
  struct vinci_check_options options = {.struct_size = sizeof options, .checks = checks};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(text, fixture_shared);
  enum vinci_status status = vinci_check(fixture_shared, trace, &options, &findings, &diag);
  vinci_trace_free(trace);
  if (status != VINCI_OK)
    fail_msg("%s", diag.text);
  assert_int_equal(vinci_findings_count(findings), 0);
  memset(report, 0, sizeof report);
  FILE *out = fmemopen(report, sizeof report - 1, "w");
  assert_int_equal(vinci_findings_write_text(findings, out, &diag), VINCI_OK);
  fclose(out);
  cut_not_run(report, checks);
  assert_int_equal(vinci_findings_warnings(findings) > 0, report[0] != '\0');
  vinci_findings_free(findings);
  return report;
}

#define DUP "vector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\n"
#define NARROW "set_vector_mask,high=0,low=255\n"
#define FULL "set_vector_mask,high=-1,low=-1\n"
#define SECOND                                                                                     \
  "kernel,name=k2,arch=dav-c220,blocks=1\nbuffer,name=ubx,space=UB,address=0,size=4096\n" AIV

static void test_a_mask_of_the_kernel_before(void **state) {
  (void)state;
  assert_string_equal(
      warnings_of(CHECK_HEAD(1) NARROW DUP SECOND DUP, 0),
      "====== WARNING: state that the kernel never set in k2\n"
      "======    the vector mask: used before set_vector_mask, and line 8 leaves something else "
      "there for the next kernel; boards keep it\n"
      "======    in block aiv(0) on PIPE_V\n"
      "======    #0 t.csv:13 vector_dup\n"
      "======    and\n"
      "======    #0 t.csv:8 set_vector_mask\n"
      "======\n"
      "====== SUMMARY: 0 errors, 1 warning\n");
  /* Either kernel may set all lanes. */
  assert_string_equal(warnings_of(CHECK_HEAD(1) NARROW DUP SECOND FULL DUP, 0), "");
  assert_string_equal(warnings_of(CHECK_HEAD(1) NARROW DUP FULL SECOND DUP, 0), "");
  /* Copies of the vector unit know no mask, and nobody who uses it comes to harm. */
  assert_string_equal(warnings_of(CHECK_HEAD(1) DUP NARROW SECOND
                                  "copy_ubuf_to_ubuf,dst=ubx,src=ubx,len_burst=0\n",
                                  RACE),
                      "");
}

static void test_the_mode_of_the_kernel_before(void **state) {
  (void)state;
#define COUNTED "set_mask_count\nset_vector_mask,high=0,low=128\n" DUP FULL
  const char *report = warnings_of(CHECK_HEAD(1) COUNTED SECOND DUP, 0);
  assert_non_null(strstr(report, "the mode of the vector mask: used before set_mask_norm or "
                                 "set_mask_count, and line 8 leaves"));
  assert_null(strstr(report, "    the vector mask:"));
  assert_string_equal(warnings_of(CHECK_HEAD(1) COUNTED "set_mask_norm\n" SECOND DUP, 0), "");
  assert_string_equal(warnings_of(CHECK_HEAD(1) COUNTED SECOND "set_mask_norm\n" DUP, 0), "");
  /* A kernel in between that neither sets nor uses it does not help. */
  report = warnings_of(CHECK_HEAD(1) COUNTED SECOND
                       "scalar\n"
                       "kernel,name=k3,arch=dav-c220,blocks=1\n"
                       "buffer,name=ubx,space=UB,address=0,size=4096\n" AIV DUP,
                       0);
  assert_non_null(strstr(report, "in k3\n"));
}

/* The next launch of a kernel, and its next block on the core, meet what the kernel itself left. */
static void test_a_mask_of_the_kernel_itself(void **state) {
  (void)state;
  assert_non_null(
      strstr(warnings_of(CHECK_HEAD(1) DUP BARRIER(V) NARROW DUP, 0), "#0 t.csv:8 vector_dup\n"));
  assert_string_equal(warnings_of(CHECK_HEAD(1) DUP BARRIER(V) NARROW DUP FULL, 0), "");
  assert_string_equal(warnings_of(CHECK_HEAD(1) NARROW DUP, 0), "");
  assert_string_equal(warnings_of(CHECK_HEAD(1) DUP, 0), "");
}

static void test_other_registers(void **state) {
  (void)state;
#define STORES "copy_ubuf_to_gm,dst=y,src=ubx,len_burst=1\n"
#define WRITTEN FULL DUP SET(V, MTE3) WAIT(V, MTE3)
  assert_non_null(strstr(warnings_of(CHECK_HEAD(1) WRITTEN STORES "set_atomic_add\n", 0),
                         "the mode of atomic stores: used before set_atomic_none"));
  assert_string_equal(
      warnings_of(CHECK_HEAD(1) WRITTEN STORES "set_atomic_add\nset_atomic_none\n", 0), "");
#define PADDED                                                                                     \
  "copy_gm_to_ubuf_align_b16,dst=ubx,src=x,len_burst=30,right_pad=1\nset_mov_pad_val,value=7\n"
  assert_non_null(strstr(warnings_of(CHECK_HEAD(1) PADDED, 0), "the pad value of copies"));
  assert_string_equal(warnings_of(CHECK_HEAD(1) PADDED "set_mov_pad_val,value=0\n", 0), "");
  /* A scale of 0 is none. */
#define SCALED                                                                                     \
  "vector_dup,dst=ubx,scalar=0,repeat=1,type=int32\npipe_barrier,pipe=V\n"                         \
  "vconv_deq,dst=uby,src=ubx,repeat=1\n"
  assert_non_null(strstr(warnings_of(CHECK_HEAD(1) SCALED, 0),
                         "the scale of conversions from integers: used without set_deqscale"));
  assert_string_equal(warnings_of(CHECK_HEAD(1) "set_deqscale,value=0x3c00\n" SCALED, 0), "");
}

/* Findings are the same in every order of blocks, the rows that are named too. */
static void test_order_of_blocks(void **state) {
  (void)state;
  const char *const text = CHECK_HEAD(
      3) "loop,a,blk==2\nvector_dup,dst=ubx,scalar=0,repeat=1,type=fp16\nendloop\n"
         "loop,b,blk!=2\nvector_dup,dst=ubx,scalar=1,repeat=1,type=fp16\nendloop\n" NARROW;
  vinci_trace *trace = runs_parse(text, fixture_shared);
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct vinci_diag diag = {0};
    struct vinci_check_options options = {.struct_size = sizeof options, .walk_order_seed = seed};
    vinci_findings *findings;
    assert_int_equal(vinci_check(fixture_shared, trace, &options, &findings, &diag), VINCI_OK);
    assert_int_equal(vinci_findings_warnings(findings), 1);
    assert_int_equal(findings->items[0].event[1].line, 9);
    vinci_findings_free(findings);
  }
  vinci_trace_free(trace);
}

/* ---- disputed behaviour ---- */

static void test_lanes_behind_k(void **state) {
  (void)state;
#define CUBE(k)                                                                                    \
  HEAD(1)                                                                                          \
  "stream,core=AIC\ncreate_ca_matrix,dst=0,blocks=1,value=0\n"                                     \
  "create_cb_matrix,dst=0,blocks=1,value=0\n" SET(MTE1, M)                                         \
      WAIT(MTE1, M) "mad,c=0,a=0,b=0,m=16,k=" k ",n=16,type=fp16\n"
  assert_string_equal(warnings_of(CUBE("10"), INIT),
                      "====== NOTE: undefined on some boards: \"k_tail\" in k, first t.csv:8 mad; "
                      "see the table in FORMAT.md\n");
  assert_string_equal(warnings_of(CUBE("16"), INIT), "");
  assert_string_equal(warnings_of(CUBE("10"), SYNC), "");
}

static void test_nan_that_is_not_equal(void **state) {
  (void)state;
#define COMPARED(name, type)                                                                       \
  CHECK_HEAD(1)                                                                                    \
  "vector_dup,dst=ubx,scalar=0,repeat=1,type=" type "\npipe_barrier,pipe=V\n" name                 \
  ",dst=uby,src=ubx,scalar=0,repeat=1,type=" type "\n"
  assert_non_null(strstr(warnings_of(COMPARED("vcmpvs_ne", "fp16"), INIT), "\"nan_not_equal\""));
  assert_string_equal(warnings_of(COMPARED("vcmpvs_eq", "fp16"), INIT), "");
}

static void test_flags_of_one_id(void **state) {
  (void)state;
#define BOTH(one, other)                                                                           \
  CHECK_HEAD(1)                                                                                    \
  "set_flag,src=MTE3,dst=V,id=2\nset_flag,src=MTE3,dst=MTE2,id=" other                             \
  "\nwait_flag,src=MTE3,dst=MTE2,id=" other "\nwait_flag,src=MTE3,dst=V,id=2\n"
  assert_string_equal(warnings_of(BOTH("2", "2"), SYNC),
                      "====== NOTE: undefined on some boards: \"flag_pair\" in k, first t.csv:9 "
                      "set_flag; see the table in FORMAT.md\n");
  assert_string_equal(warnings_of(BOTH("2", "3"), SYNC), "");
  /* One after the other. */
  assert_string_equal(warnings_of(CHECK_HEAD(1) SET(MTE3, V) WAIT(MTE3, V) SET(V, MTE3)
                                      WAIT(V, MTE3) SET(MTE3, MTE2) WAIT(MTE3, MTE2),
                                  SYNC),
                      "");
}

/* A hang is when a word about flags helps most. */
static void test_a_note_beside_a_hang(void **state) {
  (void)state;
  const char *report = report_of(fixture_shared,
                                 CHECK_HEAD(1) "set_flag,src=MTE3,dst=V,id=2\n"
                                               "set_flag,src=MTE3,dst=MTE2,id=2\n"
                                               "wait_flag,src=MTE3,dst=V,id=3\n",
                                 0);
  assert_non_null(strstr(report, "Deadlock detected"));
  assert_non_null(strstr(report, "\"flag_pair\""));
}

/* On the 950 vector instructions are said to need no barrier, and to have other flags. */
static void test_disputes_of_the_950(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  assert_int_equal(vinci_soc_load("Ascend950PR_9589", NULL, &soc, &diag), VINCI_OK);
  assert_int_equal(vinci_soc_set(soc, "flag.ids=16", &diag), VINCI_OK);
  const char *const text =
      "trace,version=1\nkernel,name=k,arch=dav-c310,blocks=1\nstream,core=AIV\n"
      "set_flag,src=V,dst=V,id=0\nwait_flag,src=V,dst=V,id=0\n"
      "set_flag,src=V,dst=MTE3,id=9\nwait_flag,src=V,dst=MTE3,id=9\n"
      "pipe_barrier,pipe=V\n";
  vinci_trace *trace = runs_parse(text, soc);
  vinci_findings *findings;
  assert_int_equal(vinci_check(soc, trace, NULL, &findings, &diag), VINCI_OK);
  assert_int_equal(vinci_findings_warnings(findings), 3);
  assert_int_equal(findings->items[0].topic, DISPUTED_FLAG_V_TO_V_950);
  assert_int_equal(findings->items[1].topic, DISPUTED_EVENT_ID_950);
  assert_int_equal(findings->items[2].topic, DISPUTED_BARRIER_V_950);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
}

/* FORMAT.md has a row for each of disputed.def, with the same words, and no other. */
static void test_table_of_the_page(void **state) {
  (void)state;
  static const char *const rows[] = {
#define DISPUTED(id, name, level, check, vendor, boards, vinci, source)                            \
  "\n| `" name "` | " vendor " | " boards " | " vinci " | " source " |\n",
#include "core/check/disputed.def"
#undef DISPUTED
  };
  static char page[1 << 17];
  char path[512];
  const char *folder = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/traces/FORMAT.md", folder ? folder : ".");
  FILE *in = fopen(path, "r");
  assert_non_null(in);
  page[fread(page, 1, sizeof page - 1, in)] = '\0';
  fclose(in);
  const char *table = strstr(page, "| name | documents | boards | vinci | source |\n");
  assert_non_null(table);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strstr(table, rows[i]))
      fail_msg("FORMAT.md lacks the row%s", rows[i]);
  size_t lines = 0;
  for (; *table == '|'; table = strchr(table, '\n') + 1)
    lines++;
  assert_int_equal(lines, sizeof rows / sizeof *rows + 2);
}

static void test_json_of_warnings(void **state) {
  (void)state;
  char text[4096] = "";
  struct vinci_diag diag = {0};
  vinci_findings *findings;
  vinci_trace *trace = runs_parse(CUBE("10"), fixture_shared);
  assert_int_equal(vinci_check(fixture_shared, trace, NULL, &findings, &diag), VINCI_OK);
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  assert_int_equal(vinci_findings_write_json(findings, out, &diag), VINCI_OK);
  fclose(out);
  vinci_findings_free(findings);
  vinci_trace_free(trace);
  assert_non_null(strstr(text, "\"errors\": 0,\n  \"partial\": false,\n  \"warnings\": 1,\n"));
  assert_non_null(strstr(text, "\"level\": \"NOTE\",\n      \"check\": \"initcheck\",\n      "
                               "\"kind\": \"undefined_on_some_boards\","));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_mask_of_the_kernel_before),
      cmocka_unit_test(test_the_mode_of_the_kernel_before),
      cmocka_unit_test(test_a_mask_of_the_kernel_itself),
      cmocka_unit_test(test_other_registers),
      cmocka_unit_test(test_order_of_blocks),
      cmocka_unit_test(test_lanes_behind_k),
      cmocka_unit_test(test_nan_that_is_not_equal),
      cmocka_unit_test(test_flags_of_one_id),
      cmocka_unit_test(test_a_note_beside_a_hang),
      cmocka_unit_test(test_disputes_of_the_950),
      cmocka_unit_test(test_table_of_the_page),
      cmocka_unit_test(test_json_of_warnings),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
