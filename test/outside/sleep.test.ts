// A room sleeps 11 s after its last packet, for all kinds of clients. Sleep shows from outside: a long-polling session
// lives in memory only, so a room that has slept does not know it any more (EIO-8).
import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, inject, it, vi } from "vitest";

import { ask, collect, join, tokenFor } from "./stock-clients.ts";

/** The platform's 10 s of quiet, and one more for the room to set its alarm. */
const SLEEP_WITHIN_MS = 11_000;
/** A poll without a reader is held so long: EIO-8. */
const POLL_HOLD_MS = 20_000;
/** All clients are connected, and the work that their connects caused is done. */
const SETTLED_MS = 1000;

const url = inject("serverUrl");

/** An idle member over long-polling: the room remembers it while it is awake. */
class Canary {
  readonly #url: URL;

  constructor(room: string) {
    this.#url = new URL(`/rooms/${room}/socket.io/?EIO=4&transport=polling`, url);
  }

  async enter(): Promise<this> {
    const { sid } = JSON.parse((await (await this.#get()).text()).slice(1)) as { sid: string };
    this.#url.searchParams.set("sid", sid);
    const body = `40${JSON.stringify({ token: await tokenFor("canary") })}`;
    expect((await fetch(this.#url, { method: "POST", body })).status).toBe(200);
    let heard = "";
    while (!heard.includes('"presence"')) heard += await (await this.#get()).text();
    return this;
  }

  #get(signal?: AbortSignal): Promise<Response> {
    return fetch(this.#url, signal ? { signal } : {});
  }

  /** Asks for packets, and is gone before any come. */
  async pollAndGo(): Promise<void> {
    const leaving = new AbortController();
    const poll = this.#get(leaving.signal);
    await pause(500);
    leaving.abort();
    await expect(poll).rejects.toThrow(/abort/);
  }

  /** Whether the room has slept since `enter`. It wakes for the question, which counts as a packet where it was awake. */
  async hasSlept(): Promise<boolean> {
    // A room that is awake has nothing to say to it.
    const response = await this.#get(AbortSignal.timeout(5000)).catch(() => undefined);
    if (!response || response.status === 200) return false;
    expect([response.status, await response.json()]).toMatchObject([400, { code: 1 }]);
    return true;
  }

  /** Sleep comes within 11 s of the last packet. A machine may stall just then: another try begins when the poll that asked is over. */
  async sleeps(quietMs = SLEEP_WITHIN_MS): Promise<void> {
    await pause(quietMs);
    for (let tries = 1; !(await this.hasSlept()); tries++) {
      expect(tries, "The room is still awake, 11 s after its last packet").toBeLessThan(3);
      await pause(POLL_HOLD_MS + SLEEP_WITHIN_MS);
    }
  }
}

const post = (socket: Parameters<typeof ask>[0], content: string): Promise<unknown> =>
  ask(socket, "chat-message", { content });

describe.concurrent("a room sleeps 11 s after its last packet", () => {
  it("with idle stock clients, which stay connected", async () => {
    const canary = await new Canary("asleep-idle").enter();
    const members = [await join(url, "asleep-idle", "ada"), await join(url, "asleep-idle", "ben")];
    const disconnects = members.map((member) => collect(member, "disconnect"));
    await pause(SETTLED_MS);
    expect(await post(members[0]!, "last words")).toMatchObject({ ok: true });
    await canary.sleeps();
    expect(await post(members[1]!, "good morning")).toMatchObject({ ok: true, seq: 2 });
    expect(disconnects).toEqual([[], []]);
  });

  it("not while a client sends something every few seconds", async () => {
    const canary = await new Canary("asleep-busy").enter();
    const ada = await join(url, "asleep-busy", "ada");
    for (let waitedMs = 0; waitedMs < SLEEP_WITHIN_MS + 4000; waitedMs += 3000) {
      await post(ada, `after ${waitedMs} ms`);
      await pause(3000);
    }
    expect(await canary.hasSlept()).toBe(false);
  });

  it("with a polling client that vanished: the last packet is the noop that ends its poll", async () => {
    const canary = await new Canary("asleep-gone").enter();
    await canary.pollAndGo();
    await canary.sleeps(POLL_HOLD_MS + SLEEP_WITHIN_MS);
  });

  it("with half of a binary packet, which is completed afterwards: SIO-9", async () => {
    const canary = await new Canary("asleep-half").enter();
    const ada = await join(url, "asleep-half", "ada");
    const answers: string[] = [];
    ada.io.engine.on("packet", ({ type, data }: { type: string; data?: unknown }) => {
      if (type === "message") answers.push(String(data));
    });
    await pause(SETTLED_MS);
    ada.io.engine.write('51-7["chat-message",{"_placeholder":true,"num":0}]');
    await canary.sleeps();
    ada.io.engine.write(new Uint8Array([1, 2, 3]));
    await vi.waitFor(() => expect(answers.at(-1)).toMatch(/^37\[\{"error":\{"code":"INVALID_PAYLOAD"/));
    expect(ada.connected).toBe(true);
  });
});
