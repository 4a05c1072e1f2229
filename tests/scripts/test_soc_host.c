/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the host of hardware descriptions: every refusal, inheritance, the sandbox, look-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "scripts/host/soc_host.h"

enum { PATH_SIZE = 4096 };

/* ---- folders ------------------------------------------------------------------ */

static char data_dir[PATH_SIZE];
static char scratch_dir[PATH_SIZE];

static const char *scratch_path(const char *name) {
  static char path[2 * PATH_SIZE];
  snprintf(path, sizeof path, "%s/soc/%s.lua", scratch_dir, name);
  return path;
}

static void write_lua(const char *name, const char *text) {
  FILE *file = fopen(scratch_path(name), "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void copy_shipped(const char *name) {
  char path[2 * PATH_SIZE];
  static char text[1 << 18];
  snprintf(path, sizeof path, "%s/soc/%s.lua", data_dir, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  write_lua(name, text);
}

static const char *const shipped_copies[] = {"sources", "library", "ascend910b", "Ascend910B1"};
enum { COPY_COUNT = sizeof shipped_copies / sizeof *shipped_copies };

/* Descriptions of other kinds are used as they are. */
static int link_shipped(const char *kind) {
  char shipped[PATH_SIZE + 8], link[PATH_SIZE + 8];
  char *absolute = realpath(data_dir, NULL);
  snprintf(shipped, sizeof shipped, "%s/%s", absolute ? absolute : "", kind);
  snprintf(link, sizeof link, "%s/%s", scratch_dir, kind);
  free(absolute);
  return symlink(shipped, link);
}

static int set_up(void **state) {
  (void)state;
  const char *source = getenv("TESTS_SRCDIR");
  const char *temporary = getenv("TMPDIR");
  snprintf(data_dir, sizeof data_dir, "%s/scripts", source && *source ? source : ".");
  snprintf(scratch_dir, sizeof scratch_dir, "%s/test_soc.XXXXXX",
           temporary && *temporary ? temporary : ".");
  if (!mkdtemp(scratch_dir))
    return -1;
  char folder[PATH_SIZE + 8];
  snprintf(folder, sizeof folder, "%s/soc", scratch_dir);
  if (mkdir(folder, 0777) != 0)
    return -1;
  for (size_t i = 0; i < COPY_COUNT; i++)
    copy_shipped(shipped_copies[i]);
  return link_shipped("mem") || link_shipped("noc");
}

static int tear_down(void **state) {
  (void)state;
  char folder[PATH_SIZE + 8];
  for (size_t i = 0; i < COPY_COUNT; i++)
    unlink(scratch_path(shipped_copies[i]));
  static const char *const kinds[] = {"mem", "noc"};
  for (size_t i = 0; i < 2; i++) {
    snprintf(folder, sizeof folder, "%s/%s", scratch_dir, kinds[i]);
    unlink(folder);
  }
  snprintf(folder, sizeof folder, "%s/soc", scratch_dir);
  return rmdir(folder) || rmdir(scratch_dir);
}

/* ---- refusals of the host -------------------------------------------------------- */

#define HEAD "return soc {\n  name = \"Bad\", base = \"Ascend910B1\",\n"

static const struct refusal {
  const char *lua;
  unsigned long line;
  const char *message;
  const char *hint;
} refusals[] = {
    {HEAD "  l2 = {\n    size = 96,\n  },\n}\n", 4,
     "l2.size: a bare number has no unit, source and confidence",
     "write num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])"},
    {HEAD "  l2 = { size = \"96MiB\" },\n}\n", 3, "l2.size: must be a num(...)", ""},
    {HEAD "  l2 = { size = num(96 * MiB, \"MiB\", \"INI\", \"documented\") },\n}\n", 3,
     "num: unknown unit 'MiB'", "units: count B Hz B/s s cycle B/cycle fJ W ratio"},
    {HEAD "  l2 = { size = num(96 * MiB, \"B/s\", \"INI\", \"documented\") },\n}\n", 3,
     "l2.size: the unit must be \"B\", not \"B/s\"", ""},
    {HEAD "  l2 = { size = num(96 * MiB, \"B\", \"INO\", \"documented\") },\n}\n", 3,
     "num: unknown source 'INO'", "did you mean 'INI'?"},
    {HEAD "  l2 = { size = num(96 * MiB, \"B\", \"a rumour\", \"documented\") },\n}\n", 3,
     "num: unknown source 'a rumour'", "sources are listed in sources.lua"},
    {HEAD "  l2 = { size = num(96 * MiB, \"B\", \"INI\", \"certain\") },\n}\n", 3,
     "num: unknown confidence 'certain'", "one of documented, measured, derived, assumed"},
    {HEAD "  l2 = { size = num(96 * MiB, \"B\") },\n}\n", 3, "num: the source must be a text",
     "num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])"},
    {HEAD "  l2 = { size = num(\"96\", \"B\", \"INI\", \"documented\") },\n}\n", 3,
     "num: the value must be a number", ""},
    {HEAD "  l2 = { size = num(96, \"B\", \"INI\", \"documented\", \"\", 1) },\n}\n", 3,
     "num: too many arguments", ""},
    {HEAD "\n  l2 = { sise = num(96 * MiB, \"B\", \"INI\", \"documented\") },\n}\n", 4,
     "unknown parameter 'l2.sise'", "did you mean 'l2.size'?"},
    {HEAD "  descripton = \"a slip\",\n}\n", 3, "unknown field 'descripton'",
     "did you mean 'description'?"},
    {HEAD "  l2 = { [1] = num(96 * MiB, \"B\", \"INI\", \"documented\") },\n}\n", 0,
     "only names may be keys of a description", ""},
    {HEAD "  flag = { ids = num(33, \"count\", \"DK\", \"documented\") },\n}\n", 3,
     "flag.ids: 33 is outside 1 to 32", ""},
    {HEAD "  flag = { ids = num(2.5, \"count\", \"DK\", \"documented\") },\n}\n", 3,
     "flag.ids: 2.5 is finer than 1/1 count", "use round() for a derived figure"},
    {HEAD "  flag = { ids = num(1e300, \"count\", \"DK\", \"documented\") },\n}\n", 3,
     "flag.ids: the value is too large", ""},
    {HEAD "  flag = { ids = num(0/0, \"count\", \"DK\", \"documented\") },\n}\n", 3,
     "flag.ids: the value is too large", ""},
    {HEAD "  l2 = { size = num(-1, \"B\", \"INI\", \"documented\") },\n}\n", 3,
     "l2.size: -1B is outside 0B to 1TiB", ""},
    {"return soc {\n  name = \"Good\",\n}\n", 2, "the name must be 'Bad', like that of the file",
     ""},
    {"return soc {\n  name = \"Bad\",\n  base = \"Bed\",\n}\n", 3, "there is no base 'Bed'", ""},
    {"return soc {\n  name = \"Bad\",\n  base = \"Bad\",\n}\n", 3,
     "base 'Bad' leads back to itself", ""},
    {"return soc {\n  name = \"Bad\", arch = \"dav-c999\",\n}\n", 2,
     "unknown architecture 'dav-c999'", "dav-c100, dav-m200, dav-c220, dav-c310"},
    {HEAD "  arch = \"dav-c100\",\n}\n", 3,
     "arch 'dav-c100' differs from that of the base, 'dav-c220'", ""},
    {HEAD "  bt = { size = num(0, \"B\", \"INI\", \"documented\") },\n}\n", 0,
     "Bad: L1->BT: exists, but the buffer at one end has no size", ""},
    {HEAD "  path = { L1_UB = { bytes_per_cycle = num(1, \"B/cycle\", \"INI\", \"documented\") } "
          "},\n}\n",
     0, "Bad: path L1->UB does not exist on dav-c220", ""},
    {"return soc {\n  name = 5,\n}\n", 2, "name: must be a text", ""},
    {"return soc\n", 0, "does not return a table", ""},
    {"return { name = \"Bad\" }\n", 0, "does not return soc { ... }", ""},
    {"return soc { name = \"Bad\"\n", 2, "'}' expected (to close '{' at line 1) near <eof>", ""},
    {"\nreturn soc(1, 2)\n", 2, "soc: takes one table", ""},
    {"\nlocal x = nil + 1\n", 2, "attempt to perform arithmetic on a nil value", ""},
};

static void check_refusal(const struct refusal *row) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  write_lua("Bad", row->lua);
  enum vinci_status status = vinci_soc_load("Bad", scratch_dir, &soc, &diag);
  if (status != VINCI_E_USAGE || strcmp(diag.text, row->message) != 0 || diag.line != row->line ||
      strcmp(diag.hint, row->hint) != 0 || strcmp(diag.path, scratch_path("Bad")) != 0)
    fail_msg("%s\ngives status %d, %s:%lu: %s (%s)", row->lua, (int)status, diag.path, diag.line,
             diag.text, diag.hint);
  assert_null(soc);
  unlink(scratch_path("Bad"));
}

static void bad_descriptions_are_refused_with_their_position(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    check_refusal(&refusals[i]);
}

static void a_missing_number_is_refused(void **state) {
  (void)state;
  unsigned needed = 0;
  for (size_t i = 0; i < soc_param_count(); i++)
    needed += !soc_param(i)->optional;
  char message[128];
  snprintf(message, sizeof message, "the number 'device.cube_cores' is missing, and %u more",
           needed - 1);
  check_refusal(
      &(struct refusal){"return soc { name = \"Bad\", arch = \"dav-c220\" }\n", 0, message, ""});
}

static void an_error_in_a_base_names_the_base(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  write_lua("below",
            "return soc {\n  name = \"below\", base = \"ascend910b\",\n  l2 = { size = 1 },\n}\n");
  write_lua("Above", "return soc {\n  name = \"Above\",\n\n\n  base = \"below\",\n}\n");
  assert_int_equal(vinci_soc_load("Above", scratch_dir, &soc, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.path, scratch_path("below"));
  assert_int_equal(diag.line, 3);
  write_lua("below", "return soc { name = \"below\",\n  base = \"Above\" }\n");
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_soc_load("Above", scratch_dir, &soc, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "base 'Above' leads back to itself");
  unlink(scratch_path("below"));
  unlink(scratch_path("Above"));
}

static void a_description_changes_its_base(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *base = NULL, *soc = NULL;
  write_lua("Half",
            "return soc { name = \"Half\", base = \"Ascend910B1\", description = \"half\",\n"
            "  l2 = { size = num(96 * MiB, \"B\", \"INI\", \"assumed\", \"half\") } }\n");
  assert_int_equal(vinci_soc_load("Ascend910B1", scratch_dir, &base, &diag), VINCI_OK);
  assert_int_equal(vinci_soc_load("Half", scratch_dir, &soc, &diag), VINCI_OK);
  unlink(scratch_path("Half"));
  assert_string_equal(soc->base, "Ascend910B1");
  assert_string_equal(soc->description, "half");
  size_t changed = soc_param_find("l2.size");
  for (size_t i = 0; i < soc_param_count(); i++)
    if (i != changed)
      assert_true(soc_get(soc, i) == soc_get(base, i));
  assert_int_equal(soc->l2_bytes, 96 << 20);
  assert_int_equal(soc->provenance[changed].confidence, CONFIDENCE_ASSUMED);
  assert_string_equal(soc->provenance[changed].note, "half");
  assert_true(soc_digest(soc) != soc_digest(base));
  vinci_soc_free(soc);
  vinci_soc_free(base);
}

/* ---- the sandbox ------------------------------------------------------------------ */

static void the_sandbox_has_no_way_out(void **state) {
  (void)state;
  static const char *const names[] = {
      "io",         "os",      "package",      "debug",  "load",  "dofile",
      "loadstring", "require", "print",        "string", "table", "math",
      "loadfile",   "rawset",  "setmetatable", "_G",     "pcall", "collectgarbage"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char lua[128], message[128];
    snprintf(lua, sizeof lua, "return %s.x\n", names[i]);
    snprintf(message, sizeof message, "attempt to index a nil value (global '%s')", names[i]);
    check_refusal(&(struct refusal){lua, 1, message, ""});
  }
  check_refusal(
      &(struct refusal){"\x1bLua\n", 0, "attempt to load a binary chunk (mode is 't')", ""});
}

static void an_endless_loop_is_stopped(void **state) {
  (void)state;
  static const struct refusal endless = {"local x\nwhile true do\n  x = 1\nend\n", 3, "", ""};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  write_lua("Bad", endless.lua);
  assert_int_equal(vinci_soc_load("Bad", scratch_dir, &soc, &diag), VINCI_E_USAGE);
  unlink(scratch_path("Bad"));
  assert_string_equal(diag.text, "runs too long: more than 5000000 instructions");
  assert_string_equal(diag.hint, "a description is data, not a program");
  assert_in_range(diag.line, 2, 3);
}

static void a_memory_bomb_is_stopped(void **state) {
  (void)state;
  check_refusal(&(struct refusal){"local s = \"x\"\nwhile true do s = s .. s end\n", 0,
                                  "needs more than 16 MiB of memory", ""});
}

static void endless_recursion_is_stopped(void **state) {
  (void)state;
  check_refusal(&(struct refusal){"local function f() return 1 + f() end\nreturn f()\n", 0,
                                  "needs more than 16 MiB of memory", ""});
}

static void a_description_cannot_change_words_for_its_base(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *base = NULL, *soc = NULL;
  write_lua("Sly", "local mark = soc\nKiB, MiB, GiB, MHz, GHz, num, round, soc = 0, 0, 0, 0, 0\n"
                   "return mark { name = \"Sly\", base = \"Ascend910B1\" }\n");
  assert_int_equal(vinci_soc_load("Ascend910B1", scratch_dir, &base, &diag), VINCI_OK);
  enum vinci_status status = vinci_soc_load("Sly", scratch_dir, &soc, &diag);
  unlink(scratch_path("Sly"));
  assert_string_equal(diag.text, "");
  assert_int_equal(status, VINCI_OK);
  for (size_t i = 0; i < soc_param_count(); i++)
    assert_true(soc_get(soc, i) == soc_get(base, i));
  vinci_soc_free(soc);
  vinci_soc_free(base);
}

/* ---- look-up ----------------------------------------------------------------------- */

static void unknown_socs_get_a_suggestion(void **state) {
  (void)state;
  static const struct {
    const char *name;
    const char *message;
    const char *hint;
  } rows[] = {
      {"Ascend910X1", "unknown SoC 'Ascend910X1'",
       "did you mean 'Ascend910B1'? `vinci soc list` shows all"},
      {"910b", "unknown SoC '910b'",
       "there are Ascend910B1, Ascend910B2, Ascend910B2C, Ascend910B3, Ascend910B4 and "
       "Ascend910B4-1"},
      {"310P", "unknown SoC '310P'",
       "there are Ascend310P1, Ascend310P3, Ascend310P5 and Ascend310P7"},
      {"Ascend310B4", "unknown SoC 'Ascend310B4'",
       "the 310B is not modelled: its cores, clocks and buffers are public, the costs of its "
       "instructions (dav-m300) and its memory are not"},
      {"Atlas 200I DK A2", "unknown SoC 'Atlas 200I DK A2'",
       "an Atlas 200I A2 or its DK has a 310B, which is not modelled: its cores, clocks and "
       "buffers "
       "are public, the costs of its instructions (dav-m300) and its memory are not"},
      {"950DT_9581", "unknown SoC '950DT_9581'",
       "a 950DT has the cores of a 950PR and other memory, whose channels and timing are not "
       "public: "
       "Ascend950PR_9589 with --memory=flat --set hbm.bandwidth=4.2TB/s is near the 950DT_9581"},
      {"Atlas 300I Pro", "unknown SoC 'Atlas 300I Pro'", "an Atlas 300I Pro has an Ascend310P3"},
      {"atlas 800t a2", "unknown SoC 'atlas 800t a2'",
       "products of the A2 generation have Ascend910B1, B2, B2C, B3, B4 or B4-1: 'npu-smi info' "
       "says which"},
      {"../soc/Ascend910B4", "unknown SoC '../soc/Ascend910B4'", NULL},
      {"", "unknown SoC ''", "`vinci soc list` shows all"},
      {"sources", "unknown SoC 'sources'", "`vinci soc list` shows all"},
      {"ascend910b", "'ascend910b' is a base for other descriptions",
       "`vinci soc list` shows the SoCs"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc = NULL;
    assert_int_equal(vinci_soc_load(rows[i].name, data_dir, &soc, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, rows[i].message);
    if (rows[i].hint)
      assert_string_equal(diag.hint, rows[i].hint);
    assert_null(soc);
  }
}

static void names_are_taken_as_people_write_them(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"910B3", "Ascend910B3"},       {"ascend910b4", "Ascend910B4"},
      {"910b4-1", "Ascend910B4-1"},   {"Ascend910B4_1", "Ascend910B4-1"},
      {"910-9392", "Ascend910_9392"}, {"ascend 310P3", "Ascend310P3"},
      {"Ascend910B", "Ascend910B"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vinci_soc *soc = NULL;
    assert_int_equal(vinci_soc_load(rows[i][0], data_dir, &soc, NULL), VINCI_OK);
    assert_string_equal(soc->name, rows[i][1]);
    vinci_soc_free(soc);
  }
}

/* A FIFO is not opened for good, a link that leads nowhere says so. */
static void what_is_no_file_is_no_description(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  struct soc_names names;
  vinci_soc *soc = NULL;
  assert_int_equal(mkfifo(scratch_path("Fifo"), 0666), 0);
  assert_int_equal(mkdir(scratch_path("Folder"), 0777), 0);
  assert_int_equal(symlink("Loop.lua", scratch_path("Loop")), 0);
  assert_int_equal(soc_host_list(scratch_dir, &names, &diag), VINCI_OK);
  assert_int_equal(names.count, 2);
  assert_string_equal(names.items[0], "Ascend910B1");
  assert_string_equal(names.items[1], "Loop");
  soc_names_free(&names);
  assert_int_equal(vinci_soc_load("Fifo", scratch_dir, &soc, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "cannot be read: not a file of at most 1 MiB");
  diag = (struct vinci_diag){0};
  assert_int_equal(vinci_soc_load("Loop", scratch_dir, &soc, &diag), VINCI_E_USAGE);
  assert_string_equal(diag.text, "cannot be read: Too many levels of symbolic links");
  assert_string_equal(diag.path, scratch_path("Loop"));
  unlink(scratch_path("Fifo"));
  unlink(scratch_path("Loop"));
  rmdir(scratch_path("Folder"));
}

static void the_data_folder_comes_from_the_environment(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  assert_int_equal(setenv("VINCI_DATA", data_dir, 1), 0);
  assert_int_equal(vinci_soc_load("Ascend910A", NULL, &soc, &diag), VINCI_OK);
  vinci_soc_free(soc);
  assert_int_equal(setenv("VINCI_DATA", "/nowhere", 1), 0);
  assert_int_equal(vinci_soc_load("Ascend910A", NULL, &soc, &diag), VINCI_E_IO);
  assert_string_equal(diag.text, "no folder '/nowhere/soc'");
  assert_string_equal(diag.hint, "VINCI_DATA names the folder that holds soc/");
  assert_int_equal(unsetenv("VINCI_DATA"), 0);
}

static void shortage_of_memory_is_reported(void **state) {
  (void)state;
  enum vinci_status status = VINCI_E_NOMEM;
  for (size_t chunk = 1; status != VINCI_OK; chunk++) {
    struct vinci_diag diag = {0};
    vinci_soc *soc = NULL;
    assert_true(chunk < 1000);
    arena_fail_after(chunk);
    status = vinci_soc_load("Ascend910B4", data_dir, &soc, &diag);
    arena_fail_after(0);
    assert_true(status == VINCI_OK || status == VINCI_E_NOMEM);
    vinci_soc_free(soc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_descriptions_are_refused_with_their_position),
      cmocka_unit_test(a_missing_number_is_refused),
      cmocka_unit_test(an_error_in_a_base_names_the_base),
      cmocka_unit_test(a_description_changes_its_base),
      cmocka_unit_test(the_sandbox_has_no_way_out),
      cmocka_unit_test(an_endless_loop_is_stopped),
      cmocka_unit_test(a_memory_bomb_is_stopped),
      cmocka_unit_test(endless_recursion_is_stopped),
      cmocka_unit_test(a_description_cannot_change_words_for_its_base),
      cmocka_unit_test(what_is_no_file_is_no_description),
      cmocka_unit_test(unknown_socs_get_a_suggestion),
      cmocka_unit_test(names_are_taken_as_people_write_them),
      cmocka_unit_test(the_data_folder_comes_from_the_environment),
      cmocka_unit_test(shortage_of_memory_is_reported),
  };
  return cmocka_run_group_tests_name("soc_host", tests, set_up, tear_down);
}
