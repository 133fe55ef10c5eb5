// MOD-2 of messages: ranks decide about edits and deletions of others' messages; events, history and audit list name the actor.
import { describe, expect, it } from "vitest";

import type { Message } from "../../../src/protocol/chat-events.ts";
import type { ChatRoom } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";
import { cast, OK, refusalOf, SERVICE, sleep, withGranted, type Cast } from "../../host/moderated-room.ts";
import { linked } from "../../host/relay-world.ts";

type Action = "edit-message" | "delete-message";
const ACTIONS: readonly Action[] = ["edit-message", "delete-message"];
const HEARD = { "edit-message": "message-edited", "delete-message": "message-deleted" } as const;

const idOf = async (said: Promise<unknown>): Promise<string> => ((await said) as { readonly id: string }).id;
const says = (client: Client, content: string): Promise<string> => idOf(client.ask("chat-message", { content }));
const serviceSays = (room: ChatRoom, content: string): Promise<string> =>
  idOf(room.ask("chat-message", SERVICE, { content }));
const stored = (room: ChatRoom, id: string): Message => room.log.messages.find((message) => message.id === id)!;
const newest = async (client: Client): Promise<unknown> =>
  ((await client.ask("history", { limit: 1 })).messages as unknown[])[0];
const audit = async ({ room }: Pick<Cast, "room">): Promise<unknown> =>
  ((await room.ask("audit", SERVICE, {})) as { readonly entries: unknown }).entries;

describe.each(ACTIONS)("MOD-2: %s of the message of another user", (action) => {
  const tries = (client: Client, id: string): Promise<unknown> => client.ask(action, { id, content: "rewritten" });

  it("is refused for messages of an equal, of a higher rank and of a service, here or away", async () => {
    const given = await withGranted(await cast());
    const { room, mia, gil, ben } = given;
    const [max, hal] = [await room.join({ user: "max", role: "moderator" }), await room.join("hal")];
    await mia.ask("grant", { user: "hal", role: "moderator" });
    const [byMia, byMax, byHal] = [await says(mia, "mia's"), await says(max, "max's"), await says(hal, "hal's")];
    const byService = await serviceSays(room, "the service's");
    const refused = [
      [mia, byMax],
      [mia, byService],
      [gil, byMia],
      [gil, byHal],
      [gil, byService],
    ] as const;
    const before = room.log.messages;
    for (const [client, id] of refused) expect(await tries(client, id)).toEqual(refusalOf("FORBIDDEN"));
    // The room knows the role of an author who is away, also after sleep.
    for (const client of [max, hal]) client.leave();
    room.shell.advance(60_000);
    room.shell.evict();
    for (const [client, id] of refused) expect(await tries(client, id)).toEqual(refusalOf("FORBIDDEN"));
    expect(room.log.messages).toEqual(before);
    expect(ben.received(HEARD[action])).toEqual([]);
    expect(await audit(given)).toMatchObject([{ action: "grant" }, { action: "grant" }]);
  });

  it("follows the room's grants of now: allowed where the author lost the role, refused where the author got one since", async () => {
    const { room, mia, gil, ada } = await withGranted(await cast());
    const max = await room.join({ user: "max", role: "moderator" });
    const [byMax, byAda, byGil] = [await says(max, "spam"), await says(ada, "hello"), await says(gil, "hi")];
    await room.ask("grant", SERVICE, { user: "max", role: "reader" });
    await mia.ask("grant", { user: "ada", role: "moderator" });
    expect(await tries(gil, byAda)).toEqual(refusalOf("FORBIDDEN"));
    expect(await tries(mia, byMax)).toMatchObject(OK);
    expect(await tries(mia, byGil)).toMatchObject(OK);
    expect(await tries(mia, byAda)).toMatchObject(OK);
  });

  it("is allowed to the backend for any author; a message that it posted as a member counts as a member's", async () => {
    const { room, mia } = await cast();
    const byMia = await says(mia, "mia's");
    const asMember = { user: "imported", role: "member" } as const;
    const byMember = await idOf(room.ask("chat-message", asMember, { content: "in a member's name" }));
    expect(await room.ask(action, SERVICE, { id: byMia, content: "served" })).toMatchObject(OK);
    expect(await tries(mia, byMember)).toMatchObject(OK);
    const other = { user: "other-backend", role: "service" } as const;
    const byOther = await idOf(room.ask("chat-message", other, { content: "another service's" }));
    expect(await room.ask(action, SERVICE, { id: byOther, content: "corrected" })).toMatchObject(OK);
  });

  it("is refused for a copy as for its original", async () => {
    const world = linked();
    // As a service.
    world.room("a").call("chat-message", SERVICE.user, { content: "official" });
    await world.pass(1100);
    world.room("b").shell.evict();
    const [copy] = world.room("b").log.messages;
    expect(copy).toMatchObject({ content: "official", origin: { room: "a" } });
    expect(copy).not.toHaveProperty("role");
    const mo = await world.room("b").join({ user: "mo", role: "moderator" });
    expect(await tries(mo, copy!.id)).toEqual(refusalOf("FORBIDDEN"));
  });

  it("MOD-11: is in the audit list; edits of authors are not, nor changes that could not be stored", async () => {
    const given = await cast();
    const { room, mia, ada } = given;
    const [first, own] = [await says(ada, "first"), await says(ada, "second")];
    await ada.ask(action, { id: own, content: "my own" });
    room.log.failure = new Error("disk full");
    expect(await tries(mia, first)).toEqual(refusalOf("INTERNAL"));
    room.log.failure = undefined;
    expect(await audit(given)).toEqual([]);
    await tries(mia, first);
    const entry = { number: 1, at: expect.any(Number), action, by: "mia", user: "ada", id: first, seq: 1 };
    expect(await audit(given)).toEqual([entry]);
    sleep(room);
    expect(await audit(given)).toEqual([entry]);
  });

  it("MOD-11: is not done where the audit list cannot be written", async () => {
    const { room, mia, ada, ben } = await cast();
    const id = await says(ada, "hello");
    room.state.failure = new Error("disk full");
    expect(await tries(mia, id)).toEqual(refusalOf("INTERNAL"));
    room.state.failure = undefined;
    expect(stored(room, id)).toMatchObject({ content: "hello" });
    expect(ben.received(HEARD[action])).toEqual([]);
  });
});

describe("the actor", () => {
  it("MSG-1: is in every edit event, and in the history where it was not the author", async () => {
    const { room, mia, ada, ben } = await cast();
    const id = await says(ada, "hello");
    await ada.ask("edit-message", { id, content: "hello!" });
    expect(await newest(ben)).not.toHaveProperty("editedBy");
    await mia.ask("edit-message", { id, content: "hello?" });
    expect(ben.received("message-edited")).toMatchObject([{ by: "ada" }, { by: "mia" }]);
    sleep(room);
    const edited = { sender: "ada", content: "hello?", editedBy: "mia" };
    expect(await newest(ben)).toMatchObject(edited);
    expect(await ben.ask("get-message", { id })).toMatchObject({ message: edited });
    expect(await ben.ask("changes", { after: 0 })).toMatchObject({ messages: [edited] });
    await ada.ask("edit-message", { id, content: "mine again" });
    expect(await newest(ben)).not.toHaveProperty("editedBy");
  });

  it("comes without the role in which the message was written, in every answer and event", async () => {
    const { room, mia, ben } = await cast();
    await says(mia, "a moderator's");
    await serviceSays(room, "a service's");
    const told = JSON.stringify([ben.received("chat-message"), await ben.ask("history", {})]);
    expect(told).not.toMatch(/"role"|"w"/);
  });
});
