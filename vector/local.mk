# SPDX-License-Identifier: Apache-2.0
# vector/: the vector unit.

noinst_LTLIBRARIES += libvinci_vector.la
libvinci_vector_la_SOURCES = \
	vector/banks.c \
	vector/banks.h \
	vector/convert.c \
	vector/elementwise.c \
	vector/operands.h \
	vector/permute.c \
	vector/reduce.c \
	vector/vector.c \
	vector/vector.h
