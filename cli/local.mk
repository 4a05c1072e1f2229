# SPDX-License-Identifier: Apache-2.0
# cli/: the program.

bin_PROGRAMS += vinci
vinci_SOURCES = \
	cli/cli.h \
	cli/cmd_cc.c \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_gate.c \
	cli/cmd_isa.c \
	cli/cmd_lua.c \
	cli/cmd_net.c \
	cli/cmd_run.c \
	cli/cmd_soc.c \
	cli/cmd_stream.c \
	cli/cmd_sweep.c \
	cli/main.c \
	cli/cc/build.c \
	cli/cc/build.h \
	cli/cc/parts.c \
	cli/cc/tiling.c \
	cli/net/load.c \
	cli/net/net.h \
	cli/net/plan.c \
	cli/net/replay.c \
	cli/net/run.c \
	cli/run/list.c \
	cli/run/list.h \
	cli/run/values.c \
	cli/run/values.h \
	cli/soc/rows.c \
	cli/soc/rows.h \
	cli/soc/show.c \
	cli/stream/memory.c \
	cli/stream/network.c \
	cli/stream/stream.h \
	cli/support/checks.c \
	cli/support/checks.h \
	cli/support/folder.c \
	cli/support/kernel.c \
	cli/support/kernel.h \
	cli/support/monitor.c \
	cli/support/monitor.h \
	cli/support/operator.c \
	cli/support/operator.h \
	cli/support/operator_markdown.c \
	cli/support/operator_missing.c \
	cli/support/options.c \
	cli/support/options.h \
	cli/sweep/submit.c \
	cli/sweep/submit.h
vinci_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS) -DVINCI_LIBDIR='"$(libdir)"'
vinci_LDADD = libvinci_lua.la libvinci_internal.la
dist_man1_MANS += cli/vinci.1
