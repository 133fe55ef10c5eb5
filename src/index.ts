// The entry of the deployment: the Worker and the classes of its Durable Objects.
import app from "./worker/app.ts";
import type { Bindings } from "./rpc/bindings.ts";
import { consume } from "./worker/queue/consumer.ts";

export { Announcements } from "../durable/announcements.ts";
export { ChatRoom } from "../durable/chat-room.ts";
export { DeadLetters } from "../durable/dead-letters.ts";
export { Lobby } from "../durable/lobby.ts";
export default { fetch: app.fetch, queue: consume } satisfies ExportedHandler<Bindings>;
