// The page of the typing race: asks for a match, connects to its room, and sends the keystrokes. The room stands behind the # of the address, so
// that a reload leads back into the race, and a link brings a friend there.
import { io, type Socket } from "socket.io-client";

import type { ClientToServerEvents, ServerToClientEvents } from "../events.ts";
import type { RaceView, Refusal } from "../race.ts";
import { countdownOf, elements, phaseOf, say, showPlayers, showProgress, showSpeeds, showText } from "./screen.ts";
import { BURST_CHARACTERS, PAUSE_MS, Typist } from "./typist.ts";

const PING_MS = 5000;

let socket: Socket<ServerToClientEvents, ClientToServerEvents> | undefined;
let race: RaceView | undefined;
let ownSeat = -1;
let typist: Typist | undefined;
/** Whether the connection is new: then the next `race` says how many of the keystrokes have arrived. */
let isFresh = true;
/** The page sends no keystroke before this time. */
let pausedUntilMs = 0;

/** A secret of this tab, by which the server knows its player again. */
const key = sessionStorage.getItem("player") ?? newKey();
sessionStorage.setItem("player", key);

/** Not `randomUUID`, which a page without TLS does not have: a phone in the same network. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An address with another name than a room can have leads to a new race. */
const roomInAddress = (): string => /^#([a-z\d][\w.~-]{0,63})$/i.exec(location.hash)?.[1] ?? "";

async function findRace(): Promise<void> {
  elements.connection.value = "Looking for a race …";
  try {
    const response = await fetch("/api/matchmake", { method: "POST" });
    const { room } = (await response.json()) as { room: string };
    enter(room);
  } catch {
    elements.connection.value = "The server does not answer. Try again.";
    showForm();
  }
}

function enter(room: string): void {
  history.replaceState(null, "", `#${room}`);
  localStorage.setItem("name", elements.name.value);
  socket?.disconnect();
  const path = `/rooms/${room}/socket.io`;
  socket = io({ path, transports: ["websocket"], auth: { key, name: elements.name.value }, forceNew: true });
  socket.on("connect", () => {
    isFresh = true;
    elements.connection.value = "Connected";
  });
  socket.on("disconnect", () => (elements.connection.value = "Connection lost. Coming back …"));
  socket.on("connect_error", (error) => onRefusedConnection(error));
  socket.on("seat", (seat) => (ownSeat = seat));
  socket.on("race", onRace);
  socket.on("countdown", (seconds) => say(elements.phase, countdownOf(seconds)));
  socket.on("progress", showProgress);
  socket.on("wpm", showSpeeds);
  socket.on("refused", onRefused);
  elements.join.hidden = true;
  elements.race.hidden = false;
  // Within the click that led here: otherwise a phone shows no keyboard.
  elements.typed.focus();
}

function onRefusedConnection(error: Error & { data?: { code?: string } }): void {
  if (socket?.active) return void (elements.connection.value = "No connection. Trying again …");
  elements.connection.value = error.message;
  showForm();
}

function showForm(): void {
  socket?.disconnect();
  history.replaceState(null, "", location.pathname);
  elements.enter.textContent = "Find a race";
  elements.race.hidden = true;
  elements.join.hidden = false;
}

function onRace(next: RaceView): void {
  const own = next.players.find(({ seat }) => seat === ownSeat);
  const position = own?.position ?? 0;
  const isAnother = typist?.passage !== next.passage || (next.phase === "countdown" && race?.phase !== "countdown");
  race = next;
  if (isAnother || !typist) {
    typist = new Typist(next.passage, position);
    elements.typed.value = next.passage.slice(0, position);
  } else if (isFresh) {
    // Back after a lost connection: keystrokes of that time, and those that did not arrive, are sent now.
    typist.goBackTo(position);
    if (typist.rightUpTo(elements.typed.value) < position) elements.typed.value = next.passage.slice(0, position);
  }
  isFresh = false;
  showPlayers(next, ownSeat);
  say(elements.phase, phaseOf(next, own));
  elements.invite.hidden = next.phase !== "waiting";
  const isOver = next.phase === "over";
  elements.rematch.hidden = !isOver;
  elements.after.hidden = !isOver && own?.place === undefined;
  onTyped();
}

/** Called for each change of the field: hardware keyboards, phones and pasting all fire `input`. */
function onTyped(): void {
  if (!race || !typist) return;
  if (race.phase === "waiting" || race.phase === "countdown") elements.typed.value = "";
  const text = elements.typed.value;
  const right = typist.rightUpTo(text);
  showText(race.passage, right, right < text.length);
  if (race.phase !== "running" || !socket?.connected || Date.now() < pausedUntilMs) return;
  const places = typist.next(text);
  for (const place of places) socket.emit("keystroke", place, race.passage[place]!);
  if (places.length === BURST_CHARACTERS) pause();
}

function pause(): void {
  if (Date.now() < pausedUntilMs) return;
  pausedUntilMs = Date.now() + PAUSE_MS;
  setTimeout(onTyped, PAUSE_MS);
}

/** A keystroke was too fast, or out of order. After a pause, in which the later ones are refused as well, the page sends all of them again. */
function onRefused({ position, code }: Refusal): void {
  if (code !== "TOO_FAST" && code !== "WRONG_POSITION") return;
  typist?.goBackTo(position!);
  pause();
}

elements.typed.addEventListener("input", onTyped);
elements.rematch.addEventListener("click", () => {
  socket?.emit("rematch");
  elements.typed.focus();
});
elements.invite.addEventListener("click", () => {
  // A page without TLS may not write to the clipboard.
  const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("No clipboard"));
  copied.then(
    () => say(elements.invite, "Copied"),
    () => say(elements.invite, "Copy the address of this page"),
  );
  elements.typed.focus();
});
elements.another.addEventListener("click", () => void findRace());
elements.join.addEventListener("submit", (event) => {
  event.preventDefault();
  if (roomInAddress()) enter(roomInAddress());
  else {
    elements.race.hidden = false;
    elements.typed.focus();
    void findRace();
  }
});
setInterval(() => {
  if (!socket?.connected) return;
  const sentAtMs = performance.now();
  socket.timeout(PING_MS).emit("ping", (error) => {
    elements.latency.textContent = error ? "" : `${Math.round(performance.now() - sentAtMs)} ms`;
  });
}, PING_MS);

elements.name.value = localStorage.getItem("name") ?? "";
// The link of a friend.
if (roomInAddress()) elements.enter.textContent = "Join the race";
// A reload in mid-race.
if (roomInAddress() && sessionStorage.getItem("room") === roomInAddress()) enter(roomInAddress());
window.addEventListener("pagehide", () => sessionStorage.setItem("room", roomInAddress()));
