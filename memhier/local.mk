# SPDX-License-Identifier: Apache-2.0
# memhier/: transfer engines and the memory system.

noinst_LTLIBRARIES += libvinci_memhier.la
libvinci_memhier_la_SOURCES = \
	memhier/cycle.c \
	memhier/cycle.h \
	memhier/cycle_answer.c \
	memhier/cycle_create.c \
	memhier/cycle_l2.c \
	memhier/cycle_train.c \
	memhier/fix_values.c \
	memhier/flat.c \
	memhier/hbm_channel.c \
	memhier/hbm_channel.h \
	memhier/hbm_choose.h \
	memhier/hbm_create.c \
	memhier/hbm_flat.c \
	memhier/hbm_map.c \
	memhier/hbm_map.h \
	memhier/hbm_port.c \
	memhier/hbm_port.h \
	memhier/hbm_state.h \
	memhier/hbm_stream.c \
	memhier/hbm_stream.h \
	memhier/hbm_stream_text.c \
	memhier/l2_tags.c \
	memhier/load_values.c \
	memhier/memhier.h \
	memhier/transfer.c \
	memhier/transfer.h \
	memhier/transfer_copy.c \
	memhier/transfer_dn2nz.c \
	memhier/transfer_fix.c \
	memhier/transfer_l0c.c \
	memhier/transfer_load.c \
	memhier/transfer_values.c
