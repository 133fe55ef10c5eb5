// The room as a custom feature sees it: FeatureRoom over the room that all features share, with a place of the feature's own in its
// storage. Made by custom-features.ts, one for each feature.
import type { AnswerTo, ClientToServerEvents, ErrorAnswer, Message } from "../../protocol/chat-events.ts";
import { HISTORY_LIMIT_MAX } from "../../protocol/limits.ts";
import { STAFF_CHANNEL } from "../../protocol/shards.ts";
import { isStaff } from "../../protocol/roles.ts";
import type {
  Actor,
  Audience,
  FeatureCaller,
  FeatureDeadline,
  FeatureDeadlineOptions,
  FeatureRoom,
  MessagePage,
} from "../../extension/extension.ts";
import { withChange, type Kept } from "../log/change.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Bearer, Caller } from "../room/operation.ts";
import type { Request } from "../room/requests.ts";
import type { Connection, Room } from "../room/room.ts";
import { Slot } from "../room/room-part.ts";
import { CustomAudience, type Operator } from "./custom-audience.ts";
import { CustomConnection, type ConnectionPorts } from "./custom-connection.ts";
import { CustomState } from "./custom-state.ts";

/** The parts of the chat that custom features use. */
export interface CustomRoomPorts {
  readonly isDirect: boolean;
  /** The role that counts in the room. */
  readonly callerOf: (bearer: Bearer, client?: Connection) => Caller;
  /** Finds a message, deleted or not. */
  readonly find: (id: string) => Kept | ErrorAnswer;
  readonly perform: (request: Request) => void | Promise<void>;
  /** Has the room report to the lobby, if there is one. */
  readonly factsChanged: () => void;
}

/** A feature, as far as it can be looked at while its constructor runs. */
export interface Named {
  readonly name: string;
  readonly sends?: readonly string[];
}

export class CustomRoom implements FeatureRoom<never> {
  readonly name: string;
  readonly isDirect: boolean;
  readonly state: CustomState;
  readonly #room: Room;
  readonly #ports: CustomRoomPorts;
  readonly #feature: Named;
  #connectionPorts: ConnectionPorts | undefined;
  #isOpen = false;

  constructor(room: Room, ports: CustomRoomPorts, feature: Named) {
    this.name = room.name;
    this.isDirect = ports.isDirect;
    this.#room = room;
    this.#ports = ports;
    this.#feature = feature;
    this.state = new CustomState(room.state, () => feature.name);
  }

  /** From now on the feature can send and wait. */
  open(): void {
    this.#isOpen = true;
  }

  get #opened(): Room {
    if (!this.#isOpen) throw new Error("the room is not open yet: do this in `start` or later");
    return this.#room;
  }

  now(): number {
    return this.#opened.now();
  }

  // ---- people ----------------------------------------------------------------------------------------------

  get everyone(): Audience<never> {
    return this.#audience(this.#all, () => this.#room.heard++);
  }

  get moderators(): Audience<never> {
    const here = [...this.#opened.clients.values()].filter((client) => isStaff(this.#callerOf(client).role));
    const remote = this.#opened.remote ? [STAFF_CHANNEL] : [];
    return this.#those([...here.map(({ id }) => id), ...remote]);
  }

  user(user: string): Audience<never> {
    return this.#those(this.#opened.channelsOf(user));
  }

  get #all(): Operator {
    return this.#opened.everyone;
  }

  #those(channels: readonly string[]): Audience<never> {
    return this.#audience(channels.length > 0 ? this.#all.to(channels) : undefined);
  }

  /** @param sent called with each event */
  #audience(operator: Operator | undefined, sent?: () => void): Audience<never> {
    const { name, sends } = this.#feature;
    const sending = (event: string): void => {
      if (!sends?.includes(event))
        throw new Error(`the feature "${name}" sends "${event}", which its \`sends\` does not name`);
      sent?.();
    };
    return new CustomAudience(operator, { sending, channelsOf: this.#room.channelsOf });
  }

  *connections(): Iterable<CustomConnection> {
    for (const client of this.#opened.clients.values()) yield this.connectionOf(client);
  }

  /** Calls `left` with each user who leaves from now on. */
  watchLeaving(left: (user: string) => void): void {
    this.#opened.members.watch((users) => users.forEach((user) => left(user)));
  }

  isHere(user: string): boolean {
    return this.#room.members.has(user);
  }

  #callerOf(client: Connection): Caller {
    return this.#ports.callerOf(client.peek(), client);
  }

  /** A connection as the feature sees it. */
  connectionOf(client: Connection): CustomConnection {
    const roleOf: ConnectionPorts["roleOf"] = (one) => this.#callerOf(one).role;
    this.#connectionPorts ??= { roleOf, slot: new Slot(`own:${this.#feature.name}`) };
    return new CustomConnection(client, this.#connectionPorts);
  }

  /** A caller as the feature sees it. */
  seen(caller: Caller): FeatureCaller {
    const { user, name, role, tokenRole, client } = caller;
    const connection = client && this.connectionOf(client);
    const party = this.#room.partyOf(caller);
    return { user, name, role, tokenRole, isModerator: isStaff(role), party, ...(connection && { connection }) };
  }

  // ---- messages --------------------------------------------------------------------------------------------

  get firstSeq(): number {
    return this.#opened.log.firstSeq;
  }

  get lastSeq(): number {
    return this.#opened.seenSeq();
  }

  findMessage(id: string): Message | ErrorAnswer {
    const found = this.#ports.find(id);
    return "error" in found ? found : withChange(found.posted, found.change);
  }

  history({ before, after, limit }: Parameters<FeatureRoom["history"]>[0]): MessagePage | ErrorAnswer {
    if (!(Number.isInteger(limit) && limit > 0 && limit <= HISTORY_LIMIT_MAX))
      throw new RangeError(`limit must be 1 to ${HISTORY_LIMIT_MAX}, not ${limit}`);
    this.#opened.catchUp();
    const query = { limit, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
    return this.#room.read((log) => log.page(query)) ?? refuse("INTERNAL", "The history could not be read.");
  }

  finishPosts(): void {
    this.#opened.finishPosts();
  }

  // ---- acting ----------------------------------------------------------------------------------------------

  async perform<Event extends keyof ClientToServerEvents>(
    event: Event,
    payload: Parameters<ClientToServerEvents[Event]>[0],
    { user, name, tokenRole: role }: Actor,
  ): Promise<AnswerTo<Event>> {
    // The hook that calls this may run in the middle of a commit.
    await Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<AnswerTo<Event>>();
    const request = { event, bearer: { user, name, role }, given: payload, reply: resolve as Request["reply"] };
    this.#opened.turn(() => this.#ports.perform(request))?.catch(reject);
    return promise;
  }

  // ---- waiting ---------------------------------------------------------------------------------------------

  deadline(name: string, run: (nowMs: number) => void, options: FeatureDeadlineOptions = {}): FeatureDeadline {
    return this.#opened.deadline(`${this.#feature.name}-${name}`, run, options);
  }

  factsChanged(): void {
    this.#ports.factsChanged();
  }

  report(problem: string, error: unknown): void {
    this.#room.reportProblem(`feature "${this.#feature.name}": ${problem}`, error);
  }
}
