/* SPDX-License-Identifier: Apache-2.0 */
/* vinci stream: drives one model alone with synthetic traffic. */
#include "cli/stream/stream.h"

#include <string.h>

#include "core/base/diag.h"

static const struct cli_verb *const models[] = {&cli_stream_memory, &cli_stream_network};
enum { MODEL_COUNT = sizeof models / sizeof *models, PREFIX = sizeof "stream " - 1 };

static const char *model_name(const void *context, size_t index) {
  (void)context;
  return models[index]->name + PREFIX;
}

static int unknown_model(const char *word) {
  struct vinci_diag diag = {0};
  const char *nearest = diag_nearest(word, MODEL_COUNT, model_name, NULL);
  (void)diag_error(&diag, VINCI_E_USAGE, "unknown %s '%s' of stream",
                   *word == '-' ? "option" : "model", word);
  if (nearest)
    diag_hint(&diag, "did you mean 'vinci stream %s'?", nearest);
  else
    diag_hint(&diag, "'vinci stream --help' lists the models");
  return cli_fail(&diag);
}

static int stream(const struct cli_verb *verb, int argc, char **argv) {
  if (argc < 2) {
    cli_print_help(verb, stderr);
    return vinci_status_exit_code(VINCI_E_USAGE);
  }
  for (size_t i = 0; i < MODEL_COUNT; i++)
    if (strcmp(model_name(NULL, i), argv[1]) == 0)
      return models[i]->run(models[i], argc - 1, argv + 1);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    cli_print_help(verb, stdout);
    return 0;
  }
  return unknown_model(argv[1]);
}

const struct cli_verb cli_verb_stream = {
    .name = "stream",
    .arguments = "MODEL",
    .summary = "Drive one model alone with synthetic traffic, to compare it with others",
    .details =
        "  memory             the DRAM controller: sequential, random, strided, mixed streams\n"
        "  network            the network on chip: uniform, transpose, hotspot traffic\n\n"
        "'vinci stream MODEL --help' explains the options of a model.\n"
        "Example:\n"
        "  vinci stream memory --help\n",
    .run = stream,
    .commands = models,
    .command_count = MODEL_COUNT,
};
