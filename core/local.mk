# SPDX-License-Identifier: Apache-2.0
# core/: what every part sees.
#
# The rooms, each with what lives there. A room includes the rooms that its line names and those
# that they include; tests/tree/check_layers.sh holds the table. core/registry.c belongs to no room:
# it is the one file that names all parts. core/vinci.h is the public interface, which all see.

noinst_LTLIBRARIES += libvinci_core.la
libvinci_core_la_SOURCES = core/registry.c

# Version and commit; a new commit compiles one file.
# By a variable: a rule of this name would take the place of automake's.
status_object = core/base/status.lo
$(status_object): core/base/status.inc
core/base/status.inc: ask-for-commit
	$(AM_V_at)$(MKDIR_P) core/base && { echo '#define VINCI_VERSION "$(VERSION)"' && \
	  echo "#define VINCI_COMMIT \"`$(SHELL) $(srcdir)/scripts/version --commit`\""; } >$@.new && \
	  if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
ask-for-commit:
.PHONY: ask-for-commit
CLEANFILES += core/base/status.inc

# base/: numbers, memory, messages: knows nothing of chips.
libvinci_core_la_SOURCES += \
	core/base/arena.c \
	core/base/arena.h \
	core/base/arith.h \
	core/base/cells.c \
	core/base/cells.h \
	core/base/clock.c \
	core/base/clock.h \
	core/base/decimal.c \
	core/base/decimal.h \
	core/base/diag.c \
	core/base/diag.h \
	core/base/digest.c \
	core/base/digest.h \
	core/base/file.c \
	core/base/file.h \
	core/base/json.c \
	core/base/json.h \
	core/base/journal.c \
	core/base/journal.h \
	core/base/lookup.c \
	core/base/lookup.h \
	core/base/number.c \
	core/base/number.h \
	core/base/place.c \
	core/base/place.h \
	core/base/pool.c \
	core/base/pool.h \
	core/base/sheet.c \
	core/base/sheet.h \
	core/base/shell.c \
	core/base/shell.h \
	core/base/status.c \
	core/base/store.c \
	core/base/store.h \
	core/base/threads.c \
	core/base/threads.h \
	core/base/unread.c \
	core/base/unread.h \
	core/base/utf8.c \
	core/base/utf8.h \
	core/base/words.c \
	core/base/words.h

# chip/: the vocabulary of architectures and the numbers of a chip. Includes base.
libvinci_core_la_SOURCES += \
	core/chip/arch.c \
	core/chip/arch.h \
	core/chip/energy.c \
	core/chip/energy.def \
	core/chip/energy.h \
	core/chip/layout.h \
	core/chip/mem.c \
	core/chip/l2_policies.def \
	core/chip/mem.def \
	core/chip/mem.h \
	core/chip/noc_config.h \
	core/chip/param.c \
	core/chip/param.h \
	core/chip/soc.c \
	core/chip/soc.def \
	core/chip/soc.h \
	core/chip/soc_copy.c \
	core/chip/soc_digest.c \
	core/chip/soc_digest.h \
	core/chip/soc_names.h \
	core/chip/soc_numbers.c \
	core/chip/soc_numbers.h \
	core/chip/soc_set.c \
	core/chip/soc_tables.c \
	core/chip/soc_validate.c


# isa/: instructions, loaded traces, and their execution one instruction after the other: no
# state of a core. Includes chip.
libvinci_core_la_SOURCES += \
	core/isa/aligned.h \
	core/isa/inst.c \
	core/isa/inst.h \
	core/isa/inst_runs.c \
	core/isa/isa.c \
	core/isa/isa.def \
	core/isa/isa.h \
	core/isa/tables.c \
	core/isa/isa_rows.h \
	core/isa/isa_types.def \
	core/isa/operands.h \
	core/isa/operands_register.h \
	core/isa/operands_vector.h \
	core/isa/register_rows.h \
	core/isa/registers.def \
	core/isa/known.c \
	core/isa/known.h \
	core/isa/program.c \
	core/isa/program.h \
	core/isa/program_count.c \
	core/isa/program_without.c \
	core/isa/source.c \
	core/isa/source.h \
	core/isa/stream.c \
	core/isa/signal_flags.h \
	core/isa/stream.h \
	core/isa/taken.c \
	core/isa/taken.h \
	core/isa/unit_functions.h

# control/: what flags, barriers, signals and unit flags mean: state and rules of a core and of
# the chip, with the messages. No time. Includes isa.
libvinci_core_la_SOURCES += \
	core/control/control.c \
	core/control/flags.h \
	core/control/hang.c \
	core/control/hang.h \
	core/control/misuse.c \
	core/control/misuse.h \
	core/control/placement.c \
	core/control/placement.h \
	core/control/signals.c \
	core/control/signals.h \
	core/control/unit_flag.c \
	core/control/unit_flag.h \
	core/control/wait.h

# result/: what a run leaves behind, and what is read from that. Includes control.
libvinci_core_la_SOURCES += \
	core/result/cause.c \
	core/result/cause.h \
	core/result/causes.def \
	core/result/counters.def \
	core/result/network_metrics.def \
	core/result/critical.c \
	core/result/critical.h \
	core/result/divergence.c \
	core/result/divergence.h \
	core/result/explain.c \
	core/result/explain.h \
	core/result/result_energy.c \
	core/result/result_energy.h \
	core/result/state.c \
	core/result/state.h \
	core/result/events.c \
	core/result/events.h \
	core/result/hotspots.c \
	core/result/hotspots.h \
	core/result/metrics.c \
	core/result/metrics.h \
	core/result/levers.c \
	core/result/levers.h \
	core/result/proven.c \
	core/result/proven.h \
	core/result/replay.c \
	core/result/replay.h \
	core/result/replay_items.c \
	core/result/replay_items.h \
	core/result/result.c \
	core/result/result.h \
	core/result/result_counters.c \
	core/result/result_counters.h \
	core/result/tables.c \
	core/result/traffic.c \
	core/result/traffic.h

# sim/: cores and the chip in time. Includes result and control.
libvinci_core_la_SOURCES += \
	core/sim/aicore.c \
	core/sim/aicore.h \
	core/sim/auto.c \
	core/sim/auto.h \
	core/sim/calendar.c \
	core/sim/calendar.h \
	core/sim/code.c \
	core/sim/code.h \
	core/sim/device.c \
	core/sim/device.h \
	core/sim/device_hang.c \
	core/sim/device_l2.c \
	core/sim/engine.c \
	core/sim/engine.h \
	core/sim/engine_host.c \
	core/sim/engine_host.h \
	core/sim/memsys.h \
	core/sim/pace.c \
	core/sim/pace.h \
	core/sim/pipe.c \
	core/sim/pipe_causes.c \
	core/sim/pipe_l1.c \
	core/sim/pipe_units.c \
	core/sim/function.c \
	core/sim/function.h \
	core/sim/guest.c \
	core/sim/kept.c \
	core/sim/kept.h \
	core/sim/run.c \
	core/sim/schedule.c \
	core/sim/schedule.h \
	core/sim/scalar.c \
	core/sim/steps.c \
	core/sim/steps.h

# machine/: the abstract machine: the same control without time, and the values. Includes
# control.
libvinci_core_la_SOURCES += \
	core/machine/guarded.c \
	core/machine/guarded.h \
	core/machine/machine.c \
	core/machine/machine.h \
	core/machine/machine_core.c \
	core/machine/machine_core.h \
	core/machine/machine_hang.c \
	core/machine/reach.c \
	core/machine/reach.h \
	core/machine/values.c \
	core/machine/values.h \
	core/machine/values_unknown.c \
	core/machine/values_unknown.h

# check/: the checks of a program: observers of the machine. Includes machine.
libvinci_core_la_SOURCES += \
	core/check/check.c \
	core/check/check.h \
	core/check/check_disputed.c \
	core/check/check_findings.c \
	core/check/check_flow.c \
	core/check/check_flow.h \
	core/check/check_history.c \
	core/check/check_history.h \
	core/check/check_memory.c \
	core/check/check_order.c \
	core/check/check_order.h \
	core/check/check_pads.c \
	core/check/check_pads.h \
	core/check/check_race.c \
	core/check/check_read.c \
	core/check/check_run.h \
	core/check/check_shadow.c \
	core/check/check_shadow.h \
	core/check/check_shadow_fine.c \
	core/check/check_shadow_fine.h \
	core/check/check_cache.c \
	core/check/check_state.c \
	core/check/check_sync.c \
	core/check/disputed.def \
	core/check/check_text.c

# debug/: runs that stop between events, with the values of the moment. Includes sim and machine.
libvinci_core_la_SOURCES += \
	core/debug/debug.c \
	core/debug/slots.c \
	core/debug/slots.h \
	core/debug/debug.h

dist_noinst_DATA += core/ENERGY.md core/MODEL.md core/SYSTEMC.md

# The host in the kernel of SystemC: loaded by core/sim/engine_host.c, and of no use to a linker.
if HAVE_SYSTEMC
pkglib_LTLIBRARIES = vinci_systemc.la
vinci_systemc_la_SOURCES = core/sim/engine_systemc.cc core/sim/engine_host.h
vinci_systemc_la_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMC_CFLAGS)
vinci_systemc_la_LIBADD = $(SYSTEMC_LIBS)
vinci_systemc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
endif
