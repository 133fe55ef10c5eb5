// Connections that fell asleep under a kept release wake under the code of today: no client notices. Connections of a later release are sent
// away, to come back.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import type { Kept } from "../../scripts/keep-release/kept.ts";
import type { Message, PresenceAnswer, ReadMarksAnswer } from "../../src/protocol/chat-events.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, stubOf } from "./rooms.ts";

interface Attachment {
  readonly v: number;
  readonly sid: string;
  readonly sockets: ReadonlyArray<{ readonly token: { readonly user: string } }>;
}

const ATTACHMENTS = import.meta.glob<Attachment[]>("../releases/*/attachments.json", {
  eager: true,
  import: "default",
});
const FACTS = import.meta.glob<Kept>("../releases/*/facts.json", { eager: true, import: "default" });

const DAY_MS = 86_400_000;

/** The same data, as if it had been kept a moment ago: every time of that day moves along. */
function movedBy<Data>(data: Data, ms: number, keptAtMs: number): Data {
  const move = (value: unknown): unknown =>
    typeof value === "number" && Math.abs(value - keptAtMs) < DAY_MS ? value + ms : value;
  return JSON.parse(JSON.stringify(data), (_key, value: unknown) => move(value)) as Data;
}

/** Clients of a room that is asleep, and keeps these attachments of them. */
async function asleep(room: string, attachments: readonly Attachment[]): Promise<RawClient[]> {
  // All take frames of both kinds.
  const clients = await Promise.all(attachments.map(() => RawClient.open({ room, query: { ext: "1" } })));
  const kept = new Map(clients.map(({ handshake }, at) => [handshake.sid, attachments[at]]));
  await runInDurableObject(stubOf(room), (_room, ctx) => {
    for (const ws of ctx.getWebSockets())
      ws.serializeAttachment(kept.get((ws.deserializeAttachment() as Attachment).sid));
  });
  await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
  return clients;
}

describe.each(Object.entries(ATTACHMENTS))("%s", (file, kept) => {
  const { keptAtMs } = FACTS[file.replace("attachments", "facts")]!;
  const userOf = ({ sockets }: Attachment): string => sockets[0]!.token.user;
  const attachments = movedBy(kept, Date.now() - keptAtMs, keptAtMs).toSorted((one, other) =>
    userOf(one).localeCompare(userOf(other)),
  );

  it("wakes as members who talk, with all that they carried", async () => {
    const [ada, ben] = (await asleep(freshRoom(), attachments)) as [RawClient, RawClient];
    const people = await ada.ask<PresenceAnswer>("presence", {});
    expect(people).toMatchObject({ ok: true, count: 2, members: [{ user: "ada" }, { user: "ben" }] });
    expect(await ben.ask("chat-message", { content: "after the deployment" })).toMatchObject({ ok: true, seq: 1 });
    await ada.receives("chat-message", 1);
    expect(ada.received<Message>("chat-message")).toMatchObject([{ sender: "ben", content: "after the deployment" }]);
    expect(await ada.ask("read", { seq: 1 })).toMatchObject({ ok: true });
    expect(await ben.ask<ReadMarksAnswer>("read-marks", {})).toMatchObject({ ok: true });
    for (const client of [ada, ben]) expect(client.closed).toBeUndefined();
  });

  it("is sent away where it is of a later version", async () => {
    const later = attachments.map((attachment) => ({ ...attachment, v: attachment.v + 1 }));
    const [ada] = (await asleep(freshRoom(), later)) as [RawClient];
    ada.send('42["typing",{"on":true}]');
    await ada.until("the closing", () => ada.closed);
    expect(ada.closed).toEqual({ code: 1012, reason: "service restart" });
  });
});
