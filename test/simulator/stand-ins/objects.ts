// The objects and functions of the product that the simulator's bundle contains besides the clients.
import { deploymentOf } from "../../../src/worker/deployment.ts";
import { mountOf } from "../../../src/worker/mount.ts";
import { deliverRelay as deliver } from "../../../src/worker/queue/relay.ts";
import type { Bindings } from "../../../src/rpc/bindings.ts";

export { ChatRoom } from "../../../durable/chat-room.ts";
export { RuledRoom } from "./ruled-room.ts";
export { DeadLetters } from "../../../durable/dead-letters.ts";
export { Lobby } from "../../../durable/lobby.ts";
export { SqlMessageLog } from "../../../durable/sql/sql-message-log.ts";

const mount = mountOf({});

/** As the Worker's consumer does. */
export const deliverRelay = (batch: Parameters<typeof deliver>[0], env: Bindings): Promise<void> =>
  deliver(batch, { bindings: env, deployment: deploymentOf(mount, env) });
