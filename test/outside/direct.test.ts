// A direct conversation of two people, one of whom has the client module.
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { builtClient } from "./built-client.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";

const url = inject("serverUrl");
const WAIT = { interval: 50 };

it("two users have a conversation, one with the client module and one with a stock client: DM-1, DM-2", async () => {
  const { connectDirect } = await builtClient();
  const conversation = await connectDirect(url, "ben-outside", { token: () => tokenFor("ada-outside") });
  try {
    const general = await join(url, "general-outside", "ben-outside");
    const opened = await ask<{ room: string }>(general, "open-dm", { user: "ada-outside" });
    expect(opened).toEqual({ ok: true, room: conversation.room, isNew: false });
    const ben = await join(url, opened.room, "ben-outside");
    const said = collect<Message>(ben, "chat-message");
    await conversation.send("Hello Ben");
    await vi.waitFor(() => expect(said).toMatchObject([{ sender: "ada-outside", content: "Hello Ben" }]), WAIT);
    const headers = { Authorization: `Bearer ${await tokenFor("ben-outside")}` };
    const listed = [{ room: conversation.room, user: "ada-outside", lastSeq: 1, unread: 1 }];
    const list = async (): Promise<unknown> => (await fetch(new URL("/api/dms", url), { headers })).json();
    await vi.waitFor(async () => expect(await list()).toMatchObject({ dms: listed }), WAIT);
  } finally {
    conversation.close();
  }
  const refused = connectDirect(url, "ada-outside", { token: await tokenFor("ada-outside") });
  await expect(refused).rejects.toMatchObject({ code: "INVALID_PAYLOAD" });
  await expect(connectDirect(url, "ada", { token: "no token" })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});
