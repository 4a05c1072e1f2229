# SPDX-License-Identifier: Apache-2.0
# scripts/: the C host of the Lua data, the data, and the set-up commands.

noinst_LTLIBRARIES += libvinci_scripts.la
libvinci_scripts_la_SOURCES = \
	scripts/host/lua_bounds.c \
	scripts/host/lua_bounds.h \
	scripts/host/energy_host.c \
	scripts/host/energy_host.h \
	scripts/host/mem_host.c \
	scripts/host/mem_host.h \
	scripts/host/description.c \
	scripts/host/description.h \
	scripts/host/noc_host.c \
	scripts/host/soc_dir.c \
	scripts/host/soc_each.c \
	scripts/host/soc_files.h \
	scripts/host/soc_host.c \
	scripts/host/soc_host.h \
	scripts/host/soc_lua.c \
	scripts/host/soc_lua.h \
	scripts/host/soc_named.c \
	scripts/host/soc_own.c \
	scripts/host/soc_packed.c \
	scripts/host/soc_packed.h \
	scripts/host/soc_unknown.c \
	scripts/systems/group_buckets.c \
	scripts/systems/group_host.c \
	scripts/systems/group_host.h \
	scripts/systems/group_training.c
libvinci_scripts_la_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS) \
	-DVINCI_DATADIR='"$(pkgdatadir)"'

# The chips as constants, made by a program of the build that reads them. Where the build cannot run what it
# makes, there are none, and all chips are read when they are asked for.
noinst_LTLIBRARIES += libvinci_packed.la
nodist_libvinci_packed_la_SOURCES = scripts/host/soc_made.c
noinst_PROGRAMS += scripts/host/soc_pack
scripts_host_soc_pack_SOURCES = scripts/host/soc_pack.c
scripts_host_soc_pack_LDADD = libvinci_scripts.la libvinci_noc.la libvinci_core.la $(LUA_LIBS)
CLEANFILES += scripts/host/soc_made.c
if CROSS
scripts/host/soc_made.c:
	$(AM_V_GEN)printf '%s\n' '#include "scripts/host/soc_packed.h"' \
	  'const struct soc_packed_table soc_packed_table = {.text = ""};' >$@
else
scripts/host/soc_made.c: scripts/host/soc_pack$(EXEEXT) $(dist_soc_DATA) $(dist_mem_DATA) $(dist_noc_DATA)
	$(AM_V_GEN)scripts/host/soc_pack$(EXEEXT) $(srcdir)/scripts >$@.new && mv $@.new $@
endif

# The Lua module: in the program, and as vinci.so for a stock interpreter. The module has all of
# the library in it; the symbols of Lua come from the interpreter.
noinst_LTLIBRARIES += libvinci_lua.la
libvinci_lua_la_SOURCES = \
	scripts/module/lua_args.c \
	scripts/module/lua_buckets.c \
	scripts/module/lua_choices.c \
	scripts/module/lua_choices.h \
	scripts/module/lua_diff.c \
	scripts/module/lua_fields.c \
	scripts/module/lua_gate.c \
	scripts/module/lua_group.c \
	scripts/module/lua_options.c \
	scripts/module/lua_options.h \
	scripts/module/lua_result.c \
	scripts/module/lua_soc.c \
	scripts/module/lua_net.c \
	scripts/module/lua_serve.c \
	scripts/module/lua_steps.c \
	scripts/module/lua_steps.h \
	scripts/module/lua_ops.c \
	scripts/module/lua_tune.c \
	scripts/module/lua_sweep.c \
	scripts/module/lua_trace.c \
	scripts/module/lua_values.c \
	scripts/module/lua_vinci.c \
	scripts/module/lua_vinci.h
libvinci_lua_la_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)

luacpathdir = $(libdir)/lua/5.4
if SHARED
luacpath_LTLIBRARIES = scripts/vinci.la
endif
scripts_vinci_la_SOURCES =
scripts_vinci_la_LIBADD = libvinci_lua.la libvinci_internal.la
scripts_vinci_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^luaopen_vinci$$'

# The parts of the module that are written in Lua.
lualibdir = $(pkgdatadir)/lib
dist_lualib_DATA = \
	scripts/lib/kernel.lua \
	scripts/lib/planner.lua \
	scripts/lib/plot.lua \
	scripts/lib/serving.lua \
	scripts/lib/serving_costs.lua \
	scripts/lib/svg.lua \
	scripts/lib/tables.lua \
	scripts/lib/tables_serving.lua \
	scripts/lib/tables_training.lua \
	scripts/lib/transformer.lua \
	scripts/lib/planner_bounds.lua \
	scripts/lib/planner_report.lua \
	scripts/lib/transformer_clock.lua \
	scripts/lib/transformer_point.lua \
	scripts/lib/transformer_job.lua \
	scripts/lib/transformer_layers.lua \
	scripts/lib/transformer_memory.lua \
	scripts/lib/transformer_operators.lua \
	scripts/lib/transformer_sequence.lua

# For code generators in Python.
pythonmoduledir = $(pkgdatadir)/python
dist_pythonmodule_DATA = scripts/python/vinci_trace.py
dist_noinst_DATA += scripts/python/tuner.py

# The module vinci for Python: the sources, and the declarations that declare.py makes of the headers. The
# folder python of a build holds a package that works there; its library is a link.
python_sources = \
	scripts/python/vinci/__init__.py \
	scripts/python/vinci/_library.py \
	scripts/python/vinci/chips.py \
	scripts/python/vinci/comparisons.py \
	scripts/python/vinci/groups.py \
	scripts/python/vinci/py.typed \
	scripts/python/vinci/networks.py \
	scripts/python/vinci/runs.py \
	scripts/python/vinci/steps.py \
	scripts/python/vinci/studies.py \
	scripts/python/vinci/traces.py \
	scripts/python/vinci/serving.py \
	scripts/python/vinci/tuning.py \
	scripts/python/vinci/values.py
python_made = python/vinci/_abi.py python/vinci/writer.py
EXTRA_DIST += $(python_sources) scripts/python/declare.py scripts/python/pyproject.toml scripts/python/make_wheel.py
if HAVE_PYTHON
pythonpackagedir = $(pythondir)/vinci
if SHARED
pythonpackage_DATA = $(python_sources) $(python_made)
noinst_DATA = python/vinci/.made
endif
endif
python_headers = $(filter-out core/vinci_systemc%.h,$(include_HEADERS))
python/vinci/_abi.py: scripts/python/declare.py $(python_headers)
	$(AM_V_GEN)$(MKDIR_P) python/vinci && $(PYTHON) $(srcdir)/scripts/python/declare.py \
	  --libdir='$(libdir)' $(addprefix $(srcdir)/,$(python_headers)) -- $(CC) -I$(srcdir)/core >$@.new && \
	  mv $@.new $@
python/vinci/writer.py: scripts/python/vinci_trace.py
	$(AM_V_GEN)$(MKDIR_P) python/vinci && cp $(srcdir)/scripts/python/vinci_trace.py $@
python/vinci/.made: $(python_sources) $(python_made) libvinci.la
	$(AM_V_GEN)for file in $(python_sources); do cp $(srcdir)/$$file python/vinci/ || exit 1; done && \
	  ln -sf ../../.libs/libvinci.so.0 python/vinci/libvinci.so.0 && touch $@
# A wheel with library and chips, for pip without an index.
wheel: python/vinci/.made
	$(AM_V_GEN)$(PYTHON) $(srcdir)/scripts/python/make_wheel.py . $(VERSION) .
.PHONY: wheel
CLEANFILES += vinci-*.whl
clean-python:
	-rm -rf python
.PHONY: clean-python

# Scripts that answer questions; they double as examples of the module.
# The language ASC for CMake.
cmakedir = $(pkgdatadir)/cmake
dist_cmake_DATA = \
	scripts/cmake/ASCConfig.cmake \
	scripts/cmake/CMakeASCCompiler.cmake.in \
	scripts/cmake/CMakeASCInformation.cmake \
	scripts/cmake/CMakeDetermineASCCompiler.cmake \
	scripts/cmake/CMakeTestASCCompiler.cmake
experimentsdir = $(pkgdatadir)/experiments
dist_experiments_DATA = \
	scripts/experiments/bank_conflicts.lua \
	scripts/experiments/buffer_size.lua \
	scripts/experiments/common.lua \
	scripts/experiments/core_scaling.lua \
	scripts/experiments/cube_shape.lua \
	scripts/experiments/double_buffering.lua \
	scripts/experiments/effects.lua \
	scripts/experiments/hbm_bandwidth.lua \
	scripts/experiments/l2_size.lua \
	scripts/experiments/memory_plans.lua \
	scripts/experiments/network.lua \
	scripts/experiments/energy.lua \
	scripts/experiments/roofline.lua \
	scripts/experiments/serving.lua \
	scripts/experiments/step_baselines.lua \
	scripts/experiments/training_step.lua \
	scripts/experiments/winograd.lua
networksdir = $(experimentsdir)/networks
dist_networks_DATA = \
	scripts/experiments/networks/all.lua \
	scripts/experiments/networks/build.lua \
	scripts/experiments/networks/classic.lua \
	scripts/experiments/networks/encoder.lua \
	scripts/experiments/networks/erfnet.lua \
	scripts/experiments/networks/llama.lua \
	scripts/experiments/networks/mobile.lua \
	scripts/experiments/networks/residual.lua \
	scripts/experiments/networks/text.lua
effectsdir = $(experimentsdir)/effects
dist_effects_DATA = \
	scripts/experiments/effects/ablation.lua \
	scripts/experiments/effects/asynchronous_gradients.lua \
	scripts/experiments/effects/bottlenecks.lua \
	scripts/experiments/effects/checkpoints.lua \
	scripts/experiments/effects/chip_files.lua \
	scripts/experiments/effects/data_loader.lua \
	scripts/experiments/effects/dynamic_shapes.lua \
	scripts/experiments/effects/fused_convolution.lua \
	scripts/experiments/effects/gears.lua \
	scripts/experiments/effects/gradient_buckets.lua \
	scripts/experiments/effects/gradient_compression.lua \
	scripts/experiments/effects/in_place.lua \
	scripts/experiments/effects/lost_fusion.lua \
	scripts/experiments/effects/output_type.lua \
	scripts/experiments/effects/overlapped_copies.lua \
	scripts/experiments/effects/parallel_split.lua \
	scripts/experiments/effects/precision.lua \
	scripts/experiments/effects/ring_all_reduce.lua \
	scripts/experiments/effects/selection.lua \
	scripts/experiments/effects/split_chain.lua \
	scripts/experiments/effects/swap_or_recompute.lua \
	scripts/experiments/effects/tuning.lua \
	scripts/experiments/effects/weak_scaling.lua

# Hardware descriptions. vinci looks for them in --data, $VINCI_DATA, and here; a program of a build
# folder looks in the sources (scripts/host/soc_dir.c).
socdir = $(pkgdatadir)/soc
dist_soc_DATA = \
	scripts/soc/Ascend310P1.lua \
	scripts/soc/Ascend310P3.lua \
	scripts/soc/Ascend310P5.lua \
	scripts/soc/Ascend310P7.lua \
	scripts/soc/Ascend910A.lua \
	scripts/soc/Ascend910B.lua \
	scripts/soc/Ascend910B1.lua \
	scripts/soc/Ascend910B2.lua \
	scripts/soc/Ascend910B2C.lua \
	scripts/soc/Ascend910B3.lua \
	scripts/soc/Ascend910B4.lua \
	scripts/soc/Ascend910B4-1.lua \
	scripts/soc/Ascend910PremiumA.lua \
	scripts/soc/Ascend910ProA.lua \
	scripts/soc/Ascend910ProB.lua \
	scripts/soc/Ascend910_9362.lua \
	scripts/soc/Ascend910_9363.lua \
	scripts/soc/Ascend910_9372.lua \
	scripts/soc/Ascend910_9381.lua \
	scripts/soc/Ascend910_9382.lua \
	scripts/soc/Ascend910_9391.lua \
	scripts/soc/Ascend910_9392.lua \
	scripts/soc/Ascend950PR_9579.lua \
	scripts/soc/Ascend950PR_9589.lua \
	scripts/soc/Ascend950PR_9599.lua \
	scripts/soc/ascend910.lua \
	scripts/soc/ascend910b.lua \
	scripts/soc/ascend950.lua \
	scripts/soc/ascend_coupled.lua \
	scripts/soc/library.lua \
	scripts/soc/sources.lua

memdir = $(pkgdatadir)/mem
dist_mem_DATA = \
	scripts/mem/frfcfs.lua \
	scripts/mem/hbm2.lua \
	scripts/mem/hbm2_2000.lua \
	scripts/mem/hbm2_2400.lua \
	scripts/mem/hbm2e_3200.lua \
	scripts/mem/hbm_950.lua \
	scripts/mem/hbm2_910.lua \
	scripts/mem/lpddr4x_4266.lua \
	scripts/mem/sources.lua

energydir = $(pkgdatadir)/energy
dist_energy_DATA = \
	scripts/energy/davinci_7nm.lua \
	scripts/energy/sources.lua

groupdir = $(pkgdatadir)/group
dist_group_DATA = \
	scripts/group/atlas_a2.lua \
	scripts/group/atlas_a2_910b2.lua \
	scripts/group/atlas_a2_910b4.lua \
	scripts/group/atlas_a3.lua \
	scripts/group/sources.lua

nocdir = $(pkgdatadir)/noc
dist_noc_DATA = \
	scripts/noc/crossbar.lua \
	scripts/noc/mesh.lua \
	scripts/noc/ring.lua

# Makefile.am installs the pages.
dist_noinst_DATA += scripts/LUA.md scripts/PYTHON.md scripts/TABLES.md scripts/TUTORIALS.md

dist_noinst_DATA += .ci/full
dist_noinst_SCRIPTS += \
	.ci/run \
	scripts/check \
	scripts/quickstart \
	scripts/setup.sh \
	scripts/timeline-svg \
	scripts/version
