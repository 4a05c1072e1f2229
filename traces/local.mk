# SPDX-License-Identifier: Apache-2.0
# traces/: reading and writing of traces, results and reports.

noinst_LTLIBRARIES += libvinci_traces.la
libvinci_traces_la_SOURCES = \
	traces/export/csv.c \
	traces/export/csv.h \
	traces/export/csv_cells.c \
	traces/export/csv_columns.c \
	traces/export/expected.c \
	traces/export/expected.def \
	traces/export/expected.h \
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
	traces/lower/compile.c \
	traces/lower/emit.c \
	traces/lower/emit.h \
	traces/lower/estimate.c \
	traces/lower/estimate.h \
	traces/lower/expr.c \
	traces/lower/expr.h \
	traces/lower/key.h \
	traces/lower/lower.h \
	traces/lower/ops.def \
	traces/lower/plan.c \
	traces/lower/plan.h \
	traces/lower/attention/attention.c \
	traces/lower/attention/attention.h \
	traces/lower/attention/cost.c \
	traces/lower/attention/cube.c \
	traces/lower/attention/ends.c \
	traces/lower/attention/tiling.c \
	traces/lower/attention/vector.c \
	traces/lower/attention/writer.c \
	traces/lower/attention/writer.h \
	traces/lower/calls/calls.c \
	traces/lower/calls/calls.h \
	traces/lower/calls/compared.def \
	traces/lower/calls/l2.c \
	traces/lower/calls/list.c \
	traces/lower/calls/outputs.c \
	traces/lower/calls/resolve.c \
	traces/lower/calls/sequence.c \
	traces/lower/calls/sequence.h \
	traces/lower/calls/sequence_pool.c \
	traces/lower/calls/suite.c \
	traces/lower/calls/suite.h \
	traces/lower/calls/time.c \
	traces/lower/cube/conv.c \
	traces/lower/cube/conv.h \
	traces/lower/cube/conv2d.c \
	traces/lower/cube/conv2d_filter.c \
	traces/lower/cube/conv2d_input.c \
	traces/lower/cube/conv_load.c \
	traces/lower/cube/conv_tiling.c \
	traces/lower/cube/matmul.c \
	traces/lower/cube/matmul.h \
	traces/lower/cube/matmul_cost.c \
	traces/lower/cube/matmul_coupled.c \
	traces/lower/cube/matmul_emit.c \
	traces/lower/cube/matmul_load.c \
	traces/lower/cube/matmul_split.c \
	traces/lower/cube/matmul_step.c \
	traces/lower/cube/matmul_tiling.c \
	traces/lower/cube/matmul_writer.h \
	traces/lower/vector/argmax.c \
	traces/lower/vector/binary.c \
	traces/lower/vector/channels.c \
	traces/lower/vector/copy.c \
	traces/lower/vector/elementwise.c \
	traces/lower/vector/elementwise.h \
	traces/lower/vector/elementwise_rows.c \
	traces/lower/vector/gather.c \
	traces/lower/vector/halves.c \
	traces/lower/vector/kernel.c \
	traces/lower/vector/kernel.h \
	traces/lower/vector/layout.c \
	traces/lower/vector/norm.c \
	traces/lower/vector/norm.h \
	traces/lower/vector/norm_grad.c \
	traces/lower/vector/norm_long.c \
	traces/lower/vector/ops.def \
	traces/lower/vector/pad.c \
	traces/lower/vector/pairs.c \
	traces/lower/vector/permute.c \
	traces/lower/vector/permute.h \
	traces/lower/vector/permute_lines.c \
	traces/lower/vector/permute_rows.c \
	traces/lower/vector/pool.c \
	traces/lower/vector/pool.h \
	traces/lower/vector/pool_argmax.c \
	traces/lower/vector/pool_rows.c \
	traces/lower/vector/reduce.c \
	traces/lower/vector/reduce.h \
	traces/lower/vector/reduce_region.c \
	traces/lower/vector/rope.c \
	traces/lower/vector/rope.h \
	traces/lower/vector/rowwise.c \
	traces/lower/vector/rowwise.h \
	traces/lower/vector/sort.c \
	traces/lower/vector/sort.h \
	traces/lower/vector/sort_rows.c \
	traces/lower/vector/tiles.c \
	traces/lower/vector/tiles.h \
	traces/lower/vector/unary.c \
	traces/lower/vector/unit.c \
	traces/lower/vector/unit.h \
	traces/ops/equal.c \
	traces/ops/evaluate.c \
	traces/ops/journal.c \
	traces/ops/ops.h \
	traces/ops/results.c \
	traces/ops/row.c \
	traces/ops/run.c \
	traces/ops/sequence.c \
	traces/ops/table.c \
	traces/source/fiber.c \
	traces/source/issue.c \
	traces/source/kernel.c \
	traces/source/lines.c \
	traces/source/log.c \
	traces/source/source.h \
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
kernelsdir = $(pkgdatadir)/examples/source
dist_kernels_DATA = \
	traces/examples/source/matmul.cpp \
	traces/examples/source/matmul_relu.cpp \
	traces/examples/source/softmax.cpp \
	traces/examples/source/vector_add.cpp
