// The call that carries an event from the server of one room to that of another (SIO-12). Answered by src/socketio/object/socket-object.ts,
// for applications that use `serverSideEmit`; the chat does not.
import type { ServerSideAnswer, ServerSideEvent } from "../socketio/server/server-side.ts";

export interface ServerSideRpc {
  /** Passes the event to its namespace. @returns the return value of the namespace's handler */
  receiveServerSideEvent(event: ServerSideEvent): Promise<ServerSideAnswer>;
}
