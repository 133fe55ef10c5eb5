// The type of a stock client that talks to a namespace of `parley-rooms/socketio`. Types only; applications' clients import it.
import type { Socket } from "socket.io-client";

import type { ClientToServerOf, NamespaceType, ServerToClientOf } from "../../src/socketio/wire/client-types.ts";

/** `const socket: ClientSocketOf<typeof Board> = io(origin, { path: "/rooms/plans/socket.io" })`. */
export type ClientSocketOf<Type extends NamespaceType> = Socket<ServerToClientOf<Type>, ClientToServerOf<Type>>;
