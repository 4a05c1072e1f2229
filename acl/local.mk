# SPDX-License-Identifier: Apache-2.0
# acl/: the runtime of programs on a simulated chip, a library of its own.

lib_LTLIBRARIES += libvinci_acl.la
libvinci_acl_la_SOURCES = \
	acl/binary.c \
	acl/compile.c \
	acl/graph.c \
	acl/handles.c \
	acl/launch.c \
	acl/memory.c \
	acl/report.c \
	acl/runtime.c \
	acl/runtime.h \
	acl/stream.c
libvinci_acl_la_LIBADD = libvinci_internal.la
libvinci_acl_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0
