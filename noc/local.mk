# SPDX-License-Identifier: Apache-2.0
# noc/: the network on chip; collectives between devices as lists of steps.

noinst_LTLIBRARIES += libvinci_noc.la
libvinci_noc_la_SOURCES = \
	noc/fabric.c \
	noc/flit.c \
	noc/flit.h \
	noc/flit_router.c \
	noc/flit_state.h \
	noc/map.c \
	noc/network.c \
	noc/noc.h \
	noc/packet.c \
	noc/packet.h \
	noc/stream.c \
	noc/stream.h \
	noc/stream_flit.c \
	noc/stream_hops.c \
	noc/stream_state.h \
	noc/transport.c \
	noc/transport.h
