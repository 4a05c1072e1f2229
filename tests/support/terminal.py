# SPDX-License-Identifier: Apache-2.0
"""terminal.py COLUMNS COMMAND...: runs a command on a terminal of COLUMNS columns, prints what the terminal gets, and
ends as the command does."""
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    begin, go = os.pipe()
    child, end = pty.fork()
    if child == 0:
        os.read(begin, 1)  # until the terminal has its size
        os.environ.pop("COLUMNS", None)
        os.execvp(command[0], command)
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.write(go, b"x")
    while True:
        try:
            data = os.read(end, 65536)
        except OSError:  # what a terminal gives when nobody writes any more
            break
        if not data:
            break
        sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
