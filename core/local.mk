# SPDX-License-Identifier: Apache-2.0
# core/: what every part sees. core/engine_systemc.cc is listed in Makefile.am, see there.

noinst_LTLIBRARIES += libvinci_core.la
libvinci_core_la_SOURCES = \
	core/aicore.c \
	core/aicore.h \
	core/arch.c \
	core/arch.h \
	core/arena.c \
	core/arena.h \
	core/arith.h \
	core/clock.c \
	core/clock.h \
	core/critical.c \
	core/critical.h \
	core/device.c \
	core/device.h \
	core/diag.c \
	core/diag.h \
	core/digest.c \
	core/digest.h \
	core/engine.c \
	core/engine.h \
	core/hang.c \
	core/hang.h \
	core/inst.c \
	core/inst.h \
	core/inst_runs.c \
	core/isa.c \
	core/isa.def \
	core/isa.h \
	core/layout.h \
	core/machine.c \
	core/machine.h \
	core/machine_core.c \
	core/machine_core.h \
	core/machine_hang.c \
	core/mem.c \
	core/mem.def \
	core/mem.h \
	core/memsys.h \
	core/metrics.c \
	core/metrics.h \
	core/noc_config.h \
	core/number.c \
	core/number.h \
	core/pipe.c \
	core/program.c \
	core/program.h \
	core/registry.c \
	core/result.c \
	core/result.h \
	core/run.c \
	core/scalar.c \
	core/soc.c \
	core/soc.def \
	core/soc.h \
	core/soc_copy.c \
	core/soc_validate.c \
	core/soc_value.c \
	core/status.c \
	core/stream.c \
	core/stream.h \
	core/utf8.c \
	core/utf8.h \
	core/values.c \
	core/values.h
