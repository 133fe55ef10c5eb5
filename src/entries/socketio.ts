// The entry of the package `parley-rooms/socketio`: a Socket.IO server for any Durable Object.
export { jwt, type JwtOptions } from "../socketio/object/jwt.ts";
export { SocketIoObject } from "../../durable/socketio-object.ts";
export type { TokenRefusal, TokenUser, VerifyToken } from "../socketio/object/token-users.ts";
export type { SocketIoOptions } from "../socketio/object/options.ts";
export { connectionStateRecovery, type MakeRecovery, type RecoveryOptions } from "../socketio/object/state-recovery.ts";
export { connect, type Asked, type Authenticate, type ConnectOptions } from "../worker/connect/connect.ts";
export type { VouchedUser } from "../worker/connect/vouched-user.ts";
export { ObjectNamespace as Namespace } from "../socketio/object/object-namespace.ts";
export type {
  AuthorizeResult,
  ConnectMiddleware,
  ConnectRequest,
  Continuations,
  EventMiddleware,
  Handlers,
  Refusal,
} from "../socketio/server/namespace.ts";
export { checked, type ArgumentIssue, type RefusedArguments } from "../socketio/server/checked.ts";
export type { ClientToServerOf, NamespaceType, ServerToClientOf } from "../socketio/wire/client-types.ts";
export type { DynamicNamespace } from "../socketio/server/namespaces.ts";
export type { AskAnswer } from "../socketio/server/acks.ts";
export type { BroadcastOperator } from "../socketio/server/broadcast.ts";
export type { EventsMap } from "../socketio/server/events.ts";
export type { ServerHandlers } from "../socketio/server/server-side.ts";
export type { AskOptions, Socket } from "../socketio/server/socket.ts";
export { Recovery, type RecoveryLog } from "../socketio/recovery/recovery.ts";
export type { Handshake, Identity } from "../socketio/engine/session.ts";
export type { Deadline, DeadlineOptions } from "../clock/deadlines.ts";
export type { DisconnectReason } from "../socketio/wire/closings.ts";
