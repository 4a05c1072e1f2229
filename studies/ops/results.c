/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of operators that are kept from run to run (core/base/store.h). The digest has the
 * program, the chip, the models, the state of L2 and the model revision, so that a result of
 * another of these is never taken.
 */
#include <string.h>

#include "core/base/arith.h"
#include "core/base/digest.h"
#include "core/base/store.h"
#include "core/isa/program.h"
#include "studies/ops/ops.h"

/* The numbers of a result, in their order; from TIMES on those of call_times_write(). */
enum { L2_START, L2_OWED, TIMES, NUMBER_COUNT = TIMES + CALL_TIMES_NUMBERS };

static const struct store_kind result_kind = {
    .head = "vinci-result 4", .suffix = "result", .count = NUMBER_COUNT};
_Static_assert((int)NUMBER_COUNT <= (int)STORE_NUMBERS_MAX, "a result has more numbers");

/* What a row has from its run. */
struct kept {
  uint64_t number[NUMBER_COUNT];
};

static struct kept kept_of(const struct ops_outcome *outcome) {
  struct kept kept = {
      .number = {[L2_START] = outcome->l2_start, [L2_OWED] = outcome->l2_owed_bytes}};
  call_times_write(&outcome->times, kept.number + TIMES);
  return kept;
}

static bool take(const struct kept *kept, struct ops_outcome *outcome) {
  const uint64_t *number = kept->number;
  if (number[L2_START] > VINCI_L2_DIRTY || !call_times_read(number + TIMES, &outcome->times))
    return false;
  outcome->l2_start = (enum vinci_l2)number[L2_START];
  outcome->l2_owed_bytes = number[L2_OWED];
  return true;
}

uint64_t ops_result_digest(const struct vinci_soc *soc, const struct vinci_trace *trace,
                           const struct vinci_run_options *options, const struct call_row *row) {
  uint64_t written = options->l2_written_given
                         ? min_u64(options->l2_written_bytes, (uint64_t)soc->l2_owed_bytes)
                         : UINT64_MAX;
  const uint64_t numbers[] = {soc_digest(soc),     trace->digest,           options->memory,
                              options->network,    options->l2_start,       written,
                              options->max_cycles, options->code_found_ppm, options->repeat};
  uint64_t digest = digest_string(DIGEST_SEED, vinci_model_revision());
  digest = digest_bytes(digest, numbers, sizeof numbers);
  const char *part = strchr(row->cell[CALL_TYPE], '@'); /* which cores its times are of */
  return digest_string(digest, part ? part : "");
}

bool ops_result_find(const char *folder, uint64_t digest, struct ops_outcome *outcome) {
  struct kept kept;
  return store_find(&result_kind, folder, digest, kept.number) && take(&kept, outcome);
}

enum vinci_status ops_result_keep(const char *folder, uint64_t digest,
                                  const struct ops_outcome *outcome, struct vinci_diag *diag) {
  struct kept kept = kept_of(outcome);
  return store_keep(&result_kind, folder, digest, kept.number, diag);
}

bool ops_result_equals(const struct ops_outcome *one, const struct ops_outcome *other) {
  struct kept a = kept_of(one), b = kept_of(other);
  return memcmp(&a, &b, sizeof a) == 0;
}
