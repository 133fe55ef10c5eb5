// A stock client that is kicked or banned: it gets the reason and does not reconnect by itself.
import type { Socket } from "socket.io-client";
import { describe, expect, inject, it, vi } from "vitest";

import type { Message, Notice } from "../../src/protocol/chat-events.ts";
import { ask, collect, join, next, open, tokenFor, VERSIONS, type Options } from "./stock-clients.ts";

const url = inject("serverUrl");

/** Would be back at once if it tried. */
const EAGER: Options = { reconnectionDelay: 1, reconnectionDelayMax: 10 };

const TRANSPORTS = ["websocket", "polling"];
const CASES = VERSIONS.map(([version, connect], at) => [version, TRANSPORTS[at % 2]!, connect] as const);

let rooms = 0;

interface Scene {
  readonly mia: Socket;
  readonly ada: Socket;
  readonly reconnects: number[];
  readonly heard: Message[];
}

async function scene([, transport, connect]: (typeof CASES)[number]): Promise<Scene> {
  const room = `moderated-${++rooms}`;
  const mia = await join(url, room, "mia", { auth: { token: await tokenFor("mia", { role: "moderator" }) } });
  const auth = { token: await tokenFor("ada") };
  const ada = open(url, { ...EAGER, path: `/rooms/${room}/socket.io`, auth, transports: [transport] }, connect);
  await next(ada, "welcome");
  const reconnects: number[] = [];
  ada.io.on("reconnect_attempt", (attempt) => reconnects.push(attempt));
  return { mia, ada, reconnects, heard: collect<Message>(ada, "chat-message") };
}

/** Waits longer than a client that would reconnect. */
function expectAlone(socket: Socket): Promise<void> {
  return vi.waitFor(async () => expect(await ask(socket, "presence", {})).toMatchObject({ count: 1 }));
}

describe.concurrent.each(CASES)("a stock client %s over %s", (...which) => {
  it("that is kicked gets the notice, does not reconnect, and starts a fresh connection on request", async () => {
    const { mia, ada, reconnects, heard } = await scene(which);
    const [notice, reason] = [next<Notice>(ada, "notice"), next<string>(ada, "disconnect")];
    expect(await ask(mia, "kick", { user: "ada", reason: "calm down" })).toEqual({ ok: true });
    expect(await notice).toMatchObject({ code: "KICKED", message: expect.stringContaining("calm down") });
    expect(await reason).toBe("io server disconnect");
    await ask(mia, "chat-message", { content: "missed" });
    await expectAlone(mia);
    expect({ active: ada.active, reconnects }).toEqual({ active: false, reconnects: [] });
    ada.connect();
    await next(ada, "welcome");
    expect(ada.recovered ?? false).toBe(false);
    expect(await ask(ada, "chat-message", { content: "back" })).toMatchObject({ ok: true });
    await vi.waitFor(() => expect(heard.map(({ content }) => content)).toEqual(["back"]));
  });

  it("that is banned gets the notice, is refused when it connects again, and stops trying", async () => {
    const { mia, ada, reconnects, heard } = await scene(which);
    const [notice, reason] = [next<Notice>(ada, "notice"), next<string>(ada, "disconnect")];
    expect(await ask(mia, "ban", { user: "ada", seconds: 600 })).toEqual({ ok: true });
    expect(await notice).toMatchObject({ code: "BANNED", retryAfterMs: expect.any(Number) });
    expect(await reason).toBe("io server disconnect");
    await ask(mia, "chat-message", { content: "missed" });
    const refused = next<Error & { data: unknown }>(ada, "connect_error");
    ada.connect();
    expect((await refused).data).toMatchObject({ code: "BANNED", retryAfterMs: expect.any(Number) });
    await expectAlone(mia);
    expect({ active: ada.active, reconnects, heard }).toEqual({ active: false, reconnects: [], heard: [] });
  });
});
