// Checks, once everything is quiet, that a room and its shards count the members who are connected: by presence, by typing and by their sessions. Called by
// verdict.ts.
import { shardName } from "../../src/protocol/shards.ts";
import { checkQuietSizes } from "./bounds.ts";
import { partsOf } from "./chat-deployment.ts";
import type { Person } from "./person.ts";
import type { Run } from "./run.ts";
import { roomNameOf } from "./shard-calls.ts";
import { ShimPerson } from "./shim-person.ts";

/** The question wakes a room, which then looks for dead connections of clients with extensions (EXT-4): 6 s later their users have left (PRES-2). */
const ASKED_MS = 7000;

interface PresenceAnswer {
  readonly ok?: true;
  readonly count: number;
  readonly members: ReadonlyArray<{ readonly user: string; readonly connections: number }>;
}

/** A client's connection to an object, as the object sees it. */
interface Seat {
  readonly user: string;
  /** The name of the object. */
  readonly object: string;
}

/** The connected people of a room. */
export const thereIn = ({ people }: Run, room: string): Person[] =>
  people.filter(({ plan, isConnected }) => isConnected && plan.room === room);

const seatOf = ({ plan, shard }: Person): Seat => {
  return { user: plan.user, object: shard === undefined ? plan.room : shardName(plan.room, shard) };
};

/**
 * Dead connections of clients with extensions, which have come back to another object of their room: the old one counts them until it looks
 * for them (EXT-4).
 */
function ghostsIn({ network, people }: Run, room: string): Seat[] {
  return [...network.connections]
    .filter(({ isDead, isOver, isClosing }) => isDead && !isOver && !isClosing)
    .flatMap((connection) => {
      const person = people.find(({ plan }) => plan.name === connection.link.client);
      const object = connection.openHost?.name;
      const isGhost = person instanceof ShimPerson && person.plan.room === room && object !== undefined;
      return isGhost ? [{ user: person.plan.user, object }] : [];
    });
}

/** A user with connections in two objects counts twice. */
const countOf = (seats: readonly Seat[]): number => new Set(seats.map(({ user, object }) => `${object} ${user}`)).size;

/** The connections of a room at one moment. */
interface Attendance {
  readonly seats: readonly Seat[];
  readonly ghosts: readonly Seat[];
}

const attendanceOf = (run: Run, room: string): Attendance => ({
  seats: thereIn(run, room).map(seatOf),
  ghosts: run.plan.shards ? ghostsIn(run, room) : [],
});

const isCountOf = ({ seats, ghosts }: Attendance, count = -1): boolean =>
  count >= countOf(seats) && count <= countOf([...seats, ...ghosts]);

/** @returns whether a room may believe that so many are there */
export const isCount = (run: Run, room: string, count: number): boolean => isCountOf(attendanceOf(run, room), count);

const inWords = (people: readonly Person[]): string =>
  people.map(({ plan, shard }) => (shard === undefined ? plan.name : `${plan.name} (shard ${shard})`)).join(", ");

export async function checkPresence(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  const { witness, deployment, world } = run;
  for (const { name: room } of deployment.rooms) {
    const there = thereIn(run, room);
    const attendance = attendanceOf(run, room);
    for (const { plan, count } of there)
      witness.demand(
        isCountOf(attendance, count),
        "presence",
        () => `${plan.name} believes ${count} to be in ${room}; there are ${inWords(there)}`,
      );
    let answer: PresenceAnswer | undefined;
    const [asking] = there;
    if (asking)
      world.at(world.nowMs, asking.zone, () =>
        asking.call("presence", {}, (given) => (answer = given as PresenceAnswer)),
      );
    await pass(ASKED_MS);
    if (!answer?.ok) continue;
    const { count, members } = answer;
    const isRight = isCountOf(attendance, count);
    witness.demand(isRight, "presence", () => `${room} counts ${count}; there are ${inWords(there)}`);
    checkList(run, { room, members }, attendance);
  }
}

/** The list has the members in the room itself. */
function checkList(
  { witness }: Run,
  { room, members }: Pick<PresenceAnswer, "members"> & { readonly room: string },
  attendance: Attendance,
): void {
  const isHere = ({ object }: Seat): boolean => object === room;
  const [seats, ghosts] = [attendance.seats.filter(isHere), attendance.ghosts.filter(isHere)];
  const usersOf = (those: readonly Seat[]): Set<string> => new Set(those.map(({ user }) => user));
  const listed = new Set(members.map(({ user }) => user));
  const isRight = listed.isSupersetOf(usersOf(seats)) && listed.isSubsetOf(usersOf([...seats, ...ghosts]));
  witness.demand(
    isRight,
    "presence",
    () => `${room} lists ${[...listed].join(", ")}; there are ${[...usersOf(seats)].join(", ")}`,
  );
  const connections = members.reduce((sum, member) => sum + member.connections, 0);
  witness.demand(
    connections >= seats.length && connections <= seats.length + ghosts.length,
    "presence",
    () => `${room} counts ${connections} connections of ${seats.length}`,
  );
}

export function checkTyping({ witness, people }: Run): void {
  for (const { plan, isConnected, typists } of people)
    witness.demand(
      !isConnected || typists.told.length === 0,
      "presence",
      () => `${plan.name} believes that ${typists.told.join(", ")} is typing, and nobody is`,
    );
}

export function checkSessions(run: Run): void {
  const { witness, deployment, people } = run;
  for (const host of deployment.objects) {
    const sessions = partsOf(host)?.server.sessions.size;
    const room = roomNameOf(host);
    // A client without a place knocks again and again, over another session each time.
    const isKnocked = people.some(({ plan, isHere, isConnected }) => isHere && !isConnected && plan.room === room);
    if (sessions === undefined || (isKnocked && run.plan.shards)) continue;
    const isHere = ({ object }: Seat): boolean => object === host.name;
    const attendance = attendanceOf(run, room);
    const [there, ghosts] = [attendance.seats.filter(isHere).length, attendance.ghosts.filter(isHere).length];
    witness.demand(
      sessions >= there && sessions <= there + ghosts,
      "bounded",
      () => `${host.name} holds ${sessions} sessions for ${there} connections`,
    );
    checkQuietSizes(witness, host, there + ghosts);
  }
}
