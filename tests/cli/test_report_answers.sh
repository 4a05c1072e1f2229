#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of answers in cli/REPORT.md (report_answers.py): each command makes a page, whose section says what the
# table promises.
set -u
srcdir=$(cd "${TESTS_SRCDIR:-.}" && pwd)
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

"$vinci" --version | grep -q 'HTML reports: written$' || skip_all 'built without the page of reports: no npm'
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)} ||
  skip_without 'Chromium (Debian package chromium)'
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all 'the page is the same with sanitizers, test_report.sh runs the program'
needs_python

work_folder test_report_answers
ln -s "$srcdir/traces" "$work/traces"
printf 'op,args\nmatmul,m=256 k=256 n=256\nadd,shape=65536\nsoftmax,shape=128x512\n' >"$work/ops.csv"
(cd "$work" && PYTHONDONTWRITEBYTECODE=1 timeout 900 "$PYTHON" "$srcdir/tests/cli/report_answers.py" "$chromium" \
  "$srcdir/cli/REPORT.md" >found 2>&1)
grep '^== ' "$work/found" | grep -v '^== end$' | sed 's/^== //' >"$work/questions"

plan $(($(wc -l <"$work/questions") + 2))
while IFS= read -r question; do
  report "$question" "$(awk -v head="== $question" '/^== / { inside = $0 == head; next } inside' "$work/found")"
done <"$work/questions"
report "at least ten questions" "$([ "$(wc -l <"$work/questions")" -ge 10 ] || cat "$work/found")"
report "the browser went through to the end" "$(grep -q '^== end$' "$work/found" || tail -n 5 "$work/found")"
