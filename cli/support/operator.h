/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs share that take operators: their names, and the help made from their tables. */
#ifndef VINCI_CLI_SUPPORT_OPERATOR_H
#define VINCI_CLI_SUPPORT_OPERATOR_H

#include "cli/support/options.h"

bool operator_exists(const char *name);
/* Whether words are "OP key=value ...": an operator has neither '.' nor '/' in its name. */
bool operator_is_named(const struct text_list *words);
/* The same with a name that no operator has; traces are no assignments. */
bool operator_is_misspelt(const struct text_list *words);
/* Whether a name stands for an operator in profiles: "MatMulV3". */
bool operator_is_vendor_type(const char *type);
/* The keys of one operator; false, with an error, when there is none of that name. */
bool operator_print(const char *name, FILE *out, struct vinci_diag *diag);
/* The error on a name that no operator has. */
enum vinci_status operator_unknown(const char *name, struct vinci_diag *diag);
void operator_print_all(FILE *out);
/* The page of all operators (operator_markdown.c). */
void operator_print_markdown(FILE *out);
/* Which kinds of a list of calls are not modelled (operator_missing.c). */
enum vinci_status operator_print_missing(const vinci_soc *soc, const char *list, FILE *out,
                                         struct vinci_diag *diag);

#endif
