"""The fleet that one writes first: 8 threads a process, `httpx.post()` for each job, acknowledged before its result.

One message a job on a classic queue, results published unconfirmed: it is as fast as this shape gets, and loses jobs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import httpx
import pika

THREADS = 8
JOBS, RESULTS = "naive.jobs", "naive.results"
IDLE_S = 2.0


def _serve(url: str) -> None:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    for _method, _properties, body in channel.consume(JOBS, auto_ack=True, inactivity_timeout=IDLE_S):
        if body is None:
            break
        job = json.loads(body)
        answer = httpx.post(job["url"], json=job["input"])
        passed = answer.json() == job["expected"]
        channel.basic_publish("", RESULTS, json.dumps({"id": job["id"], "passed": passed}).encode())
    connection.close()


def run(url: str, ports: list[int], jobs: int, processes: int) -> float:
    """Jobs a second from the first publish to the last result."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    for queue in (JOBS, RESULTS):
        channel.queue_declare(queue)
    workers = [subprocess.Popen([sys.executable, __file__, url]) for _ in range(processes)]
    while channel.queue_declare(JOBS, passive=True).method.consumer_count < processes * THREADS:
        time.sleep(0.05)
    started = time.perf_counter()
    for number in range(jobs):
        job = {
            "id": number,
            "url": f"http://127.0.0.1:{ports[number % len(ports)]}/",
            "input": {"a": 3, "b": 4},
            "expected": {"result": 7},
        }
        channel.basic_publish("", JOBS, json.dumps(job).encode())
    ended = started
    for came, _ in enumerate(channel.consume(RESULTS, auto_ack=True, inactivity_timeout=60), 1):
        ended = time.perf_counter()
        if came == jobs:
            break
    channel.cancel()
    connection.close()
    for worker in workers:
        worker.wait()
    return jobs / (ended - started)


if __name__ == "__main__":
    threads = [threading.Thread(target=_serve, args=(sys.argv[1],)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
