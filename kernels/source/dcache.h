/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as data caches leave them (`vinci run --values --dcache`). The scalar unit of a core reads
 * and writes device memory by lines of 64 bytes that hear of no other core and of no copy. While
 * the code of a core runs, device memory holds what that core sees, its lines included; while
 * anything else happens, what all others see. The lines are exchanged where the code is left and
 * entered.
 *
 * As in checks (core/check/check_cache.c): an access brings its line, a line goes back whole where
 * something was stored in it, at `dcci` and where the block ends; a cache has room for all lines.
 */
#ifndef VINCI_KERNELS_SOURCE_DCACHE_H
#define VINCI_KERNELS_SOURCE_DCACHE_H

#include "kernels/source/source.h"

struct source_dcache;

/* NULL: memory is short. */
struct source_dcache *source_dcache_new(void);
/* An empty cache on device memory. */
void source_dcache_start(struct source_dcache *cache, uint8_t *gm, uint64_t gm_bytes);
void source_dcache_free(struct source_dcache *cache);
/* The code is about to access a range. passes: beside the cache. False when memory is short. */
bool source_dcache_access(struct source_dcache *cache, uint64_t address, uint64_t bytes,
                          bool writes, bool passes);
/* dcci of the line at an address, or of all lines. */
void source_dcache_clean(struct source_dcache *cache, uint64_t address, bool whole);
/* The code goes on, or is left. NULL: there is no cache. */
void source_dcache_enter(struct source_dcache *cache);
void source_dcache_leave(struct source_dcache *cache);

#endif
