/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make accuracy`, isolated vector instructions and whole vector functions: what they take from
 * start to end, against the fits in tests/reference/instruction_fits.csv, over the repeats that
 * fits are made of. There is no target: the fits hold a slope of another method than the tables
 * of streams (2.3 for products, 2.00 there), and the model keeps to the streams.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/inst.h"
#include "core/vinci.h"

enum { NAME_BYTES = 64, REGISTER_BITS = 2048, REPEATS_MAX = 128 };

/* As tests/accuracy/accuracy.c: sources in the same groups of banks, the result in another bank. */
enum { SRC0_ADDRESS = 0, SRC1_ADDRESS = 0x4000, DST_ADDRESS = 0x10000 };

struct fit {
  char soc[NAME_BYTES], name[NAME_BYTES], dtype[NAME_BYTES];
  double slope, constant;
};

static bool read_fit(char *line, struct fit *fit) {
  return *line != '#' && sscanf(line, "%63[^,],%63[^,],%63[^,],%lf,%lf", fit->soc, fit->name,
                                fit->dtype, &fit->slope, &fit->constant) == 5;
}

static void set_operand(struct inst *inst, const char *name, int64_t value) {
  int index = isa_arg_find(isa_row((enum isa_op)inst->op), name, strlen(name));
  if (index >= 0)
    inst->arg[index] = value;
}

static struct inst inst_of(const struct fit *fit, int64_t repeats) {
  enum isa_op op = isa_find(fit->name, strlen(fit->name));
  enum dtype type = dtype_by_name(fit->dtype);
  struct inst inst = {.op = (uint16_t)op, .mask = {.low = UINT64_MAX, .high = UINT64_MAX}};
  const struct isa_row *row = isa_row(op);
  for (unsigned i = 0; i < row->arg_count; i++)
    if (row->arg[i].has_default)
      inst.arg[i] = row->arg[i].default_value;
  inst.arg[row->type_arg] = type;
  set_operand(&inst, "src0", SRC0_ADDRESS);
  set_operand(&inst, "src1", SRC1_ADDRESS);
  set_operand(&inst, "dst", DST_ADDRESS);
  set_operand(&inst, "repeat", repeats);
  set_operand(&inst, "count", repeats * REGISTER_BITS / (int64_t)dtype_bits(type));
  return inst;
}

static double error_at(const vinci_soc *soc, const struct fit *fit, int64_t repeats) {
  struct inst inst = inst_of(fit, repeats);
  struct inst_cost cost;
  registry_cost((enum isa_op)inst.op)(soc, &inst, &cost);
  return (double)cost.latency_cycles / (fit->constant + fit->slope * (double)repeats) - 1;
}

static bool compare(const char *data, const struct fit *fit) {
  vinci_soc *soc = NULL;
  struct vinci_diag diag = {0};
  if (vinci_soc_load(fit->soc, data, &soc, &diag) != VINCI_OK) {
    vinci_diag_print(&diag, stderr);
    return false;
  }
  double largest = 0;
  for (int64_t repeats = 1; repeats <= REPEATS_MAX; repeats++)
    if (fabs(error_at(soc, fit, repeats)) > fabs(largest))
      largest = error_at(soc, fit, repeats);
  printf("%-18s %-8s %-5s %6.3f %6.1f  %+6.1f %% %+6.1f %% %+6.1f %%\n", fit->soc, fit->name,
         fit->dtype, fit->slope, fit->constant, 100 * error_at(soc, fit, 1),
         100 * error_at(soc, fit, REPEATS_MAX), 100 * largest);
  vinci_soc_free(soc);
  return true;
}

int main(void) {
  const char *root = getenv("TESTS_SRCDIR");
  char path[4096], data[4096], line[512];
  snprintf(path, sizeof path, "%s/tests/reference/instruction_fits.csv", root ? root : ".");
  snprintf(data, sizeof data, "%s/scripts", root ? root : ".");
  FILE *table = fopen(path, "r");
  if (!table) {
    perror(path);
    return EXIT_FAILURE;
  }
  printf("Isolated vector instructions (tests/reference/instruction_fits.csv); no target\n"
         "%-18s %-8s %-5s %6s %6s  %8s %8s %8s\n",
         "soc", "name", "type", "slope", "const", "1 repeat", "128", "largest");
  bool complete = true;
  struct fit fit;
  while (complete && fgets(line, sizeof line, table))
    if (read_fit(line, &fit))
      complete = compare(data, &fit);
  fclose(table);
  return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
