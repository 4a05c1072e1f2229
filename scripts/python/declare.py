#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes the ctypes declarations of the library from its headers, so that no layout is written twice.

    declare.py [--libdir=DIR] HEADER... -- CC [FLAG]... >vinci/_abi.py

The C preprocessor expands lists of X macros; what is left are enums, structs and prototypes, which
this program reads: the C that the headers are written in, and nothing more. What it cannot read is
an error. Pointers to structs that have no members in the headers become c_void_p.
"""
import os
import re
import subprocess
import sys

PLAIN = {"void": None, "_Bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint",
         "unsigned long": "c_ulong", "double": "c_double", "size_t": "c_size_t", "FILE": None,
         "uint8_t": "c_uint8", "uint16_t": "c_uint16", "uint32_t": "c_uint32",
         "uint64_t": "c_uint64", "int32_t": "c_int32", "int64_t": "c_int64"}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|\.\.\.|<<|\S")
IGNORED = {"const", "extern"}


def headers_alone(headers, compiler):
    """The preprocessed text of these headers, without that of the system's."""
    source = "".join(f'#include "{os.path.abspath(header)}"\n' for header in headers)
    done = subprocess.run([*compiler, "-E", "-x", "c", "-"], input=source, text=True,
                          stdout=subprocess.PIPE, check=True)
    wanted = {os.path.abspath(header) for header in headers}
    kept, here = [], False
    for line in done.stdout.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            here = os.path.abspath(mark[1]) in wanted
        elif here:
            kept.append(line)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)(?=\s)", " ", "\n".join(kept))


class Reader:
    """Reads declarations one after the other."""

    def __init__(self, text):
        self.words, self.at = TOKEN.findall(text), 0
        self.constants, self.structs, self.functions = {}, {}, {}
        self.named = set()  # structs and typedefs without members

    def fail(self, what):
        sys.exit(f"declare.py: {what} near '{' '.join(self.words[max(0, self.at - 8):self.at + 4])}'")

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, wanted=None):
        word = self.peek()
        if wanted and word != wanted:
            self.fail(f"expected '{wanted}'")
        self.at += 1
        return word

    def has(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def read(self):
        while self.peek():
            if self.has("typedef"):
                self.typedef()
            elif self.peek() == "enum" and "{" in self.words[self.at + 1:self.at + 3]:
                self.enum()
            elif self.peek() == "struct" and self.words[self.at + 2] == "{":
                self.struct()
            elif self.peek() == "struct" and self.words[self.at + 2] == ";":
                self.at += 3
            else:
                self.function()
        return self

    def typedef(self):
        """typedef struct vinci_soc vinci_soc; — the only form."""
        self.take("struct")
        self.named.add(self.take())
        self.take()
        self.take(";")

    def constant(self, ends):
        """A constant expression of numbers and names, up to one of these words."""
        start = self.at
        while self.peek() not in ends:
            self.at += 1
        words = [str(self.constants.get(word, word)) for word in self.words[start:self.at]]
        text = re.sub(r"(?<=\d)[uUlL]+", "", "".join(words))
        if not re.fullmatch(r"[\d+\-*()<]+", text):
            self.fail(f"not a constant: {text}")
        return eval(text)  # numbers and signs alone

    def enum(self):
        self.take("enum")
        if self.peek() != "{":
            self.take()
        self.take("{")
        value = 0
        while not self.has("}"):
            name = self.take()
            if self.has("="):
                value = self.constant(",}")
            self.constants[name] = value
            value += 1
            self.has(",")
        self.take(";")

    def base(self):
        """The type before the stars, as its name in C."""
        while self.peek() in IGNORED:
            self.at += 1
        word = self.take()
        if word in ("struct", "enum"):
            word += " " + self.take()
        elif word == "unsigned":
            word += " " + self.take() if self.peek() in ("long", "int") else ""
        while self.peek() == "const":
            self.at += 1
        return "unsigned" if word == "unsigned int" else word

    def declarator(self, base):
        """Name and ctypes type of what follows a base: stars, a name, extents; or a function."""
        stars = 0
        while self.peek() in ("*", "const"):
            stars += self.take() == "*"
        if self.peek() == "(" and self.words[self.at + 1] == "*":  # a pointer to a function
            self.at += 2
            name = self.take()
            self.take(")")
            return name, f"CFUNCTYPE({', '.join([self.type_of(base, stars)] + self.parameters())})"
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        kind = self.type_of(base, stars)
        while self.has("["):
            kind = f"{kind} * {self.constant(']')}"
            self.take("]")
        return name, kind

    def type_of(self, base, stars):
        if base == "char" and stars:
            kind, stars = "c_char_p", stars - 1
        elif base.startswith("enum "):
            kind = "c_int"
        elif base.startswith("struct ") and base[7:] in self.structs:
            kind = base[7:]
        elif base in PLAIN and PLAIN[base]:
            kind = PLAIN[base]
        elif base in PLAIN or base in self.named or base.startswith("struct "):
            if not stars:
                return "None" if base == "void" else self.fail(f"{base} has no members")
            kind, stars = "c_void_p", stars - 1
        else:
            self.fail(f"unknown type {base}")
        return "POINTER(" * stars + kind + ")" * stars

    def struct(self):
        self.take("struct")
        name = self.take()
        self.take("{")
        fields = []
        while not self.has("}"):
            base = self.base()
            fields.append(self.declarator(base))
            while self.has(","):
                fields.append(self.declarator(base))
            self.take(";")
        self.take(";")
        self.structs[name] = fields

    def parameters(self):
        self.take("(")
        kinds = []
        while not self.has(")"):
            kinds.append(self.declarator(self.base())[1])
            self.has(",")
        return [] if kinds == ["None"] else kinds

    def function(self):
        base = self.base()
        stars = 0
        while self.peek() in ("*", "const"):
            stars += self.take() == "*"
        # A text that the caller frees is kept as its address.
        owned = base == "char" and stars == 1 and "const" not in self.words[self.at - 4:self.at]
        name = self.take()
        result = "c_void_p" if owned else self.type_of(base, stars)
        self.functions[name] = (result, self.parameters())
        self.take(";")


def write(reader, libdir, out):
    def line(text=""):
        out.write(text + "\n")

    line("# Made by declare.py from the headers of the library; not to be edited.")
    line('"""Constants, structs and prototypes of libvinci."""')
    line("from ctypes import *")
    line(f"\nLIBDIR = {libdir!r}\n")
    for name, value in reader.constants.items():
        line(f"{name} = {value}")
    for name, fields in reader.structs.items():
        line(f"\n\nclass {name}(Structure):")
        line("    _fields_ = [")
        for field, kind in fields:
            line(f"        ({field!r}, {kind}),")
        line("    ]")
    line("\n\nSTRUCTS = [" + ", ".join(reader.structs) + "]")
    line("\nFUNCTIONS = {")
    for name, (result, kinds) in reader.functions.items():
        line(f"    {name!r}: ({result}, [{', '.join(kinds)}]),")
    line("}")


def main(arguments):
    libdir = None
    if arguments and arguments[0].startswith("--libdir="):
        libdir = arguments.pop(0)[len("--libdir="):]
    at = arguments.index("--") if "--" in arguments else 0
    if at == 0 or at + 1 == len(arguments):
        sys.exit(__doc__)
    write(Reader(headers_alone(arguments[:at], arguments[at + 1:])).read(), libdir, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
