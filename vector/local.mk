# SPDX-License-Identifier: Apache-2.0
# vector/: the vector unit.

noinst_LTLIBRARIES += libvinci_vector.la
libvinci_vector_la_CFLAGS = $(AM_CFLAGS) $(VINCI_LOOP_CFLAGS)
libvinci_vector_la_SOURCES = \
	vector/banks.c \
	vector/banks.h \
	vector/convert.c \
	vector/elementwise.c \
	vector/floats.c \
	vector/integers.c \
	vector/math.h \
	vector/permute.c \
	vector/reduce.c \
	vector/registers.c \
	vector/registers.h \
	vector/registers_carry.c \
	vector/registers_compute.c \
	vector/registers_index.c \
	vector/registers_masks.c \
	vector/registers_move.c \
	vector/registers_reduce.c \
	vector/threads.c \
	vector/values.c \
	vector/values.h \
	vector/values_binary.c \
	vector/values_compare.c \
	vector/values_convert.c \
	vector/values_permute.c \
	vector/values_reduce.c \
	vector/values_sort.c \
	vector/values_unary.c \
	vector/vector.c \
	vector/vector.h \
	vector/vf.c
