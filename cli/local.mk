# SPDX-License-Identifier: Apache-2.0
# cli/: the program.

bin_PROGRAMS += vinci
vinci_SOURCES = \
	cli/checks.c \
	cli/checks.h \
	cli/cli.h \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_gate.c \
	cli/cmd_isa.c \
	cli/cmd_lua.c \
	cli/cmd_run.c \
	cli/cmd_soc.c \
	cli/cmd_stream.c \
	cli/cmd_sweep.c \
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
	cli/options.c \
	cli/options.h \
	cli/values.c \
	cli/values.h \
	cli/gate/gate.h \
	cli/gate/gate_bless.c \
	cli/gate/gate_bless.h \
	cli/gate/gate_compare.c \
	cli/gate/gate_explain.c \
	cli/gate/gate_import.c \
	cli/gate/gate_import.h \
	cli/gate/gate_measure.c \
	cli/gate/gate_policy.c \
	cli/gate/gate_replay.c \
	cli/gate/gate_report.c \
	cli/gate/gate_rows.c \
	cli/gate/gate_run.c \
	cli/gate/gate_suite.c \
	cli/ops/ops.h \
	cli/ops/ops_journal.c \
	cli/ops/ops_row.c \
	cli/ops/ops_table.c \
	cli/ops/run_ops.c \
	cli/ops/run_ops.h \
	cli/soc/soc_rows.c \
	cli/soc/soc_rows.h \
	cli/soc/soc_show.c \
	cli/stream/stream.h \
	cli/stream/stream_memory.c \
	cli/stream/stream_network.c \
	cli/sweep/sweep.h \
	cli/sweep/sweep_journal.c \
	cli/sweep/sweep_pool.c \
	cli/sweep/sweep_record.c \
	cli/sweep/sweep_study.c \
	cli/sweep/sweep_study_lua.c \
	cli/sweep/sweep_submit.c \
	cli/sweep/sweep_submit.h \
	cli/sweep/sweep_table.c \
	cli/sweep/workload.c \
	cli/sweep/workload.h
vinci_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
vinci_LDADD = libvinci_lua.la libvinci_internal.la
dist_man1_MANS += cli/vinci.1
