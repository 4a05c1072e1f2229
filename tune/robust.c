/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Winners that stay good: the fastest schedules run again on neighbours of the chip, one number of
 * which is a tenth less or more, and with other states of L2. The numbers of a chip are known no
 * better than that, and L2 holds what other kernels have left. Among schedules that are
 * within a hundredth of the fastest, the one with the smallest worst loss wins.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/chip/soc_numbers.h"
#include "tune/tune.h"

enum { NEAR_PERCENT = 1, PERMILLE = 1000 };

static const char *const numbers[] = {"hbm.bandwidth_scale", "l2.hit_cycles", "launch.per_block",
                                      "code.first_cycles", "transfer.window_cycles"};
static const enum vinci_l2 states[] = {VINCI_L2_EMPTY, VINCI_L2_WARM, VINCI_L2_STREAMING};
enum { NUMBERS = sizeof numbers / sizeof *numbers, STATES = sizeof states / sizeof *states };
_Static_assert((int)(2 * NUMBERS + STATES) <= (int)VINCI_TUNE_NEIGHBOURS_MAX,
               "VINCI_TUNE_NEIGHBOURS_MAX is too small");

/* The chip with a number changed by a tenth; NULL: it has no such number, or not another. */
static vinci_soc *neighbour(const vinci_soc *soc, const char *key, bool more) {
  struct soc_number number;
  struct vinci_diag ignored = {0};
  char value[64], assignment[160];
  if (!soc_number_find(soc, key, &number) || number.value == 0)
    return NULL;
  int64_t changed = number.value + (more ? 1 : -1) * number.value / 10;
  vinci_soc *copy = changed != number.value ? soc_copy(soc) : NULL;
  soc_format_value(changed, number.param->kind, value, sizeof value);
  snprintf(assignment, sizeof assignment, "%s=%s", key, value);
  if (copy && vinci_soc_set(copy, assignment, &ignored) != VINCI_OK) {
    vinci_soc_free(copy);
    copy = NULL;
  }
  return copy;
}

/* Adds what each schedule takes longer than the best of them: the most of all neighbours. */
static enum vinci_status compare(struct tune_setting *setting, const char *const *schedules,
                                 size_t count, uint64_t *worst, struct vinci_tuned *out,
                                 struct vinci_diag *diag) {
  struct tune_fact *facts = calloc(count, sizeof *facts);
  if (!facts)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status = tune_ask(setting, schedules, count, facts, diag);
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < count; i++)
    best = facts[i].cycles < best ? facts[i].cycles : best;
  for (size_t i = 0; status == VINCI_OK && best < TUNE_FAILED && i < count; i++) {
    bool failed = facts[i].cycles == TUNE_FAILED;
    uint64_t loss =
        failed ? UINT64_MAX : (uint64_t)((uint128)(facts[i].cycles - best) * PERMILLE / best);
    worst[i] = loss > worst[i] ? loss : worst[i];
  }
  out->neighbours += status == VINCI_OK;
  free(facts);
  return status;
}

static enum vinci_status compare_all(const struct tune_setting *setting,
                                     const char *const *schedules, size_t count, uint64_t *worst,
                                     struct vinci_tuned *out, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < 2 * NUMBERS; i++) {
    struct tune_setting other = *setting;
    vinci_soc *soc = neighbour(setting->soc, numbers[i / 2], i % 2 != 0);
    other.soc = soc;
    if (soc)
      status = compare(&other, schedules, count, worst, out, diag);
    vinci_soc_free(soc);
  }
  for (size_t i = 0; status == VINCI_OK && i < STATES; i++) {
    struct tune_setting other = *setting;
    other.evaluate.l2_start = states[i];
    if (states[i] != setting->evaluate.l2_start)
      status = compare(&other, schedules, count, worst, out, diag);
  }
  return status;
}

enum vinci_status tune_robust(const struct tune_setting *setting, const char *const *schedules,
                              size_t count, size_t *winner, struct vinci_tuned *out,
                              struct vinci_diag *diag) {
  struct tune_setting own = *setting;
  struct tune_fact *facts = calloc(count + 1, sizeof *facts);
  uint64_t *worst = calloc(count + 1, sizeof *worst);
  enum vinci_status status =
      facts && worst ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = tune_ask(&own, schedules, count, facts, diag);
  if (status == VINCI_OK)
    status = compare_all(setting, schedules, count, worst, out, diag);
  *winner = 0;
  for (size_t i = 1; status == VINCI_OK && i < count; i++)
    if (facts[i].cycles * 100 <= facts[0].cycles * (100 + NEAR_PERCENT) &&
        worst[i] < worst[*winner])
      *winner = i;
  out->contenders = (unsigned)count;
  if (status == VINCI_OK) {
    out->worst_permille = worst[*winner];
    out->fastest_worst_permille = worst[0];
  }
  free(facts);
  free(worst);
  return status;
}
