/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs for the time alone leave out what would be computed, so some memory holds values that nobody
 * knows. Scalar code that reads such memory would take a way that it does not take on a chip.
 * Therefore pages of UB and of device memory that an instruction left out would have written are
 * closed to the host until the run ends: scalar code that reads there is stopped, and a run that
 * comes to its end has issued what a run with values would have issued.
 */
#ifndef VINCI_CORE_MACHINE_VALUES_UNKNOWN_H
#define VINCI_CORE_MACHINE_VALUES_UNKNOWN_H

#include "core/machine/machine.h"

struct vinci_values;

/* Pages of one memory: a page is unknown as a whole, until somebody else writes the page. */
struct unknown_pages;

/* `base` is the start of a page of the host. NULL: out of memory. */
struct unknown_pages *unknown_pages_new(uint8_t *base, uint64_t bytes);
void unknown_pages_free(struct unknown_pages *pages);
/* Closes unknown pages to the host, or opens all. False when the host refuses. */
bool unknown_pages_close(struct unknown_pages *pages, bool closed);
/* Makes all pages unknown that have a byte of the range; closes them while pages are closed. */
bool unknown_pages_mark(struct unknown_pages *pages, uint64_t offset, uint64_t bytes);
/* Makes the pages of a range known, which has been written from outside while pages are open. */
void unknown_pages_clear(struct unknown_pages *pages, uint64_t offset, uint64_t bytes);
/* Whether a byte of the range is unknown. */
bool unknown_pages_any(const struct unknown_pages *pages, uint64_t offset, uint64_t bytes);

/* What is unknown to a run: device memory, UB of each core, results in registers. */
struct unknown {
  struct unknown_pages *gm;  /* lent */
  struct unknown_pages **ub; /* by core */
  bool *registers;           /* by core: of instructions that were left out */
  uint32_t core_count;
};

struct unknown *unknown_new(struct unknown_pages *gm, uint32_t core_count);
void unknown_free(struct unknown *unknown);
/* Whether an instruction is to be computed; if not, what it writes becomes unknown. *failed: the
 * host refuses to close pages. */
bool unknown_computes(struct unknown *unknown, struct vinci_values *values,
                      const struct machine_step *step, bool *failed);
/* Whether an address of the host lies in memory that is unknown. */
bool unknown_holds(const struct vinci_values *values, const void *address);

#endif
