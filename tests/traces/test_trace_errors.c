/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what is said about wrong traces: text, position, hint and exit code of each error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define TRACE "trace,version=1\n"
#define KERNEL "kernel,name=k,arch=dav-c220,blocks=4\n"
#define HEAD TRACE KERNEL
#define AIV "stream,core=AIV\n"
#define AIC "stream,core=AIC\n"

struct error {
  const char *name;
  const char *text;
  size_t length;
  unsigned long line, column;
  const char *message;
  const char *hint;
};

static struct error errors[] = {
/* not const: cmocka takes them as state */
#define ERROR(name, text, line, column, message, hint)                                             \
  {#name, text, sizeof(text) - 1, line, column, message, hint},
#include "tests/support/trace_errors.def"
#undef ERROR
};
enum { ERROR_COUNT = sizeof errors / sizeof *errors };

static void assert_error(const vinci_soc *on, const struct error *error) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  enum vinci_status status =
      vinci_trace_parse("t.csv", error->text, error->length, on, &trace, &diag);
  vinci_trace_free(trace);
  assert_int_equal(status, VINCI_E_INPUT);
  assert_int_equal(vinci_status_exit_code(status), 3);
  assert_string_equal(diag.text, error->message);
  assert_string_equal(diag.hint, error->hint);
  assert_int_equal(diag.line, error->line);
  assert_int_equal(diag.column, error->column);
  assert_string_equal(diag.path, "t.csv");
}

/* One test per row of the table. */
static void table_row(void **state) { assert_error(fixture_shared, *state); }

/* The same must be said when the text comes from a file, and without a diagnostic. */
static void every_error_also_from_a_file(void **state) {
  (void)state;
  char name[] = "trace_errors_XXXXXX";
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  close(fd);
  for (size_t i = 0; i < ERROR_COUNT; i++) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fwrite(errors[i].text, 1, errors[i].length, file);
    fclose(file);
    struct vinci_diag diag = {0};
    vinci_trace *trace;
    assert_int_equal(vinci_trace_load(name, fixture_shared, &trace, &diag), VINCI_E_INPUT);
    assert_string_equal(diag.text, errors[i].message);
    assert_int_equal(diag.line, errors[i].line);
    assert_int_equal(diag.column, errors[i].column);
    assert_int_equal(vinci_trace_load(name, fixture_shared, &trace, NULL), VINCI_E_INPUT);
    assert_null(trace);
  }
  remove(name);
}

/* ---- texts too long for the table ---- */

/* HEAD AIV, then `before`, `count` times `repeated`, and `after`. */
static void assert_error_of(const char *before, const char *repeated, size_t count,
                            const char *after, unsigned long line, unsigned long column,
                            const char *message, const char *hint) {
  struct error error = {.line = line, .column = column, .message = message, .hint = hint};
  char *text = NULL;
  FILE *out = open_memstream(&text, &error.length);
  fprintf(out, HEAD AIV "%s", before);
  for (size_t i = 0; i < count; i++)
    fputs(repeated, out);
  fputs(after, out);
  fclose(out);
  error.text = text;
  assert_error(fixture_shared, &error);
  free(text);
}

static void lines_are_limited(void **state) {
  (void)state;
  const char *hint = "one row stands for one instruction; is this a trace?";
  assert_error_of("scalar,cycles=", "1", 10000000, "\n", 4, 0, "line of more than 1048576 bytes",
                  hint);
  assert_error_of("scalar\n", "#", 1048577, "", 5, 0, "line of more than 1048576 bytes", hint);
  /* the longest line allowed, and one that is a comment */
  assert_error_of("scalar,cycles=", "1", 1048576 - 14, "\nx", 4, 15,
                  "the number does not fit 64 bits", "");
  assert_error_of("", "#", 1048576, "\nx\n", 5, 1, "unknown instruction \"x\"", "");
}

static void a_long_line_from_a_file(void **state) {
  (void)state;
  char name[] = "trace_errors_XXXXXX";
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  FILE *file = fdopen(fd, "wb");
  fputs(HEAD AIV, file);
  for (size_t i = 0; i < 10000000; i++)
    fputc('x', file);
  fclose(file);
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  assert_int_equal(vinci_trace_load(name, fixture_shared, &trace, &diag), VINCI_E_INPUT);
  assert_string_equal(diag.text, "line of more than 1048576 bytes");
  assert_int_equal(diag.line, 4);
  remove(name);
}

static void fields_are_limited(void **state) {
  (void)state;
  assert_error_of("scalar", ",cycles=1", 40, "\n", 4, 287,
                  "row of 41 fields, no row has more than 32", "");
  assert_error_of("", ",", 1000000, "\n", 4, 33, "row of 1000001 fields, no row has more than 32",
                  "");
}

static void names_are_limited(void **state) {
  (void)state;
  assert_error_of("let,", "n", 64, ",1\n", 4, 5, "name of 64 characters, allowed are 63", "");
  assert_error_of("let,", "n", 63, ",x\n", 4, 69, "unknown name \"x\"", "");
  /* long text of the user is cut in messages, at whole characters */
  assert_error_of("", "\xc3\xa4", 100, "\n", 4, 1,
                  "unknown instruction \"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4...\"",
                  "");
}

static void expressions_are_limited(void **state) {
  (void)state;
  const char *hint = "give parts of it a name with a let row";
  char closing[34 + 2] = "2";
  memset(closing + 1, ')', 33);
  assert_error_of("let,v,", "blk/(1+", 31, closing + 2, 4, 224, "a value is expected here", "");
  assert_error_of("let,v,", "blk/(1+", 33, closing, 4, 7,
                  "the expression holds more than 32 values at a time", hint);
  assert_error_of("scalar,cycles=1+", "blk/", 1024, "3", 4, 15,
                  "expression of more than 1024 operations", hint);
  assert_error_of("scalar,cycles=", "(", 100000, "", 4, 79, "the expression is nested too deeply",
                  "");
  assert_error_of("scalar,cycles=", "- ", 100000, "1", 4, 143,
                  "the expression is nested too deeply", "");
}

static void variables_are_limited(void **state) {
  (void)state;
  struct error error = {
      .line = 65536, .column = 5, .message = "more than 65535 variables in one stream", .hint = ""};
  char *text = NULL;
  FILE *out = open_memstream(&text, &error.length);
  fputs(HEAD AIV, out);
  for (unsigned i = 0; i < 65536; i++)
    fprintf(out, "let,v%u,1\n", i);
  fclose(out);
  error.text = text;
  assert_error(fixture_shared, &error);
  free(text);
}

/* ---- other SoCs ---- */

static void coupled_cores(void **state) {
  (void)state;
  static const char head[] = TRACE "kernel,name=k,arch=dav-c100,blocks=1\n";
  static const struct {
    const char *rows;
    unsigned long line, column;
    const char *message, *hint;
  } cases[] = {
      {"stream,core=AIC\n", 3, 13, "fixture100 has no AIC cores", "choose AICORE"},
      {"stream,core=AICORE\nset_flag,src=MTE2,dst=V,id=4\n", 4, 28,
       "set_flag: fixture100 has flag ids 0..3, not 4", ""},
      {"stream,core=AICORE\nset_flag,src=FIX,dst=M,id=0\n", 4, 14, "an AICORE core has no pipe FIX",
       ""},
      {"stream,core=AICORE\nmad,c=0,a=0,b=0,m=16,k=16,n=16,type=bf16\n", 4, 37,
       "dav-c100 has no data type \"bf16\"", ""},
      {"stream,core=AICORE\nwait_flag_dev,id=0\n", 4, 1,
       "dav-c100 has no instruction \"wait_flag_dev\"", "it exists on dav-c220, dav-c310"},
      {"tensor,name=x,dtype=bf16,shape=1,io=in\n", 3, 21, "dav-c100 has no data type \"bf16\"", ""},
      {"tensor,name=x,dtype=fp16,shape=1,io=in,cache=off\n", 3, 46, "unknown cache mode \"off\"",
       "known are normal, disable"},
      {"buffer,name=b,space=BT,address=0,size=64\n", 3, 21, "fixture100 has no BT", ""},
  };
  vinci_soc *coupled = fixture_soc_coupled();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", head, cases[i].rows);
    struct error error = {
        "coupled",        text,         strlen(text), cases[i].line, cases[i].column,
        cases[i].message, cases[i].hint};
    assert_error(coupled, &error);
  }
  vinci_soc_free(coupled);
}

static void too_few_vector_cores(void **state) {
  (void)state;
  static const char text[] = HEAD AIC "scalar\n" AIV "scalar\n";
  vinci_soc *few = fixture_soc();
  few->vector_cores = 20;
  struct error error = {
      "few", text, sizeof text - 1,
      2,     0,    "kernel \"k\" wants 2 AIV for each AIC, fixture220 has 20 for 20",
      ""};
  assert_error(few, &error);
  vinci_soc_free(few);
}

static void missing_cores_of_a_what_if(void **state) {
  (void)state;
  static const char text[] = HEAD AIC "scalar\n";
  vinci_soc *without = fixture_soc();
  without->cube_cores = 0;
  struct error error = {"without",   text, sizeof text - 1, 3, 13, "fixture220 has no AIC cores",
                        "choose AIV"};
  assert_error(without, &error);
  vinci_soc_free(without);
}

static void missing_cross_core_flags_of_a_what_if(void **state) {
  (void)state;
  static const char *const rows[] = {"wait_flag_dev,id=0\n",
                                     "ffts_cross_core_sync,pipe=V,mode=0,id=blk\n"};
  static const char *const messages[] = {
      "wait_flag_dev: fixture220 has no cross-core flags",
      "ffts_cross_core_sync: fixture220 has no cross-core flags"};
  vinci_soc *without = fixture_soc();
  without->cross_core_ids = 0;
  for (size_t i = 0; i < 2; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s%s", HEAD AIV, rows[i]);
    struct error error = {"without", text, strlen(text), 4, 1, messages[i], ""};
    assert_error(without, &error);
  }
  vinci_soc_free(without);
}

static void missing_space_of_a_what_if(void **state) {
  (void)state;
  static const char text[] = HEAD AIV "copy_gm_to_ubuf,dst=0,src=0,len_burst=1\n";
  vinci_soc *without = fixture_soc();
  without->ub_bytes = 0;
  struct error error = {
      "without", text, sizeof text - 1,
      4,         1,    "copy_gm_to_ubuf: operand \"dst\" is in UB, which fixture220 does not have",
      ""};
  assert_error(without, &error);
  vinci_soc_free(without);
}

/* ---- files that cannot be read ---- */

static void assert_load_error(const char *path, const char *message) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  enum vinci_status status = vinci_trace_load(path, fixture_shared, &trace, &diag);
  assert_int_equal(status, VINCI_E_IO);
  assert_int_equal(vinci_status_exit_code(status), 2);
  assert_null(trace);
  assert_string_equal(diag.text, message);
  assert_string_equal(diag.path, path);
  assert_int_equal(diag.line, 0);
}

static void unreadable_files(void **state) {
  (void)state;
  assert_load_error("no/such/trace.csv", "cannot open: No such file or directory");
  assert_load_error("/", "cannot read: Is a directory");
  assert_load_error("", "cannot open: No such file or directory");
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(every_error_also_from_a_file),
      cmocka_unit_test(lines_are_limited),
      cmocka_unit_test(a_long_line_from_a_file),
      cmocka_unit_test(fields_are_limited),
      cmocka_unit_test(names_are_limited),
      cmocka_unit_test(expressions_are_limited),
      cmocka_unit_test(variables_are_limited),
      cmocka_unit_test(coupled_cores),
      cmocka_unit_test(too_few_vector_cores),
      cmocka_unit_test(missing_cores_of_a_what_if),
      cmocka_unit_test(missing_cross_core_flags_of_a_what_if),
      cmocka_unit_test(missing_space_of_a_what_if),
      cmocka_unit_test(unreadable_files),
  };
  struct CMUnitTest tests[ERROR_COUNT + sizeof others / sizeof *others];
  for (size_t i = 0; i < ERROR_COUNT; i++)
    tests[i] = (struct CMUnitTest){errors[i].name, table_row, NULL, NULL, &errors[i]};
  memcpy(tests + ERROR_COUNT, others, sizeof others);
  return cmocka_run_group_tests_name("trace_errors", tests, fixture_set_up, fixture_tear_down);
}
