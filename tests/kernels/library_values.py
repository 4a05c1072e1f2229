#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Values of operators of the open library, as they are, against numpy in double precision. The library is a copy of the
user's: VINCI_LIBRARY names it (operators, and what they include from), VINCI_HEADERS the Ascend C headers. Prints a
row for each operator, then how many are right. What an operator does is written down from its public documentation.

    library_values.py VINCI [--soc=Ascend950PR_9589] [--dtype=fp16] [--jobs=1] [--folder=FOLDER] [OPERATOR...]

Ends with 0 when all that were asked are right, else 1.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import zlib

import numpy as np

sys.dont_write_bytecode = True
from library_operators import OPERATORS  # noqa: E402  the table, in this folder

TYPES = {"fp16": np.float16, "fp32": np.float32, "int32": np.int32, "int64": np.int64, "int8": np.int8,
         "bool": np.bool_, "uint8": np.uint8, "int16": np.int16}
# Functions of fp32 are polynomials of their own on the chip: of 1e-5 or better by their documentation.
TOLERANCE = {"fp16": 4e-3, "fp32": 1e-4}
SECONDS = 600


def tensor(spec, dtype, generator):
    """One input: (name, its type, an array)."""
    kind = spec.get("dtype", dtype)
    shape = spec["shape"]
    if "values" in spec:
        return kind, np.array(spec["values"], TYPES[kind]).reshape(shape)
    if kind == "bool":
        return kind, generator.random(shape) < 0.5
    if kind.startswith(("int", "uint")):
        return kind, generator.integers(spec["low"], spec["high"], shape, TYPES[kind])
    return kind, generator.uniform(spec["low"], spec["high"], shape).astype(TYPES[kind])


def save(folder, name, array):
    path = os.path.join(folder, name + ".npy")
    np.save(path, array)
    return path


def prepare(name, dtype):
    """A call of an operator: its words, its inputs and the outputs that are compared, each {name: array}."""
    operator = OPERATORS[name]
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    words, inputs, numbers = [], {}, []
    for spec in operator["inputs"]:
        kind, array = tensor(spec, dtype, generator)
        values = "=" + ",".join(map(str, spec["values"])) if "values" in spec else ""
        words.append(f"{spec['name']}={kind}:{'x'.join(map(str, array.shape))}{values}")
        inputs[spec["name"]] = array
        numbers.append(array.astype(np.float64) if kind == dtype else array)
    with np.errstate(all="ignore"):
        made = operator["function"](*numbers)
    outputs = {}
    for output, array in zip(operator["outputs"], made if isinstance(made, tuple) else (made,)):
        output, _, kind = output.partition("::")
        outputs[output] = np.asarray(array).astype(TYPES[kind or dtype])
    return words + operator["attributes"], inputs, outputs


def given(outputs):
    """Words for the shapes of outputs, for operators that have no rule of shapes."""
    kinds = {np.dtype(kind): name for name, kind in TYPES.items()}
    return [f"{name}={kinds[array.dtype]}:{'x'.join(map(str, array.shape or (1,)))}" for name, array in outputs.items()]


def run(vinci, soc, dtype, name, folder, shapes_given=False):
    """How one operator ends: '' when its values are right, else why not. shapes_given: outputs are told too."""
    place = os.path.join(folder, f"{name}_{dtype}")
    os.makedirs(place, exist_ok=True)
    words, inputs, outputs = prepare(name, dtype)
    files = [f"--input={key}={save(place, key, array)}" for key, array in inputs.items()]
    files += [f"--expect={key}={save(place, 'want_' + key, array)}" for key, array in outputs.items()]
    words += given(outputs) if shapes_given else []
    tolerance = TOLERANCE[dtype] * OPERATORS[name]["wider"]
    line = [vinci, "run", name, *words, f"--soc-version={soc}", "--values", "--quiet",
            *files, f"--rtol={tolerance}", f"--atol={tolerance}"]
    with open(os.path.join(place, "command"), "w", encoding="utf-8") as file:
        print(" ".join(line), file=file)
    try:
        made = subprocess.run(line, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not within {SECONDS} s"
    with open(os.path.join(place, "said"), "w", encoding="utf-8") as file:
        file.write(made.stdout + made.stderr)
    if made.returncode == 0:
        return ""
    if "shapes of the outputs" in made.stderr and not shapes_given:
        return run(vinci, soc, dtype, name, folder, True)
    said = [text for text in (made.stderr + made.stdout).splitlines() if "error" in text or "differ" in text]
    return f"{made.returncode}: {said[0] if said else (made.stderr or made.stdout)[-200:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vinci")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--soc", default="Ascend950PR_9589")
    parser.add_argument("--dtype", default="fp16", choices=sorted(TOLERANCE))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", help="keep files there: command and messages of each operator")
    arguments = parser.parse_intermixed_args()
    if not os.environ.get("VINCI_LIBRARY"):
        print("library_values.py: error: VINCI_LIBRARY names no library: there is nothing to try", file=sys.stderr)
        return 2
    unknown = [name for name in arguments.operators if name not in OPERATORS]
    if unknown:
        print(f"library_values.py: error: not in the table: {' '.join(unknown)}", file=sys.stderr)
        return 2
    names = arguments.operators or list(OPERATORS)
    vinci = os.path.realpath(arguments.vinci)
    right = 0
    with tempfile.TemporaryDirectory() as passing, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = os.path.realpath(arguments.folder or passing)
        made = [pool.submit(run, vinci, arguments.soc, arguments.dtype, name, folder) for name in names]
        for name, problem in zip(names, (one.result() for one in made)):
            right += not problem
            print(f"{name:34} {problem or 'right'}", flush=True)
    print(f"{right} of {len(names)} operators right in {arguments.dtype} on {arguments.soc}")
    return 0 if right == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
