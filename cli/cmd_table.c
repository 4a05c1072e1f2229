/* SPDX-License-Identifier: Apache-2.0 */
/* vinci table: latencies of an operator over shapes, or of the layers of a model in the forms that
 * simulators of serving and training read; the work of scripts/lib/tables.lua. */
#include <inttypes.h>
#include <lauxlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/monitor.h"
#include "cli/support/script.h"
#include "core/base/diag.h"
#include "core/base/file.h"

enum { JOBS_MAX = 256, BLOCK_MAX = 65536, DEVICES_MAX = 1 << 20 };

struct table_settings {
  struct text_list sets, over;
  const char *soc, *data, *memory, *l2, *code, *form, *tp, *system, *output;
  uint64_t block, devices, jobs;
  bool quiet;
};

static const struct option_row table_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct table_settings, soc, "NAME",
                    "the chip, such as Ascend910B4; 'vinci soc list' shows them all"),
    OPTION_LIST_ROW("over", 0, struct table_settings, over, "NAME=VALUES",
                    "an axis: a key of the operator, or {NAME} in a value; 1,2,8, 1..4096 (each "
                    "twice the one before) or 16..64+16 (steps); may be repeated"),
    OPTION_TEXT_ROW("form", 0, struct table_settings, form, "FORM",
                    "csv (default): a row for each point of OP; llmservingsim, vidur, simai: files "
                    "for MODEL.lua"),
    OPTION_TEXT_ROW("output", 'o', struct table_settings, output, "PATH",
                    "the file (default: standard output), or the folder of the other forms"),
    OPTION_TEXT_ROW("tp", 0, struct table_settings, tp, "LIST",
                    "tensor parallel ranks of a model, such as 1,2,4 (1)"),
    OPTION_NUMBER_ROW("block-size", 0, struct table_settings, block, "N", 1, BLOCK_MAX,
                      "tokens of a block of the cache of K and V (128)"),
    OPTION_NUMBER_ROW("devices", 'n', struct table_settings, devices, "N", 1, DEVICES_MAX,
                      "devices of the step of simai (1); those of tp are one replica"),
    OPTION_TEXT_ROW("system", 0, struct table_settings, system, "NAME",
                    "of vidur: sums over the links of this system too; 'vinci group show'"),
    OPTION_LIST_ROW("set", 0, struct table_settings, sets, "KEY=VALUE",
                    "change a number of the chip, such as l2.size=96MiB; may be repeated"),
    OPTION_TEXT_ROW("memory", 0, struct table_settings, memory, "MODEL",
                    "flat (default) or cycle, as for 'vinci run'"),
    OPTION_TEXT_ROW("l2", 0, struct table_settings, l2, "STATE",
                    "of csv: L2 at the start of each point, as for 'vinci run' (empty)"),
    OPTION_TEXT_ROW("code", 0, struct table_settings, code, "STATE",
                    "cold (default), warm or device, as for 'vinci run'"),
    OPTION_NUMBER_ROW("jobs", 'j', struct table_settings, jobs, "N", 1, JOBS_MAX,
                      "points at a time (default: the number of processors)"),
    OPTION_TEXT_ROW("data", 0, struct table_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_FLAG_ROW("quiet", 'q', struct table_settings, quiet, "show no progress"),
};

struct question {
  const struct table_settings *settings;
  const struct text_list *words;
  struct monitor monitor;
};

/* The progress of vinci.tables, with the question beside the function. */
static int tell(lua_State *lua) {
  struct question *question = lua_touserdata(lua, lua_upvalueindex(1));
  lua_pushboolean(lua,
                  monitor_phase(&question->monitor, "operators", (size_t)luaL_checkinteger(lua, 1),
                                (size_t)luaL_checkinteger(lua, 2), ""));
  return 1;
}

static void fill(lua_State *lua, void *context) {
  struct question *question = context;
  const struct table_settings *settings = question->settings;
  script_set_text(lua, "soc", settings->soc);
  script_set_text(lua, "data", settings->data);
  script_set_text(lua, "memory", settings->memory);
  script_set_text(lua, "l2", settings->l2);
  script_set_text(lua, "code", settings->code);
  script_set_text(lua, "form", settings->form);
  script_set_text(lua, "tp", settings->tp ? settings->tp : "1");
  script_set_text(lua, "system", settings->system);
  script_set_integer(lua, "block", settings->block);
  script_set_integer(lua, "devices", settings->devices);
  if (settings->jobs != 0)
    script_set_integer(lua, "jobs", settings->jobs);
  script_set_list(lua, "words", question->words);
  script_set_list(lua, "over", &settings->over);
  script_set_pairs(lua, "set", &settings->sets);
  lua_pushlightuserdata(lua, question);
  lua_pushcclosure(lua, tell, 1);
  lua_setfield(lua, -2, "progress");
}

/* Writes a file below the folder of the output. */
static enum vinci_status write_below(const char *folder, const char *path, const char *text,
                                     struct vinci_diag *diag) {
  char whole[4096];
  int length = snprintf(whole, sizeof whole, "%s/%s", folder, path);
  if (length < 0 || (size_t)length >= sizeof whole)
    return diag_error(diag, VINCI_E_USAGE, "%s: the path is too long", folder);
  char *name = strrchr(whole, '/');
  *name = '\0';
  enum vinci_status status = folder_make(whole, diag);
  *name = '/';
  if (status == VINCI_OK)
    status = file_replace_text(whole, text, diag);
  return status;
}

/* The field of a table on top of the stack; the text stays in that table. */
static const char *text_field(lua_State *lua, const char *key) {
  lua_getfield(lua, -1, key);
  const char *text = lua_tostring(lua, -1);
  lua_pop(lua, 1);
  return text;
}

/* The files of the first result. */
static enum vinci_status write_files(lua_State *lua, const struct table_settings *settings,
                                     struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  lua_Integer count = luaL_len(lua, 1);
  for (lua_Integer i = 1; status == VINCI_OK && i <= count; i++) {
    lua_geti(lua, 1, i);
    const char *path = text_field(lua, "path"), *text = text_field(lua, "text");
    if (*path != '\0')
      status = write_below(settings->output, path, text, diag);
    else if (settings->output)
      status = file_replace_text(settings->output, text, diag);
    else
      fputs(text, stdout);
    if (status == VINCI_OK && *path != '\0')
      printf("%s/%s\n", settings->output, path);
    lua_pop(lua, 1);
  }
  return status;
}

/* The results are files, whether the table was ended, rows, how many of these failed, and why. */
static enum vinci_status answer(lua_State *lua, const struct table_settings *settings,
                                struct vinci_diag *diag) {
  enum vinci_status status = write_files(lua, settings, diag);
  if (status != VINCI_OK)
    return status;
  if (lua_toboolean(lua, 2))
    return diag_error(diag, VINCI_E_LIMIT, "%s before all was simulated; %s", monitor_reason(),
                      luaL_len(lua, 1) > 0 ? "the table has the rows so far"
                                           : "nothing is written");
  if (lua_tointeger(lua, 4) > 0)
    return diag_error(diag, VINCI_E_INPUT,
                      "%lld of %lld rows have no time, and column error says why; the first: %s",
                      (long long)lua_tointeger(lua, 4), (long long)lua_tointeger(lua, 3),
                      lua_tostring(lua, 5));
  return VINCI_OK;
}

static enum vinci_status table(const struct table_settings *settings, const struct text_list *words,
                               struct vinci_diag *diag) {
  static const char *const forms[] = {"csv", "llmservingsim", "vidur", "simai", NULL};
  struct question question = {.settings = settings, .words = words};
  struct script_call call = {"tables", "report", fill, &question, 5};
  unsigned form = 0;
  lua_State *lua = NULL;
  if (!settings->soc)
    return diag_error(diag, VINCI_E_USAGE, "give the chip with --soc-version");
  if (words->count == 0)
    return diag_error(diag, VINCI_E_USAGE, "give an operator and its arguments, or MODEL.lua");
  if (!cli_choose("form", settings->form, forms, &form))
    return VINCI_E_USAGE;
  if (form != 0 && !settings->output)
    return diag_error(diag, VINCI_E_USAGE, "give the folder for the form %s with --output",
                      forms[form]);
  monitor_catch_interrupt();
  monitor_start(&question.monitor, "table", 0, settings->quiet);
  enum vinci_status status = script_call(&call, &lua, diag);
  monitor_clear(&question.monitor);
  if (lua) {
    status = answer(lua, settings, diag);
    lua_close(lua);
  }
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct table_settings settings = {.block = 128, .devices = 1};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = table(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.sets);
  text_list_free(&settings.over);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_verb_table = {
    .name = "table",
    .arguments = "OP [KEY=VALUE]... | MODEL.lua",
    .summary = "Tables of latencies over shapes, also as simulators of serving read them",
    .details =
        "Each point is lowered and simulated on a chip of its own. A point that cannot be "
        "simulated\n"
        "has an empty time and says why in column error; the exit code is then 3.\n"
        "MODEL.lua returns a table as LUA.md describes models of vinci.transformer. Axes of\n"
        "llmservingsim and vidur are tokens, sequences, chunk and kv, with defaults as their own\n"
        "profilers have. Products and attention find L2 empty: weights of other layers have "
        "pushed\n"
        "theirs out.\n\n"
        "Examples:\n"
        "  vinci table matmul k=4096 n=4096 dtype=bf16 --over m=1..4096 -s Ascend910B4\n"
        "  vinci table softmax 'shape={rows}x1024' --over rows=16..64+16 -s Ascend910B4 -o t.csv\n"
        "  vinci table model.lua --form=llmservingsim --tp=1,2 -s Ascend910B4 -o perf/Ascend910B4\n"
        "  vinci table model.lua --form=vidur --system=atlas_a2_910b4 --tp=1,8 -s Ascend910B4 -o "
        "data/profiling\n"
        "  vinci table model.lua --form=simai --tp=8 -n 64 -s Ascend910B4 -o workloads\n",
    .options = {table_options, sizeof table_options / sizeof *table_options},
    .run = run,
};
