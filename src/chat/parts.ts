// The parts of a chat room: those that no room can be without, those of the features that the deployment hands in (InRoom), and the features
// of the room's class (`custom`). The order of `list` below is that in which hooks are called. `records` has no hooks: parts use it. Called by chat.ts.
import type { UserRooms } from "../clock/user-rooms.ts";
import type { Meter } from "../metrics/meter.ts";
import type { FilesWelcome, RoomWelcome, Welcome } from "../protocol/chat-events.ts";
import type { DirectReport } from "../protocol/direct-room.ts";
import type { THREAD_EVENTS } from "../protocol/events/threads.ts";
import type { PayerReport, RefusedPayers, RoomNumbers } from "../protocol/room-list.ts";
import type { Recovery } from "../socketio/recovery/recovery.ts";
import type { RoomState } from "../storage/room-state.ts";
import { Attachments } from "./files/attachments.ts";
import { FileSweep, type FileStore } from "./files/file-sweep.ts";
import type { MessageLog } from "./log/message-log.ts";
import { Editing } from "./messages/editing.ts";
import { History } from "./messages/history.ts";
import type { MessageChanges } from "./messages/message-changes.ts";
import { Reacting } from "./messages/reacting.ts";
import { AuditTrail } from "./moderation/audit-trail.ts";
import { Bans, DirectAccess, Flooding } from "./moderation/access.ts";
import { ModerationLists } from "./moderation/moderation-lists.ts";
import { Moderation } from "./moderation/moderation.ts";
import { WritePermission } from "./moderation/write-permission.ts";
import { UserRecords } from "./moderation/user-records.ts";
import { CustomFeatures, type MakeFeatures } from "./custom/custom-features.ts";
import { SubscriptionRequests } from "./people/subscription-requests.ts";
import { Presence } from "./people/presence.ts";
import { newUserRooms, RoomBounds } from "./people/room-bounds.ts";
import { Reading } from "./people/reading.ts";
import { Refreshing } from "./people/refreshing.ts";
import { Typing } from "./people/typing.ts";
import { UnreadCounts } from "./people/unread-counts.ts";
import { Posting } from "./posting/posting.ts";
import { Counters } from "./room/counters.ts";
import { Hooks, type RoomPart } from "./room/room-part.ts";
import { Requests, type Request } from "./room/requests.ts";
import type { Bearer, Caller, ChatEvent, Operation } from "./room/operation.ts";
import type { ChatSettings, Client, Connection, Room } from "./room/room.ts";
import { ModerationHook } from "./room/moderation-hook.ts";
import type { PostRules } from "./room/post-decision.ts";
import type { ReadAllowance } from "./room/read-allowance.ts";
import { Exporting } from "./messages/exporting.ts";
import { Shards, type ShardObjectPorts, type ShardsPorts } from "./shards/shards.ts";

/** The chat's own parts, as far as features that are handed in build on them. */
export interface ChatBase {
  readonly direct: DirectAccess;
  readonly readAllowance: ReadAllowance;
  readonly changes: MessageChanges;
  readonly editing: Editing;
  /** The seq up to which a user has read. */
  readonly readSeq: (user: string) => number;
  /** The name under which a user has written in this room. */
  readonly writtenName: (user: string) => string | undefined;
  /** The room reports to the directory again, if it has one. */
  readonly reportChanged: () => void;
  /** The room reports its members from now on (ANN-7). */
  readonly reportPeople: () => void;
  /** Whether a custom feature sends events of that name. */
  readonly isSent: (event: string) => boolean;
  readonly reading: Pick<Reading, "noteJoined">;
  /** Those that a directory of rooms takes. */
  readonly counters: Counters;
  readonly reported: Reported;
}

/** What the chat's own parts have for the reports of the room to a directory of rooms. */
export interface Reported {
  readonly unread: Pick<UnreadCounts, "pack">;
  /** The two users and their read marks, in a room between two people. */
  readonly direct: () => DirectReport | undefined;
  /** The name that moderators gave the room. */
  readonly displayName: () => string | undefined;
  /** The numbers of custom features. The hook `onReportChanged` tells their changes, so they are not compared. */
  readonly numbers: () => RoomNumbers | undefined;
  readonly payers: () => PayerReport;
  /** The directory keeps users out of the room (LIM-8). */
  readonly onRefused: (refused: RefusedPayers) => void;
}

/** A feature that is handed in, as a room sees it. */
export interface InRoom {
  readonly name: string;
  /** @returns its part of the room, if it has one there */
  readonly roomPart?: (room: Room, chat: ChatBase) => RoomPart | undefined;
}

export interface ChatDependencies {
  readonly room: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly state: RoomState;
  /** The features that are handed in, in the order in which their hooks are called. */
  readonly handedIn?: readonly InRoom[];
  /** Limits searches of all rooms of the isolate together. */
  readonly readAllowance: ReadAllowance;
  /** Stores files; absent: the room takes none. */
  readonly files?: FileOptions;
  /** The room's moderation hook for posts and edits, asked for at each; absent, or without a result: there is none. */
  readonly rules?: (() => PostRules | undefined) | undefined;
  /** Makes the features that createParley and the room's class add; absent: they add none. */
  readonly custom?: MakeFeatures | undefined;
  /** Counts what happens; absent: nothing is counted. */
  readonly meter?: Meter;
  /** Resolves once everything stored is durable; the platform holds frames back until then. */
  readonly durable?: () => Promise<void>;
  /** Counts the rooms of users, in all rooms of the isolate (LIM-8). */
  readonly userRooms?: UserRooms;
  /** Holds the sockets that a big room has no place for; absent: there are no shards. */
  readonly shards?: ShardObjectPorts | undefined;
}

export interface FileOptions {
  readonly store: FileStore;
  /** Upload limits, as `welcome` says them. */
  readonly limits: NonNullable<FilesWelcome["files"]>;
  /** Milliseconds that a message is kept at most. */
  readonly keptMs: number;
}

/** The ports of the parts. */
export interface PartsPorts extends Omit<
  ChatDependencies,
  "room" | "settings" | "log" | "state" | "meter" | "durable"
> {
  readonly changes: MessageChanges;
  readonly recovery: Recovery | undefined;
  /** Decides on CONNECTs, and makes the welcome. */
  readonly entry: Pick<ShardsPorts, "authorize" | "noteToken" | "welcome">;
}

/** The events that a part has operations for. */
type EventsOf<Each> = Each extends { readonly operations: ReadonlyArray<Operation<infer Name>> } ? Name : never;

/** The fields of the welcome that a part fills. */
type FieldsOf<Each> = Each extends { welcome(client: Client): infer Part } ? keyof Part : never;

/** Features that are handed in fill the others. */
type FieldOfChat = Exclude<keyof Welcome, keyof RoomWelcome | "direct" | "linkCards" | "threads">;

/** Features that are handed in answer the others. */
type EventOfChat = Exclude<ChatEvent, "search" | "open-dm" | (typeof THREAD_EVENTS)[number]["name"]>;

/** What the compiler says of an incomplete list; `never` of a complete one. */
type Lacking<Each extends RoomPart> =
  | `no part in src/chat/parts.ts has a handler for "${Exclude<EventOfChat, EventsOf<Each>>}"`
  | `no list in src/protocol/events has the event "${Exclude<EventsOf<Each>, EventOfChat>}"`
  | `no part in src/chat/parts.ts fills the field "${Exclude<FieldOfChat, FieldsOf<Each>>}" of welcome`;

/** Fits a list only if its parts together have an operation for each event of theirs, and for nothing else, and fill the welcome. */
type Complete<Each extends RoomPart> = [Lacking<Each>] extends [never]
  ? readonly RoomPart[]
  : Exclude<Lacking<Each>, never>;

/** The hooks and the requests of a room, and its parts by name. */
export type Parts = ReturnType<typeof makeParts>;

/** Makes each part after those that it uses. What calls hooks or makes requests does so in the open room, when all parts are in both. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- `Parts` is its type
export function makeParts(room: Room, ports: PartsPorts) {
  const hooks = new Hooks();
  const essentials = makeEssentials(room, hooks, ports);
  const { list, callerOf, moderationHook, direct, changes } = essentials;
  const requests = new Requests(room, { hooks, callerOf, moderationHook });
  const perform: Perform = (request) => requests.perform(request);
  const shards = makeShards(room, perform, essentials, ports);
  const custom =
    ports.custom &&
    new CustomFeatures(room, ports.custom, {
      isDirect: direct.isDirect,
      callerOf,
      find: (id) => changes.find(id),
      perform,
      factsChanged: () => hooks.tell("onReportChanged"),
    });
  const ofFeatures = makeHandedIn(room, baseOf(hooks, essentials, custom, ports), ports.handedIn);
  /** They show what the others did, so their hooks come after those of features that are handed in. */
  const last = shards ? [shards] : [];
  const first: readonly RoomPart[] = list satisfies Complete<(typeof list)[number] | (typeof last)[number]>;
  const all = [...first, ...[...ofFeatures.values()].flatMap(withParts), ...last, ...(custom?.all ?? [])];
  hooks.add(all);
  requests.add(all);
  return { ...essentials, hooks, requests, ofFeatures, custom, shards };
}

type Perform = (request: Request) => void | Promise<void>;
type Essentials = ReturnType<typeof makeEssentials>;

/** Those that no room can be without. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- the compiler has to know each part of the list
function makeEssentials(room: Room, hooks: Hooks, ports: PartsPorts) {
  const { changes, readAllowance, files: fileOptions, rules = () => undefined, userRooms = newUserRooms() } = ports;
  const files = new FileSweep(room, fileOptions?.store, fileOptions?.keptMs ?? 0);
  const attachments = new Attachments(room, files, fileOptions ? { files: fileOptions.limits } : {});
  const posting = new Posting(room, attachments);
  const records = new UserRecords(room);
  const presence = new Presence(room);
  const bans = new Bans(room, records, (user) => presence.endStay(user));
  const [writePermission, trail] = [new WritePermission(room), new AuditTrail(room)];
  const renamed = (): void => hooks.tell("onReportChanged");
  const moderation = { bans, records, writePermission, trail, renamed };
  const editing = new Editing(room, { changes, files, trail, guestRates: posting.guestRates });
  const reading = new Reading(room, (before) => hooks.tell("onRead", before));
  const unread = new UnreadCounts(room, {
    marks: reading.marks,
    isBanned: (user) => records.banOf({ user, tokenRole: "member" }) !== undefined,
  });
  const typing = new Typing(room);
  const direct = new DirectAccess(room);
  const bounds = new RoomBounds(room, userRooms);
  const counters = new Counters(room);
  /** A caller with the role that counts in this room: DM-2, MOD-9. */
  const callerOf = ({ user, name, role: given, guests }: Bearer, client?: Connection): Caller => {
    const tokenRole = direct.roleOf(given);
    const role = records.roleOf({ user, tokenRole });
    return { user, name, role, tokenRole, ...(client && { client }), ...(guests !== undefined && { guests }) };
  };
  const moderationHook = new ModerationHook(room, {
    rules,
    // Also where the connection is gone, or has another token by now.
    callerNow: ({ client, tokenRole, ...caller }) =>
      client && room.clients.get(client.id) === client
        ? callerOf(client.peek(), client)
        : callerOf({ ...caller, role: tokenRole }),
    stayOf: (user) => bans.ownerOf(user),
  });
  const exporting = new Exporting(room, readAllowance);
  const list = [
    direct,
    bans,
    bounds,
    new Flooding(room),
    moderationHook,
    writePermission,
    presence,
    posting,
    new History(room),
    editing,
    new Reacting(room, changes),
    changes,
    exporting,
    typing,
    new SubscriptionRequests(room),
    reading,
    unread,
    counters,
    new Refreshing(room),
    new Moderation(room, moderation),
    new ModerationLists(room, moderation),
    attachments,
    files,
  ];
  return {
    /** In the order in which their hooks are called. */
    list,
    callerOf,
    moderationHook,
    posting,
    records,
    bans,
    bounds,
    writePermission,
    trail,
    changes,
    editing,
    reading,
    unread,
    typing,
    attachments,
    files,
    counters,
    direct,
    exporting,
  };
}

/** @returns `undefined` in a room that holds all of its sockets itself */
function makeShards(
  room: Room,
  perform: Perform,
  { direct, bans, changes, trail, typing }: Essentials,
  { shards: ports, entry, recovery }: PartsPorts,
): Shards | undefined {
  if (!ports || direct.isDirect) return undefined;
  return new Shards(room, {
    ...ports,
    ...entry,
    claimedSeq: (former, owner) => recovery?.claim(former, { nsp: "/", owner })?.seq,
    ownerOf: ({ user }) => bans.ownerOf(user),
    changes,
    trail,
    perform,
    typing,
  });
}

function baseOf(
  hooks: Hooks,
  { direct, bounds, writePermission, changes, editing, reading, unread, counters }: Essentials,
  custom: CustomFeatures | undefined,
  { readAllowance }: PartsPorts,
): ChatBase {
  const reported: Reported = {
    unread,
    direct: () => hooks.with("directReport")[0]?.directReport(),
    displayName: () => writePermission.modes.name,
    numbers: () => custom?.facts,
    payers: () => bounds.payers,
    onRefused: (refused) => bounds.onRefused(refused),
  };
  return {
    direct,
    readAllowance,
    changes,
    editing,
    readSeq: (user) => reading.marks.get(user),
    writtenName: (user) => unread.nameOf(user),
    reportChanged: () => hooks.tell("onReportChanged"),
    reportPeople: () => hooks.tell("onPeopleWanted"),
    isSent: (event) => custom?.sends(event) ?? false,
    reading,
    counters,
    reported,
  };
}

/** Parts of the room by the names of their features, in the order of these. */
function makeHandedIn(room: Room, base: ChatBase, handedIn: readonly InRoom[] = []): ReadonlyMap<string, RoomPart> {
  const made = handedIn.map(({ name, roomPart }) => [name, roomPart?.(room, base)] as const);
  return new Map(made.flatMap(([name, part]) => (part ? [[name, part] as const] : [])));
}

const withParts = (part: RoomPart): readonly RoomPart[] => [part, ...(part.parts ?? []).flatMap(withParts)];
