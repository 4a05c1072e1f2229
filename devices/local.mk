# SPDX-License-Identifier: Apache-2.0
# devices/: several devices: links and transfers (flow), collectives as lists of steps, jobs as text,
# what their runs are told as, other tools' files, plans, and engines that serve a language model.
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
	devices/exchange/chakra.h \
	devices/exchange/chakra_decode.c \
	devices/exchange/chakra_groups.c \
	devices/exchange/chakra_read.c \
	devices/exchange/chakra_read.h \
	devices/exchange/chakra_rows.c \
	devices/exchange/chakra_write.c \
	devices/exchange/profiler.c \
	devices/exchange/profiler.h \
	devices/exchange/profiler_files.c \
	devices/exchange/rank_table.c \
	devices/exchange/rank_table.h \
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
	devices/jobs/job.c \
	devices/jobs/job.h \
	devices/jobs/job_events.c \
	devices/jobs/job_events.h \
	devices/jobs/job_faults.c \
	devices/jobs/job_memory.c \
	devices/jobs/job_memory.h \
	devices/jobs/job_ops.c \
	devices/jobs/job_reader.h \
	devices/jobs/kernel_options.h \
	devices/jobs/kernels.c \
	devices/jobs/kernels.h \
	devices/jobs/sequence.c \
	devices/jobs/steps.c \
	devices/jobs/steps.h \
	devices/jobs/text.c \
	devices/jobs/timing.c \
	devices/jobs/timing.h \
	devices/jobs/turns.c \
	devices/jobs/turns.h \
	devices/plan/buckets.c \
	devices/plan/buckets.h \
	devices/results/classes.c \
	devices/results/classes.h \
	devices/results/energy.c \
	devices/results/energy.h \
	devices/results/loads.c \
	devices/results/loads.h \
	devices/results/memory.c \
	devices/results/memory.h \
	devices/results/path.c \
	devices/results/path.h \
	devices/results/peaks.c \
	devices/results/peaks.h \
	devices/results/result.c \
	devices/results/result.h \
	devices/results/waits.c \
	devices/results/waits.h \
	devices/serving/engine.c \
	devices/serving/engine.h \
	devices/serving/run.c

dist_noinst_DATA += devices/DESIGN.md devices/GROUP.md
