// A Worker whose rooms have polls, pinned messages and reports of abuse.
import { ChatRoom as BaseChatRoom, createParley, type RoomHandle } from "parley-rooms";
import { Pins, Reports } from "parley-rooms/features";
import { Polls } from "./polls.ts";

export { Lobby } from "parley-rooms";

export class ChatRoom extends BaseChatRoom {
  override features(room: RoomHandle) {
    return [new Polls(room), new Pins(room, { max: 5 }), new Reports(room)];
  }
}

export default createParley();
