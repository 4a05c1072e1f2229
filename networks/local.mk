# SPDX-License-Identifier: Apache-2.0
# networks/: whole networks: graphs, ONNX models, layers that become kernels, passes, and their run on one
# chip; workload/ is what one point of a study or a job runs. Sees core, traces and lower.

noinst_LTLIBRARIES += libvinci_networks.la
libvinci_networks_la_SOURCES = \
	networks/graph/check.c \
	networks/graph/graph.c \
	networks/graph/graph.h \
	networks/graph/number.c \
	networks/graph/operators.def \
	networks/graph/plan.c \
	networks/graph/queue.c \
	networks/graph/queue.h \
	networks/graph/text.c \
	networks/graph/text.h \
	networks/graph/text_tensor.c \
	networks/graph/text_write.c \
	networks/layers/build.c \
	networks/layers/build.h \
	networks/layers/conv.c \
	networks/layers/conv.h \
	networks/layers/cube.c \
	networks/layers/detect.c \
	networks/layers/elementwise.c \
	networks/layers/elementwise.h \
	networks/layers/further.c \
	networks/layers/layers.c \
	networks/layers/layers.h \
	networks/layers/layout.h \
	networks/layers/move.c \
	networks/layers/nbits.c \
	networks/layers/offline.c \
	networks/layers/offline.h \
	networks/layers/quantised.c \
	networks/layers/quantised.h \
	networks/layers/quantised_conv.c \
	networks/layers/recurrent.c \
	networks/layers/requantised.c \
	networks/layers/rows.c \
	networks/passes/algorithm.c \
	networks/passes/attention.c \
	networks/passes/attention.h \
	networks/passes/chain.c \
	networks/passes/compile.c \
	networks/passes/dtype.c \
	networks/passes/epilogue.c \
	networks/passes/estimate.c \
	networks/passes/estimate.h \
	networks/passes/explain.c \
	networks/passes/explain.h \
	networks/passes/explain_json.c \
	networks/passes/fold.c \
	networks/passes/history.c \
	networks/passes/history.h \
	networks/passes/horizontal.c \
	networks/passes/in_place.c \
	networks/passes/layouts.c \
	networks/passes/memory.c \
	networks/passes/memory.h \
	networks/passes/memory_change.c \
	networks/passes/pass.h \
	networks/passes/passes.def \
	networks/passes/passes.h \
	networks/passes/patterns.c \
	networks/passes/quantised.c \
	networks/passes/requantised.c \
	networks/passes/residual.c \
	networks/passes/rewrite.c \
	networks/passes/rewrite.h \
	networks/passes/rows.c \
	networks/passes/rows.h \
	networks/passes/scores.c \
	networks/passes/split.c \
	networks/passes/split_group.c \
	networks/passes/split_group.h \
	networks/run/api.c \
	networks/run/api.h \
	networks/run/bind.c \
	networks/run/bind.h \
	networks/run/cut_forms.c \
	networks/run/cuts.c \
	networks/run/cuts.h \
	networks/run/cuts_api.c \
	networks/run/gears.c \
	networks/run/gears.h \
	networks/run/levers.c \
	networks/run/levers.h \
	networks/run/levers_api.c \
	networks/run/load.c \
	networks/run/load.h \
	networks/run/net.c \
	networks/run/net.h \
	networks/run/net_energy.c \
	networks/run/net_energy.h \
	networks/run/net_results.c \
	networks/run/net_results.h \
	networks/run/net_summary.c \
	networks/run/net_summary.h \
	networks/run/net_tables.c \
	networks/run/net_values.c \
	networks/run/net_values.h \
	networks/run/profile.c \
	networks/run/profile.h \
	networks/run/requests.c \
	networks/run/serve.c \
	networks/workload/network.c \
	networks/workload/network.h \
	networks/workload/order.h \
	networks/workload/workload.c \
	networks/workload/workload.h

dist_noinst_DATA += networks/DESIGN.md networks/GRAPH.md

# ---- reading ONNX: C from the schema that Debian's libonnx-dev installs ----------------------

onnx_sources = \
	networks/onnx/attributes.c \
	networks/onnx/emit.c \
	networks/onnx/functions.c \
	networks/onnx/functions/attention.c \
	networks/onnx/functions/contrib.c \
	networks/onnx/functions/contrib.def \
	networks/onnx/functions/contrib.h \
	networks/onnx/functions/einsum.c \
	networks/onnx/functions/index.c \
	networks/onnx/functions/move.c \
	networks/onnx/functions/quantised.c \
	networks/onnx/functions/reduce.c \
	networks/onnx/functions/rotary.c \
	networks/onnx/functions/sample.c \
	networks/onnx/functions/standard.def \
	networks/onnx/functions/window.c \
	networks/onnx/import.c \
	networks/onnx/import.h \
	networks/onnx/inputs.c \
	networks/onnx/names.c \
	networks/onnx/ops.c \
	networks/onnx/order.c \
	networks/onnx/rules/branch.c \
	networks/onnx/rules/elementwise.c \
	networks/onnx/rules/fold_math.c \
	networks/onnx/rules/fold_move.c \
	networks/onnx/rules/further.c \
	networks/onnx/rules/gather.c \
	networks/onnx/rules/loop.c \
	networks/onnx/rules/made.c \
	networks/onnx/rules/matrix.c \
	networks/onnx/rules/norm.c \
	networks/onnx/rules/pieces.c \
	networks/onnx/rules/rules.h \
	networks/onnx/rules/sequence.c \
	networks/onnx/rules/shapes.c \
	networks/onnx/rules/window.c \
	networks/onnx/tensor.c \
	networks/onnx/types.h \
	networks/onnx/unpack.c \
	networks/onnx/unpack.h \
	networks/onnx/wire.c \
	networks/onnx/wire.h \
	networks/onnx/words.c \
	networks/onnx/words.def
libvinci_networks_la_SOURCES += networks/onnx/onnx.h
EXTRA_DIST += $(onnx_sources) networks/onnx/absent.c
ONNX_LIBS =
if HAVE_ONNX
noinst_LTLIBRARIES += libvinci_onnx.la libvinci_onnx_schema.la
libvinci_onnx_la_SOURCES = $(onnx_sources)
libvinci_onnx_la_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(abs_builddir) $(PROTOBUF_C_CFLAGS)
libvinci_onnx_la_LIBADD = libvinci_onnx_schema.la
# Generated code is not held to the warnings of this tree.
nodist_libvinci_onnx_schema_la_SOURCES = networks/onnx/onnx.pb-c.c
libvinci_onnx_schema_la_CPPFLAGS = $(PROTOBUF_C_CFLAGS)
libvinci_onnx_schema_la_CFLAGS = -fvisibility=hidden $(VINCI_INSTRUMENT) -w
libvinci_onnx_schema_la_LIBADD = $(PROTOBUF_C_LIBS)
ONNX_LIBS += libvinci_onnx.la
onnx_generated = networks/onnx/onnx.pb-c.c networks/onnx/onnx.pb-c.h
BUILT_SOURCES += $(onnx_generated)
CLEANFILES += $(onnx_generated)
networks/onnx/onnx.pb-c.c: $(ONNX_PROTO)
	$(AM_V_GEN)$(MKDIR_P) networks/onnx && $(PROTOC_C) -I $(ONNX_PROTO_DIR) \
	  --c_out=networks/onnx $(ONNX_PROTO)
networks/onnx/onnx.pb-c.h: networks/onnx/onnx.pb-c.c
# BUILT_SOURCES are made for `make all` only, not for `make vinci`, which `make pgo` calls.
$(libvinci_onnx_la_OBJECTS): networks/onnx/onnx.pb-c.h
else
libvinci_networks_la_SOURCES += networks/onnx/absent.c
endif
