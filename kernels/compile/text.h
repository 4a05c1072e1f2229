/* SPDX-License-Identifier: Apache-2.0 */
/* Texts on the way to a kernel library: those of a program, and of the compiler's assembler. */
#ifndef VINCI_KERNELS_COMPILE_TEXT_H
#define VINCI_KERNELS_COMPILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* ---- the assembler text of a kernel (count.c) ---- */
/* The text with additions that count executed instructions in vinci_cce_count; for free(). NULL:
 * out of memory. */
char *source_count_instructions(const char *text, size_t length, size_t *out_length);

/* ---- the intermediate text of a kernel (align.c) ---- */
/* The text with marks that say which alignment loads and stores have; for free(). NULL: out of
 * memory. */
char *source_mark_alignment(const char *text, size_t length, size_t *out_length);

/* ---- the text of a program (launches.c) ---- */
/* The text with its launches as C++, line by line as before; for free(). NULL: out of memory. */
char *source_rewrite_launches(const char *text, size_t length, size_t *out_length);
struct source_text {
  char *bytes; /* NULL: only counted */
  size_t length;
};
void source_text_add(struct source_text *out, const char *from, const char *to);
/* Behind a comment or literal that begins at a place of a text; the place itself when none does. */
const char *source_skip_text(const char *start, const char *at, const char *end);
/* Variables in memories of a core, when a statement at `at` declares some: adds what replaces the
 * statement, and returns what stands behind; `at` when there are none (variables.c). */
const char *source_put_variables(const char *start, const char *at, const char *end,
                                 struct source_text *out);

/* Behind the brace of the body of a vector function, whose mark begins at a place; NULL when none
 * does, or there is no body (functions.c). And what comes first in that body. */
const char *source_find_body(const char *start, const char *at, const char *end);
void source_put_scope(struct source_text *out);

/* Names of what lies in UB and may be of bf16, where they are known (cells.c). */
enum { SOURCE_NAMES_MAX = 256 };
struct source_name {
  const char *text;
  size_t length;
  int braces; /* of its block */
};
struct source_names {
  struct source_name name[SOURCE_NAMES_MAX];
  size_t count;
  int braces, brackets; /* that are open */
};
/* A byte of the text that is in no comment, literal or directive. */
void source_names_pass(struct source_names *names, char byte);
/* "__ubuf__ TYPE *a, *b" or "__ubuf__ TYPE a[8]" at a place of the text, as far as it begins so. */
void source_names_declare(struct source_names *names, const char *at, const char *end);
/* Behind an element in UB that begins at a place, and the beginning of the call around it; `at`
 * when none begins there. begins: a statement does. */
const char *source_skip_element(const struct source_names *names, const char *start, const char *at,
                                const char *end, bool begins, const char **call);

#endif
