# SPDX-License-Identifier: Apache-2.0
"""TAP for tests in Python: report(NAME, PROBLEMS) for each result, and plan()."""

_results = 0


def report(name, problems=""):
    """One result; it fails when there are problems: lines of text, or a list of them."""
    global _results
    _results += 1
    print(f"{'not ok' if problems else 'ok'} {_results} - {name}", flush=True)
    for problem in problems if isinstance(problems, list) else [problems]:
        for line in str(problem or "").splitlines():
            print(f"# {line}")


def plan(results=None):
    """How many results there are: told before the first, or at the end those that were. A test that ends
    without a plan, or with fewer results, fails."""
    print(f"1..{_results if results is None else results}", flush=True)
