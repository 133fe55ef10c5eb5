// Tests the limits of recovery: replay is bounded in messages and bytes, and beyond them a client connects without it.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";

import { MISSED_BYTES_MAX } from "../../src/socketio/recovery/recovery.ts";
import { ORIGIN, type RawClient } from "./raw-client.ts";
import { begin, comeBack, connectAnswer, contentsOf, fill, type RecoveryAuth } from "./recovery-story.ts";
import { tokenFor } from "./rooms.ts";

const CONTENT = "x".repeat(1000);

async function leave(client: RawClient): Promise<void> {
  client.close();
  await client.closes();
}

/** Comes back as a stock client does, by polling first. @returns the packets up to `welcome` */
async function comeBackPolling(room: string, recoveryAuth: RecoveryAuth): Promise<string[]> {
  const query = new URLSearchParams({ EIO: "4", transport: "polling", recovery: "on" });
  const request = async (init?: RequestInit): Promise<string> => {
    const address = `${ORIGIN}/rooms/${room}/socket.io/?${query.toString()}`;
    return (await exports.default.fetch(new Request(address, init))).text();
  };
  const { sid } = JSON.parse((await request()).slice(1)) as { sid: string };
  query.set("sid", sid);
  const { pid, offset } = recoveryAuth;
  const auth = { pid, offset, token: await tokenFor("ada") };
  expect(await request({ method: "POST", body: `40${JSON.stringify(auth)}` })).toBe("ok");
  const packets: string[] = [];
  while (!packets.some((packet) => packet.startsWith('42["welcome"'))) {
    const payload = await request();
    expect(payload).not.toContain("Session ID unknown");
    packets.push(...payload.split("\x1e"));
  }
  return packets;
}

const said = (packets: readonly string[]): number =>
  packets.filter((packet) => packet.startsWith('42["chat-message"')).length;

/** About as many as fit, with all that travels around a message's content. */
const FITTING = Math.floor(MISSED_BYTES_MAX / (CONTENT.length + 250));

it.each([
  [FITTING, true],
  [1000, false],
])(
  "after %i long messages a polling client connects at its first try, recovered: %s: REC-3",
  async (messages, isRecovered) => {
    const story = await begin();
    const { room, ada, recoveryAuth } = story;
    await leave(ada);
    await fill(story, messages, CONTENT);
    const packets = await comeBackPolling(room, recoveryAuth);
    const answer = JSON.parse(packets.find((packet) => packet.startsWith("40{"))!.slice(2)) as { sid: string };
    expect(answer.sid === recoveryAuth.sid).toBe(isRecovered);
    expect(said(packets)).toBe(isRecovered ? messages : 0);
  },
);

it.each([
  [FITTING, true],
  [1000, false],
])("the same over a WebSocket: %i long messages, recovered: %s", async (messages, isRecovered) => {
  const story = await begin();
  const { room, ada, recoveryAuth } = story;
  await leave(ada);
  await fill(story, messages, CONTENT);
  const back = await comeBack(room, recoveryAuth);
  expect(connectAnswer(back).sid === recoveryAuth.sid).toBe(isRecovered);
  expect(contentsOf(back)).toHaveLength(isRecovered ? messages : 0);
  expect(await back.ask("history", { limit: 1 })).toMatchObject({ ok: true });
});
