# SPDX-License-Identifier: Apache-2.0
# noc/: the network on chip.

noinst_LTLIBRARIES += libvinci_noc.la
libvinci_noc_la_SOURCES = \
	noc/fabric.c
