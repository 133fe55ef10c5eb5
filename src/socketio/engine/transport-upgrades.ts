// The upgrade from long-polling to WebSocket (EIO-9): the client probes over the WebSocket, the server confirms, and the WebSocket
// takes over with the frames that the polls have not fetched, so that nothing is lost or doubled. Called by engine.ts.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_PROBE, ENGINE_PROBED, ENGINE_UPGRADE, type Frame } from "../wire/engine-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Outbox } from "./outbox.ts";
import { Session } from "./session.ts";

/** From the WebSocket's opening to its taking over; Node's default for the same. */
export const UPGRADE_TIMEOUT_MS = 10_000;

export interface UpgradeContext {
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly end: (session: Session, closing: Closing) => void;
}

export class TransportUpgrades {
  readonly #context: UpgradeContext;
  readonly #probes = new Set<Session>();
  readonly #deadline: Deadline;

  constructor(context: UpgradeContext) {
    this.#context = context;
    this.#deadline = context.deadlines.add("upgrade", (nowMs) => this.#expire(nowMs));
  }

  /** @returns the probe, or `undefined` where the session is not carried by long-polling, or has one */
  open(session: Session, { isExtended, nowMs }: { isExtended: boolean; nowMs: number }): Session | undefined {
    if (!session.polling || session.probe) return undefined;
    const probe = new Session(session.sid, session.handshake, nowMs);
    probe.isExtended = isExtended;
    probe.probeOf = session;
    session.probe = probe;
    this.#probes.add(probe);
    this.#deadline.pull(nowMs + UPGRADE_TIMEOUT_MS);
    return probe;
  }

  /** Ends probes that were opened and never took over. */
  #expire(nowMs: number): void {
    for (const probe of this.#probes) {
      const dueMs = probe.pingedAtMs + UPGRADE_TIMEOUT_MS;
      if (dueMs > nowMs) this.#deadline.pull(dueMs);
      else this.#context.end(probe, CLOSINGS.connectTimeout);
    }
  }

  /** A frame arrived over the probe. @returns the step that was taken, where the engine has to act on it */
  receive(probe: Session, frame: Frame): "probed" | "upgraded" | undefined {
    const { outbox, end } = this.#context;
    const session = probe.probeOf!;
    if (probe.final) {
      outbox.send([probe], probe.final.frames);
      end(probe, probe.final.closing);
      return undefined;
    }
    if (frame === ENGINE_PROBE) {
      outbox.send([probe], [ENGINE_PROBED]);
      session.isUpgrading = true;
      // The client waits for its poll to end before it goes on.
      outbox.endPoll(session);
      return "probed";
    }
    if (frame === ENGINE_UPGRADE) return this.#takeOver(probe, session);
    end(probe, CLOSINGS.parseError);
    return undefined;
  }

  #takeOver(probe: Session, session: Session): "upgraded" | undefined {
    const { outbox } = this.#context;
    const { polling } = session;
    if (!polling) return undefined;
    // It came after the probe's answer, so its client was not waiting for it.
    if (polling.waitingSinceMs !== undefined) outbox.refusePoll(session);
    const unfetched = polling.takeAll();
    session.polling = undefined;
    session.probe = undefined;
    session.isUpgrading = false;
    session.isExtended = probe.isExtended;
    probe.closed = true;
    this.#probes.delete(probe);
    outbox.adopt(session, probe);
    outbox.save(session);
    if (unfetched.length > 0) outbox.send([session], unfetched);
    return "upgraded";
  }

  /** The probe is gone, and its session goes on over long-polling. */
  ended(probe: Session): void {
    this.#probes.delete(probe);
    const session = probe.probeOf!;
    session.probe = undefined;
    // Otherwise its polls would end at once for ever.
    session.isUpgrading = false;
  }
}
