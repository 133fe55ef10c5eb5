// The entry `parley-rooms/socketio`: a Socket.IO server for a Durable Object of one's own, without the chat. Applications import it.
export { Namespace } from "../socketio/server/namespace.ts";
export type {
  AuthorizeResult,
  ConnectMiddleware,
  ConnectRequest,
  Continuations,
  EventMiddleware,
  Handlers,
  Refusal,
} from "../socketio/server/namespace.ts";
export type { Deadline, DeadlineOptions } from "../clock/deadlines.ts";
export type { AskAnswer } from "../socketio/server/acks.ts";
export type { EventsMap } from "../socketio/server/events.ts";
export type { ServerHandlers } from "../socketio/server/server-side.ts";
export type { AskOptions, Socket } from "../socketio/server/socket.ts";
