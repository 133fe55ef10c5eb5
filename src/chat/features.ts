// The features of a chat room. To add one: a class in one of the folders, and a line in `list` below, whose order is that in which
// hooks are called; those of features of one's own (`own`) follow. `records` and `announced` have no hooks: features or calls
// use them. Called by chat.ts.
import type { UserRooms } from "../clock/user-rooms.ts";
import type { TokenBuckets } from "../clock/token-bucket.ts";
import type { Meter } from "../metrics/meter.ts";
import type { FilesWelcome, RoomWelcome, Welcome } from "../protocol/chat-events.ts";
import type { LinkTransport } from "../relay/transport.ts";
import { isDirectRoom } from "../protocol/direct-name.ts";
import type { RoomState } from "../storage/room-state.ts";
import { Announced } from "./announce/announced.ts";
import { Direct, type OpenDirect } from "./direct/direct.ts";
import { Attachments } from "./files/attachments.ts";
import { FileSweep, type FileStore } from "./files/file-sweep.ts";
import { Links } from "./links/links.ts";
import { Relayed } from "./links/relayed.ts";
import { Counters } from "./listing/counters.ts";
import { Listing, type ReportToLobby } from "./listing/listing.ts";
import { UnreadCounts } from "./listing/unread-counts.ts";
import type { MessageLog } from "./log/message-log.ts";
import { Editing } from "./messages/editing.ts";
import { History } from "./messages/history.ts";
import { MessageChanges } from "./messages/message-changes.ts";
import { Reacting } from "./messages/reacting.ts";
import { AuditTrail } from "./moderation/audit-trail.ts";
import { Bans, Flooding } from "./moderation/bans.ts";
import { ModerationLists } from "./moderation/moderation-lists.ts";
import { Moderation } from "./moderation/moderation.ts";
import { Speaking } from "./moderation/speaking.ts";
import { UserRecords } from "./moderation/user-records.ts";
import { OwnFeatures, type MakeFeatures } from "./own/own-features.ts";
import { Attending } from "./people/attending.ts";
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS, Presence } from "./people/presence.ts";
import { newUserRooms, RoomBounds } from "./people/room-bounds.ts";
import { Reading } from "./people/reading.ts";
import { Refreshing } from "./people/refreshing.ts";
import { Typing } from "./people/typing.ts";
import { Posting } from "./posting/posting.ts";
import { Hooks, type Feature } from "./room/feature.ts";
import type { Request } from "./room/requests.ts";
import type { Bearer, Caller, ChatEvent, Operation } from "./room/operation.ts";
import type { ChatSettings, Client, Connection, Room } from "./room/room.ts";
import { Screening } from "./room/screening.ts";
import type { PostRules } from "./room/verdict.ts";
import type { SearchAllowance } from "./search/search-allowance.ts";
import type { SearchIndex } from "./search/search-index.ts";
import { Exporting } from "./search/exporting.ts";
import { Searching } from "./search/searching.ts";
import { Shards, type ShardsOutside, type ShardsPorts } from "./shards/shards.ts";
import { Webhooks, type Deliver } from "./webhooks/webhooks.ts";

export interface ChatDependencies {
  readonly room: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly state: RoomState;
  readonly index: SearchIndex;
  /** Limits searches of all rooms of the isolate together. */
  readonly searchAllowance: SearchAllowance;
  /** Stores files; absent: the room takes none. */
  readonly files?: FileOptions;
  /** Queues webhook events; absent: no webhook is set. */
  readonly deliver?: Deliver;
  /** The room's own rules for posts and edits, asked for at each; absent, or without a result: there are none. */
  readonly rules?: (() => PostRules | undefined) | undefined;
  /** Makes the features that the room's class adds; absent: it adds none. */
  readonly features?: MakeFeatures | undefined;
  /** Counts what happens; absent: nothing is counted. */
  readonly meter?: Meter;
  /** Resolves once everything stored is durable; the platform holds frames back until then. */
  readonly durable?: () => Promise<void>;
  /** Sends reports to the lobby; absent: there is no lobby. */
  readonly reportToLobby?: ReportToLobby | undefined;
  /** Opens rooms between two people. */
  readonly openDirect?: OpenDirect;
  /** Limits the direct rooms that a user opens, in all rooms of the isolate (DM-5). */
  readonly openings?: TokenBuckets;
  /** Counts the rooms of users, in all rooms of the isolate (LIM-8). */
  readonly userRooms?: UserRooms;
  /** Holds the sockets that a big room has no place for; absent: there are no shards. */
  readonly shards?: ShardsOutside | undefined;
  /** Carries messages to linked rooms; absent: none are passed on. */
  readonly relay?: LinkTransport | undefined;
}

export interface FileOptions {
  readonly store: FileStore;
  /** Upload limits, as `welcome` says them. */
  readonly limits: NonNullable<FilesWelcome["files"]>;
  /** Milliseconds that a message is kept at most. */
  readonly keptMs: number;
}

/** The ports of the features. */
interface Outside extends Omit<ChatDependencies, "room" | "settings" | "log" | "state" | "meter" | "durable"> {
  /** Carries a request out, in the name of a feature. */
  readonly perform: (request: Request) => void | Promise<void>;
  /** Decides on CONNECTs, checks what they recover, and makes the welcome. */
  readonly entry: Pick<ShardsPorts, "authorize" | "claimedSeq" | "noteToken" | "welcome">;
}

/** The events that a feature has operations for. */
type EventsOf<Each> = Each extends { readonly operations: ReadonlyArray<Operation<infer Name>> } ? Name : never;

/** The fields of the welcome that a feature fills. */
type FieldsOf<Each> = Each extends { welcome(client: Client): infer Part } ? keyof Part : never;

type FieldOfFeatures = Exclude<keyof Welcome, keyof RoomWelcome>;

/** Fits a list only if its features together have an operation for each event, and for nothing else, and fill the welcome. */
type Complete<Each extends Feature> = [ChatEvent, EventsOf<Each>, FieldOfFeatures] extends [
  EventsOf<Each>,
  ChatEvent,
  FieldsOf<Each>,
]
  ? readonly Feature[]
  : {
      readonly eventsWithoutOperation: Exclude<ChatEvent, EventsOf<Each>>;
      readonly operationsWithoutEvent: Exclude<EventsOf<Each>, ChatEvent>;
      readonly welcomeFieldsWithoutFeature: Exclude<FieldOfFeatures, FieldsOf<Each>>;
    };

/** The hooks of all features, and by name the features that chat.ts and room-calls.ts have business with. */
export type Features = ReturnType<typeof makeFeatures>;

// oxlint-disable-next-line typescript/explicit-module-boundary-types -- `Features` is its type
export function makeFeatures(
  room: Room,
  { index, searchAllowance, files: fileOptions, features: make, perform, entry, ...outside }: Outside,
) {
  const { deliver, reportToLobby, relay, openDirect, openings, rules, shards: shardsOutside } = outside;
  const { userRooms = newUserRooms() } = outside;
  const files = new FileSweep(room, fileOptions?.store, fileOptions?.keptMs ?? 0);
  const attachments = new Attachments(room, files, fileOptions ? { files: fileOptions.limits } : {});
  const posting = new Posting(room, attachments);
  const records = new UserRecords(room);
  const presence = new Presence(room);
  const bans = new Bans(room, records, (user) => presence.endStay(user));
  const [speaking, trail] = [new Speaking(room), new AuditTrail(room)];
  const moderation = { bans, records, speaking, trail };
  const changes = new MessageChanges(room);
  const editing = new Editing(room, { changes, files, trail, guestRates: posting.guestRates });
  const links = new Links(room, changes, relay);
  const relayed = new Relayed(room, editing);
  const reading = new Reading(room, {
    read: (before) => listing?.onRead(before),
    notesJoined: reportToLobby !== undefined && !isDirectRoom(room.name),
  });
  const unread = new UnreadCounts(room, {
    marks: reading.marks,
    isBanned: (user) => records.banOf({ user, tokenRole: "member" }) !== undefined,
  });
  const typing = new Typing(room);
  const direct = new Direct(room, {
    open: openDirect,
    openings,
    readSeq: (user) => reading.marks.get(user),
    writtenName: (user) => unread.nameOf(user),
  });
  const bounds = new RoomBounds(room, userRooms);
  const counters = new Counters(room);
  const listing =
    reportToLobby &&
    new Listing(room, {
      send: reportToLobby,
      counters,
      unread,
      direct: () => direct.report,
      numbers: () => own?.facts,
      payers: () => bounds.payers,
      onRefused: (refused) => bounds.onRefused(refused),
    });
  /** A caller with the role that counts in this room: DM-2, MOD-9. */
  const callerOf = ({ user, name, role: given }: Bearer, client?: Connection): Caller => {
    const tokenRole = direct.roleOf(given);
    const role = records.roleOf({ user, tokenRole });
    return { user, name, role, tokenRole, ...(client && { client }) };
  };
  const screening = new Screening(room, {
    rules: rules ?? (() => undefined),
    // Also where the connection is gone, or has another token by now.
    callerNow: ({ client, tokenRole, ...caller }) =>
      client && room.clients.get(client.id) === client
        ? callerOf(client.peek(), client)
        : callerOf({ ...caller, role: tokenRole }),
    stayOf: (user) => bans.ownerOf(user),
  });
  const shards =
    shardsOutside && !direct.isDirect
      ? new Shards(room, {
          ...shardsOutside,
          ...entry,
          ownerOf: ({ user }) => bans.ownerOf(user),
          changes,
          trail,
          perform,
          typing,
        })
      : undefined;
  const exporting = new Exporting(room, searchAllowance);
  const list = [
    direct,
    bans,
    bounds,
    new Flooding(room),
    screening,
    speaking,
    presence,
    posting,
    new History(room),
    editing,
    new Reacting(room, changes),
    changes,
    new Searching(room, index, searchAllowance),
    exporting,
    typing,
    new Attending(room),
    reading,
    new Refreshing(room),
    new Moderation(room, moderation),
    new ModerationLists(room, moderation),
    attachments,
    files,
    links,
    relayed,
    ...(deliver && !direct.isDirect ? [new Webhooks(room, deliver, LEAVE_GRACE_MS + LEAVE_GATHER_MS)] : []),
    ...(listing ? [counters, listing] : []),
    ...(shards ? [shards] : []),
  ];
  const ofChat: readonly Feature[] = list satisfies Complete<(typeof list)[number]>;
  const own =
    make &&
    new OwnFeatures(room, make, {
      isDirect: direct.isDirect,
      callerOf,
      find: (id) => changes.find(id),
      perform,
      factsChanged: () => listing?.reportAgain(),
    });
  const hooks = new Hooks(own ? [...ofChat, ...own.all] : ofChat);
  const announced = new Announced(room, {
    reportMembers: () => listing?.reportPeople(),
    isTaken: (event) => own?.sends(event) ?? false,
  });
  return {
    hooks,
    callerOf,
    screening,
    posting,
    records,
    bans,
    bounds,
    changes,
    attachments,
    files,
    counters,
    listing,
    links,
    relayed,
    direct,
    announced,
    exporting,
    own,
    shards,
  };
}
