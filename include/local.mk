# SPDX-License-Identifier: Apache-2.0
# include/: headers that kernels are compiled with (`vinci cc`), installed beside the data.

cceincludedir = $(pkgdatadir)/include/vinci/cce
dist_cceinclude_DATA = \
	include/vinci/cce/absent.h \
	include/vinci/cce/control.h \
	include/vinci/cce/cube.h \
	include/vinci/cce/end.h \
	include/vinci/cce/issue.h \
	include/vinci/cce/kernel.h \
	include/vinci/cce/launch.h \
	include/vinci/cce/transfer.h \
	include/vinci/cce/types.h \
	include/vinci/cce/vector.h
ccelibrarydir = $(pkgdatadir)/include/vinci/cce/library
ccelibraryregisterdir = $(ccelibrarydir)/register
dist_ccelibraryregister_DATA = include/vinci/cce/library/register/tilingdata_base.h
ccelibrarytilingdir = $(ccelibrarydir)/kernel_tiling
dist_ccelibrarytiling_DATA = include/vinci/cce/library/kernel_tiling/kernel_tiling.h
aclincludedir = $(pkgdatadir)/include/acl
dist_aclinclude_DATA = include/acl/acl.h include/acl/acl_base.h include/acl/acl_rt.h
