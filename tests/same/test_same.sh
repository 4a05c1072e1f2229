#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What tests/same/same.py takes for alike, and what it notices. $VINCI is compared with scripts that change
# what $VINCI says.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}

needs_python
work_folder test_same
plan 8

# other VERB SCRIPT: a program whose VERB says what $VINCI says, passed through sed.
other() {
  cat >"$work/other" <<END
#!/bin/sh
[ "\$1" = $1 ] || exec "$vinci" "\$@"
said=\$("$vinci" "\$@")
code=\$?
[ -z "\$said" ] || printf '%s\n' "\$said" | sed '$2'
exit \$code
END
  chmod +x "$work/other"
}

# same [OPTION]...: some operators, by $VINCI and by the other program.
same() {
  keep "$PYTHON" "$TESTS_SRCDIR/tests/same/same.py" --ref "$vinci" --new "$work/other" \
    --only 'softmax|matmul' --count 14 "$@"
}

other none ''
same
report "a program is like itself" "$(expect 0 '' 'nothing differs')"

other compile 's/,repeat=\([0-9]\)/,repeat=0+\1/'
same
report "an expression may be written in another way" "$(expect 0 '' 'equal canonical form and lines')"
same --strict
report "unless the same bytes are demanded" "$(expect 1 '' 'differ: bytes of the program')"

other compile 's/^scalar,cycles=/&1/'
same --every 100
report "another number in a program" "$(expect 1 '' 'differ: program, in canonical form')"

other compile 's/^stream,/# More.\n&/'
same --every 100
report "another line of comment" "$(expect 1 '' 'differ: lines of the program')"

other compile 's/^tiling,blocks,/tiling,cores,/'
same --every 1
report "another list of tilings" "$(expect 1 '' 'differ: list of tilings')"

other run 's/^HBM  *read/HBM       got/'
same --every 1
report "another report" "$(expect 1 '' 'differ: result')"
same --every 1 --without HBM
report "unless the line is left out" "$(expect 0 '' 'nothing differs')"
