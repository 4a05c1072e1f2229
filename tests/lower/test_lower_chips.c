/* SPDX-License-Identifier: Apache-2.0 */
/* The large case of each operator on chips of every architecture: it lowers, or a list says why
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/vinci.h"
#include "lower/kernel/lower.h"
#include "tests/support/words.h"

struct exception {
  const char *chip, *op, *reason;
};
static const struct exception exceptions[] = {
#define CHIP_EXCEPTION(chip, operator, reason) {#chip, #operator, reason },
#include "tests/lower/chip_exceptions.def"
};

static const char *expected_reason(const char *chip, const char *op) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
    if (strcmp(exceptions[i].chip, chip) == 0 && strcmp(exceptions[i].op, op) == 0)
      return exceptions[i].reason;
  return NULL;
}

/* Whether the operator lowers; a failure of the test where the list says something else. */
static bool lowers(const vinci_soc *soc, const char *chip, const char *op, size_t *wrong) {
  struct vinci_diag diag = {0};
  struct words words;
  vinci_trace *trace = NULL;
  words_split(&words, lower_compared(op)->args);
  enum vinci_status status = vinci_compile(soc, op, words.item, words.count, &trace, &diag);
  const char *reason = expected_reason(chip, op);
  vinci_trace_free(trace);
  if (status == VINCI_OK && !reason)
    return true;
  if (status == VINCI_OK)
    print_message("%s lowers on %s: its row in chip_exceptions.def can go\n", op, chip);
  else if (!reason || !strstr(diag.text, reason))
    print_message("%s on %s: %s\n", op, chip, diag.text);
  *wrong += status == VINCI_OK || !reason || !strstr(diag.text, reason);
  return status == VINCI_OK;
}

static void operators_lower(const char *chip) {
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  size_t wrong = 0, lowered = 0, count = lower_op_count();
  if (vinci_soc_load(chip, NULL, &soc, &diag) != VINCI_OK)
    fail_msg("%s", diag.text);
  for (size_t i = 0; i < count; i++)
    lowered += lowers(soc, chip, lower_op(i)->name, &wrong);
  print_message("%s: %zu of %zu operators lower\n", chip, lowered, count);
  vinci_soc_free(soc);
  assert_int_equal(wrong, 0);
}

static void on_310p3(void **state) {
  (void)state;
  operators_lower("Ascend310P3");
}

static void on_910a(void **state) {
  (void)state;
  operators_lower("Ascend910A");
}

static void on_950pr(void **state) {
  (void)state;
  operators_lower("Ascend950PR_9589");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_310p3),
      cmocka_unit_test(on_910a),
      cmocka_unit_test(on_950pr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
