"""A provider on loopback that answers every POST with a script of chunks, and knows when its reader has left."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Plan:
    """What to send. `end`: "clean" ends the body as it should, "cut" closes the connection in it, "reset" resets it, "open" keeps it open.

    `step`: seconds between chunks. After the answer: `sent` chunks went out, `left_after` is how many had when the reader left.
    """

    chunks: list[bytes]
    end: str = "clean"
    content_type: str = "text/event-stream"
    step: float = 0.0
    status: int = 200
    sent: int = 0
    left_after: int | None = None
    finished: threading.Event = field(default_factory=threading.Event)


@dataclass
class Asked:
    """A request that came."""

    body: bytes
    headers: dict[str, str]


class Provider:
    """The server, for one plan at a time."""

    def __init__(self) -> None:
        self.plan = Plan([])
        self.requests: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer.requests.append(
                    Asked(
                        self.rfile.read(int(self.headers.get("Content-Length", 0))),
                        {name.lower(): value for name, value in self.headers.items()},
                    )
                )
                outer.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A reader who has left is no error."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def play(self, chunks: list[bytes], **more: Any) -> Plan:
        self.plan = Plan(chunks, **more)
        return self.plan

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        plan, connection = self.plan, handler.connection
        handler.close_connection = True
        handler.send_response(plan.status)
        handler.send_header("Content-Type", plan.content_type)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            for chunk in plan.chunks:
                if plan.step and self._left(connection, plan.step):
                    plan.left_after = plan.sent
                    return
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                handler.wfile.flush()
                plan.sent += 1
            self._finish(handler, plan)
        except OSError:
            plan.left_after = plan.sent
        finally:
            plan.finished.set()

    def _finish(self, handler: BaseHTTPRequestHandler, plan: Plan) -> None:
        connection = handler.connection
        if plan.end == "clean":
            handler.wfile.write(b"0\r\n\r\n")
            handler.wfile.flush()
        elif plan.end == "reset":
            time.sleep(0.05)  # what was sent is to arrive first
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        elif plan.end == "open" and self._left(connection, 10.0):
            plan.left_after = plan.sent

    @staticmethod
    def _left(connection: socket.socket, seconds: float) -> bool:
        """Waits, and tells whether the reader left meanwhile."""
        readable, _, _ = select.select([connection], [], [], seconds)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
