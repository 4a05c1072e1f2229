/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before every file of a build that counts coverage. Counts are written when a process ends by exit(); the
 * children of a pool, which do most of the work of lists and sweeps, end by _exit(). That name stands for a function
 * here, which each object has and the linker keeps once, and which writes the counts first. No header is included:
 * files may have functions of their own with names of the system.
 */
#ifndef VINCI_TESTS_COVERAGE_EXIT_H
#define VINCI_TESTS_COVERAGE_EXIT_H

#ifdef __cplusplus
extern "C" {
#endif

extern void __gcov_dump(void);
extern void _exit(int code) __asm__("vinci_coverage_exit") __attribute__((noreturn));
extern void vinci_coverage_end(int code) __asm__("_Exit") __attribute__((noreturn));
extern void vinci_coverage_exit(int code)
    __attribute__((weak, noreturn, no_profile_instrument_function));

void vinci_coverage_exit(int code) {
  __gcov_dump();
  vinci_coverage_end(code);
}

#ifdef __cplusplus
}
#endif

#endif
