#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every verb of cli/verbs.def, and every command of a verb, has help with an example that begins with its name,
# a place in the manual, and completion of the shell. A verb without them fails here.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

vinci=${VINCI:?}
manual=$TESTS_SRCDIR/cli/vinci.1
work_folder test_verbs
plan 13

sed -n 's/^VERB(\(.*\))$/\1/p' "$TESTS_SRCDIR/cli/verbs.def" >"$work/rows"
{ cat "$work/rows"; echo help; } >"$work/verbs"
"$vinci" help --words >"$work/words"
report "the program has the verbs of the table" "$(diff "$work/verbs" "$work/words")"
"$vinci" --help | sed -n '/^Options:/q; s/^  \([a-z]*\) .*/\1/p' >"$work/listed"
report "its help lists them, below what one wants to do" "$(diff "$work/verbs" "$work/listed"
  "$vinci" --help | sed '/^Options:/q' | grep -B1 '^  run ' | grep -q '^See where the time .*:$' || echo "no group above run")"

# Verbs, and "VERB COMMAND" of those with commands.
commands_of() {
  "$vinci" help --words "$1" | grep -v '^-'
}
while read -r verb; do
  echo "$verb"
  case $verb in isa) continue ;; esac # its words have no help of their own
  commands_of "$verb" | sed "s/^/$verb /"
done <"$work/rows" >"$work/all"

# help_problems PROGRAM "VERB COMMAND": what its help lacks.
help_problems() {
  # shellcheck disable=SC2086 # a verb and a command are two words
  set -- "$1" "$2" "$("$1" $2 --help 2>&1)"
  case $3 in "usage: vinci $2 "*) ;; *) echo "$2: --help begins with: $(printf '%s\n' "$3" | head -1)" ;; esac
  case $3 in *"
  -h, --help "*) ;; *) echo "$2: --help lists no options" ;; esac
  printf '%s\n' "$3" | sed 1d | grep -Eq "^ +.*vinci $2( |\$)" || echo "$2: --help has no example 'vinci $2 ...'"
}
report "each has help with an example" "$(while read -r verb; do help_problems "$vinci" "$verb"; done <"$work/all")"
# Options before --help are parsed, so that examples with wrong ones fail.
report "the examples have verbs and options that there are" "$(while read -r verb; do
  # shellcheck disable=SC2086
  "$vinci" $verb --help | sed -n 's/^  \(vinci [a-z].*\)/\1/p' | sed 's/ [<>|&].*//; s/   *(.*//' >"$work/examples"
  while read -r example; do
    case $example in vinci\ cc* | vinci\ lua*) continue ;; esac # which pass on what they do not know
    (eval "set -- ${example#vinci }"; "$vinci" "$@" --help) >"$work/a" 2>"$work/b" </dev/null ||
      echo "$example: $(head -1 "$work/b")"
  done <"$work/examples"
done <"$work/all")"
report "help VERB COMMAND is the same help" "$(while read -r verb; do
  # shellcheck disable=SC2086
  { "$vinci" help $verb >"$work/a" && "$vinci" $verb --help >"$work/b" && cmp "$work/a" "$work/b"; } 2>&1
done <"$work/all")"

# manual_problems "VERB COMMAND": what the manual lacks.
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$manual" >"$work/synopsis"
manual_problems() {
  verb=${1%% *} command=${1#* }
  grep -qE "^\.B vinci $verb\$" "$work/synopsis" || echo "$verb: the manual's SYNOPSIS has no '.B vinci $verb'"
  grep -qE "^\.SS vinci $verb( |\$)" "$manual" || echo "$verb: the manual has no section '.SS vinci $verb'"
  [ "$1" = "$verb" ] || sed -n "/^\.SS vinci $verb\( \|\$\)/,/^\.SH/p" "$manual" | grep -qE "(^|[^a-z])$command([^a-z]|\$)" ||
    echo "$1: the section of the manual does not name '$command'"
}
report "each is in the manual" "$({ cat "$work/all"; isa_words=$(commands_of isa); for word in $isa_words; do
  echo "isa $word"; done; } | while read -r verb; do manual_problems "$verb"; done)"

# The page of a verb has what its help has, in the sections of a manual.
report "each verb has a page of the manual with the help's options and examples" "$(
  while read -r verb; do
    page=$(sh "$TESTS_SRCDIR/cli/manual" "$vinci" "$verb" /usr/share/vinci) || echo "$verb: no page"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
      printf '%s\n' "$page" | grep -qx "\.SH $section" || echo "$verb: no section $section"
    done
    printf '%s\n' "$page" | sed 's/\\-/-/g' >"$work/page"
    "$vinci" help --words "$verb" | grep '^--' | while read -r option; do
      grep -qE -e "^\.B (-., )?$option" "$work/page" || echo "$verb: no option $option"
    done
    commands_of "$verb" | while read -r command; do
      [ "$verb" = isa ] || grep -qx "\.SS vinci $verb $command" "$work/page" || echo "$verb: no command $command"
    done
    sed -n '/^\.SH EXAMPLES/,$p' "$work/page" | grep -q "^vinci $verb" || echo "$verb: no example"
    grep -n 'traces/examples' "$work/page"
    grep -qE "doc/vinci-$verb\.1( |\$)" "$TESTS_SRCDIR/cli/local.mk" || echo "$verb: cli/local.mk installs no page"
    ! command -v groff >/dev/null || groff -man -Tascii -ww -z "$work/page" 2>&1 | head -3
  done <"$work/rows")"

# offer WORD...: what bash would offer for the last word.
offer() {
  bash -c '. "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _vinci 2>/dev/null
    printf "%s\n" "${COMPREPLY[@]}"' - "$TESTS_SRCDIR/cli/completion/vinci" "$vinci" "$@"
}
if command -v bash >/dev/null; then
  offer '' >"$work/offered"
  report "the shell completes verbs" "$(diff "$work/verbs" "$work/offered")"
  report "their commands and options" "$(while read -r verb; do
    # shellcheck disable=SC2086
    offer $verb -- | grep -qx -e --help || echo "$verb: no --help"
  done <"$work/all"
  [ "$(offer net ex)" = explain ] || echo "net ex: $(offer net ex)"
  [ "$(offer run --soc)" = --soc-version= ] || echo "run --soc: $(offer run --soc)"
  [ "$(offer net run --passes)" = --passes= ] || echo "net run --passes: $(offer net run --passes)"
  [ "$(offer isa s)" = show ] || echo "isa s: $(offer isa s)")"
  : >"$work/trace_of_mine.csv"
  report "chips, operators and their keys" "$(for words in 'run x -s' 'run x --soc-version =' 'gate check x -s'; do
    # shellcheck disable=SC2086
    [ "$(offer $words Ascend910B4-)" = Ascend910B4-1 ] || echo "$words: $(offer $words Ascend910B4-)"
  done
  "$vinci" soc list | sed '1d; s/ .*//' | sort >"$work/listed"
  "$vinci" help --choices run -s | sort | diff "$work/listed" - || echo "not the chips of vinci soc list"
  offer run matmu | grep -qx matmul || echo "run matmu: $(offer run matmu)"
  [ "$(offer run matmul transpose_b)" = transpose_b= ] || echo "run matmul transpose_b: $(offer run matmul transpose_b)"
  [ "$(offer sweep run matmul transpose_b)" = transpose_b= ] || echo "no keys: $(offer sweep run matmul transpose_b)"
  [ -z "$(offer soc matmu)" ] || echo "soc matmu: $(offer soc matmu)")"
  report "and files" "$(cd "$work" && case $vinci in /*) ;; *) vinci=$OLDPWD/$vinci ;; esac
    [ "$(offer run trace_of)" = trace_of_mine.csv ] || offer run trace_of
    [ "$(offer run x --output = trace_of)" = trace_of_mine.csv ] || offer run x --output = trace_of)"
else
  for test in verbs options chips files; do report "completion of $test # SKIP no bash" ''; done
fi

# The other shells call the program by its name.
mkdir -p "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(case $vinci in /*) echo "$vinci" ;; *) echo "$PWD/$vinci" ;; esac)" >"$work/bin/vinci"
chmod +x "$work/bin/vinci"
bin=$(cd "$work/bin" && pwd)
fish_offers() { PATH="$bin:$PATH" fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$TESTS_SRCDIR/cli/completion/vinci.fish" "$1"; }
if command -v fish >/dev/null; then
  report "fish completes verbs, commands, options and files" "$(
    fish_offers 'vinci ' | sort >"$work/fish"
    sort "$work/verbs" | comm -23 - "$work/fish"
    [ "$(fish_offers 'vinci net ex')" = explain ] || echo "net ex: $(fish_offers 'vinci net ex')"
    [ "$(fish_offers 'vinci net run --passes')" = --passes= ] || echo "net run --passes: $(fish_offers 'vinci net run --passes')"
    fish_offers 'vinci run --soc' | grep -qx -e '--soc-version=.*' || echo "run --soc: $(fish_offers 'vinci run --soc')"
    for words in '-s ' '--soc-version ' '--soc-version='; do
      fish_offers "vinci run x ${words}Ascend910B4-" | grep -qx "\(--soc-version=\)\?Ascend910B4-1" || echo "$words: no chip"
    done
    fish_offers 'vinci run matmu' | grep -qx matmul || echo "run matmu: $(fish_offers 'vinci run matmu')"
    [ "$(fish_offers 'vinci sweep run matmul transpose_b')" = transpose_b= ] || echo "no key"
    (cd "$work" && fish_offers 'vinci run trace_of' | grep -qx trace_of_mine.csv) || echo "no file")"
else
  report "completion of fish # SKIP no fish" ''
fi
# What _vinci gives zsh, as far as it begins like the last word.
zsh_offers() {
  PATH="$bin:$PATH" zsh -f -c '
    compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- ${(M)@:#$PREFIX*} }
    _files() { print -l -- $PREFIX*(N) }
    file=$1; shift; words=("$@"); CURRENT=$#; PREFIX=$words[-1]
    . $file' - "$TESTS_SRCDIR/cli/completion/_vinci" vinci "$@" | grep .
}
if command -v zsh >/dev/null; then
  report "zsh completes verbs, commands, options and files" "$(
    zsh_offers '' | sort >"$work/zsh"
    sort "$work/verbs" | comm -23 - "$work/zsh"
    [ "$(zsh_offers net ex)" = explain ] || echo "net ex: $(zsh_offers net ex)"
    [ "$(zsh_offers net run --passes)" = --passes= ] || echo "net run --passes: $(zsh_offers net run --passes)"
    [ "$(zsh_offers run --soc)" = --soc-version= ] || echo "run --soc: $(zsh_offers run --soc)"
    for words in -s --soc-version; do
      [ "$(zsh_offers run x $words Ascend910B4-)" = Ascend910B4-1 ] || echo "$words: no chip"
    done
    zsh_offers run matmu | grep -qx matmul || echo "run matmu: $(zsh_offers run matmu)"
    [ "$(zsh_offers sweep run matmul transpose_b)" = transpose_b= ] || echo "no key"
    (cd "$work" && zsh_offers run trace_of | grep -qx trace_of_mine.csv) || echo "no file")"
else
  report "completion of zsh # SKIP no zsh" ''
fi
