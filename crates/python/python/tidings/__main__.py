"""The command ``tidings``."""

import signal
import sys

from . import _tidings


def main() -> None:
    # The program handles signals itself; Python's handler would only note them.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_tidings.main(["tidings", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
