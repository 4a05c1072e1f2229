/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci tune serve: other tuners ask in JSON lines on stdin, and get a line on stdout for each.
 * What goes wrong with a candidate is its answer; the server ends with the end of stdin alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tune/cmd_tune.h"
#include "cli/tune/json.h"
#include "cli/tune/values.h"
#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "networks/workload/workload.h"
#include "traces/export/export.h"

enum { JOBS_MAX = 256, WORDS_MAX = 64, SCHEMA = 1, CYCLES_DIGITS = 19 };
#define PS_PER_US UINT64_C(1000000)

struct serve_settings {
  const char *soc, *data;
  struct text_list sets;
  uint64_t jobs;
};

static const struct option_row serve_options[] = {
    OPTION_TEXT_ROW("soc-version", 's', struct serve_settings, soc, "NAME",
                    "the chip, such as Ascend910B4"),
    OPTION_LIST_ROW("set", 0, struct serve_settings, sets, "KEY=VALUE",
                    "change a number of the chip; may be repeated"),
    OPTION_TEXT_ROW("data", 0, struct serve_settings, data, "DIR",
                    "the folder that holds soc/ with the hardware descriptions"),
    OPTION_NUMBER_ROW("jobs", 'j', struct serve_settings, jobs, "N", 1, JOBS_MAX,
                      "simulations at a time (default: the number of processors)"),
};

/* A request while it is answered. */
struct request {
  const vinci_soc *soc;
  unsigned jobs;
  struct arena arena;
  const struct json_value *body;
  const char *op;
  const char *args[WORDS_MAX];
  size_t arg_count;
  struct json_writer json;
};

/* ---- arguments ------------------------------------------------------------------------------ */

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* {"m": 4, "dtype": "fp16"} as words "m=4", behind those that are there. */
static enum vinci_status add_members(struct arena *arena, const struct json_value *object,
                                     const char **words, size_t *count, struct vinci_diag *diag) {
  for (const struct json_value *member = object->first; member; member = member->next) {
    const char *text = json_scalar(member);
    if (!text || *count == WORDS_MAX)
      return diag_error(diag, VINCI_E_USAGE, "argument %s is neither a number nor a text",
                        member->key);
    size_t size = strlen(member->key) + strlen(text) + 2;
    char *word = ARENA_ARRAY(arena, char, size);
    if (!word)
      return no_memory(diag);
    snprintf(word, size, "%s=%s", member->key, text);
    words[(*count)++] = word;
  }
  return VINCI_OK;
}

/* A text "tile=4x4x4 cores=2" as words, or an object as above. */
static enum vinci_status add_words(struct arena *arena, const struct json_value *value,
                                   const char **words, size_t *count, struct vinci_diag *diag) {
  if (!value || value->kind == JSON_NULL)
    return VINCI_OK;
  if (value->kind == JSON_OBJECT)
    return add_members(arena, value, words, count, diag);
  if (value->kind != JSON_TEXT)
    return diag_error(diag, VINCI_E_USAGE, "arguments are an object or a text \"key=value ...\"");
  char *rest = arena_strdup(arena, value->text);
  if (!rest)
    return no_memory(diag);
  for (char *word; (word = strsep(&rest, " "));) {
    if (!*word)
      continue;
    if (*count == WORDS_MAX)
      return diag_error(diag, VINCI_E_USAGE, "more than %d arguments", WORDS_MAX);
    words[(*count)++] = word;
  }
  return VINCI_OK;
}

static enum vinci_status take_operator(struct request *request, struct vinci_diag *diag) {
  request->op = json_scalar(json_member(request->body, "op"));
  if (!request->op)
    return diag_error(diag, VINCI_E_USAGE, "the request has no \"op\", the name of an operator");
  return add_words(&request->arena, json_member(request->body, "args"), request->args,
                   &request->arg_count, diag);
}

/* A whole number of the request; 0 when it has none. */
static enum vinci_status take_number(const struct request *request, const char *key, uint64_t *out,
                                     struct vinci_diag *diag) {
  const char *text = json_scalar(json_member(request->body, key));
  *out = text ? strtoull(text, NULL, 10) : 0;
  if (text && (strspn(text, "0123456789") != strlen(text) || strlen(text) > CYCLES_DIGITS))
    return diag_error(diag, VINCI_E_USAGE, "\"%s\" is a whole number, not %s", key, text);
  return VINCI_OK;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static void put_knobs(struct json_writer *json, const vinci_space *space) {
  char text[64];
  json_array(json, "knobs", false);
  for (size_t k = 0; k < vinci_space_knob_count(space); k++) {
    json_object(json, NULL, false);
    json_text(json, "name", vinci_space_knob_name(space, k));
    json_array(json, "values", false);
    for (size_t v = 0; v < vinci_space_value_count(space, k); v++) {
      vinci_space_value(space, k, v, text, sizeof text);
      json_text(json, NULL, text);
    }
    json_end(json);
    json_end(json);
  }
  json_end(json);
}

static void put_schedules(struct json_writer *json, const vinci_space *space,
                          const struct tune_listing *listing) {
  char text[VINCI_TUNE_SCHEDULE_BYTES];
  json_array(json, "schedules", false);
  for (size_t place = 0; place < listing->count; place++) {
    size_t i = listing->index[place];
    vinci_space_schedule(space, i, text, sizeof text);
    json_object(json, NULL, false);
    json_text(json, "schedule", text);
    json_number(json, "estimate_cycles", vinci_space_estimate(space, i));
    json_array(json, "choice", false);
    for (size_t k = 0; k < vinci_space_knob_count(space); k++)
      json_number(json, NULL, vinci_space_choice(space, i, k));
    json_end(json);
    json_end(json);
  }
  json_end(json);
}

static enum vinci_status answer_space(struct request *request, struct vinci_diag *diag) {
  vinci_space *space = NULL;
  uint64_t most;
  enum vinci_status status = take_operator(request, diag);
  if (status == VINCI_OK)
    status = take_number(request, "schedules", &most, diag);
  if (status == VINCI_OK)
    status = vinci_space_open(request->soc, request->op, request->args, request->arg_count, most,
                              &space, diag);
  struct tune_listing listing = {0};
  if (status == VINCI_OK)
    status = tune_list(space, most, &listing, diag);
  if (status == VINCI_OK) {
    bool whole = listing.count == vinci_space_count(space);
    json_number(&request->json, "default", listing.chosen);
    json_bool(&request->json, "closed", whole && vinci_space_is_closed(space));
    put_knobs(&request->json, space);
    put_schedules(&request->json, space, &listing);
  }
  free(listing.index);
  vinci_space_free(space);
  return status;
}

/* A failure of a candidate as a word. */
static const char *error_word(enum vinci_status status) {
  switch (status) {
  case VINCI_E_USAGE:
  case VINCI_E_INPUT:
    return "illegal";
  case VINCI_E_DEADLOCK:
    return "hangs";
  case VINCI_E_MISMATCH:
    return "values";
  case VINCI_E_LIMIT:
    return "limit";
  default:
    return "failed";
  }
}

static void put_answer(struct json_writer *json, const struct vinci_evaluation *answer) {
  json_object(json, NULL, false);
  if (answer->status == VINCI_OK) {
    json_number(json, "cycles", answer->total_cycles);
    json_decimal(json, "us", decimal_ratio(answer->duration_ps, PS_PER_US, 6));
    json_hex64(json, "program", answer->program_digest);
  } else {
    json_text(json, "error", error_word(answer->status));
    json_text(json, "text", answer->text);
  }
  json_end(json);
}

/* Compares a candidate that has run with the default schedule. */
static void check_values(const struct request *request, struct vinci_evaluation *answer) {
  struct vinci_diag diag = {0};
  vinci_trace *expected = NULL, *trace = NULL;
  answer->status =
      vinci_compile(request->soc, request->op, request->args, request->arg_count, &expected, &diag);
  if (answer->status == VINCI_OK)
    answer->status =
        vinci_compile(request->soc, answer->op, answer->args, answer->arg_count, &trace, &diag);
  if (answer->status == VINCI_OK)
    answer->status = tune_compare_values(request->soc, expected, trace, &diag);
  snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, diag.text);
  vinci_trace_free(expected);
  vinci_trace_free(trace);
}

/* A candidate: a schedule as text or object, or {"trace": "FILE"}, a program of the tuner's own. */
static const char *trace_of(const struct json_value *candidate) {
  return json_scalar(json_member(candidate, "trace"));
}

static void run_trace(const struct request *request, const char *path,
                      const struct vinci_evaluate_options *models, bool values,
                      struct vinci_evaluation *answer) {
  const struct vinci_run_options run = {.struct_size = sizeof run,
                                        .max_cycles = models->max_cycles,
                                        .memory = models->memory,
                                        .network = models->network,
                                        .l2_start = models->l2_start};
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL, *expected = NULL;
  vinci_result *result = NULL;
  answer->status = vinci_trace_load(path, request->soc, &trace, &diag);
  if (answer->status == VINCI_OK)
    answer->status = vinci_run(request->soc, trace, &run, &result, &diag);
  if (answer->status == VINCI_OK) {
    answer->total_cycles = result->total_cycles;
    answer->duration_ps = result->total_ps;
    answer->program_digest = trace->digest;
  }
  if (answer->status == VINCI_OK && values)
    answer->status = vinci_compile(request->soc, request->op, request->args, request->arg_count,
                                   &expected, &diag);
  if (answer->status == VINCI_OK && values)
    answer->status = tune_compare_values(request->soc, expected, trace, &diag);
  snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, diag.text);
  vinci_result_free(result);
  vinci_trace_free(trace);
  vinci_trace_free(expected);
}

static enum vinci_status read_candidates(struct request *request, const struct json_value *list,
                                         struct vinci_evaluation *answers,
                                         struct vinci_diag *diag) {
  size_t index = 0;
  for (const struct json_value *candidate = list->first; candidate; candidate = candidate->next) {
    const char **words = ARENA_ARRAY(&request->arena, const char *, WORDS_MAX);
    size_t count = request->arg_count;
    if (!words)
      return no_memory(diag);
    memcpy(words, request->args, count * sizeof *words);
    enum vinci_status status =
        trace_of(candidate) ? VINCI_OK : add_words(&request->arena, candidate, words, &count, diag);
    if (status != VINCI_OK)
      return status;
    /* A trace of the tuner's own is run behind the others, and is no operator. */
    answers[index++] = (struct vinci_evaluation){
        .op = trace_of(candidate) ? "" : request->op, .args = words, .arg_count = count};
  }
  return VINCI_OK;
}

static enum vinci_status evaluate(struct request *request, const struct json_value *list,
                                  size_t count, const struct vinci_evaluate_options *models,
                                  struct vinci_evaluation *answers, struct vinci_diag *diag) {
  const char *check = json_scalar(json_member(request->body, "values"));
  bool values = check && strcmp(check, "true") == 0;
  enum vinci_status status = read_candidates(request, list, answers, diag);
  if (status == VINCI_OK)
    status = vinci_evaluate(request->soc, answers, count, models, diag);
  if (status != VINCI_OK)
    return status;
  struct vinci_evaluation *answer = answers;
  for (const struct json_value *item = list->first; item; item = item->next, answer++) {
    if (trace_of(item))
      run_trace(request, trace_of(item), models, values, answer);
    else if (values && answer->status == VINCI_OK)
      check_values(request, answer);
  }
  json_array(&request->json, "answers", false);
  for (size_t i = 0; i < count; i++)
    put_answer(&request->json, &answers[i]);
  json_end(&request->json);
  return VINCI_OK;
}

static enum vinci_status answer_evaluate(struct request *request, struct vinci_diag *diag) {
  const struct json_value *list = json_member(request->body, "schedules");
  const struct workload_models models = {json_scalar(json_member(request->body, "memory")),
                                         json_scalar(json_member(request->body, "network")),
                                         json_scalar(json_member(request->body, "l2")), NULL};
  struct vinci_run_options run = {.struct_size = sizeof run};
  struct vinci_evaluate_options options = {.struct_size = sizeof options, .jobs = request->jobs};
  enum vinci_status status = take_operator(request, diag);
  if (status == VINCI_OK && (!list || list->kind != JSON_ARRAY))
    status = diag_error(diag, VINCI_E_USAGE, "the request has no list \"schedules\"");
  if (status == VINCI_OK)
    status = workload_choose(&models, &run, diag);
  if (status == VINCI_OK)
    status = take_number(request, "max_cycles", &options.max_cycles, diag);
  if (status != VINCI_OK)
    return status;
  options.memory = run.memory;
  options.network = run.network;
  options.l2_start = run.l2_start;
  size_t count = 0;
  for (const struct json_value *item = list->first; item; item = item->next)
    count++;
  struct vinci_evaluation *answers = calloc(count + 1, sizeof *answers);
  status = answers ? evaluate(request, list, count, &options, answers, diag) : no_memory(diag);
  free(answers);
  return status;
}

static enum vinci_status answer_hello(struct request *request, struct vinci_diag *diag) {
  (void)diag;
  json_text(&request->json, "soc", vinci_soc_name(request->soc));
  json_text(&request->json, "version", vinci_version());
  json_text(&request->json, "model_revision", vinci_model_revision());
  return VINCI_OK;
}

/* Kinds of values, a bit each. */
enum {
  TEXT = 1 << JSON_TEXT,
  NUMBER = 1 << JSON_NUMBER,
  BOOL = 1 << JSON_BOOL,
  LIST = 1 << JSON_ARRAY,
  OBJECT = 1 << JSON_OBJECT,
};

struct question_key {
  const char *name;
  unsigned kinds; /* of its value; null stands for a key that is not there */
  const char *text;
};

enum { KEYS_MAX = 8 };

static const struct question {
  const char *name;
  enum vinci_status (*answer)(struct request *request, struct vinci_diag *diag);
  struct question_key keys[KEYS_MAX + 1]; /* beside "ask" and "id" */
} questions[] = {
    {"hello", answer_hello, {{0}}},
    {"space",
     answer_space,
     {{"op", TEXT, "a text"},
      {"args", TEXT | OBJECT, "an object or a text"},
      {"schedules", NUMBER, "a whole number"}}},
    {"evaluate",
     answer_evaluate,
     {{"op", TEXT, "a text"},
      {"args", TEXT | OBJECT, "an object or a text"},
      {"schedules", LIST, "a list"},
      {"memory", TEXT, "a text"},
      {"network", TEXT, "a text"},
      {"l2", TEXT, "a text"},
      {"max_cycles", NUMBER, "a whole number"},
      {"values", BOOL, "true or false"}}},
};

/* What a question does not know is refused: it would change nothing, without a word. */
static enum vinci_status check_keys(const struct question *question, const struct json_value *body,
                                    struct vinci_diag *diag) {
  for (const struct json_value *member = body->first; member; member = member->next) {
    const struct question_key *key = question->keys;
    if (json_member(body, member->key) != member)
      return diag_error(diag, VINCI_E_USAGE, "key \"%s\" is there twice", member->key);
    if (strcmp(member->key, "ask") == 0 || strcmp(member->key, "id") == 0)
      continue;
    while (key->name && strcmp(key->name, member->key) != 0)
      key++;
    if (!key->name)
      return diag_error(diag, VINCI_E_USAGE, "the question \"%s\" has no key \"%s\"",
                        question->name, member->key);
    if (member->kind != JSON_NULL && !(key->kinds >> member->kind & 1))
      return diag_error(diag, VINCI_E_USAGE, "\"%s\" is %s", key->name, key->text);
  }
  return VINCI_OK;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static enum vinci_status answer(struct request *request, const char *line, size_t length,
                                struct vinci_diag *diag) {
  const char *reason;
  request->body = json_parse(line, length, &request->arena, &reason);
  if (!request->body)
    return diag_error(diag, VINCI_E_USAGE, "the line is not JSON: %s", reason);
  const char *id = json_scalar(json_member(request->body, "id"));
  const char *ask = json_scalar(json_member(request->body, "ask"));
  if (id)
    json_text(&request->json, "id", id);
  for (size_t i = 0; ask && i < sizeof questions / sizeof *questions; i++)
    if (strcmp(questions[i].name, ask) == 0) {
      enum vinci_status status = check_keys(&questions[i], request->body, diag);
      return status == VINCI_OK ? questions[i].answer(request, diag) : status;
    }
  return diag_error(diag, VINCI_E_USAGE, "\"ask\" is hello, space or evaluate, not %s",
                    ask ? ask : "missing");
}

/* A line is an answer or an error as a whole, and is written before the next is read. */
static void answer_line(const vinci_soc *soc, unsigned jobs, const char *line, size_t length) {
  struct request *request = calloc(1, sizeof *request);
  struct vinci_diag diag = {0};
  if (!request)
    return;
  request->soc = soc;
  request->jobs = jobs;
  json_start(&request->json, stdout);
  json_object(&request->json, NULL, true);
  json_number(&request->json, "schema", SCHEMA);
  if (answer(request, line, length, &diag) != VINCI_OK) {
    json_text(&request->json, "error", error_word(diag.status));
    json_text(&request->json, "text", diag.text);
  }
  json_end(&request->json);
  fflush(stdout);
  arena_free(&request->arena);
  free(request);
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct serve_settings settings = {0};
  struct text_list words = {0};
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  char *line = NULL;
  size_t room = 0;
  int exit_code = 0;
  if (cli_begin(verb, argc, argv, &settings, &words, &exit_code)) {
    enum vinci_status status =
        words.count > 0
            ? diag_error(&diag, VINCI_E_USAGE, "unexpected argument '%s'", words.items[0])
            : cli_load_soc(settings.soc, settings.data, &settings.sets, &soc, &diag);
    for (ssize_t length; status == VINCI_OK && (length = getline(&line, &room, stdin)) > 0;)
      if (strspn(line, " \t\r\n") != (size_t)length)
        answer_line(soc, (unsigned)settings.jobs, line, (size_t)length);
    exit_code = status == VINCI_OK ? 0 : cli_fail(&diag);
  }
  free(line);
  vinci_soc_free(soc);
  text_list_free(&settings.sets);
  text_list_free(&words);
  return exit_code;
}

const struct cli_verb cli_tune_serve = {
    .name = "tune serve",
    .arguments = "",
    .summary = "Answer other tuners: questions as JSON lines on stdin, answers on stdout",
    .details =
        "  {\"ask\": \"space\", \"op\": \"matmul\", \"args\": {\"m\": 64, \"k\": 64, \"n\": 64}}\n"
        "      knobs with their values, and legal schedules with their estimates; with\n"
        "      \"schedules\": N the default and the N - 1 of the lowest estimates\n"
        "  {\"ask\": \"evaluate\", \"op\": \"matmul\", \"args\": {...}, \"schedules\": [\"cores=2 "
        "...\", ...]}\n"
        "      cycles of each, or \"error\": illegal, hangs, limit, values, failed; with\n"
        "      \"memory\", \"network\", \"l2\", \"max_cycles\", \"values\": true\n"
        "TUNING.md has the protocol; a tuner in Python is in the sources.\n"
        "Example:\n"
        "  echo '{\"ask\": \"space\", \"op\": \"cumsum\", \"args\": {\"shape\": \"8x16\"}}' |\n"
        "    vinci tune serve -s Ascend910B4\n",
    .options = {serve_options, sizeof serve_options / sizeof *serve_options},
    .run = run,
};
