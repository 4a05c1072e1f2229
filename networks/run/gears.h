/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of graphs: a text in which {batch} and expressions such as {batch*32} or {(batch+15)/16}
 * stand for numbers, one graph for each batch. Whole numbers, + - * / and parentheses; / rounds
 * down.
 */
#ifndef VINCI_NETWORKS_RUN_GEARS_H
#define VINCI_NETWORKS_RUN_GEARS_H

#include "core/base/diag.h"

/* The text for one batch, for free(). NULL with VINCI_E_INPUT, line and column for what is no
 * expression, and for a text without any. */
char *gear_text(const char *name, const char *text, uint64_t batch, struct vinci_diag *diag);

#endif
