"""The `noughts` command, also `python -m noughts`."""

import sys


def main() -> int:
    """Run the command; what it does not need is not imported."""
    try:
        if sys.argv[1:] == ["--version"] and _told_version():
            return 0
        from noughts.cli.main import run  # noqa: PLC0415 - the parser alone would double the time

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command itself listens for it
        return 130


def _told_version() -> bool:
    from noughts import __version__  # noqa: PLC0415 - the same

    try:
        print(f"noughts {__version__}", flush=True)
    except OSError:  # the command itself knows what to say of that
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
