"""A skill on a real socket that echoes its input, counts its calls, and can be held; and parcels for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import msgspec

from workers.wire.job import FunctionalJob, Parcel, Pillar, job_id
from workers.wire.queues import results_queue
from workers.wire.skill import Access, SkillRef


class EchoSkill:
    """``POST`` anything: the same comes back, once the gate is open. *calls* counts them by ``text``."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.called = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        self.held: set[str] = set()
        self.stop = threading.Event()
        skill = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                text = msgspec.json.decode(body)["text"]
                skill.calls[text] += 1
                skill.called.release()
                skill.gate.wait(60)
                if text in skill.held:
                    skill.stop.wait(60)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                pass  # a caller that was killed hangs up

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self.stop.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def hold(self, text: str) -> None:
        """Never answer calls with this text."""
        self.held.add(text)

    @property
    def ref(self) -> SkillRef:
        """How a parcel describes it."""
        return self.described(self._server.server_address[1])

    @staticmethod
    def described(port: int = 1) -> SkillRef:
        """How a parcel describes an echo skill at *port*."""
        return SkillRef(
            id="echo",
            name="Echo",
            version="1.0.0",
            digest="sha256:echo",
            access=Access(adapter="http", endpoint=f"http://127.0.0.1:{port}/"),
            input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
            allow_networks=("127.0.0.0/8",),
        )

    def parcel(self, run_id: str, names: Sequence[str], *, lanes: int = 1) -> Parcel:
        """One parcel with a functional job for each of *names*."""
        return self.parcel_of(self.ref, run_id, names, lanes=lanes)

    @classmethod
    def parcel_of(cls, skill: SkillRef, run_id: str, names: Sequence[str], *, lanes: int = 1) -> Parcel:
        """One parcel for *skill* with a functional job for each of *names*."""
        jobs = tuple(FunctionalJob(id=cls.job_id(run_id, name), probe=name, input={"text": name}) for name in names)
        return Parcel(
            id=f"parcel-{names[0]}", run_id=run_id, skill=skill, jobs=jobs, reply_to=results_queue(run_id), lanes=lanes
        )

    def parcels(self, run_id: str, count: int, size: int) -> list[Parcel]:
        """*count* parcels of *size* jobs each, all of different names."""
        return [self.parcel(run_id, [f"{p}-{j}" for j in range(size)]) for p in range(count)]

    @staticmethod
    def job_id(run_id: str, name: str) -> str:
        """The id of the job called *name*."""
        return job_id(run_id, "sha256:echo", Pillar.FUNCTIONAL, name)
