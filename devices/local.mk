# SPDX-License-Identifier: Apache-2.0
# devices/: several devices: links and transfers (flow), collectives as lists of steps, jobs as text, and plans.
# Sees core, traces, and workloads of networks.

noinst_LTLIBRARIES += libvinci_devices.la
libvinci_devices_la_SOURCES = \
	devices/collective/algorithms.c \
	devices/collective/algorithms.def \
	devices/collective/collective.h \
	devices/collective/levels.c \
	devices/collective/log.c \
	devices/collective/mesh.c \
	devices/collective/ring.c \
	devices/collective/steps.h \
	devices/flow/flow.c \
	devices/flow/flow.h \
	devices/flow/posts.c \
	devices/flow/posts.h \
	devices/flow/run.c \
	devices/flow/run.h \
	devices/flow/run_dues.c \
	devices/flow/run_faults.c \
	devices/flow/run_fold.c \
	devices/flow/run_fold.h \
	devices/flow/run_fold_part.c \
	devices/flow/run_fold_turns.c \
	devices/flow/run_hang.c \
	devices/flow/run_memory.c \
	devices/flow/run_planes.c \
	devices/flow/run_state.h \
	devices/flow/system.c \
	devices/flow/system.h \
	devices/flow/text.h \
	devices/flow/training.c \
	devices/flow/training.h \
	devices/flow/training_runs.c \
	devices/jobs/buckets.c \
	devices/jobs/chakra.h \
	devices/jobs/classes.c \
	devices/jobs/classes.h \
	devices/jobs/chakra_decode.c \
	devices/jobs/chakra_groups.c \
	devices/jobs/chakra_read.c \
	devices/jobs/chakra_read.h \
	devices/jobs/chakra_rows.c \
	devices/jobs/chakra_write.c \
	devices/jobs/job.c \
	devices/jobs/job.h \
	devices/jobs/job_events.c \
	devices/jobs/job_events.h \
	devices/jobs/job_faults.c \
	devices/jobs/job_memory.c \
	devices/jobs/job_memory.h \
	devices/jobs/job_ops.c \
	devices/jobs/job_reader.h \
	devices/jobs/energy.c \
	devices/jobs/energy.h \
	devices/jobs/kernels.c \
	devices/jobs/kernels.h \
	devices/jobs/loads.c \
	devices/jobs/loads.h \
	devices/jobs/memory.c \
	devices/jobs/memory.h \
	devices/jobs/path.c \
	devices/jobs/path.h \
	devices/jobs/peaks.c \
	devices/jobs/peaks.h \
	devices/jobs/profiler.c \
	devices/jobs/profiler.h \
	devices/jobs/profiler_files.c \
	devices/jobs/rank_table.c \
	devices/jobs/rank_table.h \
	devices/jobs/result.c \
	devices/jobs/result.h \
	devices/jobs/steps.c \
	devices/jobs/steps.h \
	devices/jobs/text.c \
	devices/jobs/turns.c \
	devices/jobs/turns.h \
	devices/jobs/waits.c \
	devices/jobs/waits.h \
	devices/plan/buckets.c \
	devices/plan/buckets.h \
	devices/serving/engine.c \
	devices/serving/engine.h \
	devices/serving/run.c

dist_noinst_DATA += devices/DESIGN.md devices/GROUP.md
