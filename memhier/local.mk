# SPDX-License-Identifier: Apache-2.0
# memhier/: transfer engines and the memory system.

noinst_LTLIBRARIES += libvinci_memhier.la
libvinci_memhier_la_SOURCES = \
	memhier/memhier.h \
	memhier/dram/hbm_channel.c \
	memhier/dram/hbm_channel.h \
	memhier/dram/hbm_choose.h \
	memhier/dram/hbm_create.c \
	memhier/dram/hbm_flat.c \
	memhier/dram/hbm_hold.h \
	memhier/dram/hbm_map.c \
	memhier/dram/hbm_map.h \
	memhier/dram/hbm_op.h \
	memhier/dram/hbm_port.c \
	memhier/dram/hbm_port.h \
	memhier/dram/hbm_queue.h \
	memhier/dram/hbm_rules.def \
	memhier/dram/hbm_state.h \
	memhier/dram/hbm_stream.c \
	memhier/dram/hbm_stream.h \
	memhier/dram/hbm_stream_text.c \
	memhier/dram/hbm_take.h \
	memhier/l2/cycle.c \
	memhier/l2/cycle.h \
	memhier/l2/cycle_answer.c \
	memhier/l2/cycle_create.c \
	memhier/l2/cycle_host.c \
	memhier/l2/cycle_host.h \
	memhier/l2/cycle_l2.c \
	memhier/l2/cycle_parts.c \
	memhier/l2/cycle_batch.c \
	memhier/l2/hosted.c \
	memhier/l2/flat.c \
	memhier/l2/l2_policies.c \
	memhier/l2/l2_policies.h \
	memhier/l2/l2_tags.c \
	memhier/transfer/fix_values.c \
	memhier/transfer/load_values.c \
	memhier/transfer/transfer.c \
	memhier/transfer/transfer.h \
	memhier/transfer/transfer_copy.c \
	memhier/transfer/transfer_dn2nz.c \
	memhier/transfer/transfer_fix.c \
	memhier/transfer/transfer_l0c.c \
	memhier/transfer/transfer_img2col.c \
	memhier/transfer/transfer_load.c \
	memhier/transfer/transfer_nddma.c \
	memhier/transfer/transfer_values.c

dist_noinst_DATA += memhier/DESIGN.md
