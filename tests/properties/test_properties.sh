#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each operator once, and what tests/properties/properties.py takes for a failure: $VINCI and scripts that
# change what $VINCI does.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}

needs_python
work_folder test_properties
plan 6

# properties PROGRAM [OPTION]...
properties() {
  program=$1
  shift
  keep python_test "$TESTS_SRCDIR/tests/properties/properties.py" --program "$program" "$@"
}

# other VERB COMMANDS: a program that does something else for that verb.
other() {
  cat >"$work/other" <<END
#!/bin/sh
[ "\$1" = $1 ] || exec "$vinci" "\$@"
$2
END
  chmod +x "$work/other"
}

properties "$vinci" --count 0 --seed 1
[ "$code" -eq 0 ] || err="$err
$out"
report "a random case of each operator is refused or runs to its end" "$(expect 0 '' 'all hold; seed 1')"

properties "$vinci" --found "$TESTS_SRCDIR/tests/properties/found.tsv"
[ "$code" -eq 0 ] || err="$err
$out"
report "what was found once stays mended" "$(expect 0 '' 'all hold')"

other run 'exit 6'
properties "$work/other" --only 'softmax|matmul' --count 4
report "a hang is a failure" "$(expect 1 '' 'exit code 6')"

# shellcheck disable=SC2016 # the other program's own number
other run 'kill -ABRT $$'
properties "$work/other" --only 'softmax|matmul' --count 4
report "so is an end by a signal" "$(expect 1 '' 'exit code -6')"

other compile 'echo "error: matmul: no reason" >&2; exit 3'
properties "$work/other" --only matmul --count 2
report "and a program that the reader of traces rejects" "$(expect 1 '' 'exit code 3: error: matmul: no reason')"

other compile 'exit 2'
properties "$work/other" --only matmul --count 2
report "and a refusal without a reason" "$(expect 1 '' 'nothing was said')"
