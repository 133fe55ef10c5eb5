// The number of packets in a poll: python-engineio drops a connection whose poll holds more than 16. EIO-8.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { decodePayload } from "../../../src/socketio/wire/polling-payload.ts";
import { POLL_PACKETS_MAX } from "../../../src/socketio/engine/poll-queue.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { servedProbe } from "../../host/bare-server.ts";
import { START_MS } from "../../host/harness.ts";

/** A polling session in the main namespace that has fetched all so far. */
function visit({ isJavaScript = false } = {}) {
  const { server, app, polls } = servedProbe();
  const handshake = { address: "192.0.2.1", query: {}, issued: START_MS };
  const session: Session = server.open(handshake, "polling", { isJavaScript });
  server.poll(session);
  server.endPost(session, "40");
  server.poll(session);
  polls.length = 0;
  const say = (count: number, from = 0): string[] => {
    const texts = Array.from({ length: count }, (_, at) => `42["say",${from + at}]`);
    server.effects.turn(() => texts.forEach((_, at) => app.emit("say", from + at)));
    return texts;
  };
  return { server, session, app, polls, say };
}

describe("a poll of a client that is no browser", () => {
  it.each([POLL_PACKETS_MAX - 1, POLL_PACKETS_MAX])("brings %d packets at once", (count) => {
    const { server, session, polls, say } = visit();
    const texts = say(count);
    server.poll(session);
    expect(polls).toEqual([texts]);
  });

  it.each([POLL_PACKETS_MAX + 1, 3 * POLL_PACKETS_MAX])("brings %d packets in order, at most 16 at once", (count) => {
    const { server, session, polls, say } = visit();
    const texts = say(count);
    while (polls.flat().length < count) server.poll(session);
    expect(polls.flat()).toEqual(texts);
    expect(polls.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(count / 16) }, (_, at) => Math.min(16, count - 16 * at)),
    );
  });

  it("that waits is answered with the first ones, and later packets stay behind the rest", () => {
    const { server, session, polls, say } = visit();
    server.poll(session);
    const texts = [...say(POLL_PACKETS_MAX + 3), ...say(2, POLL_PACKETS_MAX + 3)];
    expect(polls).toEqual([texts.slice(0, 16)]);
    server.poll(session);
    expect(polls).toEqual([texts.slice(0, 16), texts.slice(16)]);
  });

  it("counts each attachment", () => {
    const { server, session, app, polls } = visit();
    server.effects.turn(() => {
      for (let at = 0; at < 10; at++) app.emit("bytes", new Uint8Array([at]));
    });
    server.poll(session);
    server.poll(session);
    expect(polls.map(({ length }) => length)).toEqual([16, 4]);
    expect(polls.flat().filter((packet) => packet.startsWith("b"))).toHaveLength(10);
  });

  it("brings the final payloads of an ended session in pieces, too, and the close packet alone", () => {
    for (const waits of [false, true]) {
      const { server, session, polls, say } = visit();
      if (waits) server.poll(session);
      server.effects.turn(() => {
        say(40);
        server.close(session, CLOSINGS.restart);
      });
      const words: number[] = polls.map(({ length }) => length);
      for (let last; (last = server.takeFinalPayload(session.sid)) !== undefined;)
        words.push(decodePayload(last)!.length);
      expect(words, waits ? "waiting" : "away").toEqual([16, 16, 8, 1]);
    }
  });
});

it("a poll of a client in JavaScript brings all there is", () => {
  const { server, session, polls, say } = visit({ isJavaScript: true });
  const texts = say(100);
  server.poll(session);
  expect(polls).toEqual([texts]);
});
