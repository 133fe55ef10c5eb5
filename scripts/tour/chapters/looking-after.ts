// Moderation and tokens.
import { good, refused, type Stage } from "../stage.ts";

/** The notice of an expiring token comes at half of its remaining time. */
const SHORT_SECONDS = 6;

export async function lookingAfter(stage: Stage): Promise<void> {
  stage.chapter("Moderation");
  const mia = await stage.enter("mia", "moderator");
  const ben = await stage.enter("ben");
  await stage.step("mia mutes ben: everybody hears of it, and ben may not speak", async () => {
    good(await mia.ask("mute", { user: "ben", seconds: 60, reason: "shouting" }));
    await ben.hears("moderation");
    return refused("MUTED", await ben.ask("chat-message", { content: "WHAT?" }));
  });
  await stage.step("she unmutes him and slows the room down: he spoke a moment ago", async () => {
    good(await mia.ask("unmute", { user: "ben" }));
    good(await mia.ask("slow-mode", { seconds: 30 }));
    return refused("SLOW_MODE", await ben.ask("chat-message", { content: "Thanks." }));
  });
  await stage.step("only moderators may speak now", async () => {
    good(await mia.ask("slow-mode", { seconds: 0 }));
    good(await mia.ask("read-only", { on: true }));
    return refused("ROOM_READ_ONLY", await ben.ask("chat-message", { content: "Hello?" }));
  });
  await stage.step("she makes ben a moderator of this room, and he may", async () => {
    good(await mia.ask("grant", { user: "ben", role: "moderator" }));
    return good(await ben.ask("chat-message", { content: "Order, please." }));
  });
  await stage.step("he is one no more, the room is open again", async () => {
    good(await mia.ask("revoke", { user: "ben" }));
    return good(await mia.ask("read-only", { on: false }));
  });
  await stage.step("ben is banned: he gets the reason, and is disconnected", async () => {
    good(await mia.ask("ban", { user: "ben", seconds: 3600, reason: "enough" }));
    const notice = await ben.hears("notice");
    return [notice, await ben.isDisconnected()];
  });
  await stage.step("and does not come in again", async () => (await stage.person("ben")).isRefused());
  await stage.step("it is all in the audit list", async () => {
    good(await mia.ask("unban", { user: "ben" }));
    return good(await mia.ask("audit", { limit: 3 }));
  });

  stage.chapter("The life of a token");
  await stage.step("a token that ends soon is announced, and replaced without a new connection", async () => {
    const token = await stage.token("carol", { seconds: SHORT_SECONDS });
    const carol = await stage.person("carol", "member", token);
    const notice = await carol.hears("notice");
    const answer = good(await carol.ask("refresh-token", { token: await stage.token("carol") }));
    carol.leave();
    return [notice, answer];
  });
  mia.leave();
}
