// The typing race of docs/examples on a Socket.IO server: the same rules, events and messages; nothing is stored. Called by race-node.js and
// race-bun.js.
//   --rules DIR  of the rules   --wait MS  for more players   --tick MS  shows keystrokes together that come within it
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { rules: { type: "string" }, wait: { type: "string" }, tick: { type: "string" } },
});
const [waitMs, tickMs] = [Number(values.wait), Number(values.tick)];
const [{ Race }, { nextMatch }, { passageBy }, { readEntrant }] = await Promise.all(
  ["race", "matches", "passages", "entrant"].map((name) => import(`${values.rules}/${name}.ts`)),
);

let open;

/** @returns the answer to POST /api/matchmake */
export function matchmake() {
  open = nextMatch(open, Date.now(), waitMs, randomUUID);
  return { room: open.room };
}

export function serveRaces(io) {
  const rooms = new Map();
  io.use((socket, next) => {
    const entrant = readEntrant(socket.handshake.auth);
    if (typeof entrant === "string") return next(new Error(entrant));
    const name = socket.handshake.query.room;
    const room = rooms.get(name) ?? new RaceRoom(io, name);
    rooms.set(name, room);
    if (!room.race.hasSeatFor(entrant.key)) return next(new Error("This race is full."));
    socket.data = { ...entrant, room };
    next();
  });
  io.on("connection", (socket) => {
    // As the manual advises for memory; the query is read by now.
    socket.conn.request = null;
    const { room, key } = socket.data;
    room.enter(socket);
    socket.on("keystroke", (position, character, ack) => room.type(socket, position, character, ack));
    socket.on("rematch", (ack) => room.rematch(socket, ack));
    socket.on("ping", (ack) => ack?.());
    socket.on("disconnect", () => room.leave(key));
  });
}

class RaceRoom {
  constructor(io, name) {
    this.io = io;
    this.name = name;
    this.race = new Race({ waitMs, passage: (before) => passageBy(Math.random(), before) });
  }

  enter(socket) {
    socket.join(this.name);
    socket.emit("seat", this.race.enter(socket.data, Date.now()));
    this.showRace();
  }

  leave(key) {
    this.race.leave(key, Date.now());
    this.showRace();
  }

  type(socket, position, character, ack) {
    const outcome = this.race.type(socket.data.key, position, character, Date.now());
    if (outcome === "finished") this.showRace();
    else if (outcome === "typed" && tickMs > 0) this.tick ??= setTimeout(() => this.showProgress(), tickMs);
    else if (outcome === "typed") this.showProgress();
    answer(socket, ack, outcome);
  }

  rematch(socket, ack) {
    const outcome = this.race.rematch(Date.now());
    if (outcome === "begun") this.showRace();
    answer(socket, ack, outcome);
  }

  onBeat() {
    const nowMs = Date.now();
    const { phase } = this.race.state;
    if (this.race.advance(nowMs)) return this.showRace();
    if (phase === "countdown") this.io.to(this.name).emit("countdown", this.race.secondsLeft(nowMs));
    if (phase === "running") this.io.to(this.name).emit("wpm", this.race.speeds(nowMs));
    this.setBeat(nowMs);
  }

  setBeat(nowMs) {
    clearTimeout(this.beat);
    const atMs = this.race.nextBeatMs(nowMs);
    if (atMs !== undefined) this.beat = setTimeout(() => this.onBeat(), Math.max(0, atMs - nowMs));
  }

  showProgress() {
    this.tick = undefined;
    this.io.to(this.name).emit("progress", this.race.positions);
  }

  showRace() {
    const nowMs = Date.now();
    this.io.to(this.name).emit("race", this.race.view(nowMs));
    this.setBeat(nowMs);
  }
}

function answer(socket, ack, outcome) {
  if (typeof ack === "function") ack(typeof outcome === "string" ? { ok: true } : { error: outcome });
  else if (typeof outcome !== "string") socket.emit("refused", outcome);
}
