// Shows a race: its phase, its players and its text. Called by page.ts.
import type { PlayerView, RaceView } from "../race.ts";

const find = (id: string): HTMLElement => document.getElementById(id)!;

export const elements = {
  connection: find("connection") as HTMLOutputElement,
  latency: find("latency"),
  join: find("join") as HTMLFormElement,
  enter: find("enter"),
  name: find("name") as HTMLInputElement,
  race: find("race"),
  phase: find("phase"),
  players: find("players") as HTMLOListElement,
  invite: find("invite") as HTMLButtonElement,
  passage: find("passage"),
  typed: find("typed") as HTMLInputElement,
  mistake: find("mistake"),
  after: find("after"),
  rematch: find("rematch") as HTMLButtonElement,
  another: find("another") as HTMLButtonElement,
};

export function showPlayers({ players, passage }: RaceView, ownSeat: number): void {
  elements.players.replaceChildren(...players.map((player) => rowOf(player, player.seat === ownSeat, passage.length)));
}

function rowOf({ seat, name, position, wordsPerMinute, place, isAway }: PlayerView, isOwn: boolean, max: number) {
  const row = document.createElement("li");
  row.dataset["seat"] = String(seat);
  row.classList.toggle("own", isOwn);
  row.classList.toggle("away", isAway);
  const progress = document.createElement("progress");
  Object.assign(progress, { max, value: position, ariaLabel: `Progress of ${name}` });
  const shown = `${name}${isOwn ? " (you)" : ""}`;
  row.append(
    part("name", shown, isAway ? `${shown}, who is away` : shown),
    progress,
    part("speed", `${wordsPerMinute} wpm`),
    part("place", place === undefined ? "" : ordinal(place)),
  );
  return row;
}

function part(name: string, text: string, title = ""): HTMLElement {
  const span = document.createElement("span");
  Object.assign(span, { className: name, textContent: text, title });
  return span;
}

const rows = (): HTMLLIElement[] => [...elements.players.querySelectorAll("li")];

export function showProgress(positions: readonly number[]): void {
  for (const row of rows()) row.querySelector("progress")!.value = positions[Number(row.dataset["seat"])] ?? 0;
}

export function showSpeeds(speeds: readonly number[]): void {
  for (const row of rows())
    row.querySelector(".speed")!.textContent = `${speeds[Number(row.dataset["seat"])] ?? 0} wpm`;
}

/** @param right how much of it is typed; a wrong character behind it is marked */
export function showText(passage: string, right: number, isWrong: boolean): void {
  const spans: Array<[name: string, text: string]> = [
    ["done", passage.slice(0, right)],
    [isWrong ? "next wrong" : "next", passage.slice(right, right + 1)],
    ["", passage.slice(right + 1)],
  ];
  elements.passage.replaceChildren(...spans.map(([name, text]) => part(name, text)));
  say(elements.mistake, isWrong ? "That is another character. Go back to the marked one." : "");
  elements.typed.ariaInvalid = String(isWrong);
}

/** Only new values: a screen reader reads every change aloud. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function phaseOf(race: RaceView, own: PlayerView | undefined): string {
  const { phase, players, startsInMs = 0 } = race;
  if (phase === "waiting") {
    const others = players.length === 1 ? "You are the first" : `${players.length} of 6 are here`;
    return `${others}. The countdown begins in ${Math.ceil(startsInMs / 1000)} seconds at the latest.`;
  }
  if (phase === "countdown") return countdownOf(Math.ceil(startsInMs / 1000));
  if (own?.place !== undefined)
    return `You are ${ordinal(own.place)} of ${players.length}, with ${own.wordsPerMinute} words a minute.`;
  return phase === "running" ? "Go!" : "The race is over.";
}

export const countdownOf = (seconds: number): string => `The race begins in ${seconds} …`;

const ENDS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };
const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });

const ordinal = (place: number): string => `${place}${ENDS[ORDINALS.select(place)] ?? "th"}`;
