"""python-socketio as members of rooms: client.py (URL ROOM TOKEN default|polling|websocket)... STAY_MS async|sync|listen|bundle

Prints one line of JSON per step; see ../README.md. language-clients.test.ts runs it.
"""

import asyncio
import json
import logging
import queue
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock

import socketio

CONTENTS = ["plain", "Grüße 👋🏽, 日本語,   \"quoted\" \\ \u2028 \u001e"]
CONTENT_AFTERWARDS = "still here ⏳"
# As test/host/patience.ts.
ANSWER_TIMEOUT_SECONDS = 120
LAST_WORD = "enough"
TALK_SECONDS_MAX = 120
OUTPUT = Lock()


def say_as(member, step, **facts):
    with OUTPUT:
        print(json.dumps({"member": member, "step": step, **facts}), flush=True)


class PingCount(logging.Handler):
    """The library's log is the only public place where a server's pings show."""

    count = 0

    def emit(self, record):
        if record.getMessage().startswith("Received packet PING"):
            self.count += 1


def counting_logger(member):
    pings = PingCount()
    logger = logging.getLogger(f"engineio.witness.{member}")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(pings)
    return logger, pings


def options(room, token, transport, **auth):
    # By default the library polls first and upgrades.
    transports = None if transport == "default" else [transport]
    return {
        "auth": {"token": token, **auth},
        "socketio_path": f"rooms/{room}/socket.io",
        "transports": transports,
        # A second by itself.
        "wait_timeout": ANSWER_TIMEOUT_SECONDS,
    }


def unpack(client):
    """These lines are those of docs/events.md."""

    @client.on("bundle")
    def on_bundle(events, *offset):
        for event, *args in events:
            if handler := client.handlers["/"].get(event):
                handler(*args)


def run_sync(stay_seconds, member, url, room, token, transport):
    say = partial(say_as, member)
    logger, pings = counting_logger(member)
    client = socketio.Client(reconnection=False, engineio_logger=logger)
    welcomes, messages, goodbyes = queue.Queue(), queue.Queue(), queue.Queue()

    # One parameter each: an argument too many, and nothing arrives.
    client.on("welcome", lambda welcome: welcomes.put(welcome))
    client.on("chat-message", lambda message: messages.put(message))
    client.on("disconnect", lambda reason: goodbyes.put(reason))

    def post(content):
        answer = client.call("chat-message", {"content": content}, timeout=ANSWER_TIMEOUT_SECONDS)
        say("ack", answer=answer)
        say("message", message=messages.get(timeout=ANSWER_TIMEOUT_SECONDS))

    client.connect(url, **options(room, token, transport))
    say("connected")
    say("welcome", welcome=welcomes.get(timeout=ANSWER_TIMEOUT_SECONDS))
    for content in CONTENTS:
        post(content)
    time.sleep(stay_seconds)
    say("stayed", pings=pings.count, transport=client.transport())
    post(CONTENT_AFTERWARDS)
    client.disconnect()
    say("disconnected", reason=goodbyes.get(timeout=ANSWER_TIMEOUT_SECONDS))


def listen(bundles, stay_seconds, member, url, room, token, transport):
    """Says nothing, and tells which messages came until it was quiet for so long after the last word."""
    say = partial(say_as, member)
    client = socketio.Client(reconnection=False)
    if bundles:
        unpack(client)
    messages, goodbyes = queue.Queue(), []
    client.on("chat-message", lambda message: messages.put(message))
    client.on("disconnect", lambda reason: goodbyes.append(reason))
    client.connect(url, **options(room, token, transport, bundle=bundles))
    say("connected")
    heard = []
    try:
        while True:
            timeout = stay_seconds if LAST_WORD in heard else TALK_SECONDS_MAX
            heard.append(messages.get(timeout=timeout)["content"])
    except queue.Empty:
        say("heard", contents=heard, goodbyes=goodbyes)
    client.disconnect()


async def run_async(stay_seconds, member, url, room, token, transport):
    say = partial(say_as, member)
    logger, pings = counting_logger(member)
    client = socketio.AsyncClient(reconnection=False, engineio_logger=logger)
    welcomes, messages, goodbyes = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()

    client.on("welcome", lambda welcome: welcomes.put_nowait(welcome))
    client.on("chat-message", lambda message: messages.put_nowait(message))
    client.on("disconnect", lambda reason: goodbyes.put_nowait(reason))

    async def next_of(events):
        return await asyncio.wait_for(events.get(), ANSWER_TIMEOUT_SECONDS)

    async def post(content):
        answer = await client.call("chat-message", {"content": content}, timeout=ANSWER_TIMEOUT_SECONDS)
        say("ack", answer=answer)
        say("message", message=await next_of(messages))

    await client.connect(url, **options(room, token, transport))
    say("connected")
    say("welcome", welcome=await next_of(welcomes))
    for content in CONTENTS:
        await post(content)
    await asyncio.sleep(stay_seconds)
    say("stayed", pings=pings.count, transport=client.transport())
    await post(CONTENT_AFTERWARDS)
    await client.disconnect()
    say("disconnected", reason=await next_of(goodbyes))


async def run_all_async(stay_seconds, members):
    await asyncio.gather(*(run_async(stay_seconds, *member) for member in members))


if __name__ == "__main__":
    *places, stay_ms, kind = sys.argv[1:]
    stay_seconds = int(stay_ms) / 1000
    members = [(at // 4, *places[at : at + 4]) for at in range(0, len(places), 4)]
    if kind == "async":
        asyncio.run(run_all_async(stay_seconds, members))
    else:
        run = run_sync if kind == "sync" else partial(listen, kind == "bundle")
        with ThreadPoolExecutor(len(members)) as threads:
            # A list, because an error shows where its result is asked for.
            list(threads.map(lambda member: run(stay_seconds, *member), members))
