# SPDX-License-Identifier: Apache-2.0
# cli/: the program.

bin_PROGRAMS += vinci
vinci_SOURCES = \
	cli/checks.c \
	cli/checks.h \
	cli/cli.h \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_isa.c \
	cli/cmd_gate.c \
	cli/cmd_lua.c \
	cli/cmd_run.c \
	cli/cmd_soc.c \
	cli/cmd_stream.c \
	cli/cmd_sweep.c \
	cli/gate.h \
	cli/gate_bless.c \
	cli/gate_bless.h \
	cli/gate_compare.c \
	cli/gate_explain.c \
	cli/gate_import.c \
	cli/gate_import.h \
	cli/gate_measure.c \
	cli/gate_policy.c \
	cli/gate_replay.c \
	cli/gate_report.c \
	cli/gate_rows.c \
	cli/gate_run.c \
	cli/gate_suite.c \
	cli/folder.c \
	cli/lua_file.c \
	cli/lua_file.h \
	cli/lua_words.c \
	cli/lua_words.h \
	cli/main.c \
	cli/monitor.c \
	cli/monitor.h \
	cli/operator.c \
	cli/operator.h \
	cli/operator_markdown.c \
	cli/ops.h \
	cli/ops_journal.c \
	cli/ops_row.c \
	cli/ops_table.c \
	cli/options.c \
	cli/options.h \
	cli/run_ops.c \
	cli/run_ops.h \
	cli/soc_rows.c \
	cli/soc_rows.h \
	cli/soc_show.c \
	cli/stream.h \
	cli/stream_memory.c \
	cli/stream_network.c \
	cli/sweep.h \
	cli/sweep_journal.c \
	cli/sweep_pool.c \
	cli/sweep_record.c \
	cli/sweep_study.c \
	cli/sweep_study_lua.c \
	cli/sweep_submit.c \
	cli/sweep_submit.h \
	cli/sweep_table.c \
	cli/values.c \
	cli/values.h \
	cli/workload.c \
	cli/workload.h
vinci_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
nodist_EXTRA_vinci_SOURCES = dummy.cxx
vinci_LDADD = libvinci_lua.la libvinci_internal.la
dist_man1_MANS += cli/vinci.1
