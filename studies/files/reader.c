/* SPDX-License-Identifier: Apache-2.0 */
/* What study and suite files say of runs. */
#include "studies/files/reader.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "networks/workload/network.h"
#include "scripts/host/soc_files.h"

static const char *const setting_words[] = {"soc",  "memory", "network",    "l2",
                                            "code", "set",    "max_cycles", NULL};
static const char *const workload_words[] = {"op", "trace", "net", "job", "model", NULL};

static bool is_among(const char *const *words, const char *key) {
  while (*words && strcmp(*words, key) != 0)
    words++;
  return *words != NULL;
}

bool study_is_setting(const char *key) { return is_among(setting_words, key); }

/* Words of lists that end with NULL, one list behind the other. */
struct field_lists {
  const char *const *lists[2];
};

static const char *field_at(const void *context, size_t index) {
  const struct field_lists *all = context;
  for (size_t l = 0; l < sizeof all->lists / sizeof *all->lists; l++)
    for (const char *const *word = all->lists[l]; word && *word; word++)
      if (index-- == 0)
        return *word;
  return NULL;
}

void study_hint_field(const char *key, const char *const *more, struct vinci_diag *diag) {
  struct field_lists all = {{setting_words, more}};
  size_t count = 0;
  while (field_at(&all, count))
    count++;
  const char *nearest = diag_nearest(key, count, field_at, &all);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
}

/* ---- settings ------------------------------------------------------------------------------- */

static enum vinci_status read_sets(struct study_reader *reader, struct run_spec *spec) {
  lua_State *lua = reader->file.lua;
  size_t count = 0;
  void *room = NULL;
  lua_getfield(lua, -1, "set");
  if (!lua_isnil(lua, -1) && !lua_bounds_list(lua, -1, &count))
    return lua_file_error(&reader->file, reader->diag,
                          "set is not a list: write { \"key=value\", ... }");
  enum vinci_status status = VINCI_OK;
  if (count > 0) /* else the list of the suite serves all its points */
    status = lua_file_room(&reader->file, spec->set_count + count, sizeof *spec->sets, &room,
                           reader->diag);
  if (status != VINCI_OK)
    return status;
  if (room && spec->set_count > 0)
    memcpy(room, spec->sets, spec->set_count * sizeof *spec->sets);
  spec->sets = room ? room : spec->sets;
  for (size_t i = 1; status == VINCI_OK && i <= count; i++) {
    lua_rawgeti(lua, -1, (lua_Integer)i);
    status =
        lua_file_keep(&reader->file, "set: an entry", &spec->sets[spec->set_count++], reader->diag);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return status;
}

enum vinci_status study_read_settings(struct study_reader *reader, struct run_spec *spec) {
  const struct {
    const char *key;
    const char **out;
  } texts[] = {{"soc", &spec->soc},
               {"memory", &spec->models.memory},
               {"network", &spec->models.network},
               {"l2", &spec->models.l2},
               {"code", &spec->models.code}};
  enum vinci_status status = VINCI_OK;
  const char *before = spec->soc;
  for (size_t i = 0; status == VINCI_OK && i < sizeof texts / sizeof *texts; i++)
    status = lua_file_field(&reader->file, texts[i].key, texts[i].out, reader->diag);
  if (status == VINCI_OK && spec->soc != before && soc_own_is_file(spec->soc))
    status = study_resolve(reader, &spec->soc);
  if (status == VINCI_OK)
    status = lua_file_whole(&reader->file, "max_cycles", &spec->max_cycles, reader->diag);
  return status == VINCI_OK ? read_sets(reader, spec) : status;
}

/* ---- the workload --------------------------------------------------------------------------- */

static enum vinci_status refuse_workload(struct study_reader *reader,
                                         const struct workload *workload) {
  enum vinci_status status =
      lua_file_error(&reader->file, reader->diag, "%s%swants one of op, trace, net, job and model",
                     reader->who ? reader->who : "", reader->who ? " " : "");
  for (size_t i = 0; !workload->op && !workload->net && !workload->job && workload_words[i]; i++)
    lua_file_hint_key(&reader->file, workload_words[i], reader->diag);
  return status;
}

static enum vinci_status refuse_field(struct study_reader *reader, const char *key) {
  if (!key && !reader->who)
    return lua_file_error(&reader->file, reader->diag, "has a field that is not named");
  enum vinci_status status =
      lua_file_error(&reader->file, reader->diag, "%s%sunknown field '%s'",
                     reader->who ? reader->who : "", reader->who ? ": " : "", key ? key : "[1]");
  if (key)
    study_hint_field(key, reader->others, reader->diag);
  return status;
}

enum vinci_status study_resolve(struct study_reader *reader, const char **path) {
  const char *slash = strrchr(reader->file.path, '/');
  if (!*path || **path == '/' || !slash)
    return VINCI_OK;
  size_t folder = (size_t)(slash - reader->file.path) + 1;
  void *room = NULL;
  enum vinci_status status =
      lua_file_room(&reader->file, folder + strlen(*path) + 1, 1, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  memcpy(room, reader->file.path, folder);
  strcpy((char *)room + folder, *path);
  *path = room;
  return VINCI_OK;
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_job_field(const struct study_reader *reader, const char *key) {
  for (const char *const *field = reader->job_fields; *field; field++) {
    size_t length = strlen(*field);
    if (strcmp(key, *field) == 0 ||
        ((*field)[length - 1] == '.' && strncmp(key, *field, length) == 0 && key[length]))
      return true;
  }
  return strcmp(key, "system") == 0;
}

/* All other fields, sorted, as key=value. */
static enum vinci_status read_arguments(struct study_reader *reader, struct workload *workload) {
  lua_State *lua = reader->file.lua;
  size_t capacity = 1;
  void *room = NULL;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1))
    capacity++;
  enum vinci_status status =
      lua_file_room(&reader->file, capacity, sizeof *workload->args, &room, reader->diag);
  if (status != VINCI_OK)
    return status;
  workload->args = room;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1)) {
    const char *key = lua_file_key(&reader->file, -2);
    if (key &&
        (study_is_setting(key) || is_among(workload_words, key) || is_among(reader->others, key)))
      continue;
    if (!key || workload->trace || (workload->net && !network_has_key(key)) ||
        (workload->job && !is_job_field(reader, key)))
      return refuse_field(reader, key);
    status =
        lua_file_argument(&reader->file, key, &workload->args[workload->arg_count], reader->diag);
    if (status != VINCI_OK)
      return status;
    workload->arg_count++;
  }
  qsort(workload->args, workload->arg_count, sizeof *workload->args, compare_texts);
  return VINCI_OK;
}

enum vinci_status study_read_workload(struct study_reader *reader, struct run_spec *spec) {
  struct workload *workload = &spec->workload;
  enum vinci_status status = lua_file_field(&reader->file, "op", &workload->op, reader->diag);
  if (status == VINCI_OK)
    status = lua_file_field(&reader->file, "trace", &workload->trace, reader->diag);
  if (status == VINCI_OK)
    status = lua_file_field(&reader->file, "net", &workload->net, reader->diag);
  if (status == VINCI_OK)
    status = lua_file_field(&reader->file, "job", &workload->job, reader->diag);
  if (status == VINCI_OK)
    status = lua_file_field(&reader->file, "model", &workload->model, reader->diag);
  if (status == VINCI_OK &&
      !!workload->op + !!workload->trace + !!workload->net + !!workload->job + !!workload->model !=
          1)
    status = refuse_workload(reader, workload);
  if (status == VINCI_OK)
    status = study_resolve(reader, &workload->trace);
  if (status == VINCI_OK)
    status = study_resolve(reader, &workload->net);
  if (status == VINCI_OK)
    status = study_resolve(reader, &workload->job);
  if (status == VINCI_OK)
    status = study_resolve(reader, &workload->model);
  return status == VINCI_OK ? read_arguments(reader, workload) : status;
}
