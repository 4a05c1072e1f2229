# SPDX-License-Identifier: Apache-2.0
# include/: headers that kernels and programs are compiled with (`vinci cc`), installed beside the data.

nobase_dist_pkgdata_DATA = \
	include/acl/acl.h \
	include/acl/acl_base.h \
	include/acl/acl_rt.h \
	include/acl/acl_rt_compile.h \
	include/vinci/cce/absent.h \
	include/vinci/cce/absent_c310.h \
	include/vinci/cce/bfloat16.h \
	include/vinci/cce/control.h \
	include/vinci/cce/cube.h \
	include/vinci/cce/debug.h \
	include/vinci/cce/end.h \
	include/vinci/cce/forms.h \
	include/vinci/cce/issue.h \
	include/vinci/cce/kernel.h \
	include/vinci/cce/launch.h \
	include/vinci/cce/leave.h \
	include/vinci/cce/library/ascendc/host_api/tiling/template_argument.h \
	include/vinci/cce/library/dlog_pub.h \
	include/vinci/cce/library/graph/tensor.h \
	include/vinci/cce/library/graph/types.h \
	include/vinci/cce/library/kernel_tiling/kernel_tiling.h \
	include/vinci/cce/library/lib/matmul_intf.h \
	include/vinci/cce/library/platform.cpp \
	include/vinci/cce/library/platform/soc_spec.h \
	include/vinci/cce/library/register/tilingdata_base.h \
	include/vinci/cce/library/securec.h \
	include/vinci/cce/library/tiling/template_argument.h \
	include/vinci/cce/library/tiling/tiling_api.h \
	include/vinci/cce/load.h \
	include/vinci/cce/permute.h \
	include/vinci/cce/register_compute.h \
	include/vinci/cce/register_masks.h \
	include/vinci/cce/register_memory.h \
	include/vinci/cce/register_types.h \
	include/vinci/cce/scalar.h \
	include/vinci/cce/select.h \
	include/vinci/cce/transfer.h \
	include/vinci/cce/types.h \
	include/vinci/cce/types_c310.h \
	include/vinci/cce/variable.h \
	include/vinci/cce/vector.h \
	include/vinci/library/context.h \
	include/vinci/library/data.h \
	include/vinci/library/definition.h \
	include/vinci/library/host.h \
	include/vinci/library/kernel.h \
	include/vinci/library/log.h \
	include/vinci/library/main.cpp \
	include/vinci/library/platform.h \
	include/vinci/library/registry.h \
	include/vinci/library/shape.h \
	include/vinci/library/template.h \
	include/vinci/library/tensor.h \
	include/vinci/library/util.h
