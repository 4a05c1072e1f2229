# SPDX-License-Identifier: Apache-2.0
"""Runs a command again and again, each time with another allocation that finds no memory.

    shortage.py LIBRARY EVERY COMMAND...

LIBRARY is shortage.c, compiled. The first run counts the allocations. Then the last 24 fail one by one, and
of the others every EVERY-th: most of them read the chip's description. @ in a word is a folder of the run
itself. Each run has to end as the first did, or with 8 and a message. What ends otherwise is printed.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

NO_MEMORY, LAST = 8, 24


def main():
    library, every, command = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]

    def run(**settings):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            done = subprocess.run([word.replace("@", folder) for word in command], check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=120,
                                  env=dict(os.environ, LD_PRELOAD=library, **settings))
        return done.returncode, done.stderr.decode(errors="replace").strip()

    counted = "%s.count" % library
    wanted, said = run(SHORTAGE_COUNT=counted)
    if wanted != 0:
        print("ends with %d: %s" % (wanted, said))
        return
    with open(counted) as file:
        count = int(file.read())
    places = sorted(set(range(1, count + 1, every)) | set(range(max(1, count - LAST), count + 1)))
    refused = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for place, (code, said) in zip(places, pool.map(lambda at: run(SHORTAGE_AT=str(at)), places)):
            refused += code == NO_MEMORY
            if code not in (wanted, NO_MEMORY) or (code == NO_MEMORY and "error: " not in said):
                print("allocation %d of %d: ends with %d: %s" % (place, count, code, said))
    if refused == 0:
        print("none of %d allocations was missed" % len(places))


main()
