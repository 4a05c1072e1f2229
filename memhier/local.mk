# SPDX-License-Identifier: Apache-2.0
# memhier/: transfer engines and the memory system.

noinst_LTLIBRARIES += libvinci_memhier.la
libvinci_memhier_la_SOURCES = \
	memhier/flat.c \
	memhier/hbm_flat.c \
	memhier/l2_tags.c \
	memhier/memhier.h \
	memhier/requests.c \
	memhier/requests.h \
	memhier/transfer.c \
	memhier/transfer.h \
	memhier/transfer_copy.c \
	memhier/transfer_fix.c \
	memhier/transfer_load.c
