"""The real programs, each on a free port of the loopback: the example, a scripted provider behind it, nginx or Caddy before it, and a wire
that keeps every byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import uvicorn

EXAMPLE = Path(__file__).parents[2] / "examples" / "web"
FABRICATED = "73.86"  # kilograms; the source says 21.55
QUESTION = "What happened at the first landing on the Moon?"
PIECES = (  # each brings one sentence to its end, since the next one begins in it
    "Apollo 11 landed on the Moon on 20 July 1969 [S1]. N",
    "eil Armstrong was the first person to step onto its surface [S1]. T",
    f"he crew brought back {FABRICATED} kilograms of rock and dust [S1]. T",
    "welve people have walked on the Moon since then [S1].",
)
SENTENCES = ("Apollo 11 landed on the Moon on 20 July 1969.", "Neil Armstrong was the first person to step onto its surface.")


def eventually(true: Callable[[], object], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class Provider:
    """A chat-completions endpoint that sends its next piece when it is allowed to, and notices who leaves."""

    def __init__(self, pieces: Sequence[str] = PIECES) -> None:
        self.pieces = pieces
        self.allowed = 0
        self.sent = 0
        self.asked: list[dict[str, Any]] = []
        self.left: list[int] = []
        """For each client that left: how many pieces had been sent to it."""

    def reset(self) -> None:
        self.allowed, self.sent, self.asked, self.left = 0, 0, [], []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.asked.append(json.loads(body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
        gone = asyncio.create_task(receive())  # resolves when the client is gone
        try:
            for number, piece in enumerate(self.pieces):
                while self.allowed <= number:
                    if (await asyncio.wait([gone], timeout=0.005))[0]:
                        self.left.append(number)
                        return
                self.sent = number + 1
                await send(self._event({"content": piece}, None))
            await send(self._event({}, "stop"))
            await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
        finally:
            gone.cancel()

    @staticmethod
    def _event(delta: dict[str, str], reason: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "x", "choices": [choice]}
        return {"type": "http.response.body", "body": f"data: {json.dumps(chunk)}\n\n".encode(), "more_body": True}


@contextlib.contextmanager
def provider_at(provider: Provider) -> Iterator[str]:
    """The base URL of a provider that is served in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(provider, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@contextlib.contextmanager
def assistant(*options: str, upstream: str = "") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The example's address and process; with an upstream it asks that one, as its users would have it ask theirs."""
    more = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": upstream} if upstream else {}
    command = [sys.executable, str(EXAMPLE / "assistant.py"), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **more}) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip().rstrip("/")
            drain = threading.Thread(target=process.stdout.read)
            drain.start()
            yield address, process
        finally:
            process.terminate()
            process.wait(15)
            drain.join(5)


@contextlib.contextmanager
def passthrough(upstream: str) -> Iterator[str]:
    """`sentence-gate serve` before an upstream."""
    port = free_port()
    with _started([sys.executable, "-m", "sentence_gate", "serve", "--upstream", upstream, "--port", str(port)], port) as address:
        yield address


def _ports(text: str, own: int, upstream: str) -> str:
    upstream = upstream.removeprefix("http://")
    assert (text.count(":8080"), text.count("127.0.0.1:8000")) == (1, 1)
    return text.replace(":8080", f":{own}").replace("127.0.0.1:8000", upstream)


@contextlib.contextmanager
def nginx(upstream: str, folder: Path, *, site: str | None = None, settings: str = "") -> Iterator[str]:
    """nginx with the example's configuration (or another site) inside the frame that a distribution gives it."""
    port = free_port()
    (folder / "site.conf").write_text(_ports(site or (EXAMPLE / "nginx.conf").read_text(), port, upstream))
    kept = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{kept}{settings}\ninclude {folder}/site.conf;\n}}\n"
    )
    with _started(["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")], port) as address:
        yield address


@contextlib.contextmanager
def caddy(upstream: str, folder: Path) -> Iterator[str]:
    """Caddy with the example's configuration."""
    port = free_port()
    (folder / "Caddyfile").write_text(_ports((EXAMPLE / "Caddyfile").read_text(), port, upstream))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with _started(command, port, HOME=str(folder), XDG_CONFIG_HOME=str(folder), XDG_DATA_HOME=str(folder)) as address:
        yield address


@contextlib.contextmanager
def _started(command: list[str], port: int, **environment: str) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}) as process:
        try:
            eventually(lambda: _listens(port) or process.poll() is not None)
            assert process.poll() is None, f"{command[0]} did not start"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # it waits for a connection to end
                process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Wire:
    """A TCP forwarder before an address that keeps what the reader is sent, and may cut it into pieces of so many bytes. Who hangs up on
    one side is hung up on the other."""

    def __init__(self, address: str, *, cut: int = 65536) -> None:
        self.cut = cut
        self.target = ("127.0.0.1", int(re.sub(r".*:", "", address)))
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.kept = bytearray()
        self.open: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                reader, _ = self.listening.accept()
                server = socket.create_connection(self.target)
                reader.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.open += [reader, server]
                for source, target, kept in ((reader, server, None), (server, reader, self.kept)):
                    self.threads.append(threading.Thread(target=self._pass, args=(source, target, kept)))
                    self.threads[-1].start()

    def _pass(self, source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if kept is not None:
                    kept += data
                for at in range(0, len(data), self.cut):
                    target.sendall(data[at : at + self.cut])
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(5)
        for one in self.open:
            one.close()
