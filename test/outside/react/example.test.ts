// The example docs/examples/react-chat, built by Vite of the package as a release has it, in a real browser: the hooks of parley-rooms/react
// with React's strict mode and its checks.
import { gzipSync } from "node:zlib";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { PROJECT_ROOT } from "../servers.ts";
import { useBrowser } from "../stage.ts";
import { ask, join } from "../stock-clients.ts";
import { ReactProject } from "./project.ts";
import { becomes, WatchedPage } from "./watched-page.ts";

/** React and React DOM take 62 kB of it, the client 21 kB with socket.io-client. */
const APP_BYTES_MAX = 120_000;

const browser = await useBrowser();
const server = inject("fastServerUrl");
let project: ReactProject;
/** `npm run build`, whose compiler sees the samples, too. */
let built: Promise<unknown>;
let url: string;

beforeAll(async () => {
  project = await ReactProject.of("docs/examples/react-chat");
  writeSamples(path.join(project.folder, "src", "samples"));
  built = project.npm("run", "build");
  // The tests that need it fail with it.
  built.catch(() => undefined);
  await project.buildForDevelopment();
  url = await project.serve(server);
});
afterAll(() => project.end());

/** A tab of a visitor. */
class Tab extends WatchedPage {
  async enter(name: string, room: string): Promise<this> {
    await this.page.goto(url);
    await this.page.getByLabel("Your name").fill(name);
    await this.page.getByLabel("Room").fill(room);
    await this.page.getByRole("button", { name: "Enter" }).click();
    await this.stands("connected");
    return this;
  }

  async stands(state: string): Promise<void> {
    await becomes(() => this.page.getByTestId("connection").textContent(), state);
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel("Message", { exact: true }).fill(text);
    await this.page.getByRole("button", { name: "Send" }).click();
  }

  /** The messages in the list, with their states. */
  async sees(...messages: string[]): Promise<void> {
    const shown = async () =>
      this.page
        .getByTestId("message")
        .evaluateAll((rows) =>
          rows.map((row) => `${row.querySelector("span, i")?.textContent} ${row.getAttribute("data-state")}`),
        );
    await becomes(shown, messages);
  }
}

it.concurrent("two tabs talk, over one connection each, which leaving closes; what is written offline waits; a button loads older messages", async () => {
  const room = "react-talk";
  const contexts = [await browser.newContext(), await browser.newContext()];
  const [ada, ben] = (await Promise.all(contexts.map(async (context) => new Tab(await context.newPage())))) as [
    Tab,
    Tab,
  ];
  await ada.enter("Ada", room);
  await ben.enter("Ben", room);
  expect([ada.lines.length, ada.open]).toEqual([1, [room]]);
  await becomes(() => ada.page.getByText("2 here").getAttribute("title"), "Ada, Ben");
  await ben.page.getByLabel("Message", { exact: true }).pressSequentially("He");
  await ada.page.getByText("Ben typing…").waitFor();
  await ben.say("Hello!");
  await ada.sees("Hello! stored");
  await ben.sees("Hello! stored");
  await ada.page.getByText("Ben typing…").waitFor({ state: "detached" });
  await ada.page.getByRole("button", { name: "Thumbs up" }).click();
  await becomes(() => ben.page.getByRole("button", { name: "Thumbs up" }).textContent(), "👍 1");
  expect(await ada.page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  await ben.page.getByRole("button", { name: "Delete" }).click();
  await ada.sees("deleted stored");

  // What was missed is there, and what was written goes out.
  await ada.page.context().setOffline(true);
  await ada.stands("waiting");
  await ada.say("one");
  await ada.say("two");
  await ben.say("meanwhile");
  await ada.sees("deleted stored", "one queued", "two queued");
  await ada.page.context().setOffline(false);
  await ada.stands("connected");
  const all = ["deleted stored", "meanwhile stored", "one stored", "two stored"];
  await ada.sees(...all);
  await ben.sees(...all);

  await ada.page.getByRole("button", { name: "Leave" }).click();
  await becomes(() => ada.open, []);
  await becomes(() => ben.page.getByText("1 here").count(), 1);
  await ada.page.getByRole("button", { name: "Enter" }).waitFor();
  await ada.enter("Ada", room);
  await ben.say("Welcome back");
  await ada.sees(...all, "Welcome back stored");
  expect(ada.open).toEqual([room]);
  // A hidden tab of the same person.
  await ada.page.evaluate(() =>
    Object.defineProperty(document, "visibilityState", { value: "hidden", writable: true }),
  );
  await ben.say("Are you there?");
  await becomes(() => ada.page.title(), `(1) #${room}`);

  const cleo = await join(server, "react-older", "cleo");
  await Promise.all(Array.from({ length: 60 }, (_, n) => ask(cleo, "chat-message", { content: `line ${n}` })));
  await ada.enter("Ada", "react-older");
  const count = () => ada.page.getByTestId("message").count();
  await becomes(count, 50);
  await ada.page.getByRole("button", { name: "Older messages" }).click();
  await becomes(count, 60);
  await ada.page.getByRole("button", { name: "Older messages" }).waitFor({ state: "detached" });
  // The browser itself complains about requests without a network.
  const complaints = ada.complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|WebSocket/.test(text));
  expect([complaints, ben.complaints]).toEqual([[], []]);
  await Promise.all(contexts.map((context) => context.close()));
});

it.concurrent("it compiles in strict mode, as the samples of docs/react.md and of the store do; wrong uses do not", async () => {
  await built;
});

/** The samples of the documents, and wrong uses, as modules of a folder. Vite bundles none of them, because the app imports none. */
function writeSamples(folder: string): void {
  mkdirSync(folder);
  const docs = (name: string): string => readFileSync(path.join(PROJECT_ROOT, "docs", name), "utf8");
  const blocks = [...docs("react.md").matchAll(/^```(tsx?)\n([\s\S]*?)\n```$/gm)];
  expect(blocks.length).toBeGreaterThan(5);
  for (const [at, [, extension, code]] of blocks.entries())
    writeFileSync(path.join(folder, `sample-${at}.${extension}`), code!);
  const [, store] = /createRoomStore[^]*?```js\n([^]*?)\n```/.exec(docs("client.md"))!;
  writeFileSync(path.join(folder, "store.ts"), `${DECLARED}${store}`);
  writeFileSync(path.join(folder, "wrong.tsx"), WRONG);
}

/** The functions of the sample's reader. */
const DECLARED = `
declare function fetchToken(): Promise<string>;
declare function draw(...parts: readonly unknown[]): void;
`;

/** The compiler has to complain at each `@ts-expect-error`. */
const WRONG = `
import type { EventsOf, Pins } from "parley-rooms/features";
import {
  hooksFor,
  ParleyProvider,
  useConnection,
  useMessages,
  useRoom,
  useRoomEvent,
  useSend,
  useTyping,
} from "parley-rooms/react";

const own = hooksFor<EventsOf<Pins>>();

export function Wrong() {
  const { messages } = useMessages();
  const [first] = messages;
  // @ts-expect-error a message on its way has no seq
  const seq: number | undefined = first?.state === "sending" ? first.seq.toFixed() : first?.seq;
  if (first?.state === "stored") first.seq.toFixed();
  // @ts-expect-error a content is a string
  void useSend().send(7);
  // @ts-expect-error no such part
  useTyping().typers;
  const connection = useConnection();
  // @ts-expect-error a connection that stands has no code
  connection.code?.trim();
  if (connection.state === "stopped") connection.code.trim();
  if (connection.state === "waiting") connection.code?.trim().padEnd(connection.retryInMs);
  useRoomEvent("reaction", ({ count }) => count.toFixed());
  // @ts-expect-error a count is a number
  useRoomEvent("reaction", ({ count }) => count.length);
  // @ts-expect-error no such action
  void useRoom().moderate("tickle", { user: "ada" });
  const pinned = own.useRoom();
  // A room with more features is a room.
  useMessages(pinned);
  own.useRoomEvent("chat-message", ({ seq }) => seq.toFixed());
  own.useRoomEvent("pinned", ({ by }) => by.trim());
  // @ts-expect-error a pin has no such field
  own.useRoomEvent("pinned", ({ pinnedBy }) => pinnedBy);
  // @ts-expect-error the room without that feature sends no pins
  useRoomEvent("pinned", () => {});
  // @ts-expect-error an id is a string
  void pinned.ask("pin", { id: 7 });
  // @ts-expect-error the address is missing
  return <ParleyProvider token="t">{seq}</ParleyProvider>;
}
`;

it.concurrent(`the whole app takes less than ${APP_BYTES_MAX} bytes, compressed`, async () => {
  await built;
  const assets = path.join(project.folder, "dist", "assets");
  const sizes = readdirSync(assets).map((name) => gzipSync(readFileSync(path.join(assets, name))).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(APP_BYTES_MAX);
});
