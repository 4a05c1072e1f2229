# SPDX-License-Identifier: Apache-2.0
"""The shared library: how it is found and called, and how its errors become exceptions."""
import ctypes
import difflib
import functools
import numbers
import os
import signal
import threading
import types
import typing
import weakref
from collections.abc import Mapping
from ctypes import byref, c_char_p, c_void_p

from . import _abi

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAME = "libvinci.so.0"


class Error(Exception):
    """A failure, with its place when there is a place.

    `message` is what `str` gives; `text` what is wrong, `hint` how to mend it; `file`, `line` and
    `column` where (None, 0 and 0 without a place); `status` the name of the kind, as "E_INPUT", and
    `exit_code` what the program `vinci` ends with. A call that has ended early keeps what is known
    as `result`: a run the `Result` of what ran, `net_levers` the list of what was measured.

    >>> import vinci
    >>> try:
    ...     vinci.compile("matmul m=64 k=64", chip="Ascend910B4")
    ... except vinci.Error as error:
    ...     print(error.status, error.exit_code)
    E_USAGE 2
    """

    def __init__(self, text: str, status: str = "E_USAGE", exit_code: int = 2, hint: str = "",
                 file: typing.Optional[str] = None, line: int = 0, column: int = 0, result=None):
        place = "".join(f"{part}:" for part in (file, line, column) if part) if file else ""
        self.message = (place + " " if place else "") + text + (f" ({hint})" if hint else "")
        super().__init__(self.message)
        self.text, self.hint, self.status, self.exit_code = text, hint, status, exit_code
        self.file, self.line, self.column, self.result = file, line, column, result


def _places():
    """Where the library may lie, the surest first: paths, and last the name for the linker."""
    given = os.environ.get("VINCI_SHARED_LIBRARY")
    if given:
        return [given]
    places = [os.path.join(_HERE, _NAME)]  # of a wheel
    if _abi.LIBDIR:
        places.append(os.path.join(_abi.LIBDIR, _NAME))
    return [place for place in places if os.path.exists(place)] + [_NAME]


def _called(function):
    """A function of the library whose refusals of arguments are of the type Error."""

    @functools.wraps(function)
    def called(*arguments):
        try:
            return function(*arguments)
        except ctypes.ArgumentError as error:
            raise Error(f"{function.__name__}: {error}") from None

    return called


@functools.lru_cache(maxsize=None)
def library() -> types.SimpleNamespace:
    """The functions of the library, which is loaded once, when it is first needed."""
    data = os.path.join(_HERE, "data")
    if os.path.isdir(data):  # of a wheel
        os.environ.setdefault("VINCI_DATA", data)
    path = _places()[0]
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise Error(f"the library of vinci cannot be loaded: {error}", "E_IO", 2,
                    "VINCI_SHARED_LIBRARY names libvinci.so.0") from None
    functions = types.SimpleNamespace()
    for name, (result, kinds) in _abi.FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise Error(f"{path} has no function {name}: it is of another version", "E_IO") from None
        function.restype, function.argtypes = result, kinds
        setattr(functions, name, _called(function))
    return functions


@functools.lru_cache(maxsize=None)
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.open_memstream.restype = c_void_p
    libc.open_memstream.argtypes = [ctypes.POINTER(c_char_p), ctypes.POINTER(ctypes.c_size_t)]
    libc.fclose.argtypes = [c_void_p]
    libc.free.argtypes = [c_void_p]
    libc.free.restype = None
    return libc


def text(value: typing.Optional[bytes]) -> typing.Optional[str]:
    """A text of the library; what is not UTF-8, as in names of files, is kept."""
    return None if value is None else value.decode("utf-8", "surrogateescape")


def word(value, what: str) -> typing.Optional[bytes]:
    """A text for the library; numbers as they are written, extents (17, 3) as 17x3."""
    if value is None:
        return None
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, numbers.Integral) for one in value):
        value = "x".join(map(str, value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, numbers.Real):
        value = str(int(value) if value == value // 1 else float(value))
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    if not isinstance(value, bytes):
        raise Error(f"{what} is a {type(value).__name__}, not a text or a number")
    if b"\0" in value:
        raise Error(f"{what} contains a zero byte")
    return value


def near(given, names, before: str = "") -> str:
    """The hint at the name that a misspelt one stands for; "" when none is near."""
    found = difflib.get_close_matches(str(given), list(names), 1)
    return f"{before}did you mean '{found[0]}'?" if found else ""


def words(values, what: str):
    """Texts as the library takes lists, and their number."""
    encoded = [word(value, what) for value in ([values] if isinstance(values, str) else values)]
    return (c_char_p * max(1, len(encoded)))(*encoded), len(encoded)


def assignments(values, what: str) -> typing.List[str]:
    """{key: value} or ["key=value"] or "key=value key=value" as a list of texts."""
    if values is None:
        return []
    if isinstance(values, str):
        return values.split()
    if isinstance(values, Mapping):
        return [text(word(key, what) + b"=" + word(value, f"{what}.{key}"))
                for key, value in values.items()]
    return list(values)


_WHOLE = (ctypes.c_uint, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t)


def whole(value, what: str, limit: int = 1 << 64) -> int:
    """A whole number from 0, of Python or of numpy."""
    if not isinstance(value, numbers.Integral) or not 0 <= value < limit:
        raise Error(f"{what} is {value!r}, not a whole number from 0")
    return int(value)


def picoseconds(us, what: str) -> int:
    """Of microseconds."""
    if not isinstance(us, numbers.Real) or not 0 <= us < 1 << 43:
        raise Error(f"{what} is {us!r}, not a time in microseconds")
    return round(us * 1e6)


def make(name: str, /, **fields):
    """A struct of the library; its struct_size is filled in."""
    kind = getattr(_abi, name)
    for field, wanted in kind._fields_:
        if wanted in _WHOLE and field in fields:
            fields[field] = whole(fields[field], field, 1 << 8 * ctypes.sizeof(wanted))
    made = kind(**fields)
    if kind._fields_[0][0] == "struct_size":
        made.struct_size = ctypes.sizeof(kind)
    return made


def choice(prefix: str, value: typing.Optional[str], what: str) -> int:
    """The constant of a word, "flat" of VINCI_MEMORY_; None: 0."""
    if value is None:
        return 0
    known = [name[len(prefix):].lower() for name in vars(_abi) if name.startswith(prefix)]
    if value not in known:
        raise Error(f"{what} is {value!r}, not one of {', '.join(known)}")
    return getattr(_abi, prefix + value.upper())


def status_name(status: int) -> str:
    for name in ("OK", "E_GATE", "E_USAGE", "E_INPUT", "E_MISMATCH", "E_CHECK", "E_DEADLOCK",
                 "E_LIMIT", "E_INTERNAL", "E_NOMEM", "E_IO"):
        if getattr(_abi, "VINCI_" + name) == status:
            return name
    return f"status {status}"


def error_of(status: int, diag, result=None) -> Error:
    """The exception of a status with its diagnostic."""
    told = text(diag.text) or text(library().vinci_status_text(status))
    return Error(told, status_name(status), library().vinci_status_exit_code(status),
                 text(diag.hint), text(diag.path) or None, diag.line, diag.column, result)


def call(name: str, *arguments, accept=(), result=None) -> int:
    """Calls a function that takes a diagnostic at its end; raises for a status other than OK.

    The error of a limit keeps `result`, what the call has found before it was ended.
    """
    diag = _abi.vinci_diag()
    status = getattr(library(), name)(*arguments, byref(diag))
    if status != _abi.VINCI_OK and status not in accept:
        raise error_of(status, diag, result if status == _abi.VINCI_E_LIMIT else None)
    return status


def written(name: str, *arguments) -> str:
    """What a function writes that takes a FILE and a diagnostic at its end."""
    libc, buffer, length = _libc(), c_char_p(), ctypes.c_size_t()
    stream = libc.open_memstream(byref(buffer), byref(length))
    if not stream:
        raise Error("out of memory", "E_NOMEM", 8)
    try:
        call(name, *arguments, stream)
    finally:
        libc.fclose(stream)
        kept = ctypes.string_at(buffer, length.value)
        release(buffer)
    return text(kept)


def release(pointer) -> None:
    """Frees what was made for free()."""
    _libc().free(ctypes.cast(pointer, c_void_p))


def taken(buffer: c_char_p, length: int) -> str:
    """A text that was made for free()."""
    kept = ctypes.string_at(buffer, length)
    release(buffer)
    return text(kept)


class Callback:
    """A function that the library calls back: what it raises ends the call and is raised behind.

    `kind` is the ctypes type, `function` gets the arguments without the context and ends the call
    by returning False; None: does nothing, and lets Ctrl-C end the call. Python gives a signal to
    whatever runs next, and what a callback raises there is lost: so Ctrl-C is kept until behind.
    """

    def __init__(self, kind, function=None):
        self.raised = self._before = self._signal = None

        def called(_, *arguments):
            try:
                if self._signal:
                    return False
                return function is None or function(*arguments) is not False
            except BaseException as error:  # also KeyboardInterrupt, which must not get lost
                self.raised = error
                return False

        self.pointer = kind(called)

    def _keep(self, *told):
        self._signal = told

    def __enter__(self):
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._before = before
            signal.signal(signal.SIGINT, self._keep)
        return self.pointer

    def __exit__(self, kind, error, trace):
        if self._before:
            signal.signal(signal.SIGINT, self._before)
            if self._signal:
                self._before(*self._signal)
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised from None


def field_type(struct: str, field: str):
    """The ctypes type of a field, as that of a function to call back."""
    return dict(getattr(_abi, struct)._fields_)[field]


def visitor(name: str):
    """The ctypes type of the function that a function of the library calls back."""
    kinds = _abi.FUNCTIONS[name][1]
    return next(kind for kind in kinds if issubclass(kind, ctypes._CFuncPtr))


class Handle:
    """An object of the library, freed with its last reference, by `free()` or a `with`."""

    _free = ""

    def __init__(self, handle, *keeps):
        self._handle, self._keeps, self._users = handle, keeps, weakref.WeakSet()
        for one in keeps:
            if isinstance(one, Handle):
                one._users.add(self)
        self._finalizer = weakref.finalize(self, getattr(library(), self._free), handle)

    @property
    def _as_parameter_(self):
        if self._handle is None:
            raise Error(f"the {type(self).__name__} has been freed")
        return self._handle

    def free(self) -> None:
        """The object cannot be used any more; its memory goes with the last object made from that."""
        self._handle = None
        if all(user._handle is None for user in self._users):
            self._finalizer()

    def __reduce_ex__(self, protocol):
        raise Error(f"a {type(self).__name__} cannot be copied or sent to another process",
                    hint="summary() and text() can")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()


def opened() -> c_void_p:
    return c_void_p()


def record(kind, struct):
    """A dataclass from a struct: texts decoded, `x_us` from `x_ps`, what has no field left out."""
    values = {}
    names = {name for name, _ in struct._fields_}
    for name in kind.__dataclass_fields__:
        if name in names:
            value = getattr(struct, name)
            values[name] = text(value) if isinstance(value, bytes) else value
        elif name.endswith("us") and name[:-2] + "ps" in names:
            values[name] = getattr(struct, name[:-2] + "ps") / 1e6
    return kind(**values)


def table(rows, headings) -> str:
    """An HTML table for notebooks."""
    import html

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line(headings, "th") + "".join(line(row, "td") for row in rows) + "</table>"
