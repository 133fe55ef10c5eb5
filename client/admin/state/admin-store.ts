// The state of the operator page: the operator's sign-in, the list of rooms, the room that is watched, reports, files, dead letters. The page's
// ports make the calls and connections, so that it runs without a browser.
import { claimsOf } from "parley-rooms/client";
import type { Report } from "parley-rooms/features";

import { AdminApi, type Action, type Problem, type Result, type Sort } from "./admin-api.ts";
import type { DeadLetter, ListedRoom, Resolving, RoomStats } from "./answers.ts";
import { DeadLetters } from "./dead-letters.ts";
import { ReportsQueue } from "./reports-queue.ts";
import type { Route } from "./route.ts";
import { StoredFiles } from "./stored-files.ts";
import { UNSEEN, connectionsOf, withLine, withMore, withShown, type RoomSnapshot } from "./room-snapshot.ts";
import type { watchRoom } from "../live.ts";

export type Dialog =
  | { readonly kind: "kick" | "ban"; readonly room: string; readonly user: string }
  | {
      readonly kind: "resolve";
      readonly action: "delete" | "mute" | "ban";
      readonly room: string;
      readonly report: Report;
    }
  | { readonly kind: "drain" | "delete"; readonly room: string }
  | { readonly kind: "discard"; readonly letter: DeadLetter };

export interface Said {
  readonly text: string;
  readonly isBad: boolean;
}

export interface AdminStorePorts {
  readonly api: (token: string) => AdminApi;
  readonly watch: (room: string, token: string, ports: Parameters<typeof watchRoom>[3]) => () => void;
  readonly keepToken: (token: string | undefined) => void;
  readonly now: () => number;
  /** Called after each change. */
  readonly changed: () => void;
}

/** The API's code for a token that is no longer accepted. */
const SIGNED_OUT = new Set(["UNAUTHORIZED", "TOKEN_EXPIRED"]);

export class AdminStore {
  token: string | undefined;
  isBusy = false;
  /** Why signing in failed, or why the page is signed out. */
  signInProblem: Problem | undefined;
  route: Route = { view: "rooms" };
  sort: Sort = "traffic";
  wanted = "";
  rooms: readonly ListedRoom[] | undefined;
  listedAt: number | undefined;
  listProblem: Problem | undefined;
  snapshot: RoomSnapshot = UNSEEN;
  /** Of the room that is watched, where the list does not have it. */
  stats: RoomStats | undefined;
  statsProblem: Problem | undefined;
  dialog: Dialog | undefined;
  said: Said | undefined;
  readonly reports = new ReportsQueue({
    api: () => this.#api,
    failed: (problem, show) => this.#failed(problem, show),
    changed: () => this.#ports.changed(),
  });
  readonly letters = new DeadLetters({
    api: () => this.#api,
    failed: (problem, show) => this.#failed(problem, show),
    act: (doing, describe) => this.#do(doing, describe),
    changed: () => this.#ports.changed(),
  });
  readonly files = new StoredFiles({
    api: () => this.#api,
    failed: (problem, show) => this.#failed(problem, show),
    changed: () => this.#ports.changed(),
  });
  readonly #ports: AdminStorePorts;
  #api: AdminApi | undefined;
  #unwatch = (): void => {};

  constructor(ports: AdminStorePorts) {
    this.#ports = ports;
  }

  /** By the token's claim `role`. Unknown where the server reads the role from another claim (TOK-6). */
  get role(): "service" | "moderator" | undefined {
    const role = claimsOf(this.token ?? "")?.role;
    return role === "service" || role === "moderator" ? role : undefined;
  }

  /** Whether the token may have the role `service`: drain, delete, files, dead letters. The server checks again. */
  get isService(): boolean {
    return this.role !== "moderator";
  }

  // ---- signing in and moving between views -----------------------------------------------------------------

  async signIn(token: string): Promise<void> {
    if (this.isBusy) return;
    this.#set({ isBusy: true, signInProblem: undefined });
    const api = this.#ports.api(token);
    const listed = await api.rooms(this.sort);
    // Without a lobby there is no list, and everything else works.
    if (!listed.ok && listed.problem.code !== "MISCONFIGURED")
      return this.#set({ isBusy: false, signInProblem: listed.problem });
    this.#api = api;
    this.#ports.keepToken(token);
    this.#set({ isBusy: false, token });
    this.#showList(listed);
    this.go(this.route);
  }

  signOut(problem?: Problem): void {
    this.#unwatch();
    this.#unwatch = () => {};
    this.#api = undefined;
    this.reports.clear();
    this.letters.clear();
    this.files.clear();
    this.#ports.keepToken(undefined);
    this.#set({ token: undefined, rooms: undefined, stats: undefined, snapshot: UNSEEN });
    this.#set({ dialog: undefined, said: undefined, signInProblem: problem });
  }

  /** Shows the view that the address names. A room that the operator leaves is not watched any more. */
  go(route: Route): void {
    this.#unwatch();
    this.#unwatch = () => {};
    this.#set({
      route,
      snapshot: UNSEEN,
      stats: undefined,
      statsProblem: undefined,
      dialog: undefined,
      said: undefined,
    });
    if (route.view === "dead-letters") void this.letters.load();
    if (route.view === "files") void this.files.load();
    if (route.view === "rooms" || route.view === "reports") void this.refresh();
    if (route.view !== "room" || this.token === undefined) return;
    const { room } = route;
    const isStill = (): boolean => this.route.view === "room" && this.route.room === room;
    this.#unwatch = this.#ports.watch(room, this.token, {
      shown: (shown) => isStill() && this.#set({ snapshot: withShown(this.snapshot, shown, this.#ports.now()) }),
      line: (line) => isStill() && this.#set({ snapshot: withLine(this.snapshot, line) }),
    });
    const listed = this.listed(room);
    if (!listed) void this.#loadStats(room);
    void (listed ? this.reports.follow(listed) : this.reports.load(room));
  }

  /** Ends all watching when the page is left, so that rooms may sleep. */
  close(): void {
    this.#unwatch();
  }

  // ---- loading ---------------------------------------------------------------------------------------------

  /** The room as its lobby knows it. */
  listed(room: string): ListedRoom | undefined {
    return this.rooms?.find((listed) => listed.room === room);
  }

  find(wanted: string): void {
    this.#set({ wanted });
  }

  async sortBy(sort: Sort): Promise<void> {
    this.#set({ sort });
    await this.refresh();
  }

  /** Loads the list again, which wakes no room. Asks rooms with new reports for them. */
  async refresh(): Promise<void> {
    const { sort } = this;
    if (this.route.view === "reports") void this.reports.refresh();
    const listed = await this.#api?.rooms(sort);
    if (listed && sort === this.sort) this.#showList(listed);
  }

  #showList(listed: Result<{ rooms: readonly ListedRoom[] }>): void {
    if (!listed.ok) return this.#failed(listed.problem, (listProblem) => this.#set({ listProblem }));
    this.#set({ rooms: listed.value.rooms, listedAt: this.#ports.now(), listProblem: undefined });
    const here = this.route.view === "room" ? this.listed(this.route.room) : undefined;
    if (here) void this.reports.follow(here);
  }

  async #loadStats(room: string): Promise<void> {
    const stats = await this.#api?.stats(room);
    if (!stats || this.route.view !== "room" || this.route.room !== room) return;
    if (stats.ok) this.#set({ stats: stats.value, statsProblem: undefined });
    else this.#failed(stats.problem, (statsProblem) => this.#set({ statsProblem }));
  }

  /** The connections behind those that are shown. */
  async loadMore(): Promise<void> {
    const { snapshot, route } = this;
    const last = connectionsOf(snapshot).at(-1);
    if (route.view !== "room" || !last) return;
    const page = await this.#api?.stats(route.room, last.id);
    if (!page || this.route !== route) return;
    if (page.ok) this.#set({ snapshot: withMore(this.snapshot, page.value.connections) });
    else this.#failed(page.problem, (problem) => this.#say(problem.message, true));
  }

  // ---- actions ---------------------------------------------------------------------------------------------

  ask(dialog: Dialog | undefined): void {
    this.#set(dialog ? { dialog, said: undefined } : { dialog });
  }

  async moderate(room: string, action: Action): Promise<void> {
    const done = action.action === "kick" ? "was kicked" : "was banned";
    await this.#do(this.#api?.moderate(room, action), () => `${action.user} ${done}`);
  }

  async resolve(room: string, resolving: Resolving, words: string): Promise<void> {
    await this.#do(this.#api?.resolveReport(room, resolving), () => words);
    await this.reports.load(room);
  }

  async drain(room: string, withinMs: number): Promise<void> {
    await this.#do(this.#api?.drain(room, withinMs), ({ failed = [] }) =>
      failed.length > 0 ? `${room} could not be reached` : `Everyone in ${room} was asked to come back later`,
    );
  }

  async remove(room: string): Promise<void> {
    const isDone = await this.#do(this.#api?.remove(room), () => `${room} was deleted`);
    if (isDone) this.#set({ stats: undefined });
  }

  quiet(): void {
    this.#set({ said: undefined });
  }

  /** @returns whether it was done */
  async #do<Value>(doing: Promise<Result<Value>> | undefined, describe: (value: Value) => string): Promise<boolean> {
    this.#set({ isBusy: true });
    const result = await doing;
    this.#set({ isBusy: false });
    if (!result) return false;
    if (!result.ok) {
      this.#failed(result.problem, ({ code, message }) => this.#say(`${code}: ${message}`, true));
      return false;
    }
    this.#set({ dialog: undefined });
    this.#say(describe(result.value), false);
    void this.refresh();
    return true;
  }

  #failed(problem: Problem, show: (problem: Problem) => void): void {
    if (SIGNED_OUT.has(problem.code)) this.signOut(problem);
    else show(problem);
  }

  #say(text: string, isBad: boolean): void {
    this.#set({ said: { text, isBad } });
  }

  #set(changes: Partial<AdminStore>): void {
    Object.assign(this, changes);
    this.#ports.changed();
  }
}
