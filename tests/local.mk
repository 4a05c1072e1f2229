# SPDX-License-Identifier: Apache-2.0
# tests/: what `make check` runs; every test speaks TAP. Folders are those of the sources,
# and support/ (what several tests share), check/ (programs with mistakes), values/ (references in
# numpy), tree/ (rules of the sources), and one each for accuracy, additions, bench, fuzz, gate, mutants
# and same. A new unit test is one line in unit_tests.

unit_tests = \
	tests/accuracy/test_accuracy \
	tests/acl/test_acl_times \
	tests/check/test_check_corpus \
	tests/check/test_check_flow \
	tests/check/test_check_memory \
	tests/check/test_check_pads \
	tests/check/test_check_race \
	tests/check/test_check_random \
	tests/check/test_check_read \
	tests/check/test_check_shadow \
	tests/check/test_check_warnings \
	tests/check/test_mutate \
	tests/core/test_arch \
	tests/core/test_base \
	tests/core/test_causes \
	tests/core/test_contexts \
	tests/core/test_core \
	tests/core/test_core_errors \
	tests/core/test_counters \
	tests/core/test_energy \
	tests/core/test_engine \
	tests/core/test_events \
	tests/core/test_extremes \
	tests/core/test_footprints \
	tests/devices/test_collective_forms \
	tests/devices/test_group \
	tests/devices/test_fold \
	tests/devices/test_group_moves \
	tests/devices/test_held \
	tests/devices/test_group_rules \
	tests/core/test_isa \
	tests/core/test_journal \
	tests/core/test_json \
	tests/core/test_auto \
	tests/core/test_function \
	tests/core/test_guest \
	tests/core/test_kept \
	tests/core/test_l2_start \
	tests/core/test_limits \
	tests/core/test_lookup \
	tests/core/test_machine \
	tests/core/test_mem \
	tests/core/test_metamorphic \
	tests/core/test_number \
	tests/core/test_pool \
	tests/core/test_public \
	tests/core/test_registers \
	tests/core/test_result \
	tests/core/test_run \
	tests/core/test_shortage \
	tests/core/test_soc \
	tests/core/test_start \
	tests/core/test_tables \
	tests/studies/test_study \
	tests/core/test_threads \
	tests/core/test_l1_port \
	tests/core/test_unit_flag \
	tests/core/test_units \
	tests/cube/test_cube \
	tests/cube/test_values_cube \
	tests/memhier/test_cycle \
	tests/memhier/test_cycle_times \
	tests/memhier/test_hbm \
	tests/memhier/test_hbm_commands \
	tests/memhier/test_hbm_rules \
	tests/memhier/test_l2_policies \
	tests/memhier/test_memory \
	tests/memhier/test_transfers \
	tests/memhier/test_values_transfers \
	tests/noc/test_noc \
	tests/noc/test_noc_engine \
	tests/regret/test_regret \
	tests/scripts/test_soc_host \
	tests/scripts/test_soc_packed \
	tests/lower/test_bounds \
	tests/traces/test_export \
	tests/traces/test_export_csv \
	tests/networks/test_graph \
	tests/networks/test_levers \
	tests/devices/test_job \
	tests/lower/test_lower \
	tests/lower/test_lower_attention \
	tests/lower/test_lower_serving \
	tests/lower/test_lower_conv \
	tests/lower/test_lower_cost \
	tests/lower/test_lower_cube \
	tests/lower/test_lower_expr \
	tests/lower/test_estimate \
	tests/lower/test_estimate_counts \
	tests/lower/test_flow \
	tests/lower/test_lower_chain \
	tests/lower/test_lower_epilogue \
	tests/lower/test_lower_chips \
	tests/lower/test_lower_cores \
	tests/lower/test_lower_vector \
	tests/lower/test_lower_vendor \
	tests/traces/test_samples \
	tests/studies/test_evaluate \
	tests/studies/test_sequence \
	tests/kernels/test_source_count \
	tests/traces/test_timeline \
	tests/traces/test_trace_errors \
	tests/traces/test_trace_expr \
	tests/traces/test_trace_format \
	tests/tune/test_tune_strategies \
	tests/values/test_values_run \
	tests/vector/test_banks \
	tests/vector/test_known \
	tests/vector/test_compares \
	tests/vector/test_values_lanes \
	tests/vector/test_values_vector


# Scripts that take longest, the longest first: beside them the others fill the processors. `make slowest`
# prints what each took.
long_tests = \
	tests/memhier/test_streams.sh \
	tests/kernels/test_hostile.sh \
	tests/kernels/test_programs.sh \
	tests/kernels/test_library.sh \
	tests/kernels/test_kernels.sh \
	tests/kernels/test_functions.sh \
	tests/kernels/test_products.sh \
	tests/kernels/test_hints.sh \
	tests/kernels/test_others.sh \
	tests/kernels/test_scaled.sh \
	tests/kernels/test_threads.sh \
	tests/kernels/test_tokens.sh \
	tests/cli/test_report_page.sh \
	tests/values/test_values_coupled.sh \
	tests/values/test_values_convs.sh \
	tests/scripts/test_lua.sh \
	tests/core/test_systemc_examples.sh \
	tests/tune/test_tune.sh \
	tests/tree/check_install.sh \
	tests/cli/test_verbs.sh \
	tests/values/test_values_ops.sh \
	tests/values/test_values_attention.sh \
	tests/kernels/test_matrices.sh \
	tests/cli/test_causes.sh \
	tests/cli/test_sweep.sh \
	tests/cli/test_report.sh

# What `make check-fast` leaves to `make check`; CONTRIBUTING.md says why.
late_tests = \
	tests/kernels/test_edges.sh \
	tests/scripts/test_lua_limits.sh \
	tests/scripts/test_experiments.sh \
	tests/kernels/test_mutations.sh \
	tests/same/test_same.sh

script_tests = \
	tests/additions/test_additions.sh \
	tests/cli/test_cli.sh \
	tests/cli/test_endings.sh \
	tests/cli/test_energy.sh \
	tests/cli/test_texts.sh \
	tests/cli/test_gate.sh \
	tests/cli/test_gate_job.sh \
	tests/cli/test_gate_reports.sh \
	tests/cli/test_group.sh \
	tests/cli/test_group_buckets.sh \
	tests/cli/test_group_plan.sh \
	tests/cli/test_group_train.sh \
	tests/cli/test_group_work.sh \
	tests/cli/test_group_files.sh \
	tests/cli/test_missing.sh \
	tests/cli/test_net.sh \
	tests/cli/test_net_explain.sh \
	tests/cli/test_net_memory.sh \
	tests/cli/test_net_results.sh \
	tests/cli/test_net_rules.sh \
	tests/cli/test_net_serve.sh \
	tests/cli/test_net_signals.sh \
	tests/cli/test_net_study.sh \
	tests/cli/test_ops.sh \
	tests/cli/test_coupled_rows.sh \
	tests/cli/test_ops_fused.sh \
	tests/cli/test_ops_interval.sh \
	tests/cli/test_ops_order.sh \
	tests/cli/test_repeat.sh \
	tests/cli/test_ops_table.sh \
	tests/cli/test_shortage.sh \
	tests/cli/test_readme.sh \
	tests/cli/test_report_answers.sh \
	tests/cli/test_sequence.sh \
	tests/cli/test_sequence_lists.sh \
	tests/core/test_systemc_page.sh \
	tests/cli/test_stream.sh \
	tests/cli/test_levers.sh \
	tests/cli/test_walks.sh \
	tests/cli/test_waves.sh \
	tests/cli/test_weights.sh \
	tests/cli/test_database.sh \
	tests/cli/test_debug.sh \
	tests/cli/test_diff.sh \
	tests/cli/test_diff_job.sh \
	tests/cli/test_command.sh \
	tests/cli/test_outputs.sh \
	tests/cli/test_own.sh \
	tests/cli/test_peak_memory.sh \
	tests/cli/test_table.sh \
	tests/cli/test_width.sh \
	tests/cli/test_sweep_job.sh \
	tests/cli/test_sweep_list.sh \
	tests/cli/test_unread.sh \
	tests/core/test_isa_cli.sh \
	tests/mutants/test_mutants.sh \
	tests/tune/test_cuts.sh \
	tests/auto/test_auto.sh \
	tests/properties/test_properties.sh \
	tests/python/test_python.sh \
	tests/python/test_same.sh \
	tests/python/test_serving_same.sh \
	tests/python/test_tutorials.sh \
	tests/scripts/test_networks.sh \
	tests/scripts/test_trace_writer.sh \
	tests/scripts/test_planner.sh \
	tests/scripts/test_serving.sh \
	tests/scripts/test_transformer.sh \
	tests/kernels/test_beyond.sh \
	tests/kernels/test_fractals.sh \
	tests/kernels/test_caches.sh \
	tests/kernels/test_dcache.sh \
	tests/kernels/test_checks.sh \
	tests/kernels/test_scalars.sh \
	tests/kernels/test_handles.sh \
	tests/traces/test_hints.sh \
	tests/traces/test_import.sh \
	tests/traces/test_timelines.sh \
	tests/networks/test_onnx_errors.sh \
	tests/networks/test_onnx_contrib.sh \
	tests/networks/test_onnx_shapes.sh \
	tests/networks/test_onnx_windows.sh \
	tests/networks/test_passes.sh \
	tests/lower/test_lower_function.sh \
	tests/lower/test_operators.sh \
	tests/lower/test_serving_kinds.sh \
	tests/tree/check_calls.sh \
	tests/tree/check_dist.sh \
	tests/tree/check_exports.sh \
	tests/tree/check_layers.sh \
	tests/tree/check_packages.sh \
	tests/tree/check_revision.sh \
	tests/tree/check_version.sh \
	tests/tree/check_abi.sh \
	tests/tree/check_model_book.sh \
	tests/tree/check_words.sh \
	tests/values/test_values.sh \
	tests/values/test_values_coverage.sh \
	tests/values/test_values_fused.sh \
	tests/values/test_values_kernels.sh \
	tests/values/test_values_matrix.sh \
	tests/values/test_values_layers.sh \
	tests/values/test_values_recurrent.sh \
	tests/values/test_values_registers.sh \
	tests/values/test_values_serving.sh \
	tests/values/test_values_vecops.sh \
	tests/values/test_values_vector.sh

test_programs = tests/fuzz/replay tests/fuzz/replay_files tests/fuzz/replay_graph tests/fuzz/replay_group \
	tests/fuzz/replay_lua tests/fuzz/replay_numbers tests/fuzz/replay_onnx tests/fuzz/replay_ops
if HAVE_SYSTEMC
test_programs += tests/core/test_in_systemc tests/core/test_systemc_device tests/core/test_systemc_host \
	tests/core/test_systemc_l2 tests/core/test_systemc_phases
endif
if HAVE_CMOCKA
test_programs += $(unit_tests)
if HAVE_ONNX
test_programs += tests/networks/test_onnx_data tests/networks/test_onnx_values
endif
endif
# Script tests run the driver. A test program is built when it runs: `make check TESTS=one` builds that one.
check_PROGRAMS = tests/values/driver tests/kernels/schedules
EXTRA_PROGRAMS += $(test_programs)
CLEANFILES += $(test_programs)
TESTS = $(late_tests) $(long_tests) $(test_programs) $(script_tests)
dist_noinst_SCRIPTS += $(late_tests) $(long_tests) $(script_tests)
EXTRA_DIST += tests/tree/rooms.txt tests/memhier/streams.lua tests/support/await.sh tests/support/tap.py tests/support/tap.sh \
	tests/support/timed.sh tests/support/workloads.sh

# What several tests share.
check_LTLIBRARIES = libvinci_tests.la
libvinci_tests_la_SOURCES = \
	tests/accuracy/accuracy_exceptions.c \
	tests/accuracy/accuracy_exceptions.def \
	tests/accuracy/accuracy_exceptions.h \
	tests/accuracy/accuracy_rows.c \
	tests/accuracy/accuracy_rows.h \
	tests/regret/cases.def \
	tests/regret/measure.c \
	tests/regret/measure.h \
	tests/support/bank_cases.h \
	tests/support/bank_reference.h \
	tests/support/checks.h \
	tests/support/devices.h \
	tests/support/export_golden.h \
	tests/support/export_headers.h \
	tests/support/fixture.c \
	tests/support/fixture.h \
	tests/support/hbm_checker.c \
	tests/support/hbm_checker.h \
	tests/support/hbm_specs.c \
	tests/support/hbm_specs.h \
	tests/support/hbm_ticking.c \
	tests/support/hbm_ticking.h \
	tests/support/hbm_traffic.c \
	tests/support/hbm_traffic.h \
	tests/support/meta_cases.c \
	tests/support/meta_cases.h \
	tests/support/networks.c \
	tests/support/networks.h \
	tests/support/orders.c \
	tests/support/orders.h \
	tests/support/results.h \
	tests/support/runs.c \
	tests/support/runs.h \
	tests/support/samples.c \
	tests/support/samples.h \
	tests/support/trace_errors.def \
	tests/support/units.h \
	tests/support/vector_values.h \
	tests/support/words.h \
	tests/lower/chip_exceptions.def
LDADD = libvinci_tests.la libvinci_internal.la $(CMOCKA_LIBS)
# Sees what users of the library see.
tests_acl_test_acl_times_LDADD = libvinci_acl.la $(CMOCKA_LIBS)
tests_core_test_public_LDADD = libvinci.la $(CMOCKA_LIBS)
tests_core_test_tables_LDADD = libvinci.la $(CMOCKA_LIBS)
tests_studies_test_study_LDADD = libvinci.la $(CMOCKA_LIBS)
tests_core_test_contexts_LDADD = libvinci.la $(CMOCKA_LIBS) -lpthread
tests_core_test_threads_LDADD = libvinci.la $(CMOCKA_LIBS) -lpthread
shortage = tests/core/shortage.c tests/core/shortage.h tests/core/shortage_cases.c tests/core/shortage_cases.h
tests_core_test_shortage_SOURCES = tests/core/test_shortage.c $(shortage)
tests_core_test_in_systemc_SOURCES = tests/core/test_in_systemc.cc
tests_core_test_in_systemc_LDADD = libvinci.la $(SYSTEMC_LIBS)
tests_core_test_systemc_device_SOURCES = tests/core/test_systemc_device.cc tests/core/systemc_cases.h
tests_core_test_systemc_device_LDADD = libvinci.la $(SYSTEMC_LIBS)
tests_core_test_systemc_host_SOURCES = tests/core/test_systemc_host.cc tests/core/systemc_cases.h
tests_core_test_systemc_host_LDADD = libvinci.la $(SYSTEMC_LIBS)
tests_core_test_systemc_l2_SOURCES = tests/core/test_systemc_l2.cc tests/core/systemc_cases.h
tests_core_test_systemc_l2_LDADD = libvinci.la $(SYSTEMC_LIBS)
tests_core_test_systemc_phases_SOURCES = tests/core/test_systemc_phases.cc tests/core/systemc_cases.h
tests_core_test_systemc_phases_LDADD = libvinci.la $(SYSTEMC_LIBS)

onnx_cases = tests/networks/onnx_cases.c tests/networks/onnx_cases.h
tests_networks_test_onnx_data_SOURCES = tests/networks/test_onnx_data.c $(onnx_cases)
tests_networks_test_onnx_values_SOURCES = tests/networks/test_onnx_values.c $(onnx_cases)
tests_networks_test_onnx_values_CPPFLAGS = $(tests_networks_test_onnx_data_CPPFLAGS)
tests_networks_test_onnx_values_LDADD = $(tests_networks_test_onnx_data_LDADD)
tests_networks_test_onnx_data_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(abs_builddir) $(PROTOBUF_C_CFLAGS)
tests_networks_test_onnx_data_LDADD = $(LDADD) $(PROTOBUF_C_LIBS)
$(tests_networks_test_onnx_data_OBJECTS) $(tests_networks_test_onnx_values_OBJECTS): networks/onnx/onnx.pb-c.h

AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	TESTS_SRCDIR='$(abs_top_srcdir)'; export TESTS_SRCDIR; \
	VINCI='$(abs_top_builddir)/vinci$(EXEEXT)'; export VINCI; \
	VINCI_DATA='$(abs_top_srcdir)/scripts'; export VINCI_DATA; \
	VINCI_SHARED_LIBRARY='$(abs_top_builddir)/.libs/libvinci.so'; export VINCI_SHARED_LIBRARY; \
	unset VINCI_LIBRARY; \
	VINCI_INSTRUMENT='$(VINCI_INSTRUMENT)'; export VINCI_INSTRUMENT; \
	MAKE='$(MAKE)'; export MAKE;

tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/tests/support/timed.sh \
	$(SHELL) $(top_srcdir)/scripts/build-aux/tap-driver.sh
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
	tests/fuzz/corpus-files/database \
	tests/fuzz/corpus-files/dump \
	tests/fuzz/corpus-files/gate \
	tests/fuzz/corpus-files/journal \
	tests/fuzz/corpus-files/json \
	tests/fuzz/corpus-files/kept_list \
	tests/fuzz/corpus-files/list \
	tests/fuzz/corpus-files/op_statistic \
	tests/fuzz/corpus-files/pipes \
	tests/fuzz/corpus-files/policy \
	tests/fuzz/corpus-files/profile \
	tests/fuzz/corpus-files/requests \
	tests/fuzz/corpus-files/sums \
	tests/fuzz/corpus-files/task_time \
	tests/fuzz/corpus-files/timeline \
	tests/fuzz/corpus-files/tune_journal \
	tests/fuzz/corpus-files/tunings \
	tests/fuzz/corpus-graph/all_kinds.csv \
	tests/fuzz/corpus-graph/two_layers.csv \
	tests/fuzz/corpus-group/all_rows.csv \
	tests/fuzz/corpus-group/chakra.et \
	tests/fuzz/corpus-group/collectives.csv \
	tests/fuzz/corpus-group/data_parallel.csv \
	tests/fuzz/corpus-group/memory.csv \
	tests/fuzz/corpus-group/pods.json \
	tests/fuzz/corpus-group/servers.json \
	tests/fuzz/corpus-group/step.csv \
	tests/fuzz/corpus-lua/chip \
	tests/fuzz/corpus-lua/endless \
	tests/fuzz/corpus-lua/large \
	tests/fuzz/corpus-lua/long_search \
	tests/fuzz/corpus-lua/memory \
	tests/fuzz/corpus-lua/points \
	tests/fuzz/corpus-lua/study \
	tests/fuzz/corpus-lua/suite \
	tests/fuzz/corpus-lua/system \
	tests/fuzz/corpus-lua/topology \
	tests/fuzz/corpus-lua/whole_system \
	tests/fuzz/corpus-numbers/assignment \
	tests/fuzz/corpus-numbers/exponent \
	tests/fuzz/corpus-numbers/fault \
	tests/fuzz/corpus-numbers/hz \
	tests/fuzz/corpus-numbers/rate \
	tests/fuzz/corpus-numbers/ratio \
	tests/fuzz/corpus-numbers/size \
	tests/fuzz/corpus-numbers/start \
	tests/fuzz/corpus-numbers/thousands \
	tests/fuzz/corpus-numbers/time \
	tests/fuzz/corpus-numbers/whole \
	tests/fuzz/corpus-onnx/branches.onnx \
	tests/fuzz/corpus-onnx/constants.onnx \
	tests/fuzz/corpus-onnx/convolutions.onnx \
	tests/fuzz/corpus-onnx/filler.onnx \
	tests/fuzz/corpus-onnx/large_numbers.onnx \
	tests/fuzz/corpus-onnx/pieces.onnx \
	tests/fuzz/corpus-onnx/unread_type.onnx \
	tests/fuzz/corpus-onnx/recurrent.onnx \
	tests/fuzz/corpus-onnx/shapes.onnx \
	tests/fuzz/corpus-ops/calibration.csv \
	tests/fuzz/corpus-ops/convolutions.csv \
	tests/fuzz/corpus-ops/gemms.csv \
	tests/fuzz/corpus-ops/gradient.csv \
	tests/fuzz/corpus-ops/kernel_details.csv \
	tests/fuzz/corpus-ops/operators.csv \
	tests/fuzz/corpus-ops/times.csv \
	tests/fuzz/corpus-ops/types.csv \
	tests/fuzz/files.dict \
	tests/fuzz/lua.dict \
	tests/fuzz/ops.dict \
	tests/fuzz/trace.dict \
	tests/check/atomic_init.csv \
	tests/check/atomic_kinds.csv \
	tests/check/atomic_sum.csv \
	tests/check/exchange.csv \
	tests/check/kernels.def \
	tests/check/mixed.csv \
	tests/check/one.csv \
	tests/check/pair.csv \
	tests/check/pipeline.csv \
	tests/check/split_k.csv \
	tests/check/tail.csv \
	tests/check/unit_flag.csv \
	tests/mutate/add_double.csv \
	tests/mutate/add_single.csv \
	tests/mutate/atomic.csv \
	tests/mutate/chain.csv \
	tests/mutate/follow.csv \
	tests/mutate/matmul.csv \
	tests/mutate/mixed.csv \
	tests/mutate/mixed_atomic.csv \
	tests/mutate/sync_all.csv \
	tests/mutate/tail.csv \
	tests/mutate/unit_flag.csv \
	tests/gate/operators.csv \
	tests/gate/revisions \
	tests/gate/operators.csv.changes \
	tests/gate/operators.lua \
	tests/reference/collectives.csv \
	tests/reference/qwen_step_comm_910b4.csv \
	tests/reference/instruction_fits.csv \
	tests/lua/fuzz.lua \
	tests/lua/memory.lua \
	tests/python/abi.py \
	tests/python/arrays.py \
	tests/python/layouts.py \
	tests/python/misuse.py \
	tests/python/pipeline.job.csv \
	tests/python/same.c \
	tests/python/same.lua \
	tests/python/same.py \
	tests/python/serving.c \
	tests/python/serving.lua \
	tests/python/serving.py \
	tests/python/workloads.txt \
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
	tests/reference/README.md \
	tests/reference/host_interval_910b4.csv \
	tests/reference/batch_throughput_310p3.csv \
	tests/reference/qwen_step_910b4.csv \
	tests/reference/alexnet_step_910b2.csv \
	tests/reference/step_memory_910b.csv \
	tests/reference/training_910b_2019.csv \
	tests/reference/training_910b_2019_steps.csv \
	tests/reference/serving_kinds.csv \
	tests/reference/warm_kernels.csv \
	tests/reference/recent_again.csv \
	tests/reference/recent_again_memory.csv \
	tests/reference/recent_between.csv \
	tests/reference/recent_once.csv \
	tests/reference/recent_once_memory.csv \
	tests/reference/recent_alone.csv \
	tests/reference/samples/addhp_c1.csv \
	tests/reference/samples/addhp_c2.csv \
	tests/reference/samples/addhp_c4.csv \
	tests/reference/samples/addhp_c5.csv \
	tests/reference/samples/addhp_c6.csv \
	tests/reference/samples/dcl1_1.csv \
	tests/reference/samples/dcl1_2.csv \
	tests/reference/samples/dcl1_4.csv \
	tests/reference/samples/dcl1_5.csv \
	tests/reference/samples/dcl1_6.csv \
	tests/reference/samples/dcub_1.csv \
	tests/reference/samples/dcub_2.csv \
	tests/reference/samples/dcub_3.csv \
	tests/reference/samples/dcub_4.csv \
	tests/reference/samples/dcub_5.csv \
	tests/reference/samples/dcub_7.csv \
	tests/reference/samples/dcub_8.csv \
	tests/reference/samples/index.csv \
	tests/reference/samples/vcmp.csv \
	tests/reference/silicon_calibration.csv \
	tests/reference/vector_add_910b4.csv

# ---- make experiments: effects that users rely on, each with its claim and a verdict ----
experiments: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) lua $(srcdir)/scripts/experiments/effects.lua $(EXPERIMENTS)
.PHONY: experiments

# ---- make replay: a whole training step, its parts, and how many kernels are near what was measured ----
replay: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) replay $(srcdir)/tests/reference/qwen_step_910b4.csv \
	  --soc-version=Ascend910B4 --memory=flat --host-costs=$(srcdir)/tests/reference/host_interval_910b4.csv $(REPLAY)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) lua $(srcdir)/tests/accuracy/pipeline_step.lua
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) lua $(srcdir)/tests/accuracy/step_memory.lua
.PHONY: replay

# ---- make library-values: operators of a user's copy of the open library, as VINCI_LIBRARY names it, against numpy ----
# LIBRARY_VALUES='--dtype=fp32 Abs RmsNorm' chooses.
library-values: vinci$(EXEEXT)
	$(AM_V_at)VINCI_DATA='$(abs_top_srcdir)/scripts' PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 $(srcdir)/tests/kernels/library_values.py ./vinci$(EXEEXT) $(LIBRARY_VALUES)
.PHONY: library-values

# ---- make promises: what reports say that turning numbers of the chip saves, against what that does ----
promises: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/accuracy/promises.py \
	  ./vinci$(EXEEXT) $(srcdir)/tests/accuracy/promises.cases $(PROMISES)
.PHONY: promises
EXTRA_DIST += tests/accuracy/levers.csv tests/accuracy/promises.cases tests/accuracy/promises.lua tests/accuracy/promises.py

# ---- make gears: throughput of public networks by batch, against what was measured ----
gears: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) lua $(srcdir)/tests/accuracy/gears.lua $(GEARS)
.PHONY: gears
dist_noinst_DATA += tests/accuracy/gears.lua tests/accuracy/pipeline_step.lua tests/accuracy/serving.lua tests/accuracy/step_memory.lua \
	tests/accuracy/training_steps.lua

# ---- make steps: training steps on the Ascend910B of 2019, against what was measured ----
steps: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) ./vinci$(EXEEXT) lua $(srcdir)/tests/accuracy/training_steps.lua $(STEPS)
.PHONY: steps

# ---- make bench: speed of the simulator, each figure with its target ----
bench_programs = tests/bench/bench tests/bench/bench_hbm tests/bench/bench_lua tests/bench/bench_noc tests/bench/bench_ops \
	tests/bench/bench_users tests/bench/bench_values tests/bench/bench_values_run
EXTRA_PROGRAMS += $(bench_programs)
tests_bench_bench_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_hbm_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_lua_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
tests_bench_bench_lua_LDADD = libvinci_lua.la libvinci_internal.la
tests_bench_bench_noc_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_ops_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_users_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_values_run_LDADD = libvinci_tests.la libvinci_internal.la
tests_bench_bench_values_LDADD = libvinci_tests.la libvinci_internal.la
bench: $(bench_programs) vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) status=0; \
	tests/bench/bench$(EXEEXT) $(srcdir)/traces/examples/matmul_2048_fp16.csv \
	  $(srcdir)/traces/examples/add8_tile10240_double.csv || status=1; \
	tests/bench/bench_hbm$(EXEEXT) || status=1; tests/bench/bench_lua$(EXEEXT) || status=1; \
	tests/bench/bench_noc$(EXEEXT) || status=1; tests/bench/bench_ops$(EXEEXT) || status=1; tests/bench/bench_values$(EXEEXT) || status=1; \
	tests/bench/bench_users$(EXEEXT) $(srcdir)/tests/bench/resnet50.csv || status=1; \
	tests/bench/bench_values_run$(EXEEXT) $(srcdir)/traces/examples/matmul_2048_fp16.csv || status=1; \
	$(srcdir)/tests/bench/bench_net.sh ./vinci$(EXEEXT) $(srcdir)/tests/reference/qwen_step_910b4.csv || status=1; \
	/usr/bin/python3 $(srcdir)/tests/bench/resnet50.py ./vinci$(EXEEXT) || status=1; exit $$status
.PHONY: bench
CLEANFILES += $(bench_programs)

# ---- make bench-counts: host instructions of a process, a line, a burst, an instruction ----
# Held against tests/bench/counts.csv, for builds with the default flags. COUNTS=--renew makes the
# present counts the baseline.
bench-counts: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/bench/counts.py ./vinci$(EXEEXT) \
	  $(srcdir)/tests/bench/counts.csv $(COUNTS)
.PHONY: bench-counts
dist_noinst_SCRIPTS += tests/bench/bench_net.sh
dist_noinst_DATA += tests/tune/networks.sh tests/bench/counts.csv tests/bench/counts.py tests/bench/resnet50.csv tests/bench/resnet50.py

# ---- make regret: how much longer chosen tilings take than the best of their spaces ----
# Fails beyond the limits of tests/regret/cases.def. REGRET="--only=matmul,add --most=200" asks more
# about some, REGRET="--soc=Ascend310P3 --memory=cycle" about another chip or model.
EXTRA_PROGRAMS += tests/regret/regret
tests_regret_regret_SOURCES = tests/regret/regret.c $(regret_sources)
tests_regret_regret_LDADD = libvinci_tests.la libvinci_internal.la
regret: tests/regret/regret$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) tests/regret/regret$(EXEEXT) $(REGRET)
.PHONY: regret
CLEANFILES += tests/regret/regret$(EXEEXT)

# ---- make tuning: what searches reach against the best of all schedules of a space ----
# A few spaces in seconds; FULL=1: all of tests/tune/cases.def, then the operators of some networks.
# TUNING="--most=500 --seeds=3" asks for other spaces.
EXTRA_PROGRAMS += tests/tune/tuning
tests_tune_tuning_SOURCES = tests/tune/tuning.c tests/tune/cases.def
tests_tune_tuning_LDADD = libvinci_internal.la
tuning: tests/tune/tuning$(EXEEXT) vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) tests/tune/tuning$(EXEEXT) $(if $(FULL),--full) $(TUNING) || exit 1; \
	test -z "$(FULL)" || $(SHELL) $(srcdir)/tests/tune/networks.sh
.PHONY: tuning
CLEANFILES += tests/tune/tuning$(EXEEXT)

# ---- make accuracy: simulated against measured, as tables ----
# In this order they are printed: kernels whose state is known first.
accuracy_programs = \
	tests/accuracy/accuracy_step \
	tests/accuracy/accuracy_warm \
	tests/accuracy/accuracy_recent \
	tests/accuracy/accuracy_published \
	tests/accuracy/accuracy_samples \
	tests/accuracy/accuracy_ops \
	tests/accuracy/accuracy_coupled \
	tests/accuracy/accuracy_group \
	tests/accuracy/accuracy \
	tests/accuracy/accuracy_silicon \
	tests/accuracy/accuracy_banks \
	tests/accuracy/accuracy_fits \
	tests/accuracy/accuracy_hbm \
	tests/accuracy/accuracy_noc
tests_accuracy_accuracy_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_banks_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_coupled_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_fits_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_group_LDADD = libvinci_tests.la libvinci_lua.la libvinci_internal.la
tests_accuracy_accuracy_hbm_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_noc_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_ops_SOURCES = \
	tests/accuracy/accuracy_account.c \
	tests/accuracy/accuracy_account.h \
	tests/accuracy/accuracy_expected.c \
	tests/accuracy/accuracy_ops.c \
	tests/accuracy/accuracy_sources.c
tests_accuracy_accuracy_ops_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_published_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_recent_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_samples_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_silicon_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_step_LDADD = libvinci_tests.la libvinci_internal.la
tests_accuracy_accuracy_warm_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += $(accuracy_programs)
# Two at a time, the longest first; five minutes of CPU time. Rows known to be beyond their limit
# stand in accuracy_exceptions.def.
accuracy_longest_first = tests/accuracy/accuracy_silicon tests/accuracy/accuracy_noc \
	tests/accuracy/accuracy_published tests/accuracy/accuracy_step $(accuracy_programs)
accuracy: $(accuracy_programs)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	printf '%s\n' $(accuracy_longest_first) | awk '!seen[$$0]++' | \
	  xargs -P 2 -I PROGRAM $(SHELL) -c './PROGRAM >PROGRAM.said 2>&1; echo $$? >PROGRAM.code'; \
	status=0; for program in $(accuracy_programs); do cat $$program.said; \
	  test "`cat $$program.code`" = 0 || { echo "$$program: beyond its limits"; status=1; }; \
	done; exit $$status
.PHONY: accuracy
# All kernels of the Ascend910B of 2019, where `make accuracy` takes one in six.
accuracy-coupled: tests/accuracy/accuracy_coupled
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) tests/accuracy/accuracy_coupled all
.PHONY: accuracy-coupled
# The table of expected errors that reports tell: its head stays, its rows are written anew.
expected_table = $(srcdir)/traces/export/report/expected.def
expected-errors: tests/accuracy/accuracy_ops
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	sed -n '1,/clang-format off/p' $(expected_table) >expected.def.new && \
	tests/accuracy/accuracy_ops expected >>expected.def.new && \
	cp expected.def.new $(expected_table); status=$$?; rm -f expected.def.new; exit $$status
.PHONY: expected-errors
# The lines of core/MODEL.md that follow from the chips and from ACCURACY.md are written anew.
model-book: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 \
	  $(srcdir)/tests/accuracy/model_book.py ./vinci$(EXEEXT) $(srcdir) --renew
.PHONY: model-book
# The binary interface of the library, which tests/tree/check_abi.sh compares.
abi: python/vinci/_abi.py
	$(AM_V_at)PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/tests/python/abi.py $(srcdir)/core/abi.txt --renew
.PHONY: abi
EXTRA_DIST += core/abi.txt
EXTRA_DIST += tests/accuracy/model_book.py
CLEANFILES += $(accuracy_programs) tests/accuracy/accuracy*.said tests/accuracy/accuracy*.code \
	accuracy_*.out/op_summary.csv accuracy_coupled.csv

# ---- values against references in numpy ----
tests_values_driver_LDADD = libvinci_tests.la libvinci_internal.la
tests_kernels_schedules_LDADD = libvinci_tests.la libvinci_internal.la
dist_noinst_DATA += \
	tests/values/chains.py \
	tests/values/convs.py \
	tests/cli/ops_table.py \
	tests/cli/training.py \
	tests/cli/net_rules.py \
	tests/scripts/trace_writer.py \
	tests/kernels/edges.py \
	tests/kernels/fractals.py \
	tests/kernels/functions.py \
	tests/kernels/products.py \
	tests/kernels/hints.py \
	tests/kernels/others.py \
	tests/kernels/scaled.py \
	tests/kernels/threads.py \
	tests/kernels/tokens.py \
	tests/kernels/beyond.py \
	tests/kernels/caches.py \
	tests/kernels/dcache.py \
	tests/kernels/checks.py \
	tests/kernels/hostile.py \
	tests/kernels/scalars.py \
	tests/kernels/handles.py \
	tests/kernels/kernels.py \
	tests/kernels/library.py \
	tests/kernels/library_operators.py \
	tests/kernels/library_values.py \
	tests/kernels/library/block_product/op_host/block_product.cpp \
	tests/kernels/library/block_product/op_kernel/block_product.cpp \
	tests/kernels/library/block_product/op_kernel/block_product_key.h \
	tests/kernels/library/common/inc/parts.cpp \
	tests/kernels/library/common/inc/parts.h \
	tests/kernels/library/list_common/op_host/list_functions.cpp \
	tests/kernels/library/list_common/op_host/list_tiling.h \
	tests/kernels/library/list_common/op_kernel/list_words.h \
	tests/kernels/library/list_share/op_host/CMakeLists.txt \
	tests/kernels/library/list_share/op_host/list_share_def.cpp \
	tests/kernels/library/list_share/op_kernel/list_share.cpp \
	tests/kernels/library/list_share/tests/ut/op_host/test_list_share_tiling.cpp \
	tests/kernels/library/row_norm/op_host/row_norm.cpp \
	tests/kernels/library/row_norm/op_kernel/row_norm_rows.cpp \
	tests/kernels/library/scaled_add/op_host/scaled_add_def.cpp \
	tests/kernels/library/scaled_add/op_host/scaled_add_infershape.cpp \
	tests/kernels/library/scaled_add/op_host/scaled_add_other.cpp \
	tests/kernels/library/scaled_add/op_host/scaled_add_tiling.cpp \
	tests/kernels/library/scaled_add/op_host/scaled_add_tiling.h \
	tests/kernels/library/scaled_add/op_kernel/scaled_add.cpp \
	tests/kernels/library_950/abs/op_host/abs_def.cpp \
	tests/kernels/library_950/abs/op_host/arch35/abs_tiling.cpp \
	tests/kernels/library_950/abs/op_kernel/arch35/abs.cpp \
	tests/kernels/library_950/abs/op_kernel/arch35/abs_tiling_data.h \
	tests/kernels/matrices.py \
	tests/kernels/mutations.py \
	tests/kernels/programs.py \
	tests/values/coverage.py \
	tests/values/cube.py \
	tests/values/detect.py \
	tests/values/detect_net.py \
	tests/values/engines.py \
	tests/values/found.py \
	tests/values/fused.py \
	tests/values/images.py \
	tests/values/ops.py \
	tests/values/kernels.py \
	tests/values/layers.py \
	tests/values/reference.py \
	tests/values/registers.py \
	tests/values/scores.py \
	tests/values/serving.py \
	tests/values/attention.py \
	tests/values/vecfused.py \
	tests/values/coupled.py \
	tests/values/vecjoined.py \
	tests/values/vecmore.py \
	tests/values/vecops.py \
	tests/values/vectrain.py \
	tests/networks/onnx_errors.py \
	tests/networks/onnx_windows.py \
	tests/traces/perfetto.proto \
	tests/cli/report_page.py \
	tests/cli/report_answers.py \
	tests/cli/table_forms.py \
	tests/cli/shortage.c \
	tests/cli/shortage.py \
	tests/support/browser.py \
	tests/support/terminal.py \
	tests/traces/timelines.py \
	tests/networks/onnx_models.py \
	tests/networks/onnx_contrib.py \
	tests/networks/onnx_shapes.py \
	tests/values/transfers.py \
	tests/values/vector.py

# ---- the fuzz targets of the readers ----
# As tests all but that of .npy headers replay their corpus; under `configure --enable-fuzzing` all can be built
# to search.
tests_fuzz_replay_SOURCES = tests/fuzz/fuzz_trace.c tests/fuzz/replay.c
tests_fuzz_replay_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus"'
tests_fuzz_replay_ops_SOURCES = tests/fuzz/fuzz_ops.c tests/fuzz/replay.c
tests_fuzz_replay_ops_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-ops"'
tests_fuzz_replay_ops_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_ops
tests_fuzz_fuzz_ops_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_ops_LDADD = libvinci_tests.la libvinci_internal.la
tests_fuzz_replay_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_trace
tests_fuzz_fuzz_trace_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_trace_LDADD = libvinci_tests.la libvinci_internal.la
tests_fuzz_replay_graph_SOURCES = tests/fuzz/fuzz_graph.c tests/fuzz/replay.c
tests_fuzz_replay_graph_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-graph"'
tests_fuzz_replay_graph_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_graph
tests_fuzz_fuzz_graph_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_graph_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_npy
tests_fuzz_fuzz_npy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_npy_LDADD = libvinci_internal.la
tests_fuzz_replay_onnx_SOURCES = tests/fuzz/fuzz_onnx.c tests/fuzz/replay.c
tests_fuzz_replay_onnx_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-onnx"'
tests_fuzz_replay_onnx_LDADD = libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_onnx
tests_fuzz_fuzz_onnx_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_onnx_LDADD = libvinci_internal.la
tests_fuzz_replay_files_SOURCES = tests/fuzz/fuzz_files.c tests/fuzz/replay.c
tests_fuzz_replay_files_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-files"'
tests_fuzz_replay_files_LDADD = libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_files
tests_fuzz_fuzz_files_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_files_LDADD = libvinci_internal.la
tests_fuzz_replay_group_SOURCES = tests/fuzz/fuzz_group.c tests/fuzz/replay.c
tests_fuzz_replay_group_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-group"'
tests_fuzz_replay_group_LDADD = libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_group
tests_fuzz_fuzz_group_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_group_LDADD = libvinci_internal.la
tests_fuzz_replay_lua_SOURCES = tests/fuzz/fuzz_lua.c tests/fuzz/replay.c
tests_fuzz_replay_lua_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-lua"'
tests_fuzz_replay_lua_LDADD = libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_lua
tests_fuzz_fuzz_lua_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_lua_LDADD = libvinci_internal.la
tests_fuzz_replay_numbers_SOURCES = tests/fuzz/fuzz_numbers.c tests/fuzz/replay.c
tests_fuzz_replay_numbers_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"corpus-numbers"'
tests_fuzz_replay_numbers_LDADD = libvinci_tests.la libvinci_internal.la
EXTRA_PROGRAMS += tests/fuzz/fuzz_numbers
tests_fuzz_fuzz_numbers_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_numbers_LDADD = libvinci_tests.la libvinci_internal.la
CLEANFILES += tests/fuzz/fuzz_files$(EXEEXT) tests/fuzz/fuzz_group$(EXEEXT) tests/fuzz/fuzz_lua$(EXEEXT) \
	tests/fuzz/fuzz_numbers$(EXEEXT)
CLEANFILES += tests/fuzz/fuzz_trace$(EXEEXT) tests/fuzz/fuzz_npy$(EXEEXT) tests/fuzz/fuzz_onnx$(EXEEXT) \
	tests/fuzz/fuzz_ops$(EXEEXT) tests/fuzz/fuzz_graph$(EXEEXT)

# ---- make gate: the suite of operators against its baseline ----
# A number that is better without a reason is as wrong as one that is worse: --strict.
# `make bless REASON="..."` makes the present numbers the baseline; a reviewer sees them move.
gate_suite = $(abs_top_srcdir)/tests/gate/operators
gate: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	./vinci$(EXEEXT) gate check $(gate_suite).lua --baseline=$(gate_suite).csv --strict --repeat=2 \
	  --junit=gate.xml --markdown=gate.md
# The same numbers inside the kernel of SystemC.
gate-in-systemc: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) VINCI_HOST=systemc; export VINCI_HOST; \
	./vinci$(EXEEXT) gate check $(gate_suite).lua --baseline=$(gate_suite).csv --strict
bless: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) \
	./vinci$(EXEEXT) gate bless $(gate_suite).lua --baseline=$(gate_suite).csv \
	  --reason="$(REASON)" --rebase-inputs
.PHONY: gate gate-in-systemc bless
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
clean-local: clean-python
	rm -rf mutants additions hosts coverage

# ---- make list-tests: the names of all tests, one a line ----
list-tests:
	@printf '%s\n' $(TESTS)

# Programs that check-fast leaves out too.
late_programs = tests/check/test_check_random tests/check/test_mutate

# ---- make check-fast: without late_tests and late_programs, fewer random relations, streams on a chip of each kind ----
# CHECK_WITHOUT names tests that are left out.
check-fast:
	META_CASES="$${META_CASES:-40}" \
	STREAM_CHIPS="$${STREAM_CHIPS:-Ascend310P3 Ascend910A Ascend910B1 Ascend910B4 Ascend950PR_9589}" $(MAKE) check \
	TESTS='$(filter-out $(late_programs) $(CHECK_WITHOUT),$(long_tests) $(test_programs) $(script_tests))'

# ---- make slowest: what tests took, the longest first: seconds of the clock, of processors, name ----
slowest:
	@for result in $$(find tests -name '*.trs'); do \
	  sed -n "s,^:seconds: \\(.*\\),\\1 $${result%.trs},p" "$$result"; \
	done | sort -k2,2nr -k3 | awk '{ printf "%5d s %5d s  %s\n", $$1, $$2, $$3 }'
.PHONY: list-tests check-fast slowest

# ---- make additions: is one thing added in one place? ----
# Patches that each add one thing, in a copy of the sources, and what shows that each works. ADDITIONS
# has further options of additions.py, such as --full.
additions:
	$(AM_V_at)CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 $(srcdir)/tests/additions/additions.py $(abs_top_srcdir) additions $(ADDITIONS)
.PHONY: additions
dist_noinst_DATA += \
	tests/additions/additions.py \
	tests/additions/running_max.patch \
	tests/additions/chip.patch \
	tests/additions/collective.patch \
	tests/additions/intrinsic.patch \
	tests/additions/l2_policy.patch \
	tests/additions/onnx_layer.patch \
	tests/additions/pass.patch \
	tests/additions/verb.patch \
	tests/additions/counter.patch \
	tests/additions/glu.patch \
	tests/additions/instruction.patch \
	tests/additions/stall.patch \
	tests/additions/logical_xor.patch

# ---- make same REF=VINCI: does this build lower and simulate as an older one does? ----
# SAME has further options of same.py, such as --only matmul,softmax.
same: vinci$(EXEEXT)
	$(AM_V_at)PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/same/same.py \
	  --ref=$(REF) --new=./vinci$(EXEEXT) --tree=$(abs_top_srcdir) $(SAME)
.PHONY: same
dist_noinst_DATA += tests/same/cases.py tests/same/same.lua tests/same/same.py

# ---- make same-hosts: the same bytes from other compilers and processors ----
# HOSTS has names of hosts.sh, such as s390x; all without. Builds below hosts/.
same-hosts: vinci$(EXEEXT)
	$(AM_V_at)TESTS_SRCDIR=$(abs_top_srcdir) VINCI=$(abs_builddir)/vinci$(EXEEXT) \
	  bash $(srcdir)/tests/same/hosts.sh $(HOSTS)
.PHONY: same-hosts
dist_noinst_SCRIPTS += tests/same/hosts.sh

# ---- make coverage: which lines, branches and functions do the tests run? ----
# COVERAGE_TESTS has names of tests; all of `make check-fast` without. Builds below coverage/.
coverage:
	$(AM_V_at)TESTS_SRCDIR=$(abs_top_srcdir) bash $(srcdir)/tests/coverage/coverage.sh $(COVERAGE_TESTS)
.PHONY: coverage
dist_noinst_SCRIPTS += tests/coverage/coverage.sh
dist_noinst_DATA += tests/coverage/coverage.py tests/coverage/exit.h

# ---- make properties: does every lowered operator run to its end, whatever shape and chip? ----
# PROPERTIES has further options of properties.py, such as --only conv2d --count 2000 --seed random.
properties: vinci$(EXEEXT)
	$(AM_V_at)PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/properties/properties.py \
	  --program=./vinci$(EXEEXT) $(PROPERTIES)
.PHONY: properties
dist_noinst_DATA += tests/properties/found.tsv tests/properties/properties.py

# ---- make auto: does the duration of cycle memory lie inside the bar of --memory=auto, and at what cost? ----
# AUTO has further options of auto.py, such as --error-bar 5 --seed random.
auto: vinci$(EXEEXT)
	$(AM_V_at)PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/auto/auto.py \
	  --program ./vinci$(EXEEXT) $(AUTO)
.PHONY: auto
dist_noinst_DATA += tests/auto/auto.py

# ---- make study: a thousand points, killed and not, one process and two ----
study: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/cli/study.sh
.PHONY: study
dist_noinst_SCRIPTS += tests/cli/study.sh

# ---- make study-size: CPU and memory of studies with many trivial points ----
study-size: vinci$(EXEEXT)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $(srcdir)/tests/cli/study_size.py \
	  ./vinci$(EXEEXT) $(STUDY_SIZE)
.PHONY: study-size
STUDY_SIZE = 10000 100000
EXTRA_DIST += tests/cli/study_size.py

# ---- make check-slurm: sweeps on a real Slurm, brought up here ----
check-slurm: vinci$(EXEEXT)
	$(AM_V_at)$(MAKE) check TESTS=tests/cli/slurm.sh
.PHONY: check-slurm
dist_noinst_SCRIPTS += tests/cli/slurm.sh
EXTRA_DIST += tests/support/cluster.sh
