#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The words of comments, messages and pages: no phrase at which readers stumble, no sentence that
# ends on a word without a meaning of its own, no file or function that does not exist, pages of a
# readable length. CONTRIBUTING.md has the rules.
# shellcheck disable=SC2086,SC2016 # file names of this tree hold no blanks; backquotes of Markdown
set -u
cd "${TESTS_SRCDIR:-.}" || exit 99
. tests/support/tap.sh

pages='README.md ACCURACY.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md memhier/DESIGN.md lower/DESIGN.md
  kernels/DESIGN.md networks/DESIGN.md devices/DESIGN.md studies/DESIGN.md traces/FORMAT.md
  networks/GRAPH.md core/ENERGY.md core/MODEL.md core/SYSTEMC.md kernels/CHECKS.md kernels/KERNELS.md tune/TUNING.md traces/VALUES.md scripts/LUA.md'
folders='core cube vector memhier noc traces lower networks devices studies tune kernels scripts cli acl include tests'
sources=$(find $folders -path scripts/build-aux -prune -o \( -name '*.[ch]' -o -name '*.cc' -o \
  -name '*.def' -o -name '*.lua' -o -name '*.sh' -o -name '*.py' -o -name '*.1' \) -print | LC_ALL=C sort)
# This file holds the phrases.
read_sources=$(printf '%s\n' $sources | grep -v '^tests/tree/check_words')

plan 9

phrases='\bso (many|much)\b|of which nothing|on and on|there are only (1|%)|is no number|nobody will refer'
phrases="$phrases|to the next .* there is no way|where an earlier one was|\\btrains? of|\\bwagons?\\b"
report "no phrase at which readers stumble" "$(grep -niE "$phrases" $read_sources $pages |
  grep -v 'CONTRIBUTING.md.*not "so many"')"

report "no sentence ends with 'it' or 'one'" "$({
  grep -nE "\\b(it|one)(\\.( |\$|\"|\\\\n)| \\*/)" $pages
  # Code ends in *one and the like: comments and texts alone.
  grep -nE "(^|[^*&])\\b(it|one)(\\.( |\$|\"|\\\\n)|\\.? \\*/)" $read_sources
} | grep -v 'CONTRIBUTING.md.*No sentence')"

# In texts between quotes and on pages. The history of versions stays as written.
report "messages and pages say 'is not a', never 'is no', 'are not', never 'are no'" "$({
  grep -nE '"([^"\\]|\\.)*\b(is|are) no [a-zA-Z]' $(printf '%s\n' $read_sources | grep -vE '^tests/|\.1$') | grep -vE ':[0-9]+:/[*/]'
  grep -nE '\b(is|are) no [a-zA-Z]' $(printf '%s\n' $pages cli/vinci.1 | grep -v CHANGELOG)
} | grep -viE 'here (is|are) no|(is|are) no (longer|more|less|other|one|slower|faster|limit)\b')"

# What a careless edit leaves behind: half a sentence at the head of a file, the bell or form feed of a
# mistaken \a or \f. Examples and tables at the end of a head are indented.
report "the opening comment of a file ends with a sentence" "$(awk '
  function judge() {
    if (last !~ /^ ?\*?   / && last !~ /[.):"]( \*\/)?$/)
      print place ": " last
  }
  FNR == 1 { state = 0; last = "" }
  state == 0 && /^\/\*/ && !/SPDX/ { state = 1 }
  state == 1 && /\*\// { if ($0 !~ /^ *\*\/$/) last = $0; place = FILENAME ":" FNR; judge(); state = 2 }
  state == 0 && !/^\/\*/ { state = 2 }
  state == 1 { last = $0 }' $(printf '%s\n' $read_sources | grep -E '\.([ch]|cc|def)$'))"
report "no control characters" "$(LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]' $sources $pages)"

report "pages have a readable length" "$(for limit in README.md:219 ARCHITECTURE.md:300; do
  lines=$(awk 'END { print NR }' "${limit%:*}")
  [ "$lines" -le "${limit#*:}" ] || echo "${limit%:*}: $lines lines, limit ${limit#*:}"
done)"

# exists PATH: a file, a folder, a pattern that names some, a test program or its log by its source, or a
# file that an addition of tests/additions makes.
exists() {
  ! grep -qxF "+++ b/$1" tests/additions/*.patch || return 0
  set -- $1 "${1%.*}".c "$1".c
  while [ $# -gt 0 ]; do
    [ -e "$1" ] && return 0
    shift
  done
  return 1
}

# Words in capitals stand for what the reader puts there.
report "paths in comments and pages exist" "$(printf '%s\n' $sources | grep -v '^tests/.*\.sh$' |
  xargs grep -noE '(^|[^A-Za-z0-9_/.<*$-])(core|cube|vector|memhier|noc|traces|lower|networks|devices|studies|tune|kernels|scripts|cli|tests)/[A-Za-z0-9_/.*-]*[A-Za-z0-9_*]' \
    $pages Makefile.am | sed -E 's/:[^A-Za-z0-9]/:/' | grep -v '/[A-Z*]*\.lua$' | grep -v '\.pb-c\.[ch]$' |
  grep -vE 'networks/(all|[a-z]*\.lua)$' |
  awk -F: '!seen[$3]++ { print $1 ":" $2, $3 }' | while read -r place path; do
  exists "$path" || echo "$place: $path"
done)"

report "files that pages name without a folder exist" "$(
  grep -noE '`[a-z][a-z0-9_*]*\.(c|h|cc|def|csv)`' ARCHITECTURE.md CONTRIBUTING.md | tr -d '\140' |
    while IFS=: read -r page line name; do
      case $name in one.csv) continue ;; esac # the reader's own
      [ -n "$(find $folders -name "$name" -print)" ] || echo "$page:$line: $name"
    done)"

report "functions that ARCHITECTURE.md names exist" "$(
  grep -oE '`[a-z_0-9]+\(\)`' ARCHITECTURE.md | tr -d '\140()' | sort -u | while read -r name; do
    grep -qE "\\b$name\\(" $sources || echo "$name()"
  done)"
