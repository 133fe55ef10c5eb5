// Mentions: the users that a message names.
import { describe, expect, it } from "vitest";

import { MENTIONS_MAX, mentionsIn } from "../../../src/protocol/text/mentions.ts";
import { roomWith } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { fc, runs } from "../../host/properties.ts";

describe("MSG-8: mentions", () => {
  it.each<[content: string, users: string[]]>([
    ["@ada", ["ada"]],
    ["hello @ada, and (@ben)!", ["ada", "ben"]],
    ["@ada @ben @ada", ["ada", "ben"]],
    ["@guest-4f_2.x: look", ["guest-4f_2.x"]],
    ["ask @auth0|5f7c or @ada.", ["auth0|5f7c", "ada"]],
    ["@Zoë, @小明", ["Zoë", "小明"]],
    ["@<ada lovelace@example.com>", ["ada lovelace@example.com"]],
    ["“@ada”\n@ben…", ["ada", "ben"]],
    ["mail ada@example.com", []],
    ["https://example.com/@ada and https://ada@example.com", []],
    ["`@ada` ```\n@ben\n``` @cleo", ["cleo"]],
    ["``` @ada", []],
    ["` @ada", ["ada"]],
    ["@ @, @- @@ada @<> @<a\nb>", []],
    ["no one", []],
    ["你好@ada", ["ada"]],
    ["「@ada」（@ben）", ["ada", "ben"]],
    ["Drinks:@ada hi!@ben well...@cleo ok?@dan", ["ada", "ben", "cleo", "dan"]],
    ["@ada、@ben。 -@cleo/@dan ❤️@eve", ["ada", "ben", "cleo", "dan", "eve"]],
    ["@adaさん @ben님 @<田中>さん", ["ada", "ben", "田中"]],
    ["@ada:你好 @ben~谢谢 @cleo.请看 @dan-さん", ["ada", "ben", "cleo", "dan"]],
    ["@小明:你好 @田中-san @김:hi", ["小明", "田中", "김"]],
    ["＠ada 你好＠ben、 ada＠b.example `＠cleo`", ["ada", "ben"]],
    ["@<wx:小明>:好", ["wx:小明"]],
    ["ที่@ada 안녕@ben", ["ada", "ben"]],
    ["@कमला नमस्ते", ["कमला"]],
    ["_@ada_ **@ben** ~~@cleo~~", ["ada", "ben", "cleo"]],
    ["first.last+tag@example.co a-@b.example 用户@例子.公司", []],
    ["Https://x.example/@ada。@ben social.example/@cleo x.example/?u=@dan", ["ben"]],
    ["@<https://id.example/7>", ["https://id.example/7"]],
  ])("%j speaks to %j", (content, users) => {
    expect(mentionsIn(content)).toEqual(users);
  });

  it("are bounded", () => {
    const content = Array.from({ length: MENTIONS_MAX + 5 }, (_, i) => `@user-${i}`).join(" ");
    expect(mentionsIn(content)).toHaveLength(MENTIONS_MAX);
    expect(mentionsIn(`@${"x".repeat(1000)}`).every((user) => user.length <= 128)).toBe(true);
  });

  it("take any text: each is a part of it", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("@", "<", ">", "`", "a", "b", ".", "-", ":", "/", " ", "\n", "\u{1f98a}"),
          maxLength: 300,
        }),
        (content) => {
          for (const user of mentionsIn(content)) expect(content).toContain(user);
        },
      ),
      runs(500),
    );
  });

  it("come with the message, for everyone and in the history", async () => {
    const { room, people } = await roomWith("ada", "ben");
    await people[0]!.ask("chat-message", { content: "@ben, look" });
    room.quiet();
    await people[0]!.ask("chat-message", { content: "nobody" });
    room.quiet();
    const heard = people[1]!.received("chat-message");
    expect(heard).toMatchObject([{ mentions: ["ben"] }, {}]);
    expect(heard[1]).not.toHaveProperty("mentions");
    room.shell.evict();
    expect((await people[1]!.ask("history", {})).messages).toEqual(heard);
  });

  it("disappear with an edit that mentions no user", async () => {
    const { people } = await roomWith("ada");
    await people[0]!.ask("chat-message", { content: "@ben, look" });
    await people[0]!.ask("edit-message", { id: `${EPOCH}-1`, content: "look" });
    expect((await people[0]!.ask("history", {})).messages[0]).not.toHaveProperty("mentions");
  });
});
