// Custom features that do not fit: the room leaves them out, says why, and goes on.
import { describe, expect, it } from "vitest";

import { KEPT_LENGTH_MAX } from "../../../src/chat/custom/custom-connection.ts";
import { withHandedIn } from "../../../src/chat/custom/custom-features.ts";
import { ANNOUNCEMENT_EVENT } from "../../../src/protocol/announcement.ts";
import { RoomFeature, type RoomHandle } from "../../../src/extension/extension.ts";
import { refusalOf } from "../../host/moderated-room.ts";
import { Feature, CustomRoom, roomOf } from "../../host/custom-room.ts";

const OK = { ok: true };
const run = (): object => ({});

type Made = readonly unknown[];

const roomWith = (make: (room: RoomHandle) => Made): CustomRoom => new CustomRoom(make as never);

/** That the good feature beside the bad one works, and the chat. */
async function expectOthers(room: CustomRoom): Promise<void> {
  const ada = await room.join("ada");
  expect(await ada.ask("good")).toEqual(OK);
  expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject(OK);
}

const GOOD = { name: "good", events: { good: { run } } };

describe("OWN-2: a feature is left out, and the log says why, where", () => {
  it.each([
    ["it has no name", { name: "" }, '"" is left out: its `name` must be'],
    ["its name has a capital", { name: "Cups" }, '"Cups" is left out: its `name` must be'],
    ["its name has 33 characters", { name: "c".repeat(33) }, "its `name` must be"],
    ["another has its name", { name: "good" }, '"good" is left out: another feature has its name'],
    [
      "it takes an event of the chat",
      { events: { react: { run } } },
      'its event "react" has the name of one of the chat',
    ],
    [
      "it takes an event that the chat sends",
      { events: { welcome: { run } } },
      'its event "welcome" has the name of one',
    ],
    ["it takes uploads", { events: { "upload-file": { run } } }, 'its event "upload-file" has the name of one'],
    [
      "it takes an event of Socket.IO",
      { events: { disconnect: { run } } },
      'its event "disconnect" has the name of one',
    ],
    [
      "it takes an event of another",
      { events: { good: { run } } },
      'its event "good" is one of the feature "good" already',
    ],
    [
      "it sends an event of the chat",
      { sends: ["chat-message"] },
      'the event "chat-message" that it sends has the name of',
    ],
    ["it sends announcements", { sends: [ANNOUNCEMENT_EVENT] }, "that it sends has the name of one of the chat's own"],
    ["an event has no name", { events: { "": { run } } }, 'its event "" has a name that is not'],
    ["an event's name has a space", { events: { "a b": { run } } }, 'its event "a b" has a name that is not'],
    ["an event's name has 65 characters", { sends: ["e".repeat(65)] }, "has a name that is not"],
    ["an event has no run", { events: { brew: {} } }, 'its event "brew" has no `run`'],
    ["an event is nothing", { events: { brew: undefined } }, "is left out"],
    [
      "nobody knows who may send it",
      { events: { brew: { run, by: "owner" } } },
      '`by: "owner"`, which is none of everyone',
    ],
    [
      "a schema is none",
      { events: { brew: { run, schema: {} } } },
      "has a `schema` that is none of the Standard Schema",
    ],
    ["an event costs nothing", { events: { brew: { run, cost: 0 } } }, "has a `cost` that is not 1 to 200"],
    ["an event costs too much", { events: { brew: { run, cost: 201 } } }, "has a `cost` that is not 1 to 200"],
  ])("%s", async (_what, parts, logged) => {
    const room = roomWith((handle) => [new Feature(handle, GOOD), new Feature(handle, parts as never)]);
    expect(room.logged).toEqual([expect.stringContaining(logged)]);
    const [event = "brew"] = Object.keys((parts as { events?: object }).events ?? {});
    if (event === "brew") expect(await (await room.join("ben")).ask("brew")).toEqual(refusalOf("UNKNOWN_EVENT"));
    await expectOthers(room);
  });

  it("two send the same event: the second", async () => {
    const room = roomWith((handle) => [
      new Feature(handle, { ...GOOD, sends: ["brewed"] }),
      new Feature(handle, { sends: ["brewed"] }),
    ]);
    expect(room.logged).toEqual([
      expect.stringContaining('"brewed" that it sends is one of the feature "good" already'),
    ]);
    await expectOthers(room);
  });

  it("it is no feature", async () => {
    const room = roomWith((handle) => [new Feature(handle, GOOD), null, "polls", { name: "polls" }]);
    expect(room.logged).toEqual([
      "the feature 1 is left out: it is no RoomFeature",
      "the feature 2 is left out: it is no RoomFeature",
      'the feature "polls" is left out: it is no RoomFeature',
    ]);
    await expectOthers(room);
  });

  it("but not where a bundler has loaded its base class from another copy of the package", async () => {
    const file = new URL("../../../src/extension/room-feature.ts?copy", import.meta.url).href;
    const copy = (await import(file)) as { readonly RoomFeature: typeof RoomFeature };
    expect(copy.RoomFeature).not.toBe(RoomFeature);
    class Tea extends copy.RoomFeature {
      readonly name = "tea";
      override readonly events = { brew: { run: () => ({}) } };
    }
    const room = roomWith((handle) => [new Feature(handle, GOOD), new Tea(handle)]);
    expect(room.logged).toEqual([]);
    expect(await (await room.join("ben")).ask("brew")).toEqual(OK);
    await expectOthers(room);
  });

  it("it was made for another room", async () => {
    const shared: Feature[] = [];
    const make = (handle: RoomHandle): Made => {
      shared[0] ??= new Feature(handle, { name: "shared" });
      return [new Feature(handle, GOOD), shared[0]];
    };
    expect(roomWith(make).logged).toEqual([]);
    const second = roomWith(make);
    expect(second.logged).toEqual([expect.stringContaining('"shared" is left out: it was made for another room')]);
    await expectOthers(second);
  });
});

describe("OWN-2: a room whose list of features", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error("no features today");
      },
      "no features today",
    ],
    ["is none", () => ({ name: "polls" }), "it must return a list of features"],
    ["is missing", () => undefined, "it must return a list of features"],
    ["is promised", async () => [], "it must return a list of features"],
  ])("%s is an ordinary room, and the log reports it", async (_what, make, logged) => {
    const room = roomWith(make as never);
    expect(room.logged).toEqual([`\`features\` of the room's class failed, so the room has none of them: ${logged}`]);
    expect(await (await room.join("ada")).ask("chat-message", { content: "hello" })).toMatchObject(OK);
  });

  it("has one of the name of a deployment's feature has that instead, and the deployment's others", async () => {
    const [old, tea] = ["sample", "tea"].map((name) => ({
      name,
      room: (handle: RoomHandle) =>
        new Feature(handle, { name, events: { [name]: { run: () => ({ of: "deployment" }) } } }),
    }));
    const ofClass = (handle: RoomHandle) => [
      new Feature(handle, { events: { sample: { run: () => ({ of: "class" }) } } }),
    ];
    const room = new CustomRoom(withHandedIn([old!, tea!], ofClass)!);
    const ada = await room.join("ada");
    expect(room.logged).toEqual([]);
    expect(await ada.ask("sample")).toEqual({ ok: true, of: "class" });
    expect(await ada.ask("tea")).toEqual({ ok: true, of: "deployment" });
  });

  it("lacks a feature of the deployment that cannot be made, and has its others", async () => {
    const pins = {
      name: "pins",
      room: (): never => {
        throw new Error("max must be 1 to 100");
      },
    };
    const good = { name: "good", room: (handle: RoomHandle) => new Feature(handle, GOOD) };
    const ofClass = (handle: RoomHandle) => [new Feature(handle, { name: "tea", events: { tea: { run } } })];
    for (const make of [withHandedIn([pins, good], undefined), withHandedIn([pins, good], ofClass)]) {
      const room = new CustomRoom(make!);
      expect(room.logged).toEqual(['the feature "pins" is left out: max must be 1 to 100']);
      await expectOthers(room);
    }
  });

  it("is empty, too", async () => {
    const room = roomWith(() => []);
    expect(room.logged).toEqual([]);
    expect(await (await room.join("ada")).ask("good")).toEqual(refusalOf("UNKNOWN_EVENT"));
  });
});

describe("OWN-2: a field of `welcome`", () => {
  it("is the chat's own, also where the room leaves it out: the other fields are there", async () => {
    const room = roomOf({ welcome: () => ({ files: 3, lastSeq: 99, cups: 2 }) });
    const [welcome] = (await room.join("ada")).received("welcome");
    expect(welcome).toMatchObject({ lastSeq: 0, cups: 2 });
    expect(welcome).not.toHaveProperty("files");
    expect(room.logged.join()).toContain('the field "files" of `welcome` is the chat\'s own');
  });

  it("of two features is the first one's", async () => {
    const room = roomWith((handle) => [
      new Feature(handle, { ...GOOD, welcome: () => ({ cups: 1 }) }),
      new Feature(handle, { name: "late", welcome: () => ({ cups: 2, saucers: 3 }) }),
    ]);
    for (const user of ["ada", "ben"])
      expect((await room.join(user)).received("welcome")).toMatchObject([{ cups: 1, saucers: 3 }]);
    expect(room.logged[0]).toContain(
      'feature "late": welcome failed: the field "cups" of `welcome` is the feature "good"\'s',
    );
    await expectOthers(room);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no cups");
      },
    ],
    ["cannot be sent", () => ({ cups: 1n })],
    ["is nothing", () => undefined],
    ["is promised", async () => ({ cups: 1 })],
  ])("of a feature that %s is missing, and nothing else", async (_what, welcome) => {
    const room = roomWith((handle) => [
      new Feature(handle, { welcome } as never),
      new Feature(handle, { ...GOOD, welcome: () => ({ saucers: 3 }) }),
    ]);
    const [fields] = (await room.join("ada")).received("welcome");
    expect(fields).toMatchObject({ room: "plaza", saucers: 3 });
    expect(fields).not.toHaveProperty("cups");
    expect(room.logged).toEqual([expect.stringContaining('feature "sample": welcome failed')]);
    await expectOthers(room);
  });
});

describe("OWN-2: a feature", () => {
  it("sends no event that its `sends` does not name", async () => {
    const room = roomOf((feature) => ({
      sends: ["brewed"],
      events: { brew: { run: () => feature.inside.everyone.emit("spilt") } },
    }));
    expect(await (await room.join("ada")).ask("brew")).toEqual(refusalOf("INTERNAL"));
    expect(room.logged.join()).toContain('the feature "sample" sends "spilt", which its `sends` does not name');
  });

  it("can neither send nor wait before the room is open", () => {
    for (const early of [
      (feature: Feature) => feature.inside.everyone,
      (feature: Feature) => feature.inside.now(),
      (feature: Feature) => feature.inside.deadline("cold", () => {}),
      (feature: Feature) => feature.inside.lastSeq,
    ]) {
      const room = roomOf((feature) => ({ name: typeof early(feature) }));
      expect(room.logged.join()).toContain("the room is not open yet: do this in `start` or later");
    }
  });

  it(`keeps ${KEPT_LENGTH_MAX} characters on a connection, and no more`, async () => {
    const room = roomOf((feature) => ({
      onConnect: (connection) => connection.keep("x".repeat(KEPT_LENGTH_MAX - 2)),
      events: {
        much: { run: (_payload, { connection }) => connection!.keep("x".repeat(KEPT_LENGTH_MAX - 1)) },
        little: { run: (_payload, { connection }) => ({ kept: (connection!.kept as string).length }) },
      },
      name: feature ? "keeper" : "",
    }));
    const ada = await room.join("ada");
    expect(await ada.ask("much")).toEqual(refusalOf("INTERNAL"));
    expect(room.logged.join()).toContain("a connection keeps 1000 characters of JSON at most, not 1001");
    expect(await ada.ask("little")).toEqual({ ok: true, kept: KEPT_LENGTH_MAX - 2 });
  });
});

it("OWN-2: no announcement has the name of an event that a feature sends", async () => {
  const room = roomOf({ sends: ["brewed"] });
  const ada = await room.join("ada");
  const announced = { id: "a1", at: room.shell.nowMs, data: {}, by: { user: "backend", name: "Backend" } };
  expect(room.announced.take({ ...announced, event: "brewed" } as never)).toMatchObject({
    ok: false,
    isFinal: true,
  });
  expect(room.announced.take({ ...announced, event: "spilt" } as never)).toMatchObject({ ok: true });
  room.shell.rest();
  expect([ada.received("brewed"), ada.received("spilt")]).toEqual([[], [{}]]);
});
