"""The `noughts` command, also `python -m noughts`."""

import sys

from noughts import __version__


def main() -> int:
    """Run the command."""
    try:
        if sys.argv[1:] == ["--version"] and _print_version():
            return 0
        from noughts.cli.main import run  # noqa: PLC0415 - not needed for --version

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command has its own handler
        return 130


def _print_version() -> bool:
    try:
        print(f"noughts {__version__}", flush=True)
    except OSError:  # the command reports that
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
