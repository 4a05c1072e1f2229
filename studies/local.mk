# SPDX-License-Identifier: Apache-2.0
# studies/: many runs: lists of operators (ops), sweeps, gates, comparisons, and the files that describe them.
# Sees all but tune, kernels and cli.

noinst_LTLIBRARIES += libvinci_studies.la
libvinci_studies_la_SOURCES = \
	studies/diff/diff.c \
	studies/diff/diff.h \
	studies/diff/job.c \
	studies/diff/job.h \
	studies/diff/job_share.c \
	studies/diff/job_tables.c \
	studies/diff/kept.c \
	studies/diff/list.c \
	studies/diff/net.c \
	studies/diff/parting.c \
	studies/diff/side.c \
	studies/files/failure.c \
	studies/files/failure.h \
	studies/files/file.c \
	studies/files/file.h \
	studies/files/reader.c \
	studies/files/reader.h \
	studies/files/words.c \
	studies/files/words.h \
	studies/gate/annotate.c \
	studies/gate/bless.c \
	studies/gate/compare.c \
	studies/gate/explain.c \
	studies/gate/gate.c \
	studies/gate/gate.h \
	studies/gate/measure.c \
	studies/gate/measure_job.c \
	studies/gate/policy.c \
	studies/gate/prove.c \
	studies/gate/replay.c \
	studies/gate/report.c \
	studies/gate/rows.c \
	studies/gate/rows.h \
	studies/gate/run.c \
	studies/gate/suite.c \
	studies/gate/suite.h \
	studies/gate/suite_folder.c \
	studies/gate/suite_proof.c \
	studies/gate/suite_reader.h \
	studies/job/group_job.c \
	studies/job/model.h \
	studies/job/point.c \
	studies/job/point.h \
	studies/ops/equal.c \
	studies/ops/evaluate.c \
	studies/ops/journal.c \
	studies/ops/launches.c \
	studies/ops/library.c \
	studies/ops/operators.h \
	studies/ops/options.c \
	studies/ops/ops.h \
	studies/ops/order.c \
	studies/ops/order.h \
	studies/ops/passed.h \
	studies/ops/results.c \
	studies/ops/row.c \
	studies/ops/run.c \
	studies/ops/sequence.c \
	studies/ops/suite.c \
	studies/ops/suite.h \
	studies/ops/summary.c \
	studies/ops/table.c \
	studies/sweep/about.c \
	studies/sweep/job.c \
	studies/sweep/journal.c \
	studies/sweep/levers_rows.c \
	studies/sweep/levers_state.c \
	studies/sweep/levers_tilings.c \
	studies/sweep/list.c \
	studies/sweep/measure.h \
	studies/sweep/pool.c \
	studies/sweep/record.c \
	studies/sweep/records.h \
	studies/sweep/savings.c \
	studies/sweep/sensitivity.c \
	studies/sweep/study.c \
	studies/sweep/study_lua.c \
	studies/sweep/sweep.c \
	studies/sweep/sweep.h \
	studies/sweep/table.c
libvinci_studies_la_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)

dist_noinst_DATA += studies/DESIGN.md
