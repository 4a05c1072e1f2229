#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages of `vinci report` in a headless Chromium (report_page.py): no error on the console, the numbers of the
# run in the page, zoom, filters, themes, a million slices; pages of sweeps, lists and networks. With PICTURES=DIR
# pictures of the pages stay there, those of cli/REPORT.md among them.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

"$vinci" --version | grep -q 'HTML reports: written$' || skip_all 'built without the page of reports: no npm'
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)} ||
  skip_without 'Chromium (Debian package chromium)'
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all 'the page is the same with sanitizers, test_report.sh runs the program'
[ -x /usr/bin/python3 ] || skip_all 'no python3'

work_folder test_report_page
cat >"$work/hostile.csv" <<'END'
trace,version=1
kernel,name=</script><script>window.broken=1</script>,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp16,shape=8192,io=in
buffer,name=a,space=UB,address=0,size=16384
stream,core=AIV
copy_gm_to_ubuf,dst=a,src=x,len_burst=16
END
printf 'op,args\nmatmul,m=256 k=256 n=256\nadd,shape=65536\nsoftmax,shape=128x512\n' >"$work/ops.csv"
{
  "$vinci" run matmul m=1024 k=1024 n=1024 $soc --output="$work/run" >"$work/report.txt"
  "$vinci" run matmul m=1024 k=1024 n=1024 $soc --set hbm.bandwidth_scale=0.25 --output="$work/second" --quiet
  "$vinci" run layer_norm shape=26624x4096 dtype=fp16 $soc --memory=flat --timeline-events=2000000 --output="$work/many" --quiet
  "$vinci" run "$work/hostile.csv" $soc --output="$work/hostile" --quiet
  "$vinci" sweep run matmul m=512 k=512 n=512 $soc --param hbm.bandwidth_scale=0.5,1 --param device.cube_cores=4,8,20 \
    --memory=flat --output="$work/sweep" --quiet
  "$vinci" sensitivity matmul m=256 k=256 n=256 $soc --params hbm.bandwidth_scale --params cube.fp16_cycles --output="$work/tornado" >/dev/null
  "$vinci" run --ops "$work/ops.csv" $soc --output="$work/list" --quiet
  "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc --memory=flat --output="$work/network" --quiet
  "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --output="$work/job" >/dev/null
  cp -r "$work/run" "$work/pair"
  for name in run many hostile sweep tornado list network job; do
    "$vinci" report "$work/$name" --output="$work/$name.html" --quiet
  done
  "$vinci" report "$work/pair" "$work/second" --output="$work/pair.html" --quiet
} >"$work/made" 2>&1
PYTHONDONTWRITEBYTECODE=1 timeout 300 /usr/bin/python3 "$srcdir/tests/cli/report_page.py" "$chromium" "$work" \
  ${PICTURES:+"$PICTURES"} >"$work/found" 2>&1

plan 16
# part CHECK FUNCTION NAME
part() {
  report "$3" "$(awk -v head="== $1 $2" '
    /^== / { inside = $0 == head; seen = seen || inside; next }
    inside && !/^# /
    END { if (!seen) print "was not reached" }' "$work/found")"
}
report "runs and pages are made" "$(cat "$work/made")"
part run numbers "numbers of a run, and points below their own roofs"
part run cause "cause, advice and promise; the critical path sums to the run"
part run lanes "slices sum to busy cycles"
part run zoom "zoom, move and filter of the timeline"
part run hotspots "hot spots have the text of their lines, sort and filter"
part run looks "dark, narrow, on paper, by keyboard"
part many many "a million slices at 30 frames a second$(sed -n 's/^# \(.*\)/: \1/p' "$work/found" | tail -n 1)"
part hostile hostile "names stay text"
part compare compare "two runs: differences sum"
part sweep sweep "a sweep: points, the fastest, the Pareto front"
part tornado tornado "a sensitivity study: the tornado"
part list list_of_operators "a list by time"
part network network "a network by time"
part job job "a job of several devices"
report "the browser went through to the end" "$(grep -q '^== end$' "$work/found" || tail -n 5 "$work/found")"
