# SPDX-License-Identifier: Apache-2.0
"""Prints where the structs of vinci/_abi.py differ from what the C compiler makes of the headers.

    layouts.py FOLDER-OF-HEADERS CC [FLAG]...
"""
import ctypes
import os
import subprocess
import sys
import tempfile

from vinci import _abi

folder, *compiler = sys.argv[1:]
wanted = {}
lines = [f'#include "{name}"' for name in sorted(os.listdir(folder))
         if name.startswith("vinci") and name.endswith(".h") and not name.startswith("vinci_systemc")]
lines += ["#include <stdio.h>", "#include <stddef.h>", "int main(void) {"]
for struct in _abi.STRUCTS:
    name = struct.__name__
    wanted[name] = (ctypes.sizeof(struct), 0)
    lines.append(f'  printf("{name} %zu 0\\n", sizeof(struct {name}));')
    for field, _ in struct._fields_:
        place = getattr(struct, field)
        wanted[f"{name}.{field}"] = (place.size, place.offset)
        lines.append(f'  printf("{name}.{field} %zu %zu\\n", sizeof(((struct {name} *)0)->{field}), '
                     f"offsetof(struct {name}, {field}));")
lines += ["  return 0;", "}"]
with tempfile.TemporaryDirectory() as work:
    with open(os.path.join(work, "layouts.c"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    program = os.path.join(work, "layouts")
    subprocess.run([*compiler, f"-I{folder}", file.name, "-o", program], check=True)
    told = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
seen = {name: (int(size), int(offset)) for name, size, offset in map(str.split, told.splitlines())}
for name in sorted(set(wanted) | set(seen)):
    if wanted.get(name) != seen.get(name):
        print(f"{name}: {wanted.get(name)} in Python, {seen.get(name)} in C")
if len(_abi.STRUCTS) < 60 or len(seen) < 500:
    print(f"only {len(_abi.STRUCTS)} structs with {len(seen)} fields")
