// Tells the reader of messages that speak to them while they do not look at their room: by a notification of the browser and a short sound,
// if they turned these on, once per message however many tabs of this browser are open. Keeps what they chose in this browser. The page's
// entry makes one for the chat store; an embedded chat has none, because the page around it speaks to its visitors itself.
import { keep, keyAt, local, readJson } from "./json-storage.ts";
import { phrase, t } from "./language.ts";
import { chime } from "./sound.ts";
import type { MutedRooms } from "./news.ts";

const MUTED_NAME = "parley.muted";
const CHOICES_NAME = "parley.notifications";
/** The tab that shows a notification holds a lock for this long, so that tabs which hear of the message later show none. */
const NOTIFIED_MS = 30_000;
/** Rooms that are remembered as muted. */
const MUTED_MAX = 200;

const BLOCKED = phrase("Your browser blocks notifications of this page. Allow them in the browser's settings for it.");

export interface Choices {
  readonly notifications: boolean;
  readonly sound: boolean;
}

/** A message that speaks to the reader. */
export interface Spoken {
  readonly room: string;
  readonly seq: number;
  /** The first line: who, and where. */
  readonly title: string;
  /** The text; asked for in the one tab that tells. */
  readonly text: () => Promise<string> | string;
}

interface TellingPorts {
  /** The chat's address. */
  readonly base: string;
  /** The reader, as far as the page knows: another tab of this browser may have another one. */
  readonly user: () => string;
  /** What the reader chose is another one. */
  readonly changed: () => void;
  /** The reader follows a notification. */
  readonly open: (room: string, seq: number) => void;
}

export class Notifier implements MutedRooms {
  choices: Choices;
  muted: ReadonlySet<string>;
  readonly #ports: TellingPorts;
  readonly #choicesKey: string;
  readonly #mutedKey: string;
  /** Ends the lock that says which room is looked at in this tab. */
  #lookAway: (() => void) | undefined;
  /** The name of that lock. */
  #lookedAt: string | undefined;
  /** Each ends the lock of a message of which this tab has notified the reader. */
  readonly #notified = new Set<() => void>();
  /** The present reader's; another set after they have signed out. */
  #shown = new Set<Notification>();

  constructor(ports: TellingPorts) {
    this.#ports = ports;
    this.#choicesKey = keyAt(ports.base, CHOICES_NAME);
    this.#mutedKey = keyAt(ports.base, MUTED_NAME);
    this.choices = this.#readChoices();
    this.muted = this.#readMuted();
  }

  /** Whether anything tells the reader beyond the title. */
  get isOn(): boolean {
    return this.choices.notifications || this.choices.sound;
  }

  /** Whether this browser has notifications for pages. */
  get canNotify(): boolean {
    return "Notification" in globalThis;
  }

  /**
   * The first notification says that they are on; the sound comes with them, unless the reader turned it off.
   * @returns the reason why notifications stay off, or an empty text if they are on
   */
  async turnOnNotifications(): Promise<string> {
    const permission = await Notification.requestPermission();
    if (permission === "denied") return t(BLOCKED);
    if (permission === "default") return t("Notifications stay off until you allow them.");
    const isShown = show(
      t("Notifications are on"),
      t("Of mentions and direct messages, while this page is open."),
      "on",
    );
    const sound = this.choices.sound || readJson(local, this.#choicesKey) === undefined;
    this.#choose({ notifications: isShown !== undefined, sound });
    if (sound) chime();
    if (isShown) return "";
    return [t("This browser shows no notifications of an open page."), sound ? t("The sound is on.") : ""]
      .join(" ")
      .trim();
  }

  turnOffNotifications(): void {
    this.#choose({ ...this.choices, notifications: false });
  }

  setSound(sound: boolean): void {
    this.#choose({ ...this.choices, sound });
    if (sound) chime();
  }

  setMuted(room: string, isMuted: boolean): void {
    const others = [...this.muted].filter((name) => name !== room);
    keep(local, this.#mutedKey, (isMuted ? [...others, room] : others).slice(-MUTED_MAX));
    this.muted = this.#readMuted();
    this.#ports.changed();
  }

  /** Another tab has changed the browser's storage. */
  onKept({ key }: StorageEvent): void {
    if (key !== this.#choicesKey && key !== this.#mutedKey) return;
    this.choices = this.#readChoices();
    this.muted = this.#readMuted();
    this.#ports.changed();
  }

  /** The reader signs out. @param isReplaced whether what the browser keeps is another reader's by now */
  forget(isReplaced = false): void {
    for (const notification of this.#shown) notification.close();
    this.#shown = new Set();
    if (!isReplaced) for (const key of [this.#choicesKey, this.#mutedKey]) keep(local, key, undefined);
    this.choices = this.#readChoices();
    this.muted = this.#readMuted();
  }

  /** The room that the reader sees in this tab; other tabs do not tell of it meanwhile. */
  look(room: string | undefined): void {
    const name = room === undefined ? undefined : this.#lookName(room);
    if (name === this.#lookedAt) return;
    this.#lookedAt = name;
    this.#lookAway?.();
    this.#lookAway = undefined;
    if (name === undefined) return;
    const looking = new Promise<void>((resolve) => (this.#lookAway = resolve));
    void locks()?.request(name, { mode: "shared" }, () => looking);
  }

  /** The reader leaves the page: the back/forward cache takes none with a lock. */
  putAside(): void {
    this.look(undefined);
    for (const end of this.#notified) end();
  }

  async notify(spoken: Spoken): Promise<void> {
    const { room, seq } = spoken;
    const lookName = this.#lookName(room);
    if (!this.isOn || this.muted.has(room) || lookName === this.#lookedAt) return;
    const tag = `${this.#whose} ${room} ${seq}`;
    if (!locks()) return this.#notifyHere(spoken, tag);
    const { held = [] } = await locks()!.query();
    if (held.some(({ name }) => name === lookName)) return;
    await locks()!.request(`parley notified ${tag}`, { ifAvailable: true }, async (lock) => {
      if (!lock) return;
      await this.#notifyHere(spoken, tag);
      await this.#waitTold();
    });
  }

  async #notifyHere({ room, seq, title, text }: Spoken, tag: string): Promise<void> {
    if (this.choices.sound) chime();
    if (!this.choices.notifications || !this.canNotify) return;
    const shown = this.#shown;
    const body = await text();
    // The reader may have signed out meanwhile.
    const notification = shown === this.#shown ? show(title, body, tag) : undefined;
    if (!notification) return;
    shown.add(notification);
    notification.addEventListener("close", () => shown.delete(notification));
    notification.addEventListener("click", () => {
      focus();
      notification.close();
      this.#ports.open(room, seq);
    });
  }

  async #waitTold(): Promise<void> {
    let end = (): void => {};
    await new Promise<void>((resolve) => {
      this.#notified.add((end = resolve));
      setTimeout(resolve, NOTIFIED_MS);
    });
    this.#notified.delete(end);
  }

  get #whose(): string {
    return `${this.#ports.base} ${this.#ports.user()}`;
  }

  #lookName(room: string): string {
    return `parley looks ${this.#whose} ${room}`;
  }

  #choose(choices: Choices): void {
    this.choices = choices;
    keep(local, this.#choicesKey, choices);
    this.#ports.changed();
  }

  #readChoices(): Choices {
    const kept = readJson(local, this.#choicesKey) as Partial<Choices> | undefined;
    return { notifications: kept?.notifications === true, sound: kept?.sound === true };
  }

  #readMuted(): ReadonlySet<string> {
    const kept = readJson(local, this.#mutedKey);
    return new Set(Array.isArray(kept) ? kept.filter((room) => typeof room === "string") : []);
  }
}

/**
 * If the reader took the permission back, it has an error that nobody hears.
 * @returns nothing in browsers that have notifications for service workers alone, such as Chrome on Android
 */
function show(title: string, body: string, tag: string): Notification | undefined {
  try {
    return new Notification(title, { body, tag });
  } catch {
    return undefined;
  }
}

/** Shared by the tabs of this browser; there are none on pages without HTTPS, which have no notifications either. */
const locks = (): LockManager | undefined => (navigator as { readonly locks?: LockManager }).locks;
