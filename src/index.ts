// The entry of the deployment: the Worker and the classes of its Durable Objects.
import { createParley } from "parley-rooms";

export { Announcements, ChatRoom, DeadLetters, Lobby } from "parley-rooms";
export default createParley();
