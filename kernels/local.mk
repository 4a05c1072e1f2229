# SPDX-License-Identifier: Apache-2.0
# kernels/: compiled kernels: their files, their code as instructions, launches on a device; operators of a
# user's library. Sees core and traces.

noinst_LTLIBRARIES += libvinci_kernels.la
libvinci_kernels_la_SOURCES = \
	kernels/compile/access.c \
	kernels/compile/align.c \
	kernels/compile/assembler.h \
	kernels/compile/cells.c \
	kernels/compile/count.c \
	kernels/compile/functions.c \
	kernels/compile/launches.c \
	kernels/compile/text.h \
	kernels/compile/variables.c \
	kernels/library/call.c \
	kernels/library/depend.c \
	kernels/library/find.c \
	kernels/library/host.c \
	kernels/library/kernel.c \
	kernels/library/library.h \
	kernels/library/parts.c \
	kernels/library/process.c \
	kernels/library/shared.c \
	kernels/source/callers.c \
	kernels/source/code.c \
	kernels/source/code.h \
	kernels/source/dcache.c \
	kernels/source/dcache.h \
	kernels/source/depends.h \
	kernels/source/device.c \
	kernels/source/dump.c \
	kernels/source/faults.c \
	kernels/source/fiber.c \
	kernels/source/fiber.h \
	kernels/source/gaps.c \
	kernels/source/gate.c \
	kernels/source/gate.h \
	kernels/source/issue.c \
	kernels/source/kernel.c \
	kernels/source/library.c \
	kernels/source/library.h \
	kernels/source/lines.c \
	kernels/source/lines.h \
	kernels/source/lists.c \
	kernels/source/log.c \
	kernels/source/looks.c \
	kernels/source/record.c \
	kernels/source/source.h \
	kernels/source/switch.c \
	kernels/source/switch.h \
	kernels/source/sync.c \
	kernels/source/token_flags.c \
	kernels/source/told.c \
	kernels/source/log.h \
	kernels/source/told.h \
	kernels/source/tokens.h \
	kernels/source/told_lines.c

dist_noinst_DATA += kernels/CHECKS.md kernels/DESIGN.md kernels/KERNELS.md
