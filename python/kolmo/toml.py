"""Values and inputs as TOML (https://toml.io/en/v1.0.0); the standard library reads TOML but does not write it."""

import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any

from kolmo.errors import KolmoError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def value(of: Any, key: str) -> str:
    """Return `of` as a TOML value on one line; `key` is its name in the error message."""
    if hasattr(of, "tolist"):  # an array or a number of NumPy
        of = of.tolist()
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, int):
        return str(of)
    if isinstance(of, float):
        return repr(of) if math.isfinite(of) else "nan" if math.isnan(of) else "inf" if of > 0 else "-inf"
    if isinstance(of, (str, os.PathLike)):
        return _text(os.fspath(of))
    if isinstance(of, Mapping):
        pairs = (f"{_key(name)} = {value(one, f'{key}.{name}')}" for name, one in of.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(of, (list, tuple)):
        return "[" + ", ".join(value(one, key) for one in of) + "]"
    raise KolmoError(
        f"{key} = {of!r} is of type {type(of).__name__}; allowed are numbers, strings, booleans, lists and dicts of them"
    )


def document(config: Mapping[str, Any]) -> str:
    """Return an input as the text of a file: a table for every dict, with one key per line, so that messages can name the line."""
    lines = [f"{_key(name)} = {value(one, name)}" for name, one in config.items() if not isinstance(one, Mapping)]
    for name, table in config.items():
        if isinstance(table, Mapping):
            lines.append(f"[{_key(name)}]")
            lines += [f"{_key(key)} = {value(one, f'{name}.{key}')}" for key, one in table.items()]
    return "\n".join(lines) + "\n"


def _key(name: Any) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else _text(str(name))


def _text(text: str) -> str:
    # The escapes of JSON are valid in TOML. TOML also requires DEL to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
