/* SPDX-License-Identifier: Apache-2.0 */
/* Runs operators, one a line, on a chip, and prints summary.json of each: the library for
 * test_same.sh. */
#include <stdlib.h>
#include <string.h>

#include "vinci.h"

enum { WORDS = 16 };

static enum vinci_status run_line(const vinci_soc *soc, char *line, struct vinci_diag *diag) {
  const char *words[WORDS];
  size_t count = 0;
  for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
    words[count++] = word;
  vinci_trace *trace = NULL;
  vinci_result *result = NULL;
  enum vinci_status status = vinci_compile(soc, words[0], words + 1, count - 1, &trace, diag);
  if (status == VINCI_OK)
    status = vinci_run(soc, trace, NULL, &result, diag);
  if (status == VINCI_OK)
    status = vinci_result_write_json(result, stdout, diag);
  vinci_result_free(result);
  vinci_trace_free(trace);
  return status;
}

int main(int argc, char **argv) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  char line[512];
  enum vinci_status status = argc == 2 ? vinci_soc_load(argv[1], NULL, &soc, &diag) : VINCI_E_USAGE;
  while (status == VINCI_OK && fgets(line, sizeof line, stdin))
    status = run_line(soc, line, &diag);
  if (status != VINCI_OK)
    vinci_diag_print(&diag, stderr);
  vinci_soc_free(soc);
  return vinci_status_exit_code(status);
}
