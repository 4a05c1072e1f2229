/* SPDX-License-Identifier: Apache-2.0 */
/* Words of commands that a user may paste into a shell. */
#ifndef VINCI_CORE_BASE_SHELL_H
#define VINCI_CORE_BASE_SHELL_H

#include <stdbool.h>
#include <stdio.h>

/* One word of a POSIX shell: as it is, or between single quotes where the shell would read more
 * than its letters. */
void shell_put_word(FILE *out, const char *word);
/* The same as a text; false, and nothing is written, when size bytes do not hold the whole. */
bool shell_write_word(char *text, size_t size, const char *word);

#endif
