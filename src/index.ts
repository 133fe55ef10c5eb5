// The entry of the deployment: the Worker and the classes of its Durable Objects.
import { createParley, defaultFeatures } from "parley-rooms";
import { pins, reports } from "parley-rooms/features";

export { Announcements, DeadLetters, Lobby, RoomShard } from "parley-rooms";

const parley = createParley({ features: [...defaultFeatures(), pins(), reports()] });

export class ChatRoom extends parley.ChatRoom {}

export default parley;
