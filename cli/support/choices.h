/* SPDX-License-Identifier: Apache-2.0 */
/* What the shell's completion offers beside words of the program. */
#ifndef VINCI_CLI_SUPPORT_CHOICES_H
#define VINCI_CLI_SUPPORT_CHOICES_H

#include <stdio.h>

struct cli_verb;

/*
 * Prints, a line each, what may stand behind the words that follow a verb: the chips behind an
 * option for a chip; operators where the verb, or its command that the words begin with, takes an
 * operator; keys of that operator behind its name.
 */
void choices_print(const struct cli_verb *verb, int argc, char **argv, FILE *out);

#endif
