/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of operators in their order. */
#ifndef VINCI_STUDIES_OPS_ORDER_H
#define VINCI_STUDIES_OPS_ORDER_H

#include "networks/workload/order.h"

/*
 * Simulates the rows in their order, each once, and answers each, those that fail too. In a
 * sequence the times are those of `vinci run --ops LIST --sequence` with the same rows. Errors: a
 * library that cannot be opened, VINCI_E_NOMEM, VINCI_E_LIMIT when the caller ends the run.
 */
VINCI_MUST_CHECK enum vinci_status ops_order_run(const struct order *order,
                                                 struct vinci_diag *diag);

#endif
