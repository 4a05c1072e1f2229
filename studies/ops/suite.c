/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suite of the operators of a list, such as the op_summary.csv of a profiler. Rows that ask for
 * the same become one point; rows that cannot be compiled are told at the end.
 */
#include "studies/ops/suite.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/chip/soc.h"
#include "lower/calls/calls.h"

enum { PS_PER_NS = 1000, DIGITS_NS = 3, NAME_SIZE = 96 };

/* What a point of the suite is made of. */
struct imported {
  uint64_t digest; /* of chip, operator, arguments and L2 */
  const struct call_row *row;
  const char *soc;
  const char *op;
  const char **args;
  size_t arg_count;
  enum vinci_l2 l2;
  size_t rows;          /* that ask for this case */
  uint64_t measured_ps; /* of all of them */
};

struct refused {
  const struct call_row *row;
  const char *reason;
};

struct importing {
  const struct calls_suite *suite;
  struct chip_cache chips;
  struct call_list list;
  struct arena arena;
  struct imported *points;
  struct refused *refused;
  size_t point_count, refused_count;
};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- rows --------------------------------------------------------------------------------- */

static bool keep_point(struct importing *importing, struct imported point,
                       const struct call_request *request) {
  point.digest = digest_string(digest_string(DIGEST_SEED, point.soc), point.op);
  point.digest = digest_bytes(point.digest, &point.l2, sizeof point.l2);
  for (size_t i = 0; i < request->arg_count; i++)
    point.digest = digest_string(point.digest, request->args[i]);
  for (size_t i = 0; i < importing->point_count; i++)
    if (importing->points[i].digest == point.digest) {
      importing->points[i].rows++;
      importing->points[i].measured_ps += point.measured_ps;
      return true;
    }
  point.args = ARENA_ARRAY(&importing->arena, const char *, request->arg_count + 1);
  for (size_t i = 0; point.args && i < request->arg_count; i++)
    if ((point.args[i] = arena_strdup(&importing->arena, request->args[i])) == NULL)
      return false;
  point.arg_count = request->arg_count;
  importing->points[importing->point_count++] = point;
  return point.args != NULL;
}

/* Whether what a row asks for becomes a program; else the request tells the reason. */
static bool compiles(const vinci_soc *soc, const struct call_row *row,
                     struct call_request *request) {
  struct vinci_diag problem = {0};
  vinci_trace *trace = NULL;
  enum vinci_status status =
      vinci_compile(soc, request->op->name, request->args, request->arg_count, &trace, &problem);
  bool good = status == VINCI_OK &&
              calls_check_outputs(row, trace, request->reason, sizeof request->reason);
  vinci_trace_free(trace);
  if (status != VINCI_OK)
    snprintf(request->reason, sizeof request->reason, "%.199s", problem.text);
  return good;
}

static enum vinci_status import_row(struct importing *importing, const struct call_row *row,
                                    struct vinci_diag *diag) {
  struct arena scratch = {0};
  struct call_request request = {0};
  const char *name = *row->cell[CALL_SOC] ? row->cell[CALL_SOC] : importing->suite->soc;
  const vinci_soc *soc = NULL;
  if (!name)
    return spec_lacks_soc(diag);
  enum vinci_status status = chip_cache_get(&importing->chips, name, &soc, diag);
  if (status != VINCI_OK)
    return status;
  bool good;
  if (calls_resolve(&importing->list, row, soc, &scratch, &request) &&
      compiles(soc, row, &request)) {
    struct imported point = {.row = row,
                             .soc = vinci_soc_name(soc),
                             .op = request.op->name,
                             .l2 = calls_l2_start(row, &request),
                             .rows = 1,
                             .measured_ps = row->measured_ps};
    good = keep_point(importing, point, &request);
  } else {
    struct refused *refused = &importing->refused[importing->refused_count++];
    *refused = (struct refused){row, arena_strdup(&importing->arena, request.reason)};
    good = refused->reason != NULL;
  }
  arena_free(&scratch);
  return good ? VINCI_OK : no_memory(diag);
}

static enum vinci_status import_rows(struct importing *importing, struct vinci_diag *diag) {
  size_t count = importing->list.count;
  importing->points = calloc(count + 1, sizeof *importing->points);
  importing->refused = calloc(count + 1, sizeof *importing->refused);
  enum vinci_status status = importing->points && importing->refused ? VINCI_OK : no_memory(diag);
  for (size_t i = 0; status == VINCI_OK && i < count; i++)
    status = import_row(importing, &importing->list.rows[i], diag);
  if (status != VINCI_OK || importing->point_count > 0)
    return status;
  struct diag_position position = {.path = importing->suite->list};
  (void)diag_error_at(diag, VINCI_E_INPUT, position, "no row can be compiled%s%s",
                      importing->refused_count > 0 ? "; the first: " : "",
                      importing->refused_count > 0 ? importing->refused[0].reason : "");
  return VINCI_E_INPUT;
}

/* ---- the suite ------------------------------------------------------------------------------ */

static const char *title(const struct call_row *row) {
  return *row->cell[CALL_NAME] ? row->cell[CALL_NAME] : row->cell[CALL_TYPE];
}

/* The row's name, of the letters that a suite allows. */
static void plain_name(const struct imported *point, char *name) {
  const char *text = *title(point->row) ? title(point->row) : point->op;
  snprintf(name, NAME_SIZE, "%.80s", text);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("_-./+:", *c))
      *c = '_';
}

/* A name that occurs again gets a number, by its place among those of the name. */
static void point_name(const struct importing *importing, size_t index, char *name) {
  char other[NAME_SIZE];
  size_t before = 0;
  plain_name(&importing->points[index], name);
  for (size_t i = 0; i < index; i++) {
    plain_name(&importing->points[i], other);
    before += strcmp(name, other) == 0;
  }
  size_t length = strlen(name);
  if (before > 0)
    snprintf(name + length, NAME_SIZE - length, "#%zu", before + 1);
  for (char *c = name + length; *c; c++)
    *c = *c == '#' ? '~' : *c; /* which no plain name has */
}

static void put_argument(FILE *out, const char *argument) {
  const char *value = strchr(argument, '=');
  if (!value)
    return;
  fprintf(out, ", %.*s = ", (int)(value - argument), argument);
  value++;
  if (*value && strlen(value) < 16 && value[strspn(value, "0123456789")] == '\0' &&
      (*value != '0' || !value[1]))
    fputs(value, out);
  else
    json_write_plain(out, value);
}

/* The chip of all points, or NULL. */
static const char *common_soc(const struct importing *importing) {
  const char *soc = importing->points[0].soc;
  for (size_t i = 1; i < importing->point_count; i++)
    if (strcmp(importing->points[i].soc, soc) != 0)
      return NULL;
  return soc;
}

static void put_point(const struct importing *importing, size_t index, FILE *out) {
  const struct imported *point = &importing->points[index];
  char name[NAME_SIZE];
  point_name(importing, index, name);
  fputs("  { name = ", out);
  json_write_plain(out, name);
  if (!common_soc(importing))
    fprintf(out, ", soc = \"%s\"", point->soc);
  fprintf(out, ", l2 = \"%s\", op = \"%s\"", result_l2_name(point->l2), point->op);
  for (size_t i = 0; i < point->arg_count; i++)
    put_argument(out, point->args[i]);
  fprintf(out, " }, -- line %lu", point->row->line);
  if (point->rows > 1)
    fprintf(out, " and %zu more", point->rows - 1);
  if (point->measured_ps > 0)
    fprintf(out, ", measured %s us",
            decimal_exact(point->measured_ps / point->rows / PS_PER_NS, DIGITS_NS).text);
  fputc('\n', out);
}

static void put_suite(void *context, FILE *out) {
  const struct importing *importing = context;
  const struct calls_suite *suite = importing->suite;
  fputs("-- Made by 'vinci gate import' from ", out);
  json_write_plain(out, suite->list);
  fprintf(out, ": %zu rows, %zu points, %zu rows left out (at the end).\n", importing->list.count,
          importing->point_count, importing->refused_count);
  fputs("return {", out);
  if (common_soc(importing))
    fprintf(out, " soc = \"%s\",", common_soc(importing));
  if (suite->models.memory)
    fprintf(out, " memory = \"%s\",", suite->models.memory);
  if (suite->models.network)
    fprintf(out, " network = \"%s\",", suite->models.network);
  fputs(" points = {\n", out);
  for (size_t i = 0; i < importing->point_count; i++)
    put_point(importing, i, out);
  fputs("} }\n", out);
  for (size_t i = 0; i < importing->refused_count; i++) {
    const struct refused *refused = &importing->refused[i];
    fprintf(out, "-- left out: line %lu, ", refused->row->line);
    json_write_plain(out, title(refused->row));
    fputs(": ", out);
    json_write_plain(out, refused->reason);
    fputc('\n', out);
  }
}

enum vinci_status calls_write_suite(const struct calls_suite *suite,
                                    struct calls_suite_counts *counts, struct vinci_diag *diag) {
  struct importing importing = {.suite = suite, .chips = {.data = suite->data}};
  struct vinci_run_options ignored = {.struct_size = sizeof ignored};
  enum vinci_status status = workload_choose(&suite->models, &ignored, diag);
  if (status == VINCI_OK)
    status = calls_read(suite->list, &importing.list, diag);
  calls_withhold_blocks(&importing.list); /* as vinci run --ops */
  if (status == VINCI_OK)
    status = import_rows(&importing, diag);
  if (status == VINCI_OK && suite->output)
    status = file_replace(suite->output, put_suite, &importing, diag);
  else if (status == VINCI_OK)
    put_suite(&importing, suite->out);
  *counts = (struct calls_suite_counts){importing.list.count, importing.point_count,
                                        importing.refused_count};
  free(importing.points);
  free(importing.refused);
  chip_cache_free(&importing.chips);
  arena_free(&importing.list.arena);
  arena_free(&importing.arena);
  return status;
}
