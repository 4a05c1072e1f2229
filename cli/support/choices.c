/* SPDX-License-Identifier: Apache-2.0 */
/* What the shell's completion offers beside words of the program: chips, operators, keys. */
#include "cli/support/choices.h"

#include "cli/support/cli.h"
#include "core/vinci.h"
#include "scripts/host/soc_host.h"

static bool is_chip_option(const char *word) {
  return strcmp(word, "-s") == 0 || strcmp(word, "--soc-version") == 0;
}

static void print_chips(FILE *out) {
  struct soc_names names = {0};
  if (soc_host_list(NULL, &names, NULL) != VINCI_OK)
    return;
  for (size_t i = 0; i < names.count; i++)
    fprintf(out, "%s\n", names.items[i]);
  soc_names_free(&names);
}

static void print_operators(FILE *out) {
  struct vinci_op op;
  for (size_t i = 0; vinci_op_info(i, &op); i++)
    fprintf(out, "%s\n", op.name);
}

static void print_keys(const char *name, FILE *out) {
  struct vinci_op op;
  struct vinci_op_key key;
  size_t index = 0;
  while (vinci_op_info(index, &op) && strcmp(op.name, name) != 0)
    index++;
  for (size_t i = 0; vinci_op_key(index, i, &key); i++)
    fprintf(out, "%s=\n", key.name);
}

/* Whether the usage line of a verb has an operator. */
static bool takes_operator(const struct cli_verb *verb) {
  for (const char *at = verb->arguments; at && (at = strstr(at, "OP ")); at++)
    if (at == verb->arguments || at[-1] == ' ')
      return true;
  return false;
}

void choices_print(const struct cli_verb *verb, int argc, char **argv, FILE *out) {
  if (argc > 0 && is_chip_option(argv[argc - 1])) {
    print_chips(out);
    return;
  }
  int next = 0;
  const struct cli_verb *command = argc > 0 ? cli_command_find(verb, argv[0]) : NULL;
  if (command) {
    verb = command;
    next = 1;
  }
  if (!takes_operator(verb))
    return;
  if (next == argc)
    print_operators(out);
  else
    print_keys(argv[next], out);
}
