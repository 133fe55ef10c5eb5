// The entry of the deployment: the Worker and the classes of its Durable Objects.
import { ChatRoom as BaseChatRoom, createParley, type RoomHandle } from "parley-rooms";
import { Pins, Reports } from "parley-rooms/features";

export { Announcements, DeadLetters, Lobby, RoomShard } from "parley-rooms";

export class ChatRoom extends BaseChatRoom {
  override features = (room: RoomHandle) => [new Pins(room), new Reports(room)];
}

export default createParley();
