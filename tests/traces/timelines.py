# SPDX-License-Identifier: Apache-2.0
"""Reads the timelines of a result folder back, each in its own format, and compares them with
summary.json: timelines.py FORMAT FOLDER. Prints what is wrong, one problem a line.

Numbers of fields are those of Perfetto's published schema and are written down here on their own;
the wire format is that of protobuf.dev/programming-guides/encoding.
"""
import collections
import csv
import glob
import json
import os
import re
import struct
import sys

PIPES = {"S": "SCALAR", "V": "VECTOR", "M": "CUBE", "FIX": "FIXP"}
ORDERS = ("set_flag", "wait_flag", "pipe_barrier", "ffts_cross_core_sync")


def say(text, *values):
    print(text % values)


def strict(path):
    """JSON without repeated keys, NaN or infinities."""
    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            raise ValueError("a key twice: %s" % keys)
        return dict(pairs)

    def refuse(word):
        raise ValueError("not JSON: " + word)

    with open(path, encoding="utf-8") as file:
        return json.load(file, object_pairs_hook=unique, parse_constant=refuse)


def busy(summary):
    """Busy cycles by core and pipe; those of S are spent on instructions without a bar."""
    return {(core["name"], pipe): counts["busy_cycles"] for core in summary["cores"]
            for pipe, counts in core["pipes"].items() if pipe != "S" and counts["busy_cycles"] > 0}


def compare(what, found, summary):
    expected = busy(summary)
    for key in sorted(set(expected) | set(found)):
        if expected.get(key, 0) != found.get(key, 0):
            say("%s: %s %s is busy for %s cycles, not %s", what, key[0], key[1],
                found.get(key, 0), expected.get(key, 0))


# ---- Perfetto ---------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def fields(data):
    """All fields of a message: number -> values in order."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError("field %d has wire type %d" % (number, kind))
        found[number].append(value)
    if at != len(data):
        raise ValueError("a message ends inside of a field")
    return found


class Sequence:
    def __init__(self):
        self.now, self.track, self.open = 0, None, None
        self.names, self.arguments, self.lines = {}, {}, {}


class Perfetto:
    def __init__(self, path):
        self.tracks, self.slices, self.counters = {}, collections.defaultdict(list), {}
        self.flows = collections.defaultdict(list)
        sequences = collections.defaultdict(Sequence)
        with open(path, "rb") as file:
            trace = fields(file.read())
        for packet in map(fields, trace[1]):
            self.packet(packet, sequences[packet[10][0]])
        for sequence in sequences.values():
            if sequence.open:
                say("a slice of track %s does not end", sequence.track)

    def packet(self, packet, sequence):
        if 60 in packet:
            track = fields(packet[60][0])
            unit = fields(track[8][0])[6][0].decode() if 8 in track else None
            self.tracks[track[1][0]] = (track[2][0].decode(), track[5][0] if 5 in track else None,
                                        unit)
        if 59 in packet:
            defaults = fields(packet[59][0])
            sequence.track = fields(defaults[11][0])[11][0]
            clocks = [fields(clock) for clock in fields(packet[6][0])[1]]
            if defaults[58] != [64] or [clock[1][0] for clock in clocks] != [6, 64] or \
                    clocks[1][3] != [1] or packet[13] != [3]:
                say("the head of a sequence has another clock or other flags")
        if 12 in packet:
            interned = fields(packet[12][0])
            for number, names in ((2, sequence.names), (3, sequence.arguments)):
                for name in map(fields, interned[number]):
                    names[name[1][0]] = name[2][0].decode()
            for line in map(fields, interned[4]):
                sequence.lines[line[1][0]] = line[4][0]
        if 11 in packet:
            sequence.now += packet[8][0]
            self.event(fields(packet[11][0]), sequence)

    def event(self, event, sequence):
        kind = event[9][0]
        if kind == 4:
            value, = struct.unpack("<d", event[44][0])
            self.counters.setdefault(sequence.track, []).append((sequence.now, value))
            return
        if kind == 2:
            sequence.open["end"] = sequence.now
            sequence.open = None
            return
        name = event[23][0].decode() if 23 in event else sequence.names[event[10][0]]
        arguments = {sequence.arguments[annotation[1][0]]: annotation[3][0]
                     for annotation in map(fields, event[4])}
        shown = dict(arguments, name=name, start=sequence.now, end=sequence.now,
                     line=sequence.lines[event[34][0]] if 34 in event else None)
        if kind == 1:
            if sequence.open:
                say("slices of track %s overlap", self.tracks[sequence.track][0])
            sequence.open = shown
        self.slices[sequence.track].append(shown)
        for number, end in ((47, False), (48, True)):
            for flow in event[number]:
                self.flows[struct.unpack("<Q", flow)[0]].append((end, sequence.now, shown,
                                                                 sequence.track))


def core_and_pipe(tracks, uuid):
    """("core0.cubecore0", "MTE2") of the track of a pipe, else None."""
    name, parent, _ = tracks[uuid]
    if parent is None or tracks[parent][1] is None or tracks[tracks[parent][1]][1] is not None:
        return None
    return tracks[parent][0], name


def check_perfetto(folder):
    summary, trace = strict(folder + "/summary.json"), Perfetto(folder + "/trace.pftrace")
    drawn, moved = collections.Counter(), collections.Counter()
    for uuid, slices in trace.slices.items():
        lane = core_and_pipe(trace.tracks, uuid)
        for shown in slices:
            if lane and lane[1] != "S" and "cycles" in shown and \
                    not shown["name"].startswith(ORDERS):
                drawn[lane] += shown.get("drawn", shown["cycles"])
                moved[lane] += shown.get("bytes", 0)
    compare("perfetto", drawn, summary)
    check_flows(trace)
    check_in_flight(trace)
    asked = sum(summary["bytes"].values())
    if sum(moved.values()) != asked:
        say("slices move %s bytes, not %s", sum(moved.values()), asked)
    for uuid, values in trace.counters.items():
        name, parent, unit = trace.tracks[uuid]
        if unit == "GB/s":
            check_rate(trace, name, parent, values, moved, summary["bytes"])
        elif unit != "instructions" or not name.endswith(" queue depth"):
            say("counter %s has the unit %s", name, unit)


def check_flows(trace):
    if not trace.flows:
        say("there are no flows")
    for flow, ends in sorted(trace.flows.items()):
        if [end for end, *_ in sorted(ends, key=lambda e: e[0])] != [False, True]:
            say("flow %s has %d ends", flow, len(ends))
            continue
        (_, left, _, source), (_, taken, _, target) = sorted(ends, key=lambda e: e[0])
        if left > taken or source == target:
            say("flow %s leads from %s at %s to %s at %s", flow, source, left, target, taken)


def check_in_flight(trace):
    """Each is as long as its cycles, which the bar of its lane is not."""
    for uuid, slices in trace.slices.items():
        name, parent, _ = trace.tracks[uuid]
        if " in flight " not in name:
            continue
        lane = {(s["line"], s.get("cycles"), s.get("bytes")) for s in trace.slices[parent]}
        for shown in slices:
            if (shown["line"], shown["cycles"], shown["bytes"]) not in lane:
                say("%s has a transfer that its pipe has not", name)


def check_rate(trace, name, parent, values, moved, paths):
    """The last step may be shorter, so the rates are those of whole steps: the first tells how
    long one is."""
    lane = core_and_pipe(trace.tracks, parent)
    expected = moved[lane]
    if trace.tracks[parent][1] is None:  # of GM, on the track of the chip
        to_gm = name.startswith("GM written")
        expected = sum(count for path, count in paths.items()
                       if path.endswith("->GM" if to_gm else "") and
                       path.startswith("" if to_gm else "GM->"))
    starts = sorted({start for series in trace.counters.values() for start, _ in series})
    step = min(b - a for a, b in zip(starts, starts[1:])) if len(starts) > 1 else 1000
    step = max(step, 1000)
    total, last_time, rate = 0.0, None, 0.0
    for time, value in values + [(max(starts) + step, 0.0)]:
        if last_time is not None:
            total += rate * (time - last_time)
        last_time, rate = time, value
    if abs(total - expected) > 1 + expected * 1e-9:
        say("the rate %s of %s adds up to %s bytes, not %s", name, lane, total, expected)


# ---- Chrome -----------------------------------------------------------------------------------

def check_chrome(folder, path=None):
    summary = strict(folder + "/summary.json")
    trace = strict(path or folder + "/trace.json")
    if list(trace)[:4] != ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"] or \
            (trace["displayTimeUnit"], trace["profilingType"], trace["schemaVersion"]) != \
            ("ns", "op", 2):
        say("the head is not the vendor's")
    lanes, starts, ends = collections.defaultdict(list), {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] not in "XMstC":
            say("phase %s", event["ph"])
        if event["ph"] == "X":
            lanes[event["pid"], event["tid"]].append(event)
        if event["ph"] in "st":
            side = starts if event["ph"] == "s" else ends
            if event["id"] in side:
                say("arrow %s starts or ends twice", event["id"])
            side[event["id"]] = event
    for arrow in sorted(set(starts) ^ set(ends)):
        say("arrow %s has one end", arrow)
    for arrow in set(starts) & set(ends):
        if starts[arrow]["ts"] > ends[arrow]["ts"]:
            say("arrow %s leads back", arrow)
    clock = clocks(summary)
    for (core, pipe), cycles in sorted(busy(summary).items()):
        bars = sorted(lanes[core, PIPES.get(pipe, pipe)], key=lambda e: e["ts"])
        for a, b in zip(bars, bars[1:]):
            if a["ts"] + a["dur"] > b["ts"] + 1e-6 and b["dur"] > 0:
                say("bars of %s %s overlap at %s", core, pipe, b["ts"])
        drawn = sum(bar["dur"] for bar in bars if not bar["name"].startswith(ORDERS))
        if abs(drawn * clock - cycles) > 2e-6 * clock * len(bars):
            say("%s %s is drawn for %s cycles, not %s", core, pipe, drawn * clock, cycles)


def clocks(summary):
    """Cycles in a microsecond: cores and chip have one clock on the chips of this test."""
    return summary["total_cycles"] / summary["duration_us"]


# ---- VCD --------------------------------------------------------------------------------------

class Vcd:
    def __init__(self, path):
        self.names, self.changes, self.end = {}, collections.defaultdict(list), 0
        scope, time, body = [], None, False
        with open(path, encoding="ascii") as file:
            for words in map(str.split, file):
                if words[0] == "$scope":
                    scope.append(words[2])
                elif words[0] == "$upscope":
                    scope.pop()
                elif words[0] == "$var":
                    if words[3] in self.names:
                        say("code %s is declared twice", words[3])
                    self.names[words[3]] = tuple(scope) + (words[4], int(words[2]))
                elif words[0] == "$timescale" and words[1:3] != ["1", "ps"]:
                    say("the time scale is %s", words[1:3])
                elif words[0] == "$enddefinitions":
                    body = True
                elif words[0].startswith("#"):
                    if time is not None and int(words[0][1:]) <= time:
                        say("time %s comes after %s", words[0], time)
                    time = int(words[0][1:])
                elif body and words[0].startswith("b"):
                    self.change(words, time)
        if scope:
            say("scope %s is not closed", scope)
        self.end = time

    def change(self, words, time):
        core, pipe, name, bits = self.names[words[1]]
        value = int(words[0][1:], 2)
        if value >= 1 << bits:
            say("%s %s %s is %d, which has more than %d bits", core, pipe, name, value, bits)
        self.changes[core, pipe, name].append((time, value))


def check_vcd(folder):
    summary, vcd = strict(folder + "/summary.json"), Vcd(folder + "/trace.vcd")
    clock = clocks(summary) / 1e6
    if abs(vcd.end / 1e6 - summary["duration_us"]) > 1e-3:
        say("the end is %s ps, not %s us", vcd.end, summary["duration_us"])
    for (core, pipe), cycles in sorted(busy(summary).items()):
        place = core.replace(".", "_"), pipe
        states = vcd.changes[place + ("state",)]
        in_state = sum(after - time for (time, state), (after, _) in
                       zip(states, states[1:] + [(vcd.end, 0)]) if state == 1)
        if abs(in_state * clock - cycles) > 2 * clock * len(states):
            say("%s %s is busy for %s cycles, not %s", core, pipe, in_state * clock, cycles)
    for (core, pipe, name), changes in sorted(vcd.changes.items()):
        if changes[0] != (0, 0) or changes[-1][1] != 0:
            say("%s %s %s starts with %s and ends with %s", core, pipe, name, changes[0],
                changes[-1])


# ---- the vendor's folder ----------------------------------------------------------------------

def check_msprof(folder):
    summary = strict(folder + "/summary.json")
    roots = glob.glob(folder + "/OPPROF_*_*")
    if len(roots) != 1 or not re.fullmatch(r"OPPROF_\d{14}_[A-Z]{16}", os.path.basename(roots[0])):
        say("folders: %s", roots)
        return
    simulator = roots[0] + "/simulator"
    check_chrome(folder, simulator + "/trace.json")
    ran = sorted(core["name"] for core in summary["cores"]
                 if any(pipe["busy_cycles"] for pipe in core["pipes"].values()))
    found = sorted(name for name in os.listdir(simulator) if name.startswith("core"))
    if found != ran:
        say("cores %s, not %s", found, ran)
    tables = {core: exe_table(simulator, core, summary) for core in found}
    check_blocks(simulator, tables)


def exe_table(simulator, core, summary):
    """Rows of a core by line and instruction, from its two tables and its timeline."""
    place = "%s/%s/%s" % (simulator, core, core)
    with open(place + "_code_exe.csv", "rb") as file:
        code = file.read().decode().split("\n")
    with open(place + "_instr_exe.csv", "rb") as file:
        instructions = file.read().decode().split("\n")
    if code[0] != "code,call_count,cycles,running_time(us)" or \
            instructions[0] != "instr,addr,pipe,call_count,cycles,running_time(us),detail":
        say("%s: the heads are %s and %s", core, code[0], instructions[0])
    bars = collections.defaultdict(list)
    for event in strict("%s/%s/trace.json" % (simulator, core))["traceEvents"]:
        if event["ph"] == "X":
            if event["pid"] != core:
                say("the timeline of %s has %s", core, event["pid"])
            start = int(event["args"]["start_cycle"])
            bars[event["args"]["code"], event["name"]].append(
                (start, start + int(event["args"]["cycles"])))
    rows = {}
    for line, row in zip(code[1:-1], instructions[1:-1]):
        name, count, cycles, us = line.split(",")
        op, address, pipe, *same, detail = row.split(",")
        own = sorted(bars.pop((name, op)))
        covered, until = 0, 0
        for start, end in own:
            covered += max(0, end - max(start, until))
            until = max(until, end)
        expected = [str(len(own)), str(sum(end - start for start, end in own))]
        if [count, cycles] != expected or same != [count, cycles, us]:
            say("%s %s: %s, not %s", core, name, [count, cycles, us], expected)
        if abs(float(us) - covered / clocks(summary)) > 0.00501:
            say("%s %s: %s us, not %s", core, name, us, covered / clocks(summary))
        if address != "0x%x" % int(name.split(":")[1]) or not detail.startswith(name):
            say("%s %s: address %s, detail %s", core, name, address, detail)
        rows[int(address, 16), op] = (int(cycles), int(count))
    if bars:
        say("%s: no row of %s", core, sorted(bars)[0])
    return rows


def check_blocks(simulator, tables):
    """Heads of 12 bytes: length with padding, type, padding, version, reserved."""
    with open(simulator + "/visualize_data.bin", "rb") as file:
        data = file.read()
    at, blocks = 0, {}
    while at < len(data):
        length, kind, padding, version, reserved = struct.unpack_from("<QBBBB", data, at)
        content = data[at + 12:at + 12 + length]
        if len(content) != length or length % 4 or padding > 3 or reserved != 0x5a or \
                version != (0 if kind == 4 else 0x5a) or content[length - padding:].strip(b"\0"):
            say("block %d has a wrong head", kind)
        blocks[kind] = content[:length - padding]
        at += 12 + length
    if sorted(blocks) != [2, 3, 4]:
        say("blocks %s", sorted(blocks))
        return
    with open(simulator + "/trace.json", "rb") as file:
        if file.read() != blocks[2]:
            say("the timeline of the blocks is another")
    lines, instructions = json.loads(blocks[3]), json.loads(blocks[4])
    for column, name in enumerate(instructions["Cores"]):
        rows = {(int(row["Address"], 16), row["Source"]):
                (row["Cycles"][column], row["Instructions Executed"][column])
                for row in instructions["Instructions"] if row["Instructions Executed"][column]}
        if rows != tables[name]:
            say("instructions of %s are other ones", name)
        of_lines = sum(line["Cycles"][column] for line in lines["Files"][0]["Lines"])
        if of_lines != sum(cycles for cycles, _ in rows.values()):
            say("lines of %s have %s cycles", name, of_lines)


# ---- what options leave out, tables -------------------------------------------------------------

def check_across(folder):
    """An arrow from a signal to each wait that took the signal."""
    trace, across = Perfetto(folder + "/trace.pftrace"), 0
    for ends in trace.flows.values():
        (_, _, left, source), (_, _, _, target) = sorted(ends, key=lambda e: e[0])
        lanes = core_and_pipe(trace.tracks, source), core_and_pipe(trace.tracks, target)
        if lanes[0][0] != lanes[1][0]:
            across += 1
            if lanes[0][0].split(".")[0] != lanes[1][0].split(".")[0]:
                say("%s signals %s of another cluster", *lanes)
    if across == 0:
        say("no arrow leads to another core")


def check_cores(folder):
    trace = Perfetto(folder + "/trace.pftrace")
    names = sorted(name for name, parent, unit in trace.tracks.values()
                   if parent and trace.tracks[parent][1] is None and not unit)
    drawn = {event["pid"] for event in strict(folder + "/trace.json")["traceEvents"]
             if event["pid"] != "MTE Throughput"}
    if names != ["core0.cubecore0", "core3.cubecore0"] or sorted(drawn) != names:
        say("cores %s and %s", names, sorted(drawn))


def check_window(folder):
    bars = [event["args"] for event in strict(folder + "/trace.json")["traceEvents"]
            if event["ph"] == "X"]
    if not bars:
        say("nothing is left")
    for bar in bars:
        start, cycles = int(bar["start_cycle"]), int(bar["cycles"])
        if start > 6000 or start + cycles < 5000 or cycles < 20:
            say("%s starts at %d and takes %d", bar["code"], start, cycles)


def check_hotspots(folder):
    summary = strict(folder + "/summary.json")
    with open(folder + "/hotspots.csv", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    order = [(-int(row["critical_cycles"]), -int(row["cycles"])) for row in rows]
    if order != sorted(order):
        say("the rows are not in order")
    critical = sum(int(row["critical_cycles"]) for row in rows)
    if not 0 < critical <= summary["total_cycles"]:
        say("%d critical cycles in a run of %d", critical, summary["total_cycles"])
    moved = sum(int(row["bytes"]) for row in rows)
    if moved != sum(summary["bytes"].values()):
        say("%d bytes, not %d", moved, sum(summary["bytes"].values()))
    for pipe in ("M", "MTE1", "MTE2", "FIX"):
        count = sum(int(row["count"]) for row in rows if row["pipe"] == pipe)
        expected = sum(core["pipes"][pipe]["instructions"] for core in summary["cores"]
                       if pipe in core["pipes"])
        if count != expected:
            say("%s has %d instructions, not %d", pipe, count, expected)


CHECKS = {"perfetto": check_perfetto, "chrome": check_chrome, "vcd": check_vcd,
          "msprof": check_msprof, "across": check_across, "cores": check_cores,
          "window": check_window, "hotspots": check_hotspots}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](sys.argv[2])
