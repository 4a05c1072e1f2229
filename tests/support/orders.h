/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes traces with real bytes in orders that flags and barriers allow: 0 consumers first,
 * 1 producers first, from 2 on at random, every second one with the instructions of a pipe
 * out of order where no barrier separates them. On fixture_shared.
 */
#ifndef VINCI_TESTS_SUPPORT_ORDERS_H
#define VINCI_TESTS_SUPPORT_ORDERS_H

#include <stdint.h>

#include "core/isa/program.h"

/* The bytes of all outputs, of malloc; NULL when the execution fails. */
uint8_t *orders_run(const vinci_trace *trace, unsigned order, uint64_t *bytes);
/* The first of the orders 0 to `orders` - 1 in which a trace does not give the expected outputs;
 * `orders` when all orders give them. */
unsigned orders_first_change(const vinci_trace *trace, unsigned orders, const uint8_t *expected,
                             uint64_t bytes);

#endif
