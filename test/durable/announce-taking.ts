// The call by which a room takes announcements, for tests that watch it or make it fail.
import * as deployment from "../../src/index.ts";
import type { AnnounceRpc } from "../../src/rpc/announcements.ts";

/** The deployment's rooms, with the call that announcements add to them. */
export const ANNOUNCE_ROOMS = deployment.default.ChatRoom.prototype as unknown as AnnounceRpc;
