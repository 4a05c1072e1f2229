/* SPDX-License-Identifier: Apache-2.0 */
/* vinci group plan: the search of scripts/lib/planner.lua, which scripts call too. */
#include <lauxlib.h>
#include <string.h>

#include "cli/group/group.h"
#include "cli/support/monitor.h"
#include "cli/support/script.h"
#include "core/base/file.h"
#include "core/base/sheet.h"

enum {
  ROWS_DEFAULT = 20,
  ROWS_MAX = 1000000,
  DEVICES_MAX = 4096,
  LAUNCH_US_MAX = 1000000,
  SECONDS_MAX = 1000000,
  WIDE = 110, /* columns of a terminal that has the whole table */
};

struct plan_settings {
  struct group_system_settings system;
  const char *job, *output, *checkpoint, *split, *savings;
  struct text_list faults;
  uint64_t devices, rows, launch_us, seconds;
  bool all, exact, json, csv, quiet;
};

static const struct option_row plan_options[] = {
    GROUP_SYSTEM_ROWS(struct plan_settings, system),
    OPTION_NUMBER_ROW("devices", 'n', struct plan_settings, devices, "N", 1, DEVICES_MAX,
                      "devices that the model is split over"),
    OPTION_NUMBER_ROW("launch", 0, struct plan_settings, launch_us, "US", 0, LAUNCH_US_MAX,
                      "microseconds that the host takes to issue a kernel (0)"),
    OPTION_LIST_ROW("fault", 0, struct plan_settings, faults, "FAULT",
                    "a device or link that is slow, as of 'vinci group run': devices=3,speed=0.8; "
                    "stages of slow devices get fewer layers; may be repeated"),
    OPTION_TEXT_ROW("split", 0, struct plan_settings, split, "SPLIT",
                    "simulate this split alone, such as tp2,pp2,dp1 or as the table names it"),
    OPTION_TEXT_ROW("savings", 0, struct plan_settings, savings, "WHICH",
                    "all: what other splits and groups of gradients save against --split, each by "
                    "a simulated step, with the option that shows it again; none (default)"),
    OPTION_NUMBER_ROW("rows", 0, struct plan_settings, rows, "N", 1, ROWS_MAX,
                      "print the N best (20)"),
    OPTION_FLAG_ROW("all", 0, struct plan_settings, all,
                    "simulate those splits too whose lower bound is above the best step"),
    OPTION_TEXT_ROW("job", 0, struct plan_settings, job, "FILE",
                    "write the job of the fastest split, for 'vinci group run'"),
    OPTION_NUMBER_ROW("seconds", 0, struct plan_settings, seconds, "N", 1, SECONDS_MAX,
                      "end after N seconds with the best so far, and exit code 7"),
    OPTION_TEXT_ROW("checkpoint", 0, struct plan_settings, checkpoint, "FILE",
                    "keep the times of kernels and sums in FILE, and take those that are there: a "
                    "plan that was ended goes on, and other models share them"),
    OPTION_FLAG_ROW("exact", 0, struct plan_settings, exact,
                    "simulate all of large kernels, and all ranks of jobs of more than 64"),
    OPTION_TEXT_ROW("output", 'o', struct plan_settings, output, "FILE",
                    "write a row for each split as CSV"),
    OPTION_FLAG_ROW("json", 0, struct plan_settings, json, "print JSON, a line for each split"),
    OPTION_FLAG_ROW("csv", 0, struct plan_settings, csv, "print the rows of --output"),
    OPTION_FLAG_ROW("quiet", 'q', struct plan_settings, quiet, "show no progress"),
};

/* What the search is asked, and what it answers: texts of the Lua state. */
struct question {
  const struct plan_settings *settings;
  const char *model, *chip;
  struct monitor monitor;
};

/* The progress of planner.plan, with the question beside the function. */
static int tell(lua_State *lua) {
  struct question *question = lua_touserdata(lua, lua_upvalueindex(1));
  bool bounds = strcmp(luaL_checkstring(lua, 1), "bounds") == 0;
  char found[96] = "";
  int length = 0;
  if (lua_type(lua, 4) == LUA_TNUMBER)
    length = snprintf(found, sizeof found, ", fastest step %.3f ms", lua_tonumber(lua, 4) / 1000);
  if (lua_type(lua, 5) == LUA_TNUMBER && length >= 0 && (size_t)length < sizeof found)
    snprintf(found + length, sizeof found - (size_t)length, ", none below %.1f ms",
             lua_tonumber(lua, 5) / 1000);
  question->monitor.limit_seconds = (double)question->settings->seconds; /* 0: none */
  lua_pushboolean(lua,
                  monitor_phase(&question->monitor, bounds ? "splits looked at" : "splits decided",
                                (size_t)luaL_checkinteger(lua, 2),
                                (size_t)luaL_checkinteger(lua, 3), found));
  return 1;
}

/* The settings of planner_report.report. */
static void fill(lua_State *lua, void *context) {
  struct question *question = context;
  const struct plan_settings *settings = question->settings;
  script_set_text(lua, "model", question->model);
  script_set_text(lua, "soc", question->chip);
  script_set_text(lua, "system", settings->system.name);
  script_set_text(lua, "data", settings->system.data);
  script_set_text(lua, "checkpoint", settings->checkpoint);
  script_set_pairs(lua, "set", &settings->system.sets);
  script_set_list(lua, "faults", &settings->faults);
  script_set_integer(lua, "devices", settings->devices);
  script_set_integer(lua, "rows", settings->rows);
  script_set_flag(lua, "narrow", sheet_width(stdout) > 0 && sheet_width(stdout) < WIDE);
  lua_pushnumber(lua, (lua_Number)settings->launch_us);
  lua_setfield(lua, -2, "launch_us");
  script_set_text(lua, "split", settings->split);
  script_set_flag(lua, "savings", settings->savings && strcmp(settings->savings, "all") == 0);
  script_set_flag(lua, "all", settings->all);
  script_set_flag(lua, "exact", settings->exact);
  script_set_flag(lua, "json", settings->json);
  lua_pushlightuserdata(lua, question);
  lua_pushcclosure(lua, tell, 1);
  lua_setfield(lua, -2, "progress");
}

/* A terminal breaks what is too long. */
static void print_lines(const char *text) {
  struct sheet_lines lines;
  fputs(text, sheet_lines_begin(&lines, stdout));
  sheet_lines_end(&lines);
}

static enum vinci_status answer(lua_State *lua, const struct plan_settings *settings,
                                struct vinci_diag *diag) {
  bool partial = lua_toboolean(lua, -2), found = lua_type(lua, -3) == LUA_TSTRING;
  enum vinci_status status = VINCI_OK;
  if (settings->csv || settings->json)
    fputs(lua_tostring(lua, settings->csv ? -1 : -4), stdout);
  else
    print_lines(lua_tostring(lua, -4));
  if (settings->output)
    status = file_replace_text(settings->output, lua_tostring(lua, -1), diag);
  if (status != VINCI_OK)
    return status;
  if (!found && !partial)
    return diag_error(diag, VINCI_E_INPUT, "no split of the model fits the devices");
  if (found && settings->job)
    status = file_replace_text(settings->job, lua_tostring(lua, -3), diag);
  if (status != VINCI_OK || !partial)
    return status;
  return diag_error(diag, VINCI_E_LIMIT, "%s before all splits were compared; %s",
                    monitor_interrupted() ? "interrupted" : "the time given by --seconds is over",
                    found ? "the best so far is the first row" : "no step was simulated");
}

/* Faults that a job of these devices would not take are refused before the search. */
static enum vinci_status check_faults(const struct plan_settings *settings,
                                      struct vinci_diag *diag) {
  char text[128];
  struct job job;
  int length = snprintf(text, sizeof text, "job,version=1,ranks=%u\nprogram,ranks=0-%u\n",
                        (unsigned)settings->devices, (unsigned)settings->devices - 1);
  enum vinci_status status = job_read("devices", text, (size_t)length, &job, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; status == VINCI_OK && i < settings->faults.count; i++)
    status = job_add_fault(&job, settings->faults.items[i], diag);
  job_free(&job);
  return status;
}

static enum vinci_status plan(const struct plan_settings *settings, const struct text_list *words,
                              struct vinci_diag *diag) {
  struct group_description *group = NULL;
  struct question question = {.settings = settings};
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one model, not %zu", words->count);
  if (settings->devices == 0)
    return diag_error(diag, VINCI_E_USAGE, "give the number of devices with --devices");
  if (settings->savings && strcmp(settings->savings, "all") != 0 &&
      strcmp(settings->savings, "none") != 0)
    return diag_error(diag, VINCI_E_USAGE, "--savings is all or none, not '%s'", settings->savings);
  if (settings->savings && strcmp(settings->savings, "all") == 0 && !settings->split)
    return diag_error(diag, VINCI_E_USAGE, "--savings is against a split: give it with --split");
  const char *form;
  enum vinci_status status = cli_form(settings->json, settings->csv, NULL, &form, diag);
  if (status == VINCI_OK)
    status = check_faults(settings, diag);
  if (status == VINCI_OK)
    status = group_load(&settings->system, (uint32_t)settings->devices, &group, diag);
  if (status != VINCI_OK)
    return status;
  question.model = words->items[0];
  question.chip = group->chip;
  /* The results: the text, the job or nil, whether something was left out, and the rows as CSV. */
  struct script_call call = {"planner_report", "report", fill, &question, 4};
  lua_State *lua = NULL;
  monitor_catch_interrupt();
  monitor_start(&question.monitor, "plan", 0, settings->quiet);
  status = script_call(&call, &lua, diag);
  monitor_clear(&question.monitor);
  if (lua) {
    status = answer(lua, settings, diag);
    lua_close(lua);
  }
  group_host_free(group);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  struct plan_settings settings = {.rows = ROWS_DEFAULT};
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code))
    exit_code = plan(&settings, &words, &diag) == VINCI_OK ? 0 : cli_fail(&diag);
  text_list_free(&settings.system.sets);
  text_list_free(&settings.faults);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_group_plan = {
    .name = "group plan",
    .arguments = "MODEL.lua",
    .summary = "Find the fastest split of a transformer over devices, and why others lose",
    .details =
        "MODEL.lua returns a table as LUA.md describes models of vinci.transformer, for example\n"
        "  return { layers = 4, hidden = 1024, ffn = 2816, heads = 16, vocab = 32000,\n"
        "           sequence = 2048, global_batch = 16 }\n"
        "All splits into tensor, pipeline, context, data and expert parallelism are candidates.\n"
        "Those that do not fit the memory are tried with recompute. Each split has a lower bound "
        "of "
        "its\n"
        "step, by products alone, then by estimates and sums, then by kernels that are simulated "
        "one\n"
        "after the other. The split with the least bound is looked at next, until no bound is "
        "below\n"
        "the best step. The best is tried again with groups of gradients from dynamic "
        "programming.\n"
        "Bubble and exposed are as in LUA.md.\n"
        "Large kernels are scaled from a part of them, and of more than 64 ranks one replica is\n"
        "simulated; --exact does neither. --seconds or Ctrl-C ends the search; the table then "
        "says\n"
        "what was left out.\n\n"
        "Examples:\n"
        "  vinci group plan model.lua -s atlas_a2_910b4 -n 8\n"
        "  vinci group plan model.lua -s atlas_a2_910b4 -n 16 --set hccs.copy=30GB/s "
        "--job=best.job.csv\n"
        "  vinci group plan model.lua -s atlas_a2_910b4 -n 8 --split=tp8,pp1,dp1 --savings=all\n"
        "  vinci group plan model.lua -s atlas_a2_910b4 -n 1024 --rows=5 --checkpoint=plan.txt\n",
    .options = {plan_options, sizeof plan_options / sizeof *plan_options},
    .run = run,
};
