/* SPDX-License-Identifier: Apache-2.0 */
/* `make accuracy`, collectives: times of profiles of several devices against the model's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/vinci.h"
#include "devices/flow/run.h"
#include "scripts/systems/group_host.h"

enum { RANKS_MAX = 64, LINE_MAX_BYTES = 512, FIELDS = 9 };
static const double large = 0.1, small = 0.2; /* limits for at least 1 MB, and below */

enum field { SOURCE, SYSTEM, OP, RANKS, BYTES, PART, MEASURED, USED, KNOWN };

/* Mean duration of transfers that reduce, or that do not. */
struct part_times {
  double sum_ps[2];
  unsigned count[2];
};

static void add_transfer(void *context, const struct group_transfer *moved) {
  struct part_times *times = context;
  if (moved->from == moved->to)
    return;
  times->sum_ps[moved->step->adds] += (double)(moved->end_ps - moved->start_ps);
  times->count[moved->step->adds]++;
}

static void need(enum vinci_status status, const struct vinci_diag *diag) {
  if (status == VINCI_OK)
    return;
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

/* Times of the row's collective in microseconds, called by all ranks at once. */
static double simulated_us(char *const *field, const char *data) {
  struct group_description *group = NULL;
  struct vinci_diag diag = {0};
  need(group_host_load(field[SYSTEM], data, &group, &diag), &diag);
  uint32_t ranks = (uint32_t)strtoul(field[RANKS], NULL, 10), numbers[RANKS_MAX];
  need(group_host_fit(group, data, ranks, &diag), &diag);
  struct group_op op = {
      .kind = GROUP_COLLECTIVE,
      .name = field[OP],
      .call = {.op = collective_op_find(field[OP], strlen(field[OP])),
               .bytes = strtoull(field[BYTES], NULL, 10)},
  };
  struct group_stream stream = {&op, 1};
  struct group_program program = {&stream, 1, 0};
  const struct group_program *programs[RANKS_MAX];
  for (uint32_t i = 0; i < ranks; i++) {
    numbers[i] = i;
    programs[i] = &program;
  }
  struct group_ranks all = {numbers, ranks};
  struct group_family family = {"all", &all, 1};
  struct group_job job = {.system = &group->system,
                          .programs = programs,
                          .ranks = ranks,
                          .families = &family,
                          .family_count = 1};
  struct part_times times = {0};
  struct group_observer observer = {.context = &times, .transfer_ended = add_transfer};
  struct arena arena = {0};
  struct group_result result;
  need(group_run(&job, &observer, &arena, &result, &diag), &diag);
  unsigned part = strcmp(field[PART], "reduce") == 0;
  double ps = strcmp(field[PART], "total") == 0 ? (double)result.end_ps
                                                : times.sum_ps[part] / times.count[part];
  arena_free(&arena);
  group_host_free(group);
  return ps * 1e-6;
}

static bool split(char *line, char **field) {
  line[strcspn(line, "\n")] = '\0';
  for (unsigned i = 0; i < FIELDS; i++) {
    field[i] = line;
    line += strcspn(line, i + 1 < FIELDS ? "," : "");
    if (*line == '\0' && i + 1 < FIELDS)
      return false;
    *line++ = '\0';
  }
  return true;
}

/* A row whose reason stands in the table must be beyond its limit: else the reason is out of date.
 */
static bool print_row(char *const *field, const char *data) {
  double measured = strtod(field[MEASURED], NULL), model = simulated_us(field, data);
  double error = model / measured - 1, limit = strtod(field[BYTES], NULL) >= 1e6 ? large : small;
  bool beyond = fabs(error) > limit, known = *field[KNOWN];
  printf("%-5s %-15s %-14s %5s %10s %-6s %10.2f %10.2f %+6.1f %%  %-4s within %2.0f %%: %s%s\n",
         field[SOURCE], field[SYSTEM], field[OP], field[RANKS], field[BYTES], field[PART], measured,
         model, 100 * error, field[USED], 100 * limit, beyond ? "NO" : "yes",
         known ? " (known)" : "");
  return beyond == known;
}

int main(void) {
  const char *root = getenv("TESTS_SRCDIR");
  char data[4096], path[4096], line[LINE_MAX_BYTES], *field[FIELDS];
  bool header = true;
  int wrong = 0;
  snprintf(data, sizeof data, "%s/scripts", root ? root : ".");
  snprintf(path, sizeof path, "%s/tests/reference/collectives.csv", root ? root : ".");
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    return EXIT_FAILURE;
  }
  printf("Collectives on several devices; used: a number of the system comes from that row\n"
         "%-5s %-15s %-14s %5s %10s %-6s %10s %10s %8s  %s\n",
         "from", "system", "collective", "ranks", "bytes", "part", "us", "model", "error", "used");
  while (fgets(line, sizeof line, file)) {
    if (*line == '#')
      continue;
    if (!header && split(line, field))
      wrong += !print_row(field, data);
    header = false;
  }
  fclose(file);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
