// Joins the events that leave for a socket together into one event `bundle` (BUN-1), as text: it parses and encodes no event again. effects.ts calls
// it at the end of a turn, poll-queue.ts for each poll; session.ts keeps the sockets that bundle.
import { JOINED_CHARS_MAX, type Frame } from "./engine-io.ts";

/** The sockets of a session that bundle. */
export interface Bundling {
  /** The same for all sessions whose frames are bundled alike. */
  readonly name: string;
  /** By namespace: whether the client knows recovery, so that each bundle ends with an offset. */
  readonly sockets: ReadonlyMap<string, boolean>;
}

type Fields = Readonly<Record<string, unknown>>;

/** BUN-1: whether a client asks for bundles: for a namespace, or with the query of its handshake for all of the connection. */
export const asksForBundles = (auth: Fields, query: Fields): boolean =>
  auth["bundle"] === true || query["bundle"] === "1";

/** Most sessions are in the same namespaces as the one before: they share one value. */
let latest: Bundling | undefined;

/**
 * @param sockets those that bundle, as `Bundling.sockets`; of two in one namespace the later one counts
 * @returns `undefined` if there are none
 */
export function bundlingOf(
  sockets: ReadonlyArray<readonly [nsp: string, isRecoverable: boolean]>,
): Bundling | undefined {
  if (sockets.length === 0) return undefined;
  const byName = new Map(sockets);
  const name = JSON.stringify([...byName].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  if (latest?.name !== name) latest = { name, sockets: byName };
  return latest;
}

/** The events of one bundle, each as the JSON of its list. */
interface Bundle {
  /** What comes before the list: the types of the packets, and the namespace. */
  readonly head: string;
  readonly events: string[];
  readonly isRecoverable: boolean;
  chars: number;
}

/** A Socket.IO packet in a frame, up to its ack id or its data: its type, and its namespace if that is not the main one. */
const PACKET = /^4([0-6])(?:\d+-)?(?:(\/[^,]*),)?/;

const EVENT = "2";

/** An event that is a bundle, or that an application calls so: it is sent as it is, also when it passes here again. */
const BUNDLE = '["bundle"';

/**
 * Bundles frames of one session. Each event stays in its order among the packets of its namespace: an event with an ack or with bytes, an
 * answer and any other packet ends the open bundle of that namespace (BUN-2). A single event stays as it is.
 */
export function bundleEvents(frames: readonly Frame[], { sockets }: Bundling): readonly Frame[] {
  if (frames.length < 2) return frames;
  const bundled: Array<Frame | Bundle> = [];
  const open = new Map<string, Bundle>();
  for (const frame of frames) {
    const packet = typeof frame === "string" ? PACKET.exec(frame) : null;
    const [head, type, nsp = "/"] = packet ?? [""];
    const isRecoverable = packet ? sockets.get(nsp) : undefined;
    if (isRecoverable === undefined) {
      bundled.push(frame);
      continue;
    }
    const event = (frame as string).slice(head.length);
    if (type !== EVENT || !event.startsWith("[") || event.startsWith(BUNDLE)) {
      open.delete(nsp);
      bundled.push(frame);
      continue;
    }
    const known = open.get(nsp);
    if (known && known.chars + event.length < JOINED_CHARS_MAX) {
      known.events.push(event);
      known.chars += event.length + 1;
      continue;
    }
    const bundle = { head, events: [event], isRecoverable, chars: event.length };
    open.set(nsp, bundle);
    bundled.push(bundle);
  }
  return bundled.map((item) => (typeof item === "string" || item instanceof Uint8Array ? item : encode(item)));
}

function encode({ head, events, isRecoverable }: Bundle): string {
  if (events.length === 1) return head + events[0]!;
  const offset = isRecoverable ? lastOffset(events) : undefined;
  return `${head}["bundle",[${events.join(",")}]${offset === undefined ? "" : `,${offset}`}]`;
}

/** BUN-3: the offset that a stock client would remember after these events, the last text that ends one. In JSON. */
function lastOffset(events: readonly string[]): string | undefined {
  for (let at = events.length - 1; at >= 0; at--) {
    const text = lastText(events[at]!);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The last argument of an event, if it is a text. In JSON. */
function lastText(event: string): string | undefined {
  if (!event.endsWith('"]')) return undefined;
  const end = event.length - 1;
  let start = event.lastIndexOf('"', end - 2);
  // Quotes inside of a text come after a backslash, and the one at its beginning never does.
  while (event[start - 1] === "\\") start = event.lastIndexOf('"', start - 1);
  const isName = start === 1;
  return isName ? undefined : event.slice(start, end);
}
