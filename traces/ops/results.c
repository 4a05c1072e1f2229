/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of operators that are kept from run to run, a small text file each:
 *
 *   vinci-result 1 DIGEST                  of all that the result depends on
 *   NUMBER ...                             those of struct kept
 *   CHECKSUM                               of the lines before
 *
 * The digest has the program, the chip, the models, the state of L2 and the model revision, so that
 * a result of another of these is never taken. A file that is torn is no result.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arith.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/isa/program.h"
#include "traces/ops/ops.h"

#define HEADER_FORMAT "vinci-result 1 %016" PRIx64 "\n"
#define CHECKSUM_FORMAT "%016" PRIx64 "\n"

enum { FILE_BYTES_MAX = 4096, PATH_BYTES = 4096 };
/* The numbers of a result, in their order; from PIPES on, one for each pipe. */
enum {
  DURATION,
  CORE,
  START,
  KIND,
  BLOCKS,
  L2_START,
  L2_OWED,
  PIPES,
  NUMBER_COUNT = PIPES + PIPE_COUNT
};

/* What a row has from its run. */
struct kept {
  uint64_t number[NUMBER_COUNT];
};

static struct kept kept_of(const struct ops_outcome *outcome) {
  const struct call_times *times = &outcome->times;
  struct kept kept = {.number = {[DURATION] = times->duration_ps,
                                 [CORE] = times->core_ps,
                                 [START] = times->start_ps,
                                 [KIND] = times->kind,
                                 [BLOCKS] = times->blocks,
                                 [L2_START] = outcome->l2_start,
                                 [L2_OWED] = outcome->l2_owed_bytes}};
  memcpy(kept.number + PIPES, times->pipe_ps, sizeof times->pipe_ps);
  return kept;
}

static bool take(const struct kept *kept, struct ops_outcome *outcome) {
  const uint64_t *number = kept->number;
  if (number[KIND] >= CORE_KIND_COUNT || number[BLOCKS] > UINT32_MAX ||
      number[L2_START] > VINCI_L2_DIRTY)
    return false;
  outcome->times = (struct call_times){.duration_ps = number[DURATION],
                                       .core_ps = number[CORE],
                                       .start_ps = number[START],
                                       .kind = (enum core_kind)number[KIND],
                                       .blocks = (unsigned)number[BLOCKS]};
  outcome->l2_start = (enum vinci_l2)number[L2_START];
  outcome->l2_owed_bytes = number[L2_OWED];
  memcpy(outcome->times.pipe_ps, number + PIPES, sizeof outcome->times.pipe_ps);
  return true;
}

uint64_t ops_result_digest(const struct vinci_soc *soc, const struct vinci_trace *trace,
                           const struct vinci_run_options *options, const struct call_row *row) {
  uint64_t written = options->l2_written_given
                         ? min_u64(options->l2_written_bytes, (uint64_t)soc->l2_owed_bytes)
                         : UINT64_MAX;
  const uint64_t numbers[] = {soc_digest(soc),    trace->digest,     options->memory,
                              options->network,   options->l2_start, written,
                              options->max_cycles};
  uint64_t digest = digest_string(DIGEST_SEED, vinci_model_revision());
  digest = digest_bytes(digest, numbers, sizeof numbers);
  const char *part = strchr(row->cell[CALL_TYPE], '@'); /* which cores its times are of */
  return digest_string(digest, part ? part : "");
}

static void path_of(const char *folder, uint64_t digest, char *path) {
  snprintf(path, PATH_BYTES, "%s/%016" PRIx64 ".result", folder, digest);
}

/* All but the checksum. */
static int format(const struct kept *kept, uint64_t digest, char *text, size_t size) {
  int used = snprintf(text, size, HEADER_FORMAT, digest);
  for (unsigned i = 0; i < NUMBER_COUNT; i++)
    used += snprintf(text + used, size - (size_t)used, "%" PRIu64 "%c", kept->number[i],
                     i + 1 < NUMBER_COUNT ? ' ' : '\n');
  return used;
}

static bool parse(const char *text, uint64_t digest, struct kept *kept) {
  char again[FILE_BYTES_MAX], checksum[32];
  const char *at = strchr(text, '\n');
  for (unsigned i = 0; at && i < NUMBER_COUNT; i++) {
    char *end;
    kept->number[i] = strtoull(at, &end, 10);
    at = end == at ? NULL : end;
  }
  if (!at)
    return false;
  int used = format(kept, digest, again, sizeof again);
  snprintf(checksum, sizeof checksum, CHECKSUM_FORMAT,
           digest_bytes(DIGEST_SEED, again, (size_t)used));
  return strncmp(text, again, (size_t)used) == 0 && strcmp(text + used, checksum) == 0;
}

bool ops_result_find(const char *folder, uint64_t digest, struct ops_outcome *outcome) {
  char path[PATH_BYTES];
  struct vinci_diag diag = {0};
  struct kept kept;
  size_t length;
  path_of(folder, digest, path);
  if (access(path, R_OK) != 0)
    return false;
  char *text = file_read(path, FILE_BYTES_MAX - 1, &length, &diag);
  bool found = text && parse(text, digest, &kept) && take(&kept, outcome);
  free(text);
  return found;
}

struct writing {
  struct kept kept;
  uint64_t digest;
};

static void write_result(void *context, FILE *out) {
  const struct writing *writing = context;
  char text[FILE_BYTES_MAX];
  int used = format(&writing->kept, writing->digest, text, sizeof text);
  fputs(text, out);
  fprintf(out, CHECKSUM_FORMAT, digest_bytes(DIGEST_SEED, text, (size_t)used));
}

enum vinci_status ops_result_keep(const char *folder, uint64_t digest,
                                  const struct ops_outcome *outcome, struct vinci_diag *diag) {
  char path[PATH_BYTES], own[PATH_BYTES + 32];
  struct writing writing = {kept_of(outcome), digest};
  path_of(folder, digest, path);
  snprintf(own, sizeof own, "%s.%ld", path, (long)getpid()); /* others may keep the same one now */
  enum vinci_status status = file_replace(own, write_result, &writing, diag);
  if (status == VINCI_OK && rename(own, path) != 0)
    status = file_error(diag, path, "write");
  return status;
}

bool ops_result_equals(const struct ops_outcome *one, const struct ops_outcome *other) {
  struct kept a = kept_of(one), b = kept_of(other);
  return memcmp(&a, &b, sizeof a) == 0;
}
