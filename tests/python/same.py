# SPDX-License-Identifier: Apache-2.0
"""Runs operators, one a line, on a chip, and prints summary.json of each: Python for test_same.sh."""
import sys

import vinci

for line in sys.stdin:
    sys.stdout.write(vinci.run(line, chip=sys.argv[1]).json())
