// Distributes users over rooms, kinds of clients, processes and source addresses, and checks that this machine can hold them.
import type { LoadArguments } from "./arguments.ts";
import { SOURCES_MAX } from "./arguments.ts";
import type { ClientSlot } from "./client-slot.ts";

/** Open files of a process besides its connections. */
const FILES_SPARE = 100;
/** Users per process, where the arguments do not give the number of processes. */
const USERS_PER_PROCESS = 5000;
/** Ports of an address that are left to other programs. */
const PORTS_SPARE = 0.2;
const GOLDEN = 0.618_033_988_749_895;

export interface MachineFacts {
  /** Files that a process may have open. */
  readonly openFilesMax: number;
  /** Ports from which one address may connect to one server. */
  readonly portsPerAddress: number;
  /** Whether all of 127.0.0.0/8 leads here, as on Linux. */
  readonly hasLoopbackRange: boolean;
}

export type Wishes = Pick<
  LoadArguments,
  "users" | "rooms" | "roomPrefix" | "shimShare" | "pollingShare" | "realShare" | "processes" | "sources"
>;

/** @throws Error with the limit of this machine that is too low, and the way to raise it */
export function seatAll(wishes: Wishes, isLoopback: boolean, machine: MachineFacts): ClientSlot[][] {
  const processes = Math.min(wishes.users, wishes.processes ?? Math.ceil(wishes.users / USERS_PER_PROCESS));
  requireFiles(wishes.users, processes, machine.openFilesMax);
  const addresses = addressesFor(wishes, isLoopback, machine);
  const crews: ClientSlot[][] = Array.from({ length: processes }, () => []);
  for (let number = 0; number < wishes.users; number++) {
    const localAddress = addresses[number % addresses.length];
    crews[number % processes]!.push({ ...seatOf(number, wishes), ...(localAddress && { localAddress }) });
  }
  return crews;
}

function requireFiles(users: number, processes: number, openFilesMax: number): void {
  const needed = Math.ceil(users / processes) + FILES_SPARE;
  if (needed <= openFilesMax) return;
  const enough = Math.ceil(users / Math.max(1, openFilesMax - FILES_SPARE));
  throw new Error(
    `${users} users in ${processes} process${processes === 1 ? "" : "es"} take ${needed} open files each, and ${openFilesMax} is ` +
      `the limit here. Raise it (ulimit -Hn), or spread them: --processes ${enough}.`,
  );
}

/** @returns none where the system may choose */
function addressesFor({ users, sources }: Wishes, isLoopback: boolean, machine: MachineFacts): string[] {
  const perAddress = Math.trunc(machine.portsPerAddress * (1 - PORTS_SPARE));
  const count = sources ?? Math.ceil(users / perAddress);
  if (count === 1) return [];
  if (!isLoopback || !machine.hasLoopbackRange) {
    const where = isLoopback ? "this system has one loopback address" : "the server is not on this machine";
    throw new Error(
      sources === undefined
        ? `${users} users need ${count} addresses to come from (${perAddress} ports each), and ${where}.`
        : `--sources ${sources}: ${where}.`,
    );
  }
  if (count > SOURCES_MAX) throw new Error(`${users} users need ${count} addresses; ${SOURCES_MAX} are taken at most.`);
  return Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`);
}

/** Kinds are mixed evenly: every stretch of users holds all of them, and so does every room. */
function seatOf(number: number, wishes: Wishes): ClientSlot {
  const { rooms, roomPrefix, shimShare, pollingShare, realShare } = wishes;
  const roomNumber = number % rooms;
  const place = spread(Math.trunc(number / rooms) + roomNumber);
  const isPolling = place < pollingShare;
  return {
    number,
    user: `${roomPrefix}-user-${number}`,
    roomNumber,
    room: `${roomPrefix}-${roomNumber}`,
    transport: isPolling ? "polling" : "websocket",
    dialect: !isPolling && place < pollingShare + shimShare ? "shim" : "stock",
    isReal: spread(number + 1) < realShare,
  };
}

/** Low-discrepancy numbers from 0 to 1: any share of them is met by any stretch of them. */
function spread(index: number): number {
  return (index * GOLDEN) % 1;
}
