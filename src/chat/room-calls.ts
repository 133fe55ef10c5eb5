// Calls of a chat room from outside besides events (room/requests.ts): the HTTP API and other objects by RPC (durable/chat-room.ts), and
// the watchers of the room (watching.ts).
import type { Answer, ErrorAnswer, FilePassGiven, Notice, RoomModes, RoomOverview } from "../protocol/chat-events.ts";
import type { FileOfLog } from "../protocol/file-key.ts";
import type { Identity } from "../protocol/identity.ts";
import type { Refusal } from "../socketio/server/namespace.ts";
import type { Parts } from "./parts.ts";
import { refuse } from "../protocol/refuse.ts";
import type { StoreAfterErase } from "./room/room-part.ts";
import type { Bearer, Reply } from "./room/operation.ts";
import type { Request, Requests } from "./room/requests.ts";
import { refuseUnlessModerator } from "../protocol/roles.ts";
import type { Client, Room } from "./room/room.ts";
import type { ExportPosition, ChunkAnswer } from "./messages/exporting.ts";

export class RoomCalls {
  readonly #room: Room;
  readonly #parts: Parts;
  readonly #requests: Requests;

  constructor(room: Room, parts: Parts, requests: Requests) {
    this.#room = room;
    this.#parts = parts;
    this.#requests = requests;
  }

  /** Whether a custom feature takes an event of that name. */
  takesCustom(event: string): boolean {
    return this.#parts.custom?.takes(event) ?? false;
  }

  /** OWN-9: an event of a custom feature. */
  askCustom(request: Request): void | Promise<void> {
    if (this.takesCustom(request.event)) return this.#requests.perform(request);
    request.reply(refuse("UNKNOWN_EVENT", "No feature of this room takes that event"));
  }

  /** FILE-1: allows or refuses an upload; the answer holds the attachment that the caller may post then. */
  permitUpload(bearer: Bearer, given: unknown, reply: Reply<Answer<object>>): void | Promise<void> {
    const caller = this.#parts.callerOf(bearer);
    return this.#requests.run(this.#parts.attachments.upload, caller, given, reply);
  }

  /** FILE-4: allows or refuses to read a file. Files of an earlier log of the room, and of deleted messages, are not found. */
  permitReading({ user, role }: Pick<Bearer, "user" | "role">, { key, epoch }: FileOfLog): Answer<object> {
    const isGone = epoch !== this.#room.log.epoch || this.#parts.files.isDiscarded(key);
    if (isGone) return refuse("NOT_FOUND", "No such file");
    const refusal = this.refuseBearer({ user, role });
    const { retryAfterMs } = (refusal?.data ?? {}) as { readonly retryAfterMs?: number };
    return refusal ? refuse("FORBIDDEN", refusal.message, retryAfterMs) : { ok: true };
  }

  /** FILE-10: a pass to a file, for a user who may read it. */
  passTo(bearer: Bearer, file: FileOfLog): Answer<FilePassGiven> {
    const answer = this.permitReading(bearer, file);
    return "error" in answer ? answer : { ok: true, ...this.#parts.attachments.passTo(file.key, bearer) };
  }

  /** FILE-10: allows or refuses to read a file with a pass. */
  permitPass(pass: string, file: FileOfLog): Answer<object> {
    const holder = this.#parts.attachments.holderOf(file.key, pass);
    return holder ? this.permitReading(holder, file) : refuse("UNAUTHORIZED", "The pass is not valid, or has ended");
  }

  /** Refuses a connection before it is opened, where its token's user is known by then. */
  refuseBearer(bearer: Pick<Identity, "user" | "role">): Refusal | undefined {
    return this.#parts.direct.admit(bearer) ?? this.#parts.bans.admit(bearer);
  }

  /** Refuses a caller who may not moderate this room from outside: API-1. */
  refuseStaff(bearer: Bearer): ErrorAnswer | undefined {
    const caller = this.#parts.callerOf(bearer);
    return this.#parts.bans.refuseBanned(caller) ?? refuseUnlessModerator(caller);
  }

  /** The room from outside, without waking more of it than the log's newest row (API-13). */
  overview(): RoomOverview & Pick<RoomModes, "topic"> {
    this.#room.catchUp();
    const { name, log, members } = this.#room;
    const [newest] = log.page({ limit: 1 }).messages;
    const { name: displayName, topic } = this.#parts.writePermission.modes;
    return {
      room: name,
      members: members.count,
      lastSeq: log.lastSeq,
      lastActivity: newest?.timestamp ?? null,
      ...(displayName !== undefined && { name: displayName }),
      ...(topic !== undefined && { topic }),
    };
  }

  /** Counts of the room, without a look at the storage. */
  get pulse(): { readonly members: number; readonly lastSeq: number } {
    return { members: this.#room.members.count, lastSeq: this.#room.seenSeq() };
  }

  /** A chunk of an export (API-8). Each call checks the reader again: a moderator may have banned them since the last chunk. */
  exportChunk(bearer: Bearer, position: ExportPosition | undefined, reply: Reply<ChunkAnswer>): void {
    const refuseReader = (): ErrorAnswer | undefined =>
      bearer.role === "service" ? undefined : this.refuseStaff(bearer);
    this.#parts.exporting.read(this.#parts.callerOf(bearer), position, refuseReader, reply);
  }

  /** All connections are about to be closed: answers open requests and sends each member a notice (API-9, API-10). */
  prepareShutdown(noticeFor: (client: Client) => Notice): void {
    this.#room.finishPosts();
    this.#room.endDelivery();
    this.#parts.hooks.tell("onShutdown");
    for (const client of this.#room.clients.values()) client.emit("notice", noticeFor(client));
  }

  /**
   * All connections are closed, and the storage is erased next (API-9).
   * @returns stores the data of the parts for the room's next log, if any has some
   */
  prepareErase(): StoreAfterErase | undefined {
    const stores = this.#parts.hooks.with("onErase").flatMap((part) => part.onErase() ?? []);
    return stores.length === 0 ? undefined : () => stores.forEach((store) => store());
  }
}
