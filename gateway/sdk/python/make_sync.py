"""Writes the synchronous client, in src/partnergifting/_sync, from the asynchronous one. With --check it only compares."""

import re
import sys
from pathlib import Path

REPLACEMENTS = [
    (r"async def ", "def "),
    (r"async (for|with) ", r"\1 "),
    (r"await ", ""),
    (r"Awaitable\[(Page\[\w+\])\]", r"\1"),
    (r"Awaitable, ", ""),
    (r"async_(\w+)", r"\1"),
    (r"httpx\.AsyncClient", "httpx.Client"),
    (r"httpx\.AsyncBaseTransport", "httpx.BaseTransport"),
    (r"aiter_bytes", "iter_bytes"),
    (r"aclose", "close"),
    (r"__a(enter|exit|iter)__", r"__\1__"),
    (r"\bAsync(\w+)", r"\1"),
]
HEADER = "# Written by make_sync.py from the asynchronous client: change that.\n"


def main() -> int:
    package = Path(__file__).parent / "src" / "partnergifting"
    stale = []
    for source in sorted((package / "_async").glob("*.py")):
        text = source.read_text()
        for pattern, replacement in REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        target = package / "_sync" / source.name
        if not target.exists() or target.read_text() != HEADER + text:
            stale.append(target)
            if "--check" not in sys.argv:
                target.write_text(HEADER + text)
    if stale and "--check" in sys.argv:
        print("not current:", *stale, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
