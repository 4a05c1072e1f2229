# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# TAP for the script tests: plan N, then N times `report NAME PROBLEMS`. What they share beside that:
# a folder to work in, runs whose output is kept, and the problems of that output.

tap_number=0

# Tests run as a user's programs do, also on a CI machine: there `vinci gate bless` refuses to work.
unset CI GITHUB_ACTIONS GITLAB_CI JENKINS_URL TF_BUILD BUILDKITE TEAMCITY_VERSION

# Python with Debian's numpy: another Python that stands first in PATH need not have numpy.
[ ! -x /usr/bin/python3 ] || : "${PYTHON:=/usr/bin/python3}"
: "${PYTHON:=python3}"
export PYTHON

plan() {
  echo "1..$1"
}

# Ends a test that cannot run here.
skip_all() {
  echo "1..0 # SKIP $1"
  exit 0
}

# The problem that a program is missing. scripts/check installs all of them and says so with
# VINCI_ALL_PACKAGES: there it is a failure, or a green check would hide tests that never ran.
without() {
  [ -z "${VINCI_ALL_PACKAGES:-}" ] || [ -n "${VINCI_INSTRUMENT:-}" ] || command -v "$1" >/dev/null ||
    echo "scripts/check has not installed $1"
}

# Ends a test that lacks a program or a module of Python.
skip_without() {
  [ -z "${VINCI_ALL_PACKAGES:-}" ] || {
    echo "scripts/check has not installed $1" >&2
    exit 99
  }
  skip_all "no $1"
}

# needs_python [MODULE]: ends a test where there is no Python, or no such module.
needs_python() {
  "$PYTHON" -c "${1:+import $1}" 2>/dev/null || skip_without "${1:-Python}"
}

# Ends a test of kernels from source where there is no compiler for these.
needs_compiler() {
  clang++ --version >/dev/null 2>&1 || skip_without "clang++"
}

# Ends a test of kernels that trap where the build is instrumented: after a trap the sanitizer maps its memory a second
# time, and ends the process before the program does.
needs_traps() {
  [ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
}

# python_test SCRIPT ARGUMENT...: a test in Python, with tests/support/tap.py.
python_test() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="${TESTS_SRCDIR:-.}/tests/support" "$PYTHON" "$@"
}

# One result; it fails when there are problems, one per line.
report() {
  tap_number=$((tap_number + 1))
  if [ -z "$2" ]; then
    echo "ok $tap_number - $1"
  else
    echo "not ok $tap_number - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

# report_run NAME COMMAND...: a result; what the command says is a comment, or why the test fails.
report_run() {
  tap_name=$1
  shift
  if tap_said=$("$@" 2>&1); then
    echo "# $tap_said"
    tap_said=
  else
    tap_said=${tap_said:-"exit code $? without a word"}
  fi
  report "$tap_name" "$tap_said"
}

# The folder $work, which goes when the test ends; `work_folder NAME [PARENT]`.
work_folder() {
  work=$(mktemp -d "${TMPDIR:-${2:-.}}/$1.XXXXXX") || exit 99
  trap 'rm -rf "$work"' EXIT
}

# keep COMMAND...: runs the command; stdout, stderr and exit code are in $out, $err, $code.
keep() {
  "$@" >"$work/out" 2>"$work/err"
  code=$?
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}

# The problems of what was kept: expect CODE STDERR [TEXT-IN-STDOUT]; "-" skips a comparison.
expect() {
  [ "$code" -eq "$1" ] || printf 'exit code is %s, not %s:\n%s\n' "$code" "$1" "$err"
  [ "$2" = - ] || [ "$err" = "$2" ] || printf 'stderr is:\n%s\nnot:\n%s\n' "$err" "$2"
  [ $# -lt 3 ] || [ "$3" = - ] || case $out in
    *"$3"*) ;;
    *) printf 'stdout has no "%s":\n%s\n' "$3" "$out" ;;
  esac
}
