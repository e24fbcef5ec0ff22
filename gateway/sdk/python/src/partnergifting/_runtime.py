"""Time limits and pauses of both clients."""

from __future__ import annotations

import contextlib
import time

import anyio

async_sleep = anyio.sleep
async_limit = anyio.fail_after
sleep = time.sleep


def limit(_: float) -> contextlib.AbstractContextManager[None]:
    """Nothing can interrupt a thread. The time limits of httpx end an attempt that hangs."""
    return contextlib.nullcontext()
