# SPDX-License-Identifier: Apache-2.0
# cli/: the program.

bin_PROGRAMS += vinci
vinci_SOURCES = \
	cli/cli.h \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_run.c \
	cli/cmd_soc.c \
	cli/cmd_stream.c \
	cli/main.c \
	cli/monitor.c \
	cli/monitor.h \
	cli/operator.c \
	cli/operator.h \
	cli/options.c \
	cli/options.h \
	cli/stream.h \
	cli/stream_memory.c \
	cli/stream_network.c
nodist_EXTRA_vinci_SOURCES = dummy.cxx
vinci_LDADD = libvinci_internal.la
dist_man1_MANS += cli/vinci.1
