# SPDX-License-Identifier: Apache-2.0
"""Progress as an iterator."""
import queue
import threading
import typing

from ._library import Error


class Steps:
    """Calls a function that takes `progress`, and yields what it is told.

    The call runs in a thread of its own. `result` is there when the iteration has ended; a failure
    is raised by the iteration. Leaving the loop early, by `break` or Ctrl-C, ends the call.

    >>> import vinci
    >>> steps = vinci.steps(vinci.run, "matmul m=512 k=512 n=512", chip="Ascend910B4")
    >>> for cycles, share in steps:
    ...     assert 0 <= share <= 1
    >>> steps.result.total_cycles > 0
    True
    """

    def __init__(self, function: typing.Callable, *args, **kwargs):
        self.result = None
        self._steps: "queue.Queue" = queue.Queue()
        self._error: typing.Optional[BaseException] = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, args=(function, args, kwargs), daemon=True)

    def _work(self, function, args, kwargs):
        def progress(*told):
            self._steps.put(told)
            return not self._ended

        try:
            self.result = function(*args, progress=progress, **kwargs)
        except BaseException as error:
            self._error = error
        self._steps.put(None)

    def __iter__(self):
        if self._thread.ident is not None:
            raise Error("the steps have been told; call vinci.steps again")
        self._thread.start()
        try:
            while True:
                told = self._steps.get()
                if told is None:
                    break
                yield told
        finally:
            self._ended = True
            self._thread.join()
        if self._error is not None:
            raise self._error


def steps(function: typing.Callable, *args, **kwargs) -> Steps:
    """for step in vinci.steps(vinci.sweep, op=..., output=...): the steps of a long call."""
    return Steps(function, *args, **kwargs)
