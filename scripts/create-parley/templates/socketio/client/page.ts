// The page of a board: draws received lines, and sends those of the pointer. The board's name stands behind the # of the address.
import { io, type Socket } from "socket.io-client";

import type { ClientToServerEvents, Line, ServerToClientEvents } from "../src/events.ts";

const name = location.hash.slice(1) || "lobby";
const socket: Socket<ServerToClientEvents, ClientToServerEvents> = io({ path: `/rooms/${name}/socket.io` });

const canvas = document.querySelector("canvas")!;
const people = document.querySelector("output")!;
const context = canvas.getContext("2d")!;

function show([fromX, fromY, toX, toY]: Line): void {
  context.beginPath();
  context.moveTo(fromX * canvas.width, fromY * canvas.height);
  context.lineTo(toX * canvas.width, toY * canvas.height);
  context.stroke();
}

const wipe = (): void => context.clearRect(0, 0, canvas.width, canvas.height);

socket.on("board", (lines) => {
  wipe();
  lines.forEach(show);
});
socket.on("draw", show);
socket.on("wipe", wipe);
socket.on("people", (count) => (people.value = count === 1 ? "You are alone here." : `${count} people are here.`));
socket.on("disconnect", () => (people.value = "Connecting …"));

let last: [x: number, y: number] | undefined;

canvas.addEventListener("pointerdown", ({ offsetX, offsetY, pointerId }) => {
  canvas.setPointerCapture(pointerId);
  last = placeOf(offsetX, offsetY);
});
canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  if (!last) return;
  const next = placeOf(offsetX, offsetY);
  const line: Line = [...last, ...next];
  last = next;
  show(line);
  socket.emit("draw", line, () => {});
});
canvas.addEventListener("pointerup", () => (last = undefined));
document.querySelector("button")!.addEventListener("click", () => {
  wipe();
  socket.emit("wipe");
});

/** In parts of the board, because screens differ. */
const placeOf = (x: number, y: number): [number, number] => [x / canvas.clientWidth, y / canvas.clientHeight];
