# SPDX-License-Identifier: Apache-2.0
# cube/: the matrix unit.

noinst_LTLIBRARIES += libvinci_cube.la
libvinci_cube_la_SOURCES = \
	cube/cube.h \
	cube/mad.c \
	cube/mad_values.c
