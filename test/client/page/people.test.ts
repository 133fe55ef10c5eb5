// Tests people's names on the page, and mentions, written and read.
import { describe, expect, it } from "vitest";

import { People } from "../../../client/page/state/people.ts";
import { Names } from "../../../client/store/names.ts";
import { mentionsIn } from "../../../src/protocol/text/mentions.ts";
import { messageOf } from "../../host/message.ts";

const [ADA, OTHER] = ["guest-00000000000a1b2c", "guest-00000000000f00ba"] as const;

type Entries = ReadonlyArray<readonly [user: string, name: string]>;

/** The names that a room's store knows, and the page's words for them. */
function namesOf(...entries: Entries): { names: Names; people: People } {
  const names = new Names();
  for (const [user, name] of entries) names.note({ user, name });
  return { names, people: new People(() => names.state) };
}
const peopleOf = (...entries: Entries): People => namesOf(...entries).people;

describe("names", () => {
  it("of former members come from their messages; the newest one counts", () => {
    const { names, people } = namesOf(["u1", "Ada"]);
    names.noteAuthors([messageOf(1, { sender: "u1", name: "Old Ada" }), messageOf(2, { sender: "u2" })]);
    expect([people.nameOf("u1"), people.nameOf("u2")]).toEqual(["Ada", "Ben"]);
    names.note({ user: "u2", name: "Benedict" });
    expect(people.nameOf("u2")).toBe("Benedict");
  });

  it("an unknown guest gets a generic name; an unknown user of an application is shown by id", () => {
    const people = peopleOf();
    expect(people.nameOf(ADA)).toBe("Guest 1b2c");
    expect(people.nameOf("ben")).toBe("ben");
  });

  it("lose the characters that turn text around", () => {
    expect(peopleOf([ADA, "\u202EadA\u202C"]).nameOf(ADA)).toBe("adA");
  });

  it("that look the same get tags, as long as two people have them", () => {
    const { names, people } = namesOf([ADA, "Ada"], ["ben", "Ben"]);
    expect(people.tagOf(ADA)).toBe("");
    names.note({ user: OTHER, name: "Ada" });
    names.note({ user: "u9", name: "Ben" });
    expect([ADA, OTHER, "ben", "u9"].map((user) => people.tagOf(user))).toEqual(["#1b2c", "#00ba", "#ben", "#u9"]);
    names.note({ user: OTHER, name: "A\u00ADd\u{E0001}a\u200B" });
    expect([people.tagOf(ADA), people.tagOf(OTHER)]).toEqual(["#1b2c", "#00ba"]);
    names.note({ user: OTHER, name: "ada" });
    expect([people.tagOf(ADA), people.tagOf(OTHER)]).toEqual(["", ""]);
    names.note({ user: OTHER, name: "Adam" });
    expect([people.tagOf(ADA), people.tagOf(OTHER)]).toEqual(["", ""]);
  });
});

describe("mentions", () => {
  const people = peopleOf(
    [ADA, "Ada"],
    [OTHER, "Ada Lovelace"],
    ["u3", "Ben"],
    ["odd id", "Cleo"],
    ["tick", "`code`"],
    ["dan", "Eve"],
    ["u7", "dan"],
    ["u8", "田中"],
    ["u9", "कमल"],
  );
  const ids = (text: string): string => people.withIds(text);
  const names = (content: string): string => people.withNames(content);

  it.each([
    ["hi @Ada, all", `hi @${ADA}, all`],
    ["hi @Ada Lovelace!", `hi @${OTHER}!`],
    ["(@Ben)", "(@u3)"],
    ["@Ben @Ada", `@u3 @${ADA}`],
    ["@Cleo?", "@<odd id>?"],
    ["@dan#u7 is not @dan", "@u7 is not @dan"],
    ["@田中さん、@Benさん", "@<u8>さん、@<u3>さん"],
    ["你好@Ben。「@田中」", "你好@u3。「@u8」"],
    ["Drinks:@Ben _@Ben_", "Drinks:@u3 _@<u3>_"],
  ])("%s is sent as %s, and read as it was written", (written, sent) => {
    expect(ids(written)).toBe(sent);
    expect(names(sent).replace("@Eve", "@dan")).toBe(written);
    expect(ids(names(sent))).toBe(sent);
  });

  it("text after a name does not become a part of the id", () => {
    for (const text of ["@Ben-x", "@Ben.y", "@Ben:1"]) expect(mentionsIn(ids(text))).toEqual(["u3"]);
    expect(mentionsIn(ids("@Ben. And"))).toEqual(["u3"]);
  });

  it.each([
    "mail@Ben",
    "@Benedict",
    "`@Ben`",
    "```\n@Ben\n```",
    "@ada",
    "@u3",
    "@nobody",
    "https://x.example/@Ben",
    "x.example/@Ben",
    "@कमला",
  ])("%s stays as it is: no name becomes an id", (text) => {
    expect(ids(text)).toBe(text);
  });

  it("a name that would parse as code, or that no member has, stays an id", () => {
    expect(people.labelOf("tick")).toBeUndefined();
    expect(names("hi @tick and @stranger, `@u3`")).toBe("hi @tick and @stranger, `@u3`");
  });
});
