/* SPDX-License-Identifier: Apache-2.0 */
/* Results of kernels as numbers of a file. */
#include "networks/run/net_results.h"

#include <string.h>

#include "core/base/digest.h"
#include "core/base/store.h"
#include "core/result/result_energy.h"

/* In their order; from TIMES on those of call_times_write(). */
enum { MIXED, HBM_BYTES, FOUND_BYTES, TIMES, NUMBER_COUNT = TIMES + CALL_TIMES_NUMBERS };

static const struct store_kind kernel_kind = {
    .head = "vinci-kernel 4", .suffix = "kernel", .count = NUMBER_COUNT};
/* Beside it, when the chip keeps an account. */
static const struct store_kind energy_kind = {
    .head = "vinci-energy 1", .suffix = "energy", .count = ENERGY_COUNT};
_Static_assert((int)ENERGY_COUNT <= (int)STORE_NUMBERS_MAX, "an account has more numbers");
_Static_assert((int)NUMBER_COUNT <= (int)STORE_NUMBERS_MAX, "a result has more numbers");

struct kept {
  uint64_t number[NUMBER_COUNT];
};

static struct kept kept_of(const struct net_node *node) {
  struct kept kept = {.number = {[MIXED] = node->task.mixed,
                                 [HBM_BYTES] = node->hbm_bytes,
                                 [FOUND_BYTES] = node->found_bytes}};
  call_times_write(&node->times, kept.number + TIMES);
  return kept;
}

uint64_t net_result_digest(uint64_t seed, const struct net_launch *launch,
                           const struct kept_memory *memory) {
  uint64_t digest = digest_word(digest_word(seed, launch->trace->digest), kept_digest(memory));
  for (size_t i = 0; i < launch->input_count; i++)
    digest = digest_word(digest_word(digest, launch->inputs[i].address), launch->inputs[i].bytes);
  return digest_bytes(digest, launch->addresses,
                      launch->trace->tensor_count * sizeof *launch->addresses);
}

bool net_result_find(const char *folder, uint64_t digest, struct energy_counts *counts,
                     struct net_node *out) {
  struct kept kept;
  const uint64_t *number = kept.number;
  if (counts && !store_find(&energy_kind, folder, digest, counts->of))
    return false;
  out->energy = counts;
  if (!store_find(&kernel_kind, folder, digest, kept.number) || number[MIXED] > 1 ||
      !call_times_read(number + TIMES, &out->times))
    return false;
  out->from = NET_SIMULATED;
  out->hbm_bytes = number[HBM_BYTES];
  out->found_bytes = number[FOUND_BYTES];
  out->task.duration_ps = out->times.duration_ps;
  out->task.mixed = number[MIXED] == 1;
  return true;
}

enum vinci_status net_result_keep(const char *folder, uint64_t digest, const struct net_node *node,
                                  struct vinci_diag *diag) {
  struct kept kept = kept_of(node);
  enum vinci_status status = store_keep(&kernel_kind, folder, digest, kept.number, diag);
  return status == VINCI_OK && node->energy
             ? store_keep(&energy_kind, folder, digest, node->energy->of, diag)
             : status;
}

bool net_result_equals(const struct net_node *one, const struct net_node *other) {
  struct kept a = kept_of(one), b = kept_of(other);
  return memcmp(&a, &b, sizeof a) == 0;
}
