// Tests unread numbers and notifications: what counts, what is new, and that the tabs of a browser notify the reader of a message once.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { FoundMessage } from "../../../src/protocol/chat-events.ts";
import { isWhole, pageOf } from "../../../client/page/state/found-mentions.ts";
import { countOf, NewlySpoken, titleText, type ListedNews } from "../../../client/page/state/news.ts";
import { Notifier, type Spoken } from "../../../client/page/state/notifier.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { FakeTabs } from "../../host/fake-tabs.ts";

describe("the number in the title", () => {
  const all = [
    { room: "here", unread: 5, mentions: 1 },
    { room: "loud", unread: 90, mentions: 2 },
  ];

  it("counts what is unread, and of a muted room only what speaks to the reader", () => {
    expect(countOf(all, { muted: new Set() })).toBe(95);
    expect(countOf(all, { muted: new Set(["loud"]) })).toBe(7);
    expect(countOf([], { muted: new Set(["loud"]) })).toBe(0);
  });

  it.each([
    [0, "#here · Parley"],
    [1, "(1) #here · Parley"],
    [99, "(99) #here · Parley"],
    [100, "(99+) #here · Parley"],
  ])("%i", (count, title) => expect(titleText("#here", count)).toBe(title));
});

describe("of the lists of rooms", () => {
  const news = (lastSeq: number, mentionSeq?: number, room = "there"): ListedNews => ({
    room,
    lastSeq,
    unread: lastSeq,
    mentions: mentionSeq === undefined ? 0 : 1,
    ...(mentionSeq !== undefined && { mentionSeq }),
  });
  const found = (spoken: NewlySpoken, ...list: ListedNews[]) => spoken.take(list).map(({ mentionSeq }) => mentionSeq);

  it("the first one tells nothing new; each later mention is new once", () => {
    const spoken = new NewlySpoken();
    expect(found(spoken, news(5, 3))).toEqual([]);
    expect(found(spoken, news(6, 3))).toEqual([]);
    expect(found(spoken, news(8, 7))).toEqual([7]);
    expect(found(spoken, news(9, 7))).toEqual([]);
  });

  it("what is read and marked as unread again is nothing new, nor is an old message that was edited", () => {
    const spoken = new NewlySpoken();
    found(spoken, news(5, 3));
    found(spoken, news(5));
    expect(found(spoken, news(5, 3))).toEqual([]);
    expect(found(spoken, news(6, 4))).toEqual([]);
  });

  it("a room that comes into the list with a message to the reader is new", () => {
    const spoken = new NewlySpoken();
    found(spoken, news(5));
    expect(found(spoken, news(5), news(1, 1, "dm~ben"))).toEqual([1]);
  });
});

describe("the list of mentions", () => {
  const found = (...times: number[]): FoundMessage[] =>
    times.map((timestamp) => ({ id: `m${timestamp}`, timestamp }) as FoundMessage);
  const times = (...pages: FoundMessage[][]) => {
    const { messages, hasMore } = pageOf(pages, 3);
    return [messages.map(({ timestamp }) => timestamp), hasMore];
  };

  it("has what both the rooms and the room on the screen have found, once, the newest first", () => {
    expect(times(found(9, 4), found(7, 4))).toEqual([[9, 7, 4], false]);
    expect(times(found(), found(7))).toEqual([[7], false]);
    expect(times(found())).toEqual([[], false]);
  });

  it("ends where one of them has more, so that nothing is left out on the next page", () => {
    expect(times(found(9, 8, 6), found(7, 2))).toEqual([[9, 8, 7, 6], true]);
    expect(times(found(9, 8, 6), found(5, 4, 3))).toEqual([[9, 8, 6], true]);
  });
});

it.each([
  ["all of the rooms have answered", { ok: true, messages: [], isComplete: true }, true],
  ["one of them has not", { ok: true, messages: [], isComplete: false }, false],
  ["the server has no list of them", { error: { code: "MISCONFIGURED", message: "No binding" } }, true],
  ["the server is away", { error: { code: "NO_ANSWER", message: "Away" } }, false],
  ["the server fails", { error: { code: "INTERNAL", message: "Status 500" } }, false],
] as const)("the list of mentions says whether rooms are left out: %s", (_, answer, whole) =>
  expect(isWhole(answer)).toBe(whole),
);

it("the number on the app's icon is set when it changes, not at each draw", async () => {
  const set: number[] = [];
  vi.stubGlobal("document", { querySelector: () => ({ href: "/favicon.svg" }) });
  vi.stubGlobal("navigator", {
    setAppBadge: async (count: number) => set.push(count),
    clearAppBadge: async () => set.push(0),
  });
  vi.stubGlobal("fetch", async () => new Response("<svg></svg>"));
  const { showOnIcon } = await import("../../../client/page/icon.ts");
  for (const count of [0, 0, 12, 12, 13, 0]) await showOnIcon(count);
  expect(set).toEqual([0, 12, 13, 0]);
  vi.unstubAllGlobals();
});

describe("a message that speaks to the reader", () => {
  let tabs: FakeTabs;
  let shown: Array<{
    readonly title: string;
    readonly body: string;
    readonly tag: string;
    click: () => void;
    isClosed?: boolean;
  }>;
  /** Until it resolves, the browser keeps the page silent. */
  let silence: Promise<void>;
  let tones: number;
  let opened: string[];

  const newTab = (base = "http://chat.example", user = "ada"): Notifier =>
    new Notifier({ base, user: () => user, changed: () => {}, open: (room, seq) => opened.push(`${room} ${seq}`) });
  const message = (seq = 1, room = "there"): Spoken => ({ room, seq, title: "Ben", text: async () => `text ${seq}` });
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const notify = async (spoken: Spoken, ...all: Notifier[]): Promise<void> => {
    for (const tab of all) void tab.notify(spoken);
    await settle();
  };
  const texts = (): string[] => shown.map(({ body }) => body);
  const turnOn = async (tab: Notifier): Promise<void> => {
    expect(await tab.turnOnNotifications()).toBe("");
    await settle();
    expect(shown.splice(0).map(({ title }) => title)).toEqual(["Notifications are on"]);
  };

  beforeEach(() => {
    vi.useFakeTimers();
    [tabs, shown, tones, opened, silence] = [new FakeTabs(), [], 0, [], Promise.resolve()];
    vi.stubGlobal("localStorage", new FakeLocalStorage());
    vi.stubGlobal("navigator", { locks: tabs.locks });
    vi.stubGlobal("focus", () => {});
    vi.stubGlobal(
      "Notification",
      class extends EventTarget {
        static readonly requestPermission = async () => "granted";
        readonly #shown: (typeof shown)[number];
        constructor(title: string, options: { readonly body: string; readonly tag: string }) {
          super();
          this.#shown = { title, ...options, click: () => this.dispatchEvent(new Event("click")) };
          shown.push(this.#shown);
        }
        close(): void {
          this.#shown.isClosed = true;
        }
      },
    );
    const param = () => ({ linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} });
    const node = class {
      readonly gain = param();
      connect = (next: object) => next;
      start = () => void tones++;
      stop(): void {}
    };
    vi.stubGlobal(
      "AudioContext",
      class extends node {
        readonly currentTime = 0;
        resume = () => silence;
      },
    );
    vi.stubGlobal("OscillatorNode", node);
    vi.stubGlobal("GainNode", node);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("is told by nothing until the reader turned it on, and in each tab of this browser from then on", async () => {
    const [one, two] = [newTab(), newTab()];
    await notify(message(), one, two);
    expect([shown, tones]).toEqual([[], 0]);
    await turnOn(one);
    const sample = tones;
    two.onKept({ key: "parley.notifications" } as StorageEvent);
    await notify(message(2), two);
    expect([texts(), tones]).toEqual([["text 2"], 2 * sample]);
  });

  it("makes one notification and one sound, however many tabs are open, and leads to the message", async () => {
    const [one, two, three] = [newTab(), newTab(), newTab()];
    await turnOn(one);
    two.onKept({ key: "parley.notifications" } as StorageEvent);
    const sample = tones;
    await notify(message(1), one, two, three);
    await notify(message(1), two);
    await notify(message(2), two, one);
    expect([texts(), tones]).toEqual([["text 1", "text 2"], 3 * sample]);
    shown[1]!.click();
    expect(opened).toEqual(["there 2"]);
  });

  it("is not told where the reader sees its room in this or another tab, and is again once they look away", async () => {
    const [one, two] = [newTab(), newTab()];
    await turnOn(one);
    two.onKept({ key: "parley.notifications" } as StorageEvent);
    two.look("there");
    await settle();
    await notify(message(1), one, two);
    expect(texts()).toEqual([]);
    await notify(message(1, "elsewhere"), one, two);
    two.look(undefined);
    await settle();
    await notify(message(2), one);
    expect(texts()).toEqual(["text 1", "text 2"]);
  });

  it("of a muted room is not told, until it is unmuted", async () => {
    const one = newTab();
    await turnOn(one);
    one.setMuted("there", true);
    await notify(message(1), one);
    expect([texts(), [...newTab().muted], [...newTab("http://chat.example/other").muted]]).toEqual([[], ["there"], []]);
    one.setMuted("there", false);
    await notify(message(2), one);
    expect(texts()).toEqual(["text 2"]);
  });

  it("can be told by the sound alone, or silently", async () => {
    const one = newTab();
    one.setSound(true);
    await settle();
    const once = tones;
    await notify(message(1), one);
    expect([texts(), tones]).toEqual([[], 2 * once]);
    await turnOn(one);
    one.setSound(false);
    await notify(message(2), one);
    expect([texts(), tones]).toEqual([["text 2"], 3 * once]);
    // What they chose stays when they turn notifications on again.
    one.turnOffNotifications();
    await one.turnOnNotifications();
    await settle();
    expect([one.choices, tones]).toEqual([{ notifications: true, sound: false }, 3 * once]);
  });

  it("makes one sound once the browser lets the page be heard, however many messages came before", async () => {
    const one = newTab();
    one.setSound(true);
    await settle();
    const once = tones;
    let hear = (): void => {};
    silence = new Promise((resolve) => (hear = resolve));
    for (const seq of [1, 2, 3]) await notify(message(seq), one);
    expect(tones).toBe(once);
    hear();
    await settle();
    expect(tones).toBe(2 * once);
    await notify(message(4), one);
    expect(tones).toBe(3 * once);
  });

  it("is told to each of two users of one browser, wherever the other one looks", async () => {
    const [ada, ben] = [newTab(), newTab("http://chat.example", "ben")];
    await turnOn(ada);
    ben.onKept({ key: "parley.notifications" } as StorageEvent);
    ada.look("there");
    await notify(message(1), ada, ben);
    await notify(message(2, "elsewhere"), ada, ben);
    expect(texts()).toEqual(["text 1", "text 2", "text 2"]);
    expect(new Set(shown.map(({ tag }) => tag)).size).toBe(3);
  });

  it("leaves nothing in the browser of a reader who signs out, also if it was on its way then", async () => {
    const one = newTab();
    await turnOn(one);
    one.setMuted("loud", true);
    await notify(message(1), one);
    let answer = (_text: string): void => {};
    await notify({ ...message(2), text: () => new Promise((resolve) => (answer = resolve)) }, one);
    one.forget();
    answer("text 2");
    await settle();
    expect(shown.map(({ body, isClosed }) => [body, isClosed])).toEqual([["text 1", true]]);
    expect([one.isOn, [...one.muted], localStorage.length]).toEqual([false, [], 0]);
  });

  it("holds no lock of a page that the reader leaves: the browser could not bring it back", async () => {
    const one = newTab();
    await turnOn(one);
    one.look("here");
    await notify(message(1), one);
    expect((await tabs.locks.query()).held).toHaveLength(2);
    one.putAside();
    await settle();
    expect((await tabs.locks.query()).held).toEqual([]);
  });

  it.each<[string, NotificationPermission, boolean, string, object]>([
    ["the reader refuses", "denied", true, "blocks", { notifications: false, sound: false }],
    ["the reader does not decide", "default", true, "stay off", { notifications: false, sound: false }],
    ["the browser has none for pages", "granted", false, "shows no", { notifications: false, sound: true }],
  ])("makes none where %s, who learns it when they ask", async (_, answer, isPossible, why, choices) => {
    const Noted = Notification as unknown as { requestPermission: () => Promise<NotificationPermission> };
    Noted.requestPermission = async () => answer;
    if (!isPossible) vi.stubGlobal("Notification", { requestPermission: async () => answer });
    const one = newTab();
    expect(await one.turnOnNotifications()).toContain(why);
    expect(one.choices).toEqual(choices);
    await notify(message(), one);
    expect(texts()).toEqual([]);
  });
});
