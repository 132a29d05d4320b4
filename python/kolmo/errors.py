"""What goes wrong, in one sentence."""


class KolmoError(Exception):
    """What the program or a file of a run did not allow.

    The text is the program's own sentence: what was found, where, and what is allowed.

    Attributes:
        exit_code: 1 where a run failed, 2 where the input or the command is wrong; None where no program ran.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def needs(package: str, extra: str, why: ImportError) -> KolmoError:
    """The error of a package that comes with the extra `extra`, and is missing or cannot be imported."""
    if isinstance(why, ModuleNotFoundError):
        return KolmoError(f"this needs {package} ({why}): pip install 'kolmo[{extra}]'")
    return KolmoError(f"{package} is installed, but cannot be imported: {why}")
