"""The `noughts` command, also `python -m noughts`."""

import sys


def main() -> int:
    """Run the command; what it does not need is not imported."""
    try:
        if sys.argv[1:] == ["--version"]:
            from noughts import __version__  # noqa: PLC0415 - argparse alone would double the time

            print(f"noughts {__version__}")
            return 0
        from noughts.terminal.cli import run  # noqa: PLC0415 - the same

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command itself listens for it
        return 130


if __name__ == "__main__":
    sys.exit(main())
