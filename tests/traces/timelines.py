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
        check_counter(summary, trace, uuid, values, moved)
    names = {trace.tracks[uuid][0] for uuid in trace.counters}
    for name in memory_bytes(summary):
        if not names & {name + " GB/s", name + " B/cycle"}:
            say("there is no counter %s", name)


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


def check_counter(summary, trace, uuid, values, moved):
    """A value is one integer amount for a step; the steps add up to what the slices or summary.json
    have, to the last byte."""
    name, parent, unit = trace.tracks[uuid]
    lane = core_and_pipe(trace.tracks, parent)
    memory = memory_bytes(summary)
    if name.endswith(" queue depth") and unit == "instructions":
        return
    if not name.endswith(" " + unit) or unit not in ("GB/s", "B/cycle"):
        say("counter %s has the unit %s", name, unit)
        return
    what = name[:-len(unit) - 1]
    if lane:
        expected = moved[lane]
    elif what in memory:
        expected = memory[what]
    elif what.startswith("all "):
        expected = of_kind(moved, *what.split()[1:])
    else:
        to_gm = what == "GM written"
        expected = sum(count for path, count in summary["bytes"].items()
                       if path.endswith("->GM" if to_gm else "") and
                       path.startswith("" if to_gm else "GM->"))
    found = sum(amounts(summary, values, what in memory,
                        1e12 / megahertz(summary) / 1e6 if unit == "B/cycle" else 1000))
    if found != expected:
        say("the counter %s of %s adds up to %s bytes, not %s", name, lane, found, expected)


def of_kind(moved, kind, pipe):
    part = {"AIC": "cubecore", "AIV": "veccore"}[kind]
    return sum(count for (core, of), count in moved.items() if of == pipe and part in core)


def memory_bytes(summary):
    """What each track of the chip adds up to."""
    l2, paths = summary["l2"], summary["bytes"]
    found = {
        "HBM read": summary["hbm"]["read_bytes"], "HBM written": summary["hbm"]["write_bytes"],
        "L2 hits": 128 * (l2["read_hits"] + l2["write_hits"]),
        "L2 misses": 128 * (l2["read_misses"] + l2["write_misses"]),
        "network to cores": sum(n for path, n in paths.items() if path.startswith("GM->")),
        "network from cores": sum(n for path, n in paths.items() if path.endswith("->GM"))}
    return {name: count for name, count in found.items() if count}


def megahertz(summary):
    """Of the cores: total_cycles is rounded up."""
    return round(clocks(summary))


def total_ps(summary):
    return round(summary["duration_us"] * 1e6)


def steps_of(summary, memory):
    """Length and number of the steps: of what the memory system counts at most 512 of the least
    2^n ps, n >= 16; others at most 256 of the least whole number of microseconds."""
    total, step = total_ps(summary), 1 << 16
    if memory:
        while total // step >= 512:
            step *= 2
    else:
        step = 1000000 * -(-(total // 1000000 + 1) // 256)
    return step, total // step + 1


def amounts(summary, values, memory, one):
    """Amounts of all steps from a track's changes, in ns; `one` is 1 in a ps, in the track's unit."""
    step, count = steps_of(summary, memory)
    found, at = [], 0
    for number in range(count):
        while at + 1 < len(values) and values[at + 1][0] <= number * step // 1000:
            at += 1
        amount = values[at][1] * step / one
        if abs(amount - round(amount)) > 1e-3:
            say("a step has %s", amount)
        found.append(round(amount))
    if at + 1 != len(values):
        say("a track changes after %d of %d steps", at, len(values))
    return found


# ---- Chrome -----------------------------------------------------------------------------------

def check_chrome(folder, path=None):
    summary = strict(folder + "/summary.json")
    trace = strict(path or folder + "/trace.json")
    if list(trace)[:4] != ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"] or \
            (trace["displayTimeUnit"], trace["profilingType"], trace["schemaVersion"]) != \
            ("ns", "op", 2):
        say("the head is not the vendor's")
    lanes, starts, ends = collections.defaultdict(list), {}, {}
    counters, moved = collections.defaultdict(list), collections.Counter()
    names = {lane: pipe for pipe, lane in PIPES.items()}
    origin = origin_of(summary, trace)
    for event in trace["traceEvents"]:
        if event["ph"] not in "XMstC":
            say("phase %s", event["ph"])
        if event["ph"] == "X":
            lanes[event["pid"], event["tid"]].append(event)
            if not event["name"].startswith(ORDERS):
                moved[event["pid"], names.get(event["tid"], event["tid"])] += \
                    int(event["args"].get("process_bytes", 0))
        if event["ph"] == "C" and ("bytes" in event or "waiting_ps" in event):
            counters[event["pid"], event["name"]].append(
                (round(event["ts"] * 1e6) + origin, event.get("bytes", event.get("waiting_ps")),
                 event["args"]))
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
    if not path:  # the vendor's own has none
        check_chip(summary, counters, moved)
    clock = clocks(summary)
    for (core, pipe), cycles in sorted(busy(summary).items()):
        bars = sorted(lanes[core, PIPES.get(pipe, pipe)], key=lambda e: e["ts"])
        for a, b in zip(bars, bars[1:]):
            if a["ts"] + a["dur"] > b["ts"] + 1e-6 and b["dur"] > 0:
                say("bars of %s %s overlap at %s", core, pipe, b["ts"])
        drawn = sum(bar["dur"] for bar in bars if not bar["name"].startswith(ORDERS))
        if abs(drawn * clock - cycles) > 2e-6 * clock * len(bars):
            say("%s %s is drawn for %s cycles, not %s", core, pipe, drawn * clock, cycles)


def origin_of(summary, trace):
    """Picoseconds from the launch to ts 0: the earliest bar is drawn at one cycle."""
    return round(trace["otherData"]["first_event_us_after_launch"] * 1e6) - \
        1000000 // megahertz(summary)


def clocks(summary):
    """Cycles in a microsecond: cores and chip have one clock on the chips of this test."""
    return summary["total_cycles"] / summary["duration_us"]


def check_chip(summary, counters, amount):
    """Counters of the process Memory: each value is that of its amount, and the amounts add up."""
    memory = memory_bytes(summary)
    sums = {}
    for (process, name), events in counters.items():
        if process != "Memory":
            continue
        step, count = steps_of(summary, name in memory)
        starts = [start // step for start, *_ in events] + [count]
        sums[name] = sum(event[1] * (after - before)
                         for event, before, after in zip(events, starts, starts[1:]))
        for _, bytes_in_step, arguments in events:
            (unit, value), = arguments.items()
            rate = bytes_in_step / step * (1000 if unit == "GB/s" else 1e6 / megahertz(summary))
            if unit not in ("GB/s", "B/cycle") or abs(value - rate) > 1e-6 + 1e-12 * rate:
                say("%s has %s in a step of %d bytes", name, arguments, bytes_in_step)
    for name, expected in memory.items():
        if sums.get(name) != expected:
            say("the counter %s adds up to %s bytes, not %s", name, sums.get(name), expected)
    for name in set(sums) - set(memory):
        expected = of_kind(amount, *name.split()[1:])
        if sums[name] != expected:
            say("the counter %s adds up to %s bytes, not %s", name, sums[name], expected)


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
                    self.names[words[3]] = (scope[0], scope[-1], words[4], int(words[2]))
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
    check_amounts(summary, vcd)


def check_amounts(summary, vcd):
    """Signals of the chip are bytes in steps whose length the scope's name has."""
    memory = memory_bytes(summary)
    names = {"HBM read": "hbm_read", "HBM written": "hbm_write", "L2 hits": "l2_hit",
             "L2 misses": "l2_miss", "network to cores": "network_read",
             "network from cores": "network_write"}
    step, count = steps_of(summary, True)
    for what, expected in memory.items():
        changes = vcd.changes["memory_bytes_per_%d_ps" % step, "memory_bytes_per_%d_ps" % step,
                              names[what]]
        ends = [time // step for time, _ in changes[1:]] + [count]
        if changes[-1][0] == vcd.end and changes[-1][1] == 0:
            ends[-2] = count
            changes = changes[:-1]
        found = sum(value * (end - time // step) for (time, value), end in zip(changes, ends))
        if found != expected:
            say("%s adds up to %s, not %s", what, found, expected)


# ---- queues -----------------------------------------------------------------------------------

def check_queues(folder, limits):
    """Depth of each queue, recounted from the bars of trace.json, is that of the other files and
    never more than the chip's queue has room for."""
    summary, vcd = strict(folder + "/summary.json"), Vcd(folder + "/trace.vcd")
    with open(limits, encoding="utf-8") as file:
        rows = (line.lstrip("? ").split() for line in file)
        room = {row[0][6:]: int(row[1]) for row in rows if row and row[0].startswith("queue.")}
    trace = strict(folder + "/trace.json")
    waiting, most = collections.defaultdict(list), 0
    edge = lambda cycle: int(cycle) * 1000000 // megahertz(summary)
    pipes = {lane: pipe for pipe, lane in PIPES.items()}
    for event in trace["traceEvents"]:
        pipe = pipes.get(event["tid"], event["tid"])
        if event["ph"] == "X" and pipe != "S":
            args = event["args"]
            start = int(args["start_cycle"])
            holds = event["name"] in ("wait_flag", "pipe_barrier", "wait_flag_dev")
            left = start + int(args["cycles"]) if holds else start
            waiting[event["pid"], pipe].append((edge(start - int(args.get("queued_cycles", 0))),
                                                edge(left)))
    for (core, pipe), spans in sorted(waiting.items()):
        changes = collections.Counter()
        for entered, left in spans:
            changes[entered] += 1
            changes[left] -= 1
        depth, recounted = 0, []
        for time, change in sorted(changes.items()):
            if change:
                depth += change
                recounted.append((time, depth))
        deepest = max(depth for _, depth in recounted) if recounted else 0
        most = max(most, deepest)
        if deepest > room[pipe]:
            say("the queue of %s %s holds %d instructions", core, pipe, deepest)
        if recounted != vcd.changes[core.replace(".", "_"), pipe, "queue"][1:]:
            say("the queue of %s %s is another in trace.vcd", core, pipe)
    if most < 2:
        say("no queue is ever deeper than %d", most)
    check_averages(summary, folder, trace, waiting)


def check_averages(summary, folder, trace, waiting):
    """Time spent in the queue in each step."""
    step, count = steps_of(summary, False)
    perfetto = Perfetto(folder + "/trace.pftrace")
    drawn = {}
    for uuid, values in perfetto.counters.items():
        name, parent, _ = perfetto.tracks[uuid]
        if name.endswith(" queue depth"):
            drawn[core_and_pipe(perfetto.tracks, parent)] = \
                sum(amounts(summary, values, False, 1))
    for lane in sorted(set(waiting) | set(drawn)):
        expected = sum(left - entered for entered, left in waiting[lane])
        if drawn.get(lane) != expected:
            say("instructions of %s %s wait for %s ps, not %s", *lane, drawn.get(lane), expected)
    chrome, origin = collections.defaultdict(list), origin_of(summary, trace)
    for event in trace["traceEvents"]:
        if "waiting_ps" in event:
            chrome[event["pid"], event["name"].split()[0]].append(
                ((round(event["ts"] * 1e6) + origin) // step, event["waiting_ps"],
                 event["args"]["instructions"]))
    for lane in sorted(set(waiting) | set(chrome)):
        ends = [number for number, *_ in chrome[lane][1:]] + [count]
        total = sum(ps * (end - number) for (number, ps, _), end in zip(chrome[lane], ends))
        if total != sum(left - entered for entered, left in waiting[lane]):
            say("the counter of %s %s adds up to %s ps", *lane, total)
        for _, ps, value in chrome[lane]:
            if abs(value - ps / step) > 1e-6:
                say("%s ps in the queue of %s %s are drawn as %s", ps, *lane, value)


# ---- the vendor's folder ----------------------------------------------------------------------

def check_msprof(folder, source=None):
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
    name = os.path.basename(source or folder)  # an operator's trace has its name
    check_blocks(simulator, source or "%s/%s.csv" % (folder, name), name, tables)


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
    rows, lines = {}, collections.defaultdict(list)
    for (name, op), spans in bars.items():
        lines[name] += spans
    for row in instructions[1:-1]:
        op, address, pipe, count, cycles, us, detail = row.split(",")
        name = detail.split(" ")[0]
        check_row(summary, core, name, bars.pop((name, op)), [count, cycles, us])
        if address != "0x%x" % int(name.split(":")[1]):
            say("%s %s: address %s, detail %s", core, name, address, detail)
        rows[int(address, 16), op] = (int(cycles), int(count))
    for row in code[1:-1]:
        name, *numbers = row.split(",")
        check_row(summary, core, name, lines.pop(name), numbers)
    for left in (bars, lines):
        if left:
            say("%s: no row of %s", core, sorted(left)[0])
    return rows


def check_row(summary, core, name, spans, numbers):
    """Calls and cycles of all bars, and the time in which at least one of them ran."""
    covered, until = 0, 0
    for start, end in sorted(spans):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    expected = [str(len(spans)), str(sum(end - start for start, end in spans))]
    if numbers[:2] != expected:
        say("%s %s: %s, not %s", core, name, numbers, expected)
    if abs(float(numbers[2]) - covered / clocks(summary)) > 0.00501:
        say("%s %s: %s us, not %s", core, name, numbers[2], covered / clocks(summary))


def check_blocks(simulator, source, name, tables):
    """Heads of 12 bytes: length with padding, type, padding, version, reserved."""
    with open(simulator + "/visualize_data.bin", "rb") as file:
        data = file.read()
    at, blocks, paths = 0, {}, []
    while at < len(data):
        length, kind, padding, version, reserved = struct.unpack_from("<QBBBB", data, at)
        path = 4096 if kind == 1 else 0
        if kind == 1:
            paths.append(data[at + 12:at + 12 + path].rstrip(b"\0").decode())
        at += path
        content = data[at + 12:at + 12 + length]
        if len(content) != length or length % 4 or padding > 3 or reserved != 0x5a or \
                version != (0 if kind == 4 else 0x5a) or content[length - padding:].strip(b"\0"):
            say("block %d has a wrong head", kind)
        blocks[kind] = content[:length - padding]
        at += 12 + length
    if sorted(blocks) != [1, 2, 3, 4]:
        say("blocks %s", sorted(blocks))
        return
    with open(source, "rb") as file:
        if file.read() != blocks[1] or paths != [name]:
            say("the source of the blocks is another: %s", paths)
    with open(simulator + "/trace.json", "rb") as file:
        if file.read() != blocks[2]:
            say("the timeline of the blocks is another")
    lines, instructions = json.loads(blocks[3]), json.loads(blocks[4])
    columns = ["Cycles", "Instructions Executed", "Process Bytes"]
    if list(lines["Files Dtype"]["Lines"]) != ["Line", "Address Range"] + columns or \
            list(instructions["Instructions Dtype"]["Instructions"]) != \
            ["Address", "AscendC Inner Code", "Source", "Pipe"] + columns:
        say("columns %s", lines["Files Dtype"])
    numbers = [line["Line"] for line in lines["Files"][0]["Lines"]]
    if lines["Files"][0]["Source"] != paths[0] or numbers != sorted(set(numbers)):
        say("lines %s of %s", numbers, lines["Files"][0]["Source"])
    for column, core in enumerate(instructions["Cores"]):
        rows = {(int(row["Address"], 16), row["Source"]):
                (row["Cycles"][column], row["Instructions Executed"][column])
                for row in instructions["Instructions"] if row["Instructions Executed"][column]}
        if rows != tables[core]:
            say("instructions of %s are other ones", core)
        of_lines = sum(line["Cycles"][column] for line in lines["Files"][0]["Lines"])
        if of_lines != sum(cycles for cycles, _ in rows.values()):
            say("lines of %s have %s cycles", core, of_lines)


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
             if event["pid"] not in ("MTE Throughput", "Memory")}
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
          "window": check_window, "hotspots": check_hotspots,
          "queues": check_queues}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
