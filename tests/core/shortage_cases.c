/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/core/shortage.h"
#include "tests/core/shortage_cases.h"

vinci_soc *shortage_chip;
FILE *shortage_nowhere;

const char *shortage_source(const char *name) {
  static char path[4096];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/%s", top ? top : "../../..", name);
  return path;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at) {
  (void)about, (void)kind, (void)at;
  return remove(path);
}

static void remove_folder(const char *path) { nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

/* ---- one allocation after the other ----------------------------------------------------- */

/* What is wrong, or NULL. */
static const char *attempt(shortage_work *does, enum vinci_status wanted, unsigned long first,
                           bool all) {
  static char text[2048];
  struct vinci_diag diag = {0};
  remove_folder("out");
  long live = shortage_live();
  shortage_begin(first, all);
  enum vinci_status status = does(&diag);
  shortage_end();
  live = shortage_live() - live;
  if (status == wanted && live == 0)
    return NULL;
  if (status == VINCI_E_NOMEM && diag.status == VINCI_E_NOMEM && diag.text[0] != '\0' && live == 0)
    return NULL;
  snprintf(text, sizeof text, "allocation %lu%s: %s, '%s', %ld not freed", first,
           all ? " and all behind" : "", vinci_status_text(status), diag.text, live);
  return text;
}

void shortage_each(shortage_work *does) {
  struct vinci_diag diag = {0};
  const char *every = getenv("SHORTAGE_EVERY");
  unsigned long step = every ? strtoul(every, NULL, 10) : 0, wrong = 0;
  signal(SIGSEGV, SIG_DFL); /* a child of a pool must not go on with the tests */
  remove_folder("out");
  if (does(&diag) != VINCI_OK) /* also makes what is made once */
    fail_msg("%s: %s", diag.path, diag.text);
  remove_folder("out");
  shortage_begin_places();
  assert_int_equal(does(&diag), VINCI_OK);
  unsigned long count = shortage_end();
  assert_true(count > 0);
  size_t tries = step ? (count + step - 1) / step : shortage_place_count();
  for (size_t i = 0; i < 2 * tries && wrong < 5; i++) {
    unsigned long first = step ? i / 2 * step + 1 : shortage_place(i / 2);
    const char *why = attempt(does, VINCI_OK, first, i % 2);
    if (why) {
      print_error("%s\n", why);
      shortage_tell();
      (void)attempt(does, VINCI_OK, first, i % 2);
      wrong++;
    }
  }
  print_message("# %zu places of %lu allocations\n", tries, count);
  assert_int_equal(wrong, 0);
}

enum vinci_status shortage_without(struct vinci_diag *diag) {
  diag->status = VINCI_E_NOMEM;
  snprintf(diag->text, sizeof diag->text, "out of memory");
  return VINCI_E_NOMEM;
}

/* ---- the scratch folder ------------------------------------------------------------------- */

void shortage_file(const char *name, const char *text) {
  FILE *out = fopen(name, "w");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0);
  assert_int_equal(fclose(out), 0);
}

int shortage_set_up(void **state) {
  static char folder[] = "test_shortage.XXXXXX";
  struct vinci_diag diag = {0};
  *state = folder;
  if (!mkdtemp(folder) || chdir(folder) != 0 || !(shortage_nowhere = fopen("/dev/null", "w")))
    return -1;
  if (vinci_soc_load("Ascend910B4", NULL, &shortage_chip, &diag) != VINCI_OK)
    return print_error("%s\n", diag.text), -1;
  return 0;
}

int shortage_tear_down(void **state) {
  vinci_soc_free(shortage_chip);
  fclose(shortage_nowhere);
  if (chdir("..") != 0)
    return -1;
  remove_folder(*state);
  return 0;
}
