// Objects that decide about requests before their sessions hear of them, and whose connections do not survive sleep.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import {
  encodeUpgradeFacts,
  INNER_ORIGIN,
  UPGRADE_HEADER,
  type UpgradeFacts,
} from "../../../src/rpc/upgrade-header.ts";
import { evict } from "../../kit/objects.ts";
import { SEPARATOR } from "../../wire/wire-client.ts";
import { RawClient } from "../raw-client.ts";

type Asking = RequestInit & { readonly room: string; readonly sid?: string };

/** A request as the Worker passes it on. */
function ask(transport: "polling" | "websocket", { room, sid, ...init }: Asking): Promise<Response> {
  const facts: UpgradeFacts = { address: "192.0.2.1", query: {}, ...(sid !== undefined && { sid }) };
  const headers = new Headers(init.headers);
  headers.set(UPGRADE_HEADER, encodeUpgradeFacts(facts));
  if (transport === "websocket") headers.set("Upgrade", "websocket");
  return env.GATE.getByName(room).fetch(new Request(`${INNER_ORIGIN}/${transport}`, { ...init, headers }));
}

async function enter(room: string, headers: HeadersInit = {}): Promise<RawClient> {
  const { webSocket } = await ask("websocket", { room, headers });
  return RawClient.over(webSocket!, { answersPings: false });
}

const seen = (response: Response): [number, string | null] => [response.status, response.headers.get("X-Seen")];

describe("an application that admits requests", () => {
  it.each(["polling", "websocket"] as const)(
    "refuses a new connection over %s with an answer of its own",
    async (transport) => {
      const refused = await ask(transport, { room: "refusing", headers: { "X-Ticket": "forged" } });
      expect([refused.status, await refused.text()]).toEqual([403, "no entry"]);
    },
  );

  it("refuses polls and posts of a session, which goes on", async () => {
    const headers = { "X-Wanted-Id": "ada's" };
    await (await ask("polling", { room: "strict", headers })).text();
    for (const method of ["GET", "POST"]) {
      const forged = { method, ...(method === "POST" && { body: "4hello" }), headers: { "X-Ticket": "forged" } };
      expect((await ask("polling", { room: "strict", sid: "ada's", ...forged })).status).toBe(403);
    }
    const posted = await ask("polling", { room: "strict", sid: "ada's", method: "POST", body: "3" });
    expect(await posted.text()).toBe("ok");
  });

  it("gives a session its id and its request, and each answer headers", async () => {
    const headers = { "X-Wanted-Id": "a given id", "X-Ticket": "17" };
    const opened = await ask("polling", { room: "given", headers });
    expect(seen(opened)).toEqual([200, "GET new"]);
    const [open, event] = (await opened.text()).split(SEPARATOR);
    expect([open, event]).toEqual([expect.stringContaining('0{"sid":"a given id"'), '42["ticket 17"]']);
    const sid = "a given id";
    const posted = await ask("polling", { room: "given", sid, method: "POST", body: "3" });
    expect(seen(posted)).toEqual([200, "POST a given id"]);
    await posted.text();
    const polled = await ask("polling", { room: "given", sid });
    expect([...seen(polled), await polled.text()]).toEqual([200, "GET a given id", '42["pong"]']);
    const probed = await ask("websocket", { room: "given", sid });
    expect(seen(probed)).toEqual([101, "GET a given id"]);
    const probe = RawClient.over(probed.webSocket!, { answersPings: false });
    probe.send("2probe");
    await probe.until("both answers", () => probe.frames.includes("3probe") || undefined);
    probe.send("5");
    await probe.until("the notice", () => probe.frames.includes('42["upgrade"]') || undefined);
    // Without the pings that a slow machine gets meanwhile.
    const frames = probe.frames.filter((frame) => frame !== "2" && frame !== '42["ping"]');
    expect(frames).toEqual(["3probe", '42["upgrading"]', '42["upgrade"]']);
  });

  it("is asked about preflights, and answers them or refuses", async () => {
    const refused = await ask("polling", { room: "preflight", method: "OPTIONS" });
    expect([...seen(refused), (await refused.json<{ code: number }>()).code]).toEqual([400, "OPTIONS new", 2]);
  });
});

describe("an object that stays awake while it has connections", () => {
  it("sees each pong, however long its ping interval", async () => {
    const client = await enter("ponging");
    client.send("3");
    client.send("3");
    await client.until("both notices", () => client.frames[3]);
    expect(client.frames.slice(1)).toEqual(['42["ticket null"]', '42["pong"]', '42["pong"]']);
  });

  it("ends those of an earlier instance with 1012, by which their clients come back", async () => {
    const room = "evicted";
    const client = await enter(room);
    await client.until("the handshake", () => client.frames[1]);
    await evict(env.GATE.getByName(room), "hibernate");
    expect(await client.until("the close", () => client.closed)).toMatchObject({ code: 1012 });
    const back = await enter(room);
    expect(await back.until("the handshake", () => back.frames[1])).toBe('42["ticket null"]');
  });
});
