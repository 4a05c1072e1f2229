# SPDX-License-Identifier: Apache-2.0
# traces/: reading and writing of traces, results and reports.

noinst_LTLIBRARIES += libvinci_traces.la
libvinci_traces_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
libvinci_traces_la_SOURCES = \
	traces/export/export.h \
	traces/export/folder.c \
	traces/export/json.c \
	traces/export/opprof/exe.c \
	traces/export/opprof/opprof.c \
	traces/export/opprof/opprof.h \
	traces/export/opprof/visualize.c \
	traces/export/report/advice.def \
	traces/export/report/energy.c \
	traces/export/report/energy.h \
	traces/export/report/expected.c \
	traces/export/report/expected.def \
	traces/export/report/expected.h \
	traces/export/report/findings.c \
	traces/export/report/hotspots.c \
	traces/export/report/report.c \
	traces/export/report/report.h \
	traces/export/report/report_hotspots.c \
	traces/export/report/report_memory.c \
	traces/export/report/summary.c \
	traces/export/report/text.c \
	traces/export/report/text.h \
	traces/export/report/text_causes.c \
	traces/export/report/text_exact.c \
	traces/export/tables/critical.c \
	traces/export/tables/csv.c \
	traces/export/tables/csv.h \
	traces/export/tables/csv_cells.c \
	traces/export/tables/csv_columns.c \
	traces/export/timeline/arrows.c \
	traces/export/timeline/chrome.c \
	traces/export/timeline/lanes.c \
	traces/export/timeline/lanes.h \
	traces/export/timeline/perfetto.c \
	traces/export/timeline/perfetto.h \
	traces/export/timeline/perfetto_fields.h \
	traces/export/timeline/perfetto_packets.c \
	traces/export/timeline/series.c \
	traces/export/timeline/series.h \
	traces/export/timeline/slices.c \
	traces/export/timeline/timeline.c \
	traces/export/timeline/timeline.h \
	traces/export/timeline/tracks.c \
	traces/export/timeline/tracks.h \
	traces/export/timeline/vcd.c \
	traces/export/timeline/wire.c \
	traces/export/timeline/wire.h \
	traces/report/folder.c \
	traces/report/json.c \
	traces/report/page.c \
	traces/report/report.h \
	traces/report/write.c \
	traces/format/call_columns.c \
	traces/format/call_columns.def \
	traces/format/call_columns.h \
	traces/format/check.c \
	traces/format/expr.c \
	traces/format/fields.c \
	traces/format/growing.h \
	traces/format/headers.c \
	traces/format/hints.c \
	traces/format/json_read.c \
	traces/format/json_read.h \
	traces/format/keys.c \
	traces/format/keys.h \
	traces/format/known_database.c \
	traces/format/known_database.h \
	traces/format/known_files.c \
	traces/format/known_files.def \
	traces/format/known_files.h \
	traces/format/known_folder.c \
	traces/format/names.c \
	traces/format/objects.c \
	traces/format/reader.c \
	traces/format/reader.h \
	traces/format/rows.c \
	traces/format/writer.c \
	traces/format/text_fields.c \
	traces/format/text_fields.h \
	traces/import/busy.c \
	traces/import/dump.c \
	traces/import/import.c \
	traces/import/import.h \
	traces/import/profile.c \
	traces/import/rows.def \
	traces/import/table.c \
	traces/import/table.h \
	traces/import/tasks.c \
	traces/import/timeline.c \
	traces/import/write.c \
	traces/values/compare.c \
	traces/values/npy.c \
	traces/values/npy.h \
	traces/values/tensors.c \
	traces/values/tensors.h

# Specification, for Makefile.am to install, and example traces with their pictures.
dist_noinst_DATA += \
	traces/FORMAT.md \
	traces/DEBUG.md \
	traces/VALUES.md
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = \
	traces/examples/add1_tile2048.csv \
	traces/examples/data_parallel.job.csv \
	traces/examples/layer_step.job.csv \
	traces/examples/pipeline_memory.job.csv \
	traces/examples/long_chain.graph.csv \
	traces/examples/step.buckets.csv \
	traces/examples/reread.csv \
	traces/examples/shared_row.csv \
	traces/examples/gears.graph.csv \
	traces/examples/small_cnn.graph.csv \
	traces/examples/two_layers.graph.csv \
	traces/examples/add1_tile20480.csv \
	traces/examples/add8_tile10240_double.csv \
	traces/examples/add8_tile10240_double.svg \
	traces/examples/add8_tile20480_single.csv \
	traces/examples/add8_tile20480_single.svg \
	traces/examples/matmul_2048_fp16.csv
platformsdir = $(pkgdatadir)/examples/systemc
dist_platforms_DATA = \
	traces/examples/systemc/bus.cpp \
	traces/examples/systemc/driver.hpp \
	traces/examples/systemc/host.cpp \
	traces/examples/systemc/memory.cpp \
	traces/examples/systemc/ram.hpp \
	traces/examples/systemc/recorder.cpp \
	traces/examples/systemc/two_chips.cpp
kernelsdir = $(pkgdatadir)/examples/source
dist_kernels_DATA = \
	traces/examples/source/histogram.cpp \
	traces/examples/source/matmul.cpp \
	traces/examples/source/matmul_relu.cpp \
	traces/examples/source/softmax.cpp \
	traces/examples/source/streams.asc \
	traces/examples/source/vector_add.cpp \
	traces/examples/source/vf_add.cpp \
	traces/examples/source/vf_gelu.cpp \
	traces/examples/source/vf_softmax.cpp
