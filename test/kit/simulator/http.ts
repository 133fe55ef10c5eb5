// Responses that carry a WebSocket, and the pairs that make one: in place of Node's, which know neither.
import { Connection } from "./connection.ts";
import { runningWorld } from "./runtime.ts";

const RealResponse = globalThis.Response;

/** The client's end of a new WebSocket, which the answer to an upgrade carries. */
export class PairEnd {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }
}

interface UpgradeInit extends ResponseInit {
  readonly webSocket?: PairEnd | null;
}

const SWITCHING = 101;

class SimulatedResponse extends RealResponse {
  readonly webSocket: PairEnd | null;

  constructor(body?: BodyInit | null, init: UpgradeInit = {}) {
    const { status, statusText = "", headers } = init;
    const isUpgrade = status === SWITCHING;
    super(isUpgrade ? null : body, {
      ...(status !== undefined && !isUpgrade && { status }),
      statusText,
      ...(headers && { headers }),
    });
    this.webSocket = init.webSocket ?? null;
    if (isUpgrade) Object.defineProperty(this, "status", { value: SWITCHING });
  }

  /** The static functions make responses of the real class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return RealResponse[Symbol.hasInstance](value);
  }
}

/** Not a class, because it gives a record. */
function WebSocketPair(): Record<number, unknown> {
  const connection = new Connection(runningWorld());
  return { 0: new PairEnd(connection), 1: connection.server };
}

class WebSocketRequestResponsePair {
  readonly request: string;
  readonly response: string;

  constructor(request: string, response: string) {
    this.request = request;
    this.response = response;
  }
}

export function replaceResponses(): void {
  Object.assign(globalThis, { Response: SimulatedResponse, WebSocketPair, WebSocketRequestResponsePair });
}

/** @returns the client's end of the WebSocket that a response opens, if it opens one */
export function webSocketOf(response: Response): PairEnd | undefined {
  const { webSocket } = response as Response & { readonly webSocket?: PairEnd | null };
  return response.status === SWITCHING ? (webSocket ?? undefined) : undefined;
}
