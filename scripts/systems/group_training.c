/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings whose units fail, for callers of the library. */
#include "core/base/diag.h"
#include "core/vinci_group.h"
#include "devices/flow/training.h"

enum { RUNS = 1000 };

static enum vinci_status check(const struct vinci_training *training, uint32_t runs,
                               struct vinci_diag *diag) {
  if (training->struct_size != sizeof *training)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of a training is %zu, not %zu",
                      training->struct_size, sizeof *training);
  if (training->units < 1 || training->units > TRAINING_UNITS_MAX ||
      training->spares > TRAINING_UNITS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "units are 1 to %u and spares as many at most",
                      (unsigned)TRAINING_UNITS_MAX);
  if (runs > TRAINING_RUNS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "runs are at most %u", (unsigned)TRAINING_RUNS_MAX);
#define X(field, name, minimum, text)                                                              \
  if (training->field > TRAINING_NS_MAX)                                                           \
    return diag_error(diag, VINCI_E_USAGE, "'" name "' is longer than 36 years");
  GROUP_TRAINING_TIME_LIST(X)
#undef X
  return VINCI_OK;
}

enum vinci_status vinci_group_train(const struct vinci_training *training,
                                    struct vinci_trained *out, struct vinci_diag *diag) {
  struct group_training_result result;
  uint32_t runs = training->runs ? training->runs : RUNS;
  *out = (struct vinci_trained){0};
  enum vinci_status status = check(training, runs, diag);
  if (status != VINCI_OK)
    return status;
  const struct group_training settings = {
#define X(field, name, minimum, text) .field = training->field,
      GROUP_TRAINING_TIME_LIST(X)
#undef X
          .units = training->units,
      .spares = training->spares,
      .shrinks = training->shrinks,
      .seed = training->seed,
  };
  status = group_train(&settings, runs, training->checkpoint, &result, diag);
  if (status != VINCI_OK)
    return status;
  *out = (struct vinci_trained){
      .runs = result.runs,
      .failures = result.mean.failures,
      .time_ns = result.mean_ns,
      .half_ns = result.half_ns,
      .p5_ns = result.p5_ns,
      .median_ns = result.median_ns,
      .p95_ns = result.p95_ns,
      .young_ns = group_training_young_ns(&settings),
      .work_ns = result.mean.work_ns,
      .slower_ns = result.mean.slow_ns,
      .checkpoint_ns = result.mean.checkpoint_ns,
      .lost_ns = result.mean.lost_ns,
      .detect_ns = result.mean.detect_ns,
      .wait_ns = result.mean.wait_ns,
      .restart_ns = result.mean.restart_ns,
  };
  return VINCI_OK;
}
