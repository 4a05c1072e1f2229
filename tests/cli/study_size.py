#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make study-size: what a study of many trivial points takes of this host.

    study_size.py VINCI POINTS...

Each point is a copy of a few elements with flat memory. Up to 10,000 points run; of more, only the first does, and
the others get its cells in their records, as if they had run. For each number of points: CPU of a point and the
most memory of the process, for the run, `sweep status`, `sweep collect`, and the run again, which finds all done;
sizes of the files. The work folder is that of TMPDIR. Needs numpy.

Ends with 1 when a point more takes more memory than GROWTH says: what is kept of a point is its place in the journals,
24 bytes, which is there twice while it grows; a run has its numbers, its id and its place in the list of work too.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy

STUDY = """local shapes, sizes = { "op.shape" }, { "hbm.size" }
for i = 1, %d do shapes[#shapes + 1] = 16 * i end
for i = 1, %d do sizes[#sizes + 1] = tostring(1024 + i) .. "MiB" end
return { soc = "Ascend910B4", memory = "flat", op = "copy", dtype = "fp16", params = { shapes, sizes } }
"""
MIB, RUN_MOST, PIECE = 1 << 20, 10000, 50000
LOOK_SECONDS = 0.01
GROWTH = {"status": 64, "collect": 64, "again": 128}  # bytes of a point
MISSING = 7  # the exit code of a run that leaves points


def high_water(process):
    """MiB that a process has held at most; 0 of one that has ended."""
    try:
        with open("/proc/%d/status" % process) as status:
            return max([int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")], default=0)
    except OSError:
        return 0


def run(arguments, expected=0):
    """Seconds of CPU, and MiB of the process, which is the largest. What wait4() says of memory begins with ours."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=None if expected == 0 else subprocess.DEVNULL)
    ended, mib = 0, 0
    while not ended:
        mib = max(mib, high_water(process.pid))
        time.sleep(LOOK_SECONDS)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    if os.waitstatus_to_exitcode(status) != expected:
        sys.exit("%s ended with %d" % (" ".join(arguments), os.waitstatus_to_exitcode(status)))
    return used.ru_utime + used.ru_stime, mib


def lines_of(ids, cells):
    """Lines of a journal (core/base/journal.c): id, cells, and the digest of both (FNV-1a)."""
    texts = numpy.frombuffer(b"".join(b"%s\t%s" % (one, cells) for one in ids), numpy.uint8).reshape(len(ids), -1)
    sums = numpy.full(len(ids), 0xCBF29CE484222325, numpy.uint64)
    for column in texts.T.astype(numpy.uint64):
        sums = (sums ^ column) * numpy.uint64(0x100000001B3)
    return b"".join(b"%s\t%016x\n" % (text.tobytes(), value) for text, value in zip(texts, sums.tolist()))


def make_records(output):
    """Records of all points of the manifest but that of the first, which has run."""
    name = os.path.join(output, "journal", "local-0.log")
    with open(name, "rb") as journal:
        cells = journal.readline().split(b"\t")[1]
    if not cells.startswith(b"ok,"):
        sys.exit("the first point has failed: %s" % cells)
    with open(os.path.join(output, "manifest.csv"), "rb") as manifest, open(name, "ab") as journal:
        next(manifest)
        next(manifest)
        while ids := [line[:16] for line, _ in zip(manifest, range(PIECE))]:
            journal.write(lines_of(ids, cells))


def measure(vinci, points, work):
    across = min(100, points)
    study, output = os.path.join(work, "study.lua"), os.path.join(work, "out%d" % points)
    with open(study, "w") as out:
        out.write(STUDY % (across, points // across))
    sweep = (vinci, "sweep", "run", study, "-j1", "-q", "--output=" + output)
    rows = []
    if points <= RUN_MOST:
        rows.append(("run", run(sweep)))
    else:
        rows.append(("first", run(sweep + ("--limit=1",), MISSING)))
        make_records(output)
    rows += [("again", run(sweep)), ("status", run((vinci, "sweep", "status", output))),
             ("collect", run((vinci, "sweep", "collect", output)))]
    for name, (seconds, mib) in rows:
        print("%8d points  %-8s %9.1f us of CPU a point  %7.1f MiB" % (points, name, 1e6 * seconds / points, mib))
    journal = sum(os.path.getsize(os.path.join(output, "journal", name)) for name in os.listdir(os.path.join(output, "journal")))
    table = os.path.getsize(os.path.join(output, "results.csv"))
    print("%8d points  files    %9.1f MiB of journals, %.1f MiB of results.csv" % (points, journal / MIB, table / MIB), flush=True)
    return {name: mib for name, (_, mib) in rows}


def main():
    vinci, counts = sys.argv[1], [int(text) for text in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as work:
        held = [measure(vinci, points, work) for points in counts]
    grown = 0
    for name, most in GROWTH.items():
        if len(counts) > 1:
            each = MIB * (held[-1][name] - held[0][name]) / (counts[-1] - counts[0])
            print("%-8s %5.0f bytes a point, at most %d: %s" % (name, each, most, "yes" if each <= most else "NO"))
            grown |= each > most
    sys.exit(int(grown))


main()
