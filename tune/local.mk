# SPDX-License-Identifier: Apache-2.0
# tune/: searches among the schedules of an operator, and a repository of their results. Sees core, lower,
# workloads and the evaluation of operators.

noinst_LTLIBRARIES += libvinci_tune.la
libvinci_tune_la_SOURCES = \
	tune/journal.c \
	tune/repository.c \
	tune/robust.c \
	tune/search.c \
	tune/strategies.c \
	tune/tune.h

dist_noinst_DATA += tune/TUNING.md
