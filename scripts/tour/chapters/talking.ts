// Messages: posting, editing, reactions, deletion.
import { good, refused, type Stage } from "../stage.ts";

export async function talking(stage: Stage): Promise<void> {
  stage.chapter("Messages");
  const ada = await stage.enter("ada");
  const ben = await stage.enter("ben");
  const mia = await stage.enter("mia", "moderator");
  const asked = { content: "Lunch, @ben? `npm run lunch`", clientMsgId: "lunch-1" };
  const posted = await stage.step("ada posts; the ack says that it is stored", async () =>
    good(await ada.ask("chat-message", asked)),
  );
  await stage.step("ben gets it", () => ben.hears("chat-message", ({ id }) => id === posted.id));
  await stage.step(
    "her phone was not sure and sends it again: the same message, and no member hears it twice",
    async () => good(await ada.ask("chat-message", asked)),
  );
  await stage.step("ben replies, and ada sees the message that he replies to", async () => {
    good(await ben.ask("chat-message", { content: "Yes!", replyTo: posted.id }));
    return ada.hears("chat-message", ({ replyTo }) => replyTo === posted.id);
  });
  await stage.step("mia reacts; everybody hears the count", async () => {
    good(await mia.ask("react", { id: posted.id, emoji: "🍜", on: true }));
    return ben.hears("reaction");
  });
  await stage.step("ada edits her message", async () => {
    good(await ada.ask("edit-message", { id: posted.id, content: "Dinner, @ben?" }));
    return ben.hears("message-edited");
  });
  await stage.step("ben may not edit ada's message", async () =>
    refused("FORBIDDEN", await ben.ask("edit-message", { id: posted.id, content: "Breakfast!" })),
  );
  await stage.step("a moderator sees its earlier text", async () => good(await mia.ask("versions", { id: posted.id })));
  await stage.step("ada deletes it: its place stays, its words are gone", async () => {
    good(await ada.ask("delete-message", { id: posted.id }));
    await ben.hears("message-deleted");
    return good(await ben.ask("history", { around: posted.seq, limit: 1 })).messages;
  });
  await stage.step("an error names the wrong field, and breaks nothing", async () =>
    refused("INVALID_PAYLOAD", await ada.ask("chat-message", { content: 7 } as never)),
  );

  await stage.step("a search finds messages by words, or by how words begin", async () => {
    good(await ada.ask("chat-message", { content: "The café on the corner, at seven?" }));
    return good(await ben.ask("search", { query: "CAFE corn" }));
  });

  stage.chapter("Typing and reading");
  await stage.step("ada types, ben sees it", async () => {
    good(await ada.ask("typing", { on: true }));
    return ben.hears("typing");
  });
  await stage.step("ben has read everything: a mark for all his devices", async () => {
    const { messages } = good(await ben.ask("history", { limit: 1 }));
    good(await ben.ask("read", { seq: messages[0]!.seq }));
    return ada.hears("read");
  });
  await stage.step("a client that was away asks for changes of older messages", async () =>
    good(await ada.ask("changes", { after: 0 })),
  );
  for (const person of [ada, ben, mia]) person.leave();
}
