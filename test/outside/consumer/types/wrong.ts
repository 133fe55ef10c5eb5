// Mistakes that the compiler finds in a Worker with the chat.
import { ChatRoom, createParley, type PostVerdict } from "parley-rooms";

// @ts-expect-error -- there is no such option
createParley({ base: "/chat" });
// @ts-expect-error -- a user needs an id
createParley({ authenticate: () => ({ name: "Ada" }) });
// @ts-expect-error -- there is no such role
createParley({ authenticate: () => ({ user: "ada", role: "owner" }) });
// @ts-expect-error -- there is no such use of a queue
createParley({ queues: { relais: "my-queue" } });

export class Room extends ChatRoom {
  override beforePost(): PostVerdict {
    // @ts-expect-error -- a decision is no text
    return "No spam here.";
  }
}
export class Hall extends ChatRoom {
  // @ts-expect-error -- nor a number
  override beforePost = (): number => 7;
}

export class Inside extends ChatRoom {
  parts(): string {
    // @ts-expect-error -- the parts of the chat are its own
    return this.turn(() => this.chat);
  }
}

declare const rooms: DurableObjectNamespace<ChatRoom>;
// @ts-expect-error -- the Worker of the chat calls its rooms; others use its HTTP API
void rooms.getByName("lounge").deleteRoom();
