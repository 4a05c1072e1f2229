# SPDX-License-Identifier: Apache-2.0
# traces/: reading and writing of traces, results and reports.

noinst_LTLIBRARIES += libvinci_traces.la
libvinci_traces_la_SOURCES = \
	traces/export/csv.c \
	traces/export/csv.h \
	traces/export/csv_cells.c \
	traces/export/csv_columns.c \
	traces/export/export.h \
	traces/export/findings.c \
	traces/export/folder.c \
	traces/export/json.c \
	traces/export/summary.c \
	traces/export/text.c \
	traces/export/timeline.c \
	traces/format/check.c \
	traces/format/expr.c \
	traces/format/fields.c \
	traces/format/growing.h \
	traces/format/headers.c \
	traces/format/hints.c \
	traces/format/keys.c \
	traces/format/keys.h \
	traces/format/names.c \
	traces/format/objects.c \
	traces/format/reader.c \
	traces/format/reader.h \
	traces/format/rows.c \
	traces/format/writer.c \
	traces/lower/args.c \
	traces/lower/attention.c \
	traces/lower/attention.h \
	traces/lower/attention_cube.c \
	traces/lower/attention_emit.c \
	traces/lower/attention_grad.c \
	traces/lower/attention_grad.h \
	traces/lower/attention_grad_emit.c \
	traces/lower/attention_grad_ends.c \
	traces/lower/attention_grad_vector.c \
	traces/lower/attention_parts.c \
	traces/lower/attention_tiling.c \
	traces/lower/attention_vector.c \
	traces/lower/attention_writer.h \
	traces/lower/calls.c \
	traces/lower/calls.h \
	traces/lower/calls_l2.c \
	traces/lower/calls_outputs.c \
	traces/lower/calls_resolve.c \
	traces/lower/calls_time.c \
	traces/lower/compared.def \
	traces/lower/compile.c \
	traces/lower/conv.h \
	traces/lower/conv2d.c \
	traces/lower/conv2d_filter.c \
	traces/lower/conv2d_filter.h \
	traces/lower/conv2d_filter_emit.c \
	traces/lower/conv2d_input.c \
	traces/lower/conv_geometry.c \
	traces/lower/conv_gradient.c \
	traces/lower/copy.c \
	traces/lower/emit.c \
	traces/lower/emit.h \
	traces/lower/estimate.c \
	traces/lower/estimate.h \
	traces/lower/launch.c \
	traces/lower/launch.h \
	traces/lower/list.c \
	traces/lower/lower.h \
	traces/lower/matmul.c \
	traces/lower/matmul.h \
	traces/lower/matmul_coupled.c \
	traces/lower/matmul_emit.c \
	traces/lower/matmul_load.c \
	traces/lower/matmul_split.c \
	traces/lower/matmul_step.c \
	traces/lower/matmul_tiling.c \
	traces/lower/matmul_writer.h \
	traces/lower/ops.def \
	traces/lower/plan.c \
	traces/lower/plan.h \
	traces/lower/vector_argmax.c \
	traces/lower/vector_binary.c \
	traces/lower/vector_channels.c \
	traces/lower/vector_elementwise.c \
	traces/lower/vector_elementwise.h \
	traces/lower/vector_elementwise_rows.c \
	traces/lower/vector_gather.c \
	traces/lower/vector_halves.c \
	traces/lower/vector_layout.c \
	traces/lower/vector_norm.c \
	traces/lower/vector_norm.h \
	traces/lower/vector_norm_long.c \
	traces/lower/vector_norm_grad.c \
	traces/lower/vector_ops.def \
	traces/lower/vector_pad.c \
	traces/lower/vector_pairs.c \
	traces/lower/vector_permute.c \
	traces/lower/vector_permute.h \
	traces/lower/vector_permute_rows.c \
	traces/lower/vector_pool.c \
	traces/lower/vector_pool_argmax.c \
	traces/lower/vector_pool.h \
	traces/lower/vector_pool_rows.c \
	traces/lower/vector_program.c \
	traces/lower/vector_program.h \
	traces/lower/vector_reduce.c \
	traces/lower/vector_reduce.h \
	traces/lower/vector_reduce_region.c \
	traces/lower/vector_rows.c \
	traces/lower/vector_rows.h \
	traces/lower/vector_sort.c \
	traces/lower/vector_sort.h \
	traces/lower/vector_sort_rows.c \
	traces/lower/vector_tiles.c \
	traces/lower/vector_tiles.h \
	traces/lower/vector_unary.c \
	traces/values/compare.c \
	traces/values/npy.c \
	traces/values/npy.h \
	traces/values/tensors.c \
	traces/values/tensors.h

# Specification, for Makefile.am to install, and example traces with their pictures.
dist_noinst_DATA += \
	traces/FORMAT.md \
	traces/OPERATORS.md \
	traces/VALUES.md
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = \
	traces/examples/add1_tile2048.csv \
	traces/examples/add1_tile20480.csv \
	traces/examples/add8_tile10240_double.csv \
	traces/examples/add8_tile10240_double.svg \
	traces/examples/add8_tile20480_single.csv \
	traces/examples/add8_tile20480_single.svg \
	traces/examples/matmul_2048_fp16.csv
