// A room that takes files, with the Worker's part of an upload. Called by the tests of files.
import type { Attachment } from "../../src/protocol/chat-events.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import { ChatRoom, identityOf, type Person, type RoomParts } from "./chat-room.ts";
import { MemoryFiles } from "./memory-files.ts";

export const DAY_MS = 86_400_000;
export const KEPT_MS = 30 * DAY_MS;
export const LIMITS = { bytesMax: 1000, types: ["image/png"] };
export const FACTS = { name: "me.png", type: "image/png", size: 100, width: 3, height: 4 };

export class FileRoom extends ChatRoom {
  readonly files: MemoryFiles;
  #ids = 0;

  constructor(
    files = new MemoryFiles(),
    settings: Partial<ChatSettings> = {},
    outside: Pick<RoomParts, "deliver" | "reportToLobby" | "custom"> = {},
  ) {
    super(settings, {}, { ...outside, files: { store: files, limits: LIMITS, keptMs: KEPT_MS } });
    this.files = files;
  }

  /** Asks for leave to upload, as the Worker does. @returns the room's answer */
  async permit(
    person: string | Person,
    facts: object = {},
  ): Promise<{ attachment?: Attachment; error?: { code: string } }> {
    const { user, name, role } = identityOf(person);
    const id = String(++this.#ids).padStart(20, "0");
    const answer = Promise.withResolvers<object>();
    await this.chat.calls.permitUpload({ user, name, role }, { id, ...FACTS, ...facts }, answer.resolve);
    return answer.promise;
  }

  /** An upload, whole. */
  async upload(person: string | Person): Promise<Attachment> {
    const { attachment } = await this.permit(person);
    this.files.keys.add(attachment!.key);
    return attachment!;
  }
}

/** A file, and no member whose heartbeats would have to be counted for a month. */
export async function quietRoomWithFile(): Promise<{ room: FileRoom; attachment: Attachment }> {
  const room = new FileRoom();
  return { room, attachment: await room.upload("ada") };
}

export async function roomWithFile(): Promise<{
  room: FileRoom;
  attachment: Attachment;
  ada: Awaited<ReturnType<ChatRoom["join"]>>;
}> {
  const room = new FileRoom();
  const ada = await room.join("ada");
  return { room, ada, attachment: await room.upload("ada") };
}
