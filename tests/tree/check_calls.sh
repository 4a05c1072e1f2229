#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rooms call in one direction. Includes say little: the public headers declare functions of all rooms. So this
# asks the object files who calls whom, and compares with rooms.txt.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
command -v nm >/dev/null || skip_without nm
rooms=$srcdir/tests/tree/rooms.txt

plan 3
report "rows of rooms.txt name rooms above them only" "$(awk '
  /^#/ || !NF { next }
  { for (i = 2; i <= NF; i++) if (!($i in seen)) print FNR ": " $1 " names " $i; seen[$1] = 1 }' "$rooms")"

# The object of DIR/NAME.c is DIR/NAME.o or DIR/.libs/NAME.o; Automake puts "LIBRARY_la-" before the name where
# a library has flags of its own.
tops=$(awk '!/^#/ && NF { sub(/\/.*/, "", $1); print $1 }' "$rooms" | sort -u)
objects=$(for top in $tops; do
  [ ! -d "$top" ] || find "$top" -name '*.o' ! -name '*.pb-c.o' -print
done)
report "there are objects of each room" "$([ -n "$objects" ] || echo "none at all"
  for room in $(awk '!/^#/ && NF { print $1 }' "$rooms"); do
    printf '%s\n' "$objects" | grep -q "^$room/" || [ "$room" = memhier ] || echo "$room"
  done)"

# S: sources, as a build folder may hold objects of sources that are gone; R: rooms; N: symbols.
# shellcheck disable=SC2086 # file names of this tree hold no blanks
report "rooms call the rooms that rooms.txt allows" "$({
  (cd "$srcdir" && find $tops -name '*.c' -print | sed 's/^/S /')
  sed -n 's/^[a-z]/R &/p' "$rooms"
  nm -A -P $objects 2>/dev/null | sed 's/^/N /'
} | awk '
  function source(object) {
    sub(/(\[.*\])?:$/, "", object)
    gsub(/\.libs\/|lib[a-z_]*_la-/, "", object)
    return substr(object, 1, length(object) - 1) "c"
  }
  function room(path, part) {
    return split(path, part, "/") > 2 ? part[1] "/" part[2] : part[1]
  }
  $1 == "S" { sources[$2] = 1 }
  $1 == "R" { for (i = 2; i <= NF; i++) allowed[$2 " " $i] = 1 }
  $1 == "N" && source($2) in sources {
    if ($4 ~ /^[TDBR]$/) defined[$3] = source($2)
    if ($4 == "U") calls[source($2) " " $3] = 1
  }
  END {
    for (call in calls) {
      split(call, part, " ")
      if (!(part[2] in defined))
        continue
      from = room(part[1]); to = room(defined[part[2]])
      if (part[1] !~ /^(core\/registry|lower\/ops)\.c$/ && !((from " " to) in allowed))
        print part[1] " calls " part[2] "() of " defined[part[2]]
    }
  }' | LC_ALL=C sort)"
