# SPDX-License-Identifier: Apache-2.0
# tests/: what `make check` runs; every test speaks TAP. A new unit test tests/test_x.c is one line
# in unit_tests and one nodist_EXTRA line (Makefile.am says why).

unit_tests = \
	tests/test_accuracy \
	tests/test_arch \
	tests/test_banks \
	tests/test_base \
	tests/test_bounds \
	tests/test_check_corpus \
	tests/test_check_memory \
	tests/test_check_race \
	tests/test_check_random \
	tests/test_core \
	tests/test_core_errors \
	tests/test_cube \
	tests/test_cycle \
	tests/test_cycle_times \
	tests/test_engine \
	tests/test_export \
	tests/test_export_csv \
	tests/test_extremes \
	tests/test_footprints \
	tests/test_hbm \
	tests/test_hbm_commands \
	tests/test_isa \
	tests/test_l2_start \
	tests/test_limits \
	tests/test_lower \
	tests/test_lower_vector \
	tests/test_machine \
	tests/test_lower_attention \
	tests/test_lower_conv \
	tests/test_lower_cost \
	tests/test_lower_cube \
	tests/test_mem \
	tests/test_metamorphic \
	tests/test_memory \
	tests/test_mutate \
	tests/test_noc \
	tests/test_noc_engine \
	tests/test_number \
	tests/test_ops_journal \
	tests/test_public \
	tests/test_registers \
	tests/test_result \
	tests/test_run \
	tests/test_samples \
	tests/test_soc \
	tests/test_soc_host \
	tests/test_timeline \
	tests/test_trace_errors \
	tests/test_trace_expr \
	tests/test_trace_format \
	tests/test_transfers \
	tests/test_unit_flag \
	tests/test_units \
	tests/test_values_cube \
	tests/test_values_lanes \
	tests/test_values_run \
	tests/test_values_transfers \
	tests/test_values_vector

nodist_EXTRA_tests_test_accuracy_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_arch_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_banks_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_base_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_bounds_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_check_corpus_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_check_memory_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_check_race_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_check_random_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_core_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_core_errors_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_cube_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_cycle_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_cycle_times_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_engine_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_export_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_export_csv_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_extremes_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_footprints_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_hbm_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_hbm_commands_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_isa_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_l2_start_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_limits_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_vector_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_machine_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_attention_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_conv_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_cost_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_lower_cube_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_mem_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_memory_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_metamorphic_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_mutate_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_noc_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_noc_engine_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_number_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_ops_journal_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_public_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_registers_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_result_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_run_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_samples_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_soc_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_soc_host_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_timeline_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_trace_errors_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_trace_expr_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_trace_format_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_transfers_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_unit_flag_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_units_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_values_cube_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_values_lanes_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_values_run_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_values_transfers_SOURCES = dummy.cxx
nodist_EXTRA_tests_test_values_vector_SOURCES = dummy.cxx

script_tests = \
	tests/check_dist.sh \
	tests/check_exports.sh \
	tests/check_install.sh \
	tests/check_layers.sh \
	tests/test_cli.sh \
	tests/test_endings.sh \
	tests/test_hints.sh \
	tests/test_experiments.sh \
	tests/test_gate.sh \
	tests/test_ops.sh \
	tests/test_lua.sh \
	tests/test_lua_limits.sh \
	tests/test_operators.sh \
	tests/test_isa_cli.sh \
	tests/test_mutants.sh \
	tests/test_stream.sh \
	tests/test_sweep.sh \
	tests/test_values.sh \
	tests/test_values_kernels.sh \
	tests/test_values_attention.sh \
	tests/test_values_vecops.sh \
	tests/test_values_matrix.sh \
	tests/test_values_ops.sh \
	tests/test_values_convs.sh \
	tests/test_values_vector.sh

test_programs = tests/fuzz/replay tests/fuzz/replay_ops
if HAVE_CMOCKA
test_programs += $(unit_tests)
endif
# Script tests run the driver.
check_PROGRAMS = $(test_programs) tests/values/driver
TESTS = $(test_programs) $(script_tests)
dist_noinst_SCRIPTS += $(script_tests)
EXTRA_DIST += tests/tap.sh

# What several tests share.
check_LTLIBRARIES = libvinci_tests.la
libvinci_tests_la_SOURCES = \
	tests/accuracy_exceptions.c \
	tests/accuracy_exceptions.def \
	tests/accuracy_exceptions.h \
	tests/bank_cases.h \
	tests/bank_reference.h \
	tests/checks.h \
	tests/export_golden.h \
	tests/export_headers.h \
	tests/fixture.c \
	tests/fixture.h \
	tests/hbm_checker.c \
	tests/hbm_checker.h \
	tests/hbm_specs.c \
	tests/hbm_specs.h \
	tests/hbm_ticking.c \
	tests/hbm_ticking.h \
	tests/hbm_traffic.c \
	tests/hbm_traffic.h \
	tests/meta_cases.c \
	tests/meta_cases.h \
	tests/networks.c \
	tests/networks.h \
	tests/orders.c \
	tests/orders.h \
	tests/results.h \
	tests/runs.c \
	tests/runs.h \
	tests/samples.c \
	tests/samples.h \
	tests/trace_errors.def \
	tests/units.h \
	tests/vector_values.h
LDADD = libvinci_tests.la libvinci_internal.la $(CMOCKA_LIBS)
# Sees what users of the library see.
tests_test_public_LDADD = libvinci.la $(CMOCKA_LIBS)

AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	TESTS_SRCDIR='$(abs_top_srcdir)'; export TESTS_SRCDIR; \
	VINCI='$(abs_top_builddir)/vinci$(EXEEXT)'; export VINCI; \
	VINCI_DATA='$(abs_top_srcdir)/scripts'; export VINCI_DATA; \
	VINCI_LIBRARY='$(abs_top_builddir)/.libs/libvinci.so'; export VINCI_LIBRARY; \
	VINCI_INSTRUMENT='$(VINCI_INSTRUMENT)'; export VINCI_INSTRUMENT; \
	MAKE='$(MAKE)'; export MAKE;

tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/scripts/build-aux/tap-driver.sh
LOG_DRIVER = $(tap_driver)
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(tap_driver)
SH_LOG_COMPILER = $(SHELL)

# Measurements and inputs the tests compare with.
dist_noinst_DATA += \
	tests/fuzz/corpus/bad_expression.csv \
	tests/fuzz/corpus/bad_layout.csv \
	tests/fuzz/corpus/bad_quote.csv \
	tests/fuzz/corpus/cube.csv \
	tests/fuzz/corpus/expressions.csv \
	tests/fuzz/corpus/flags.csv \
	tests/fuzz/corpus/kernels.csv \
	tests/fuzz/corpus/loops.csv \
	tests/fuzz/corpus/mixed.csv \
	tests/fuzz/corpus/quotes.csv \
	tests/fuzz/corpus/tensors.csv \
	tests/fuzz/corpus/unclosed.csv \
	tests/fuzz/corpus/vector.csv \
	tests/fuzz/corpus-ops/calibration.csv \
	tests/fuzz/corpus-ops/convolutions.csv \
	tests/fuzz/corpus-ops/gemms.csv \
	tests/fuzz/corpus-ops/kernel_details.csv \
	tests/fuzz/corpus-ops/operators.csv \
	tests/fuzz/corpus-ops/times.csv \
	tests/fuzz/corpus-ops/types.csv \
	tests/fuzz/ops.dict \
	tests/fuzz/trace.dict \
	tests/check/atomic_init.csv \
	tests/check/atomic_kinds.csv \
	tests/check/atomic_sum.csv \
	tests/check/exchange.csv \
	tests/check/kernels.def \
	tests/check/mixed.csv \
	tests/check/pair.csv \
	tests/check/pipeline.csv \
	tests/check/split_k.csv \
	tests/check/tail.csv \
	tests/check/unit_flag.csv \
	tests/mutate/add_double.csv \
	tests/mutate/add_single.csv \
	tests/mutate/atomic.csv \
	tests/mutate/chain.csv \
	tests/mutate/matmul.csv \
	tests/mutate/mixed.csv \
	tests/mutate/mixed_atomic.csv \
	tests/mutate/sync_all.csv \
	tests/mutate/tail.csv \
	tests/mutate/unit_flag.csv \
	tests/gate/operators.csv \
	tests/gate/operators.csv.changes \
	tests/gate/operators.lua \
	tests/reference/instruction_fits.csv \
	tests/lua/fuzz.lua \
	tests/lua/memory.lua \
	tests/reference/memory/hbm2_load_latency_1pc.csv \
	tests/reference/memory/hbm2_parameters.csv \
	tests/reference/memory/hbm2_saturating_1pc.csv \
	tests/reference/memory/hbm2_single_outstanding.csv \
	tests/reference/memory/hbm2_stack_16pc.csv \
	tests/reference/memory/streams.csv \
	tests/reference/microbenchmarks.csv \
	tests/reference/noc/booksim_mesh_latency.csv \
	tests/reference/noc/booksim_mesh_overload.csv \
	tests/reference/noc/booksim_parameters.csv \
	tests/reference/silicon_calibration.csv \
	tests/reference/vector_add_910b4.csv

# ---- make bench: speed of the simulator, each figure with its target ----
bench_programs = tests/bench tests/bench_hbm tests/bench_lua tests/bench_noc tests/bench_ops \
	tests/bench_values tests/bench_values_run
EXTRA_PROGRAMS += $(bench_programs)
nodist_EXTRA_tests_bench_SOURCES = dummy.cxx
tests_bench_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_bench_hbm_SOURCES = dummy.cxx
tests_bench_hbm_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_bench_lua_SOURCES = dummy.cxx
tests_bench_lua_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
tests_bench_lua_LDADD = libvinci_lua.la libvinci_internal.la
nodist_EXTRA_tests_bench_noc_SOURCES = dummy.cxx
tests_bench_noc_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_bench_ops_SOURCES = dummy.cxx
tests_bench_ops_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_bench_values_run_SOURCES = dummy.cxx
tests_bench_values_run_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_bench_values_SOURCES = dummy.cxx
tests_bench_values_LDADD = libvinci_tests.la libvinci_internal.la
bench: $(bench_programs)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) status=0; \
	tests/bench$(EXEEXT) $(srcdir)/traces/examples/matmul_2048_fp16.csv \
	  $(srcdir)/traces/examples/add8_tile10240_double.csv || status=1; \
	tests/bench_hbm$(EXEEXT) || status=1; tests/bench_lua$(EXEEXT) || status=1; \
	tests/bench_noc$(EXEEXT) || status=1; tests/bench_ops$(EXEEXT) || status=1; tests/bench_values$(EXEEXT) || status=1; \
	tests/bench_values_run$(EXEEXT) $(srcdir)/traces/examples/matmul_2048_fp16.csv || status=1; exit $$status
.PHONY: bench
CLEANFILES += $(bench_programs)

# ---- make accuracy: simulated against measured, as tables ----
accuracy_programs = \
	tests/accuracy \
	tests/accuracy_banks \
	tests/accuracy_fits \
	tests/accuracy_hbm \
	tests/accuracy_noc \
	tests/accuracy_ops \
	tests/accuracy_samples \
	tests/accuracy_silicon
nodist_EXTRA_tests_accuracy_SOURCES = dummy.cxx
tests_accuracy_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_banks_SOURCES = dummy.cxx
tests_accuracy_banks_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_fits_SOURCES = dummy.cxx
tests_accuracy_fits_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_hbm_SOURCES = dummy.cxx
tests_accuracy_hbm_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_noc_SOURCES = dummy.cxx
tests_accuracy_noc_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_ops_SOURCES = dummy.cxx
tests_accuracy_ops_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_samples_SOURCES = dummy.cxx
tests_accuracy_samples_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_accuracy_silicon_SOURCES = dummy.cxx
tests_accuracy_silicon_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += $(accuracy_programs)
# Two at a time, the longest first; five minutes of CPU time. Rows known to be beyond their limit
# stand in accuracy_exceptions.def.
accuracy_longest_first = tests/accuracy_silicon tests/accuracy_noc $(accuracy_programs)
accuracy: $(accuracy_programs)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	printf '%s\n' $(accuracy_longest_first) | awk '!seen[$$0]++' | \
	  xargs -P 2 -I PROGRAM $(SHELL) -c './PROGRAM >PROGRAM.said 2>&1; echo $$? >PROGRAM.code'; \
	status=0; for program in $(accuracy_programs); do cat $$program.said; \
	  test "`cat $$program.code`" = 0 || { echo "$$program: beyond its limits"; status=1; }; \
	done; exit $$status
.PHONY: accuracy
CLEANFILES += $(accuracy_programs) tests/accuracy*.said tests/accuracy*.code

# ---- values against references in numpy ----
nodist_EXTRA_tests_values_driver_SOURCES = dummy.cxx
tests_values_driver_LDADD = libvinci_tests.la libvinci_internal.la
dist_noinst_DATA += \
	tests/values/convs.py \
	tests/values/cube.py \
	tests/values/images.py \
	tests/values/ops.py \
	tests/values/kernels.py \
	tests/values/reference.py \
	tests/values/attention.py \
	tests/values/vecops.py \
	tests/values/transfers.py \
	tests/values/vector.py

# ---- the fuzz targets of the readers of traces, of lists of operators and of .npy headers ----
# As tests two replay their corpus; under `configure --enable-fuzzing` all can be built to search.
tests_fuzz_replay_SOURCES = tests/fuzz/fuzz_trace.c tests/fuzz/replay.c
tests_fuzz_replay_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus"'
tests_fuzz_replay_ops_SOURCES = tests/fuzz/fuzz_ops.c tests/fuzz/replay.c
tests_fuzz_replay_ops_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-ops"'
nodist_EXTRA_tests_fuzz_replay_ops_SOURCES = dummy.cxx
tests_fuzz_replay_ops_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_ops
nodist_EXTRA_tests_fuzz_fuzz_ops_SOURCES = dummy.cxx
tests_fuzz_fuzz_ops_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_ops_LDADD = libvinci_tests.la libvinci_internal.la
nodist_EXTRA_tests_fuzz_replay_SOURCES = dummy.cxx
tests_fuzz_replay_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_trace
nodist_EXTRA_tests_fuzz_fuzz_trace_SOURCES = dummy.cxx
tests_fuzz_fuzz_trace_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_trace_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_npy
nodist_EXTRA_tests_fuzz_fuzz_npy_SOURCES = dummy.cxx
tests_fuzz_fuzz_npy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_npy_LDADD = libvinci_internal.la
CLEANFILES += tests/fuzz/fuzz_trace$(EXEEXT) tests/fuzz/fuzz_npy$(EXEEXT) \
	tests/fuzz/fuzz_ops$(EXEEXT)

# ---- make gate: the suite of operators against its baseline ----
# A number that is better without a reason is as wrong as one that is worse: --strict.
# `make bless REASON="..."` makes the present numbers the baseline; a reviewer sees them move.
gate_suite = $(abs_top_srcdir)/tests/gate/operators
gate: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	./vinci$(EXEEXT) gate check $(gate_suite).lua --baseline=$(gate_suite).csv --strict --repeat=2 \
	  --junit=gate.xml --markdown=gate.md
bless: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	./vinci$(EXEEXT) gate bless $(gate_suite).lua --baseline=$(gate_suite).csv \
	  --reason="$(REASON)" --rebase-inputs
.PHONY: gate bless
CLEANFILES += gate.xml gate.md

# ---- make mutants: do the tests notice a wrong model? ----
# tests/mutants/mutants.txt has the mistakes, and which tests have to notice each; FULL=1 runs all
# unit tests on each. MUTANTS has further options of mutants.py, such as --only NAME.
mutants:
	$(AM_V_at)CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 $(srcdir)/tests/mutants/mutants.py $(abs_top_srcdir) mutants \
	  $(if $(FULL),--full) $(MUTANTS)
.PHONY: mutants
dist_noinst_DATA += tests/mutants/mutants.py tests/mutants/mutants.txt
clean-local:
	rm -rf mutants

# ---- make study: a thousand points, killed and not, one process and two ----
study: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/study.sh
.PHONY: study
dist_noinst_SCRIPTS += tests/study.sh

# ---- make check-slurm: sweeps on a real Slurm, brought up here ----
check-slurm: vinci$(EXEEXT)
	$(AM_V_at)$(MAKE) check TESTS=tests/slurm.sh
.PHONY: check-slurm
dist_noinst_SCRIPTS += tests/slurm.sh
EXTRA_DIST += tests/cluster.sh
