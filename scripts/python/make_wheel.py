#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes the wheel of the module vinci: the package of a build folder, the library, and the data of chips. Needs
no other package. The same build gives the same bytes.

    make_wheel.py BUILD VERSION FOLDER        writes FOLDER/vinci-VERSION-py3-none-PLATFORM.whl

It is also what pyproject.toml names for pip, which finds the build folder in $VINCI_BUILD:

    VINCI_BUILD=build pip wheel --no-deps --no-build-isolation scripts/python
"""
import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = ("soc", "mem", "noc", "energy", "group", "lib")  # of the folder scripts
ABOUT = """Metadata-Version: 2.1
Name: vinci
Version: {version}
Summary: Cycle-level simulator of Ascend "Da Vinci" AI Cores
License: Apache-2.0
Requires-Python: >=3.8
"""


def contents(build):
    """(name in the wheel, path) of each file."""
    package = os.path.join(build, "python", "vinci")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name in ("libvinci.so.0", "py.typed"):
            yield f"vinci/{name}", os.path.join(package, name)
    for folder in DATA:
        source = os.path.join(os.path.dirname(HERE), folder)
        for name in sorted(os.listdir(source)):
            if name.endswith(".lua"):
                yield f"vinci/data/{folder}/{name}", os.path.join(source, name)


def packed(name, held):
    """The bytes of a file as the wheel has them: _abi.py names no folder of a machine."""
    if name == "vinci/_abi.py":
        held = re.sub(rb"^LIBDIR = .*$", b"LIBDIR = None", held, count=1, flags=re.M)
    return held


def make(build, version, folder):
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"py3-none-{platform}"
    info = f"vinci-{version}.dist-info"
    files = []
    for name, path in contents(build):
        with open(path, "rb") as file:
            files.append((name, packed(name, file.read())))
    wheel = f"Wheel-Version: 1.0\nGenerator: vinci\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files.append((f"{info}/METADATA", ABOUT.format(version=version).encode()))
    files.append((f"{info}/WHEEL", wheel.encode()))
    with open(os.path.join(HERE, "..", "..", "LICENSE"), "rb") as file:
        files.append((f"{info}/LICENSE", file.read()))
    record = "".join(f"{name},sha256={digest(held)},{len(held)}\n" for name, held in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    made = f"vinci-{version}-{tag}.whl"
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, made), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, held)
    return made


def digest(held):
    return base64.urlsafe_b64encode(hashlib.sha256(held).digest()).rstrip(b"=").decode()


# ---- for pip, by pyproject.toml ------------------------------------------------------------


def _given():
    build = os.environ.get("VINCI_BUILD", os.path.join(HERE, "..", "..", "build"))
    package = os.path.join(build, "python", "vinci", "__init__.py")
    if not os.path.exists(package):
        sys.exit(f"make_wheel.py: {build} is not a build folder of vinci: VINCI_BUILD names one")
    with open(os.path.join(build, "config.status"), encoding="utf-8") as file:
        return build, re.search(r"PACKAGE_VERSION='(.*)'|\"PACKAGE_VERSION\"\]=\"(.*)\"", file.read())


def build_wheel(folder, config_settings=None, metadata_directory=None):
    build, version = _given()
    return make(build, next(filter(None, version.groups())), folder)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(make(*sys.argv[1:]))
