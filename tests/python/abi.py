# SPDX-License-Identifier: Apache-2.0
"""The binary interface of the library, a line for each constant, struct, field and function, as declare.py reads these
from the headers:

    abi.py KEPT [--renew]

Compares with the file KEPT and prints what programs that were linked before would miss; then what is new. --renew writes
the file.
"""
import ctypes
import sys

from vinci import _abi


def name_of(kind):
    if kind is None:
        return "void"
    if hasattr(kind, "_length_"):
        return f"{name_of(kind._type_)}[{kind._length_}]"
    if hasattr(kind, "contents"):
        return f"{name_of(kind._type_)}*"
    if hasattr(kind, "_restype_"):
        return f"{name_of(kind._restype_)}({', '.join(map(name_of, kind._argtypes_))})"
    # c_ulong and c_size_t are one class; widths say enough.
    kinds = {ctypes.c_char_p: "char*", ctypes.c_void_p: "void*", ctypes.c_bool: "bool", ctypes.c_char: "char",
             ctypes.c_double: "double"}
    if kind in kinds:
        return kinds[kind]
    if issubclass(kind, ctypes.Structure):
        return kind.__name__
    return ("int" if kind(-1).value < 0 else "uint") + str(8 * ctypes.sizeof(kind))


def today():
    for name, value in vars(_abi).items():
        if name.startswith("VINCI_") and isinstance(value, int):
            yield f"constant {name} {value}"
    for struct in _abi.STRUCTS:
        yield f"struct {struct.__name__} {ctypes.sizeof(struct)}"
        for field, kind in struct._fields_:
            yield f"field {struct.__name__}.{field} {getattr(struct, field).offset} {name_of(kind)}"
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        yield f"function {name_of(result)} {name}({', '.join(map(name_of, arguments))})"


def main():
    path, lines = sys.argv[1], sorted(set(today()))
    if "--renew" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return
    with open(path, encoding="utf-8") as file:
        kept = file.read().splitlines()
    for line in sorted(set(kept) - set(lines)):
        print(f"gone or changed: {line}")
    for line in sorted(set(lines) - set(kept)):
        print(f"new: {line}")
    if kept != lines:
        print("make abi writes core/abi.txt; after a release, what is gone or changed raises -version-info in Makefile.am")


main()
