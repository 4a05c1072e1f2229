# SPDX-License-Identifier: Apache-2.0
# cli/: the program.

bin_PROGRAMS += vinci
vinci_SOURCES = \
	cli/verbs.def \
	cli/support/cli.h \
	cli/cmd_cc.c \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_debug.c \
	cli/cmd_diff.c \
	cli/cmd_gate.c \
	cli/cmd_group.c \
	cli/cmd_import.c \
	cli/cmd_isa.c \
	cli/cmd_library.c \
	cli/cmd_lua.c \
	cli/cmd_net.c \
	cli/cmd_run.c \
	cli/cmd_report.c \
	cli/cmd_sensitivity.c \
	cli/cmd_soc.c \
	cli/cmd_stream.c \
	cli/cmd_sweep.c \
	cli/cmd_table.c \
	cli/cmd_tune.c \
	cli/main.c \
	cli/cc/build.c \
	cli/cc/build.h \
	cli/cc/parts.c \
	cli/cc/tiling.c \
	cli/debug/commands.c \
	cli/debug/go.c \
	cli/debug/input.c \
	cli/debug/input.h \
	cli/debug/memory.c \
	cli/debug/session.h \
	cli/debug/show.c \
	cli/debug/stops.c \
	cli/debug/words.c \
	cli/diff/export.c \
	cli/diff/job.c \
	cli/diff/print.c \
	cli/diff/print.h \
	cli/group/buckets.c \
	cli/group/collective.c \
	cli/group/convert.c \
	cli/group/group.h \
	cli/group/outcome.h \
	cli/group/plan.c \
	cli/group/run.c \
	cli/group/run_files.c \
	cli/group/run_print.c \
	cli/group/show.c \
	cli/group/timed.c \
	cli/group/train.c \
	cli/net/ablate.c \
	cli/net/compile.c \
	cli/net/explain.c \
	cli/net/import.c \
	cli/net/load.c \
	cli/net/net.h \
	cli/net/plan.c \
	cli/net/replay.c \
	cli/net/run.c \
	cli/net/serve.c \
	cli/run/automatic.c \
	cli/run/automatic.h \
	cli/run/counters.c \
	cli/run/counters.h \
	cli/run/list.c \
	cli/run/list.h \
	cli/run/output.c \
	cli/run/output.h \
	cli/run/savings.c \
	cli/run/savings.h \
	cli/run/settings.c \
	cli/run/settings.h \
	cli/run/table.c \
	cli/run/table.h \
	cli/support/values.c \
	cli/support/values.h \
	cli/soc/new.c \
	cli/soc/new.h \
	cli/soc/rows.c \
	cli/soc/rows.h \
	cli/soc/show.c \
	cli/stream/memory.c \
	cli/stream/network.c \
	cli/stream/rows.c \
	cli/stream/stream.h \
	cli/support/advice.c \
	cli/support/library.c \
	cli/support/library.h \
	cli/support/advice.h \
	cli/support/choices.c \
	cli/support/choices.h \
	cli/support/checks.c \
	cli/support/checks.h \
	cli/support/command.c \
	cli/support/command.h \
	cli/support/folder.c \
	cli/support/isolate.c \
	cli/support/isolate.h \
	cli/support/kernel.c \
	cli/support/kernel.h \
	cli/support/monitor.c \
	cli/support/monitor.h \
	cli/support/script.c \
	cli/support/script.h \
	cli/support/operator.c \
	cli/support/operator.h \
	cli/support/operator_markdown.c \
	cli/support/operator_missing.c \
	cli/support/options.c \
	cli/support/options.h \
	cli/support/sandbox.c \
	cli/support/sandbox.h \
	cli/support/without.c \
	cli/support/without.h \
	cli/support/verb.c \
	cli/sweep/submit.c \
	cli/sweep/submit.h \
	cli/tune/cuts.c \
	cli/tune/explain.c \
	cli/tune/problems.c \
	cli/tune/json.c \
	cli/tune/json.h \
	cli/tune/listing.c \
	cli/tune/report.c \
	cli/tune/serve.c \
	cli/tune/cmd_tune.h \
	cli/tune/values.c \
	cli/tune/values.h
vinci_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS) $(LIBEDIT_CFLAGS) -DVINCI_LIBDIR='"$(libdir)"'
vinci_LDADD = libvinci_lua.la libvinci_internal.la
dist_man1_MANS += cli/vinci.1

# A page of the manual for each verb, made of the program's help. Where the build cannot run what it makes, there
# are none.
verb_manuals = \
	doc/vinci-cc.1 \
	doc/vinci-check.1 \
	doc/vinci-compile.1 \
	doc/vinci-debug.1 \
	doc/vinci-diff.1 \
	doc/vinci-gate.1 \
	doc/vinci-group.1 \
	doc/vinci-import.1 \
	doc/vinci-isa.1 \
	doc/vinci-library.1 \
	doc/vinci-lua.1 \
	doc/vinci-net.1 \
	doc/vinci-replay.1 \
	doc/vinci-report.1 \
	doc/vinci-run.1 \
	doc/vinci-sensitivity.1 \
	doc/vinci-soc.1 \
	doc/vinci-stream.1 \
	doc/vinci-sweep.1 \
	doc/vinci-table.1 \
	doc/vinci-tune.1
if !CROSS
man1_MANS = $(verb_manuals)
endif
$(verb_manuals): cli/manual $(vinci_SOURCES) | vinci$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && verb=`basename $@ .1 | $(SED) 's/^vinci-//'` && AWK='$(AWK)' \
	  $(SHELL) $(srcdir)/cli/manual ./vinci$(EXEEXT) "$$verb" '$(pkgdatadir)' >$@.new && mv $@.new $@
EXTRA_DIST += cli/manual
CLEANFILES += $(verb_manuals)

# The shell looks for a file with the name of the program, below the folder of its data.
completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = cli/completion/vinci
fishdir = $(datadir)/fish/vendor_completions.d
dist_fish_DATA = cli/completion/vinci.fish
zshdir = $(datadir)/zsh/vendor-completions
dist_zsh_DATA = cli/completion/_vinci

# ---- the page of vinci report ------------------------------------------------
# Its pieces and uPlot, a plotting library that npm fetches by a pinned checksum, become one array of
# bytes. A release contains cli/report/uplot.html, so that npm is only needed in a working copy.
report_pieces = \
	cli/report/template.html \
	cli/report/style.css \
	cli/report/base.js \
	cli/report/table.js \
	cli/report/plot.js \
	cli/report/flow.js \
	cli/report/lanes.js \
	cli/report/timeline.js \
	cli/report/run.js \
	cli/report/memory.js \
	cli/report/energy.js \
	cli/report/compare.js \
	cli/report/sweep.js \
	cli/report/parallel.js \
	cli/report/job.js \
	cli/report/job_memory.js \
	cli/report/tables.js \
	cli/report/pairs.js \
	cli/report/job_pair.js \
	cli/report/main.js
EXTRA_DIST += $(report_pieces) cli/report/assemble.awk cli/report/build-uplot \
	cli/report/package.json cli/report/package-lock.json \
	cli/REPORT.md
dist_doc_DATA += cli/report/first.webp cli/report/page.spdx cli/report/timeline.webp cli/report/network-wide.webp \
	cli/report/sweep-wide.webp cli/report/sensitivity-wide-dark.webp cli/report/job-narrow-dark.webp \
	cli/report/list-narrow.webp cli/report/parallel.webp \
	cli/report/kinds/kernel.webp cli/report/kinds/kernels.webp cli/report/kinds/list.webp \
	cli/report/kinds/lists.webp cli/report/kinds/network.webp cli/report/kinds/networks.webp \
	cli/report/kinds/sweep.webp cli/report/kinds/sweeps.webp cli/report/kinds/sensitivity.webp \
	cli/report/kinds/job.webp cli/report/kinds/jobs.webp
# By a variable: a rule of this name would take the place of automake's.
page_object = traces/report/libvinci_traces_la-page.lo
if HAVE_REPORT
$(page_object): traces/report/page.inc
libvinci_traces_la_CPPFLAGS += -DVINCI_WITH_PAGE
endif
cli/report/uplot.html: cli/report/package.json cli/report/package-lock.json
	$(AM_V_GEN)$(MKDIR_P) cli/report && \
	  $(SHELL) $(srcdir)/cli/report/build-uplot "$(NPM)" $(srcdir)/cli/report $@ $(MUST_REPORT)
traces/report/page.inc: $(report_pieces) cli/report/uplot.html cli/report/assemble.awk
	$(AM_V_GEN)$(MKDIR_P) cli/report traces/report && files='$^' && : >$@ && \
	  for file in $$files; do case $$file in *uplot.html) uplot=$$file ;; *.awk) awk=$$file ;; esac; done && \
	  if test -s "$$uplot"; then $(AWK) -f "$$awk" $$files >cli/report/page.html && \
	    od -An -v -tu1 cli/report/page.html | $(SED) 's/  */,/g; s/^,//; s/$$/,/' >$@; fi
CLEANFILES += cli/report/page.html traces/report/page.inc
DISTCLEANFILES += cli/report/uplot.html
dist-hook: dist-version
	$(MAKE) MUST_REPORT=yes cli/report/uplot.html
	for file in cli/report/uplot.html $(srcdir)/cli/report/uplot.html; do \
	  if test -s $$file; then cp $$file $(distdir)/cli/report/uplot.html; exit 0; fi; \
	done; echo "error: a release contains uPlot: make dist needs npm" >&2; exit 1
