// The open reports of abuse that the operator page shows: which rooms have some, as their lobbies know it without waking them, and the
// reports of the rooms that are looked at. The admin store owns it.
import type { Report } from "parley-rooms/features";

import { OPEN_REPORTS, type AdminApi, type Problem } from "./admin-api.ts";
import type { ListedRoom } from "./answers.ts";

/** Rooms whose reports the queue loads at first, and more with each wish for more. */
const ROOMS_AT_ONCE = 10;

/** The open reports of a room, as far as they are loaded: the oldest first. */
export interface RoomReports {
  readonly reports: readonly Report[];
  /** All of them, also those behind the loaded ones. */
  readonly open: number;
  /** Where the next page begins. */
  readonly after?: string | undefined;
  readonly problem?: Problem | undefined;
}

export interface ReportsQueuePorts {
  /** Nothing while the page is signed out. */
  readonly api: () => AdminApi | undefined;
  /** Shows a problem, or ends the sign-in because of it. */
  readonly failed: (problem: Problem, show: (problem: Problem) => void) => void;
  readonly changed: () => void;
}

const NONE: RoomReports = { reports: [], open: 0 };

export const openReportsOf = ({ facts }: Pick<ListedRoom, "facts">): number => facts?.[OPEN_REPORTS] ?? 0;

export class ReportsQueue {
  /** Rooms with open reports, as last listed. */
  rooms: readonly ListedRoom[] | undefined;
  problem: Problem | undefined;
  readonly #loaded = new Map<string, RoomReports>();
  /** The number of open reports in the list when a room's were loaded. */
  readonly #listedOpen = new Map<string, number>();
  /** The number of the newest question about each room: an older answer is out of date. */
  readonly #asked = new Map<string, number>();
  #shownMax = ROOMS_AT_ONCE;
  readonly #ports: ReportsQueuePorts;

  constructor(ports: ReportsQueuePorts) {
    this.#ports = ports;
  }

  /** Nothing before a room's reports are loaded, or where it takes none. */
  of(room: string): RoomReports | undefined {
    return this.#loaded.get(room);
  }

  /** Rooms of the queue that are shown: those whose reports are all resolved meanwhile are left out. */
  get shown(): readonly ListedRoom[] {
    const isDone = (room: string): boolean => {
      const loaded = this.#loaded.get(room);
      return loaded?.open === 0 && !loaded.problem;
    };
    return (this.rooms ?? []).slice(0, this.#shownMax).filter(({ room }) => !isDone(room));
  }

  /** Rooms that wait behind those that are shown. */
  get waiting(): number {
    return Math.max(0, (this.rooms?.length ?? 0) - this.#shownMax);
  }

  /** Asks the rooms again, too. */
  async reload(): Promise<void> {
    this.#listedOpen.clear();
    await this.refresh();
  }

  async more(): Promise<void> {
    this.#shownMax += ROOMS_AT_ONCE;
    await this.refresh();
  }

  /** Lists the rooms with open reports again, and loads the reports of those of which the list says something new. */
  async refresh(): Promise<void> {
    const api = this.#ports.api();
    const listed = await api?.reported();
    if (!listed || api !== this.#ports.api()) return;
    if (!listed.ok)
      return this.#ports.failed(listed.problem, (problem) => {
        this.problem = problem;
        this.#ports.changed();
      });
    this.problem = undefined;
    this.rooms = listed.value.rooms;
    this.#ports.changed();
    await Promise.all(this.rooms.slice(0, this.#shownMax).map((room) => this.follow(room)));
  }

  /** Loads a room's reports where the list says something new of them. */
  async follow(listed: ListedRoom): Promise<void> {
    const { room } = listed;
    const open = openReportsOf(listed);
    if ((this.#listedOpen.get(room) ?? 0) === open) return;
    this.#listedOpen.set(room, open);
    await this.load(room);
  }

  /** Loads a room's open reports again, or the page behind those that are loaded. */
  async load(room: string, after?: string): Promise<void> {
    const api = this.#ports.api();
    const turn = (this.#asked.get(room) ?? 0) + 1;
    this.#asked.set(room, turn);
    const answer = await api?.reports(room, after);
    if (!answer || api !== this.#ports.api() || this.#asked.get(room) !== turn) return;
    const before = this.#loaded.get(room) ?? NONE;
    if (answer.ok) {
      const { reports, open, after: next } = answer.value;
      const all = after === undefined ? reports : [...before.reports, ...reports];
      return this.#keep(room, { reports: all, open, after: next });
    }
    // Its deployment does not turn them on.
    if (answer.problem.code === "UNKNOWN_EVENT") return;
    // The next refresh tries again.
    this.#listedOpen.delete(room);
    this.#ports.failed(answer.problem, (problem) => this.#keep(room, { ...before, problem }));
  }

  clear(): void {
    this.rooms = undefined;
    this.problem = undefined;
    this.#loaded.clear();
    this.#listedOpen.clear();
    this.#shownMax = ROOMS_AT_ONCE;
  }

  #keep(room: string, reports: RoomReports): void {
    this.#loaded.set(room, reports);
    this.#ports.changed();
  }
}
