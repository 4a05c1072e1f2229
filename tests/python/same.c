/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what the lines of standard input ask for on a chip: the library for test_same.sh. Prints
 * summary.json of runs, reports of checks, and times of networks and jobs; the folder gets values
 * and tables of lists. Paths count from the working folder.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vinci.h"
#include "vinci_group.h"
#include "vinci_net.h"
#include "vinci_study.h"

enum { WORDS = 16 };

struct asked {
  const vinci_soc *soc;
  const char *folder;
  unsigned line;
  const char *words[WORDS]; /* the kind, then what it takes */
  size_t count;
};

static enum vinci_status compile(const struct asked *asked, vinci_trace **trace,
                                 struct vinci_diag *diag) {
  return vinci_compile(asked->soc, asked->words[1], asked->words + 2, asked->count - 2, trace,
                       diag);
}

static enum vinci_status run(const struct asked *asked, const vinci_trace *trace,
                             struct vinci_diag *diag) {
  vinci_result *result = NULL;
  enum vinci_status status = vinci_run(asked->soc, trace, NULL, &result, diag);
  if (status == VINCI_OK)
    status = vinci_result_write_json(result, stdout, diag);
  vinci_result_free(result);
  return status;
}

static enum vinci_status check(const struct asked *asked, const vinci_trace *trace,
                               struct vinci_diag *diag) {
  vinci_findings *findings = NULL;
  enum vinci_status status = vinci_check(asked->soc, trace, NULL, &findings, diag);
  if (status == VINCI_OK || status == VINCI_E_CHECK)
    status = vinci_findings_write_text(findings, stdout, diag);
  vinci_findings_free(findings);
  return status;
}

static enum vinci_status compute(const struct asked *asked, const vinci_trace *trace,
                                 struct vinci_diag *diag) {
  vinci_values *values = NULL;
  struct vinci_tensor tensor;
  char path[4096];
  enum vinci_status status = vinci_values_create(asked->soc, trace, &values, diag);
  if (status == VINCI_OK) {
    vinci_values_fill(values, 7);
    status = vinci_values_run(values, NULL, NULL, diag);
  }
  for (size_t i = 0; status == VINCI_OK && i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor) && tensor.output) {
      snprintf(path, sizeof path, "%s/%u.%s.npy", asked->folder, asked->line, tensor.name);
      status = vinci_values_save(values, tensor.name, path, diag);
    }
  vinci_values_free(values);
  return status;
}

static enum vinci_status list(const struct asked *asked, struct vinci_diag *diag) {
  const struct vinci_ops_options options = {
      .struct_size = sizeof options, .overrides.soc = vinci_soc_name(asked->soc), .jobs = 1};
  struct vinci_ops_result result;
  char path[4096];
  snprintf(path, sizeof path, "%s/%u", asked->folder, asked->line);
  return vinci_ops_run(asked->words[1], path, &options, &result, diag);
}

static double us(uint64_t ps) { return 1e-6 * (double)ps; }

static bool print_rank(void *context, const struct vinci_group_rank *rank) {
  (void)context;
  printf("%.6f %.6f %.6f\n", us(rank->computing_ps), us(rank->exposed_ps), us(rank->idle_ps));
  if (rank->held_count > 0)
    printf("%" PRIu64 " %.6f", rank->peak_bytes, us(rank->peak_ps));
  for (size_t i = 0; i < rank->held_count; i++)
    if (strcmp(rank->held[i].name, "activations") == 0)
      printf(" %" PRIu64 " %" PRIu64 "\n", rank->held[i].peak_bytes, rank->held[i].most_bytes);
  return true;
}

static enum vinci_status run_text(const struct asked *asked, struct vinci_diag *diag) {
  static char text[1 << 16];
  FILE *file = fopen(asked->words[1], "r");
  size_t length = file ? fread(text, 1, sizeof text, file) : 0;
  if (file)
    fclose(file);
  if (strcmp(asked->words[0], "net") == 0) {
    struct vinci_net_result result;
    enum vinci_status status =
        vinci_net_run(asked->soc, asked->words[1], text, length, NULL, NULL, NULL, &result, diag);
    printf("net %.6f %.6f %zu %" PRIu64 " %" PRIu64 "\n", us(result.end_ps),
           us(result.first_end_ps), result.kernels, result.hbm_bytes, result.memory_bytes);
    return status;
  }
  struct vinci_group_result result;
  enum vinci_status status =
      vinci_group_run(asked->words[1], text, length, NULL, print_rank, NULL, &result, diag);
  printf("group %.6f %" PRIu64 "\n", us(result.end_ps), result.moved_bytes);
  return status;
}

static enum vinci_status answer(const struct asked *asked, struct vinci_diag *diag) {
  const char *kind = asked->words[0];
  vinci_trace *trace = NULL;
  if (strcmp(kind, "list") == 0)
    return list(asked, diag);
  if (strcmp(kind, "net") == 0 || strcmp(kind, "group") == 0)
    return run_text(asked, diag);
  bool lowered = strcmp(kind, "run") == 0 || strcmp(kind, "values") == 0;
  enum vinci_status status = lowered ? compile(asked, &trace, diag)
                                     : vinci_trace_load(asked->words[1], asked->soc, &trace, diag);
  if (status == VINCI_OK)
    status = strcmp(kind, "values") == 0  ? compute(asked, trace, diag)
             : strcmp(kind, "check") == 0 ? check(asked, trace, diag)
                                          : run(asked, trace, diag);
  vinci_trace_free(trace);
  return status;
}

int main(int argc, char **argv) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  char line[512];
  enum vinci_status status = argc == 3 ? vinci_soc_load(argv[1], NULL, &soc, &diag) : VINCI_E_USAGE;
  for (unsigned number = 1; status == VINCI_OK && fgets(line, sizeof line, stdin); number++) {
    struct asked asked = {.soc = soc, .folder = argv[2], .line = number};
    for (char *word = strtok(line, " \n"); word && asked.count < WORDS; word = strtok(NULL, " \n"))
      asked.words[asked.count++] = word;
    status = answer(&asked, &diag);
  }
  if (status != VINCI_OK)
    vinci_diag_print(&diag, stderr);
  vinci_soc_free(soc);
  return vinci_status_exit_code(status);
}
