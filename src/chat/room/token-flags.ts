// The facts that a token gives about a connection besides its user. Read at CONNECT (chat.ts) and again with each fresh token (refreshing.ts).
import { mayOpenDirect } from "../../protocol/direct-room.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Membership } from "./room.ts";

export function tokenFlags({ rooms, isGuest }: Identity): Pick<Membership, "isBound" | "isGuest"> {
  return { ...(!mayOpenDirect(rooms) && { isBound: true }), ...(isGuest && { isGuest }) };
}
