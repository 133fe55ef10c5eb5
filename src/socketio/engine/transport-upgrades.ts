// The upgrade from long-polling to WebSocket (EIO-9): the client probes over the WebSocket, the server confirms, and the WebSocket
// takes over with the frames that the polls have not fetched, so that nothing is lost or doubled. Called by engine.ts.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_PROBE, ENGINE_PROBED, ENGINE_UPGRADE, type Frame } from "../wire/engine-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Effects } from "./effects.ts";
import { Session } from "./session.ts";

/**
 * From the opening of the WebSocket to `2probe`. After that the client ends its poll and its post, which may take longer, and polls no more:
 * if the WebSocket closed meanwhile, as on Node after this time, it would neither poll again nor notice, until no ping came.
 */
export const UPGRADE_TIMEOUT_MS = 10_000;

/** An upgrade usually takes two round trips. The object waits for it awake, which costs less than an alarm. */
const UPGRADE_USUAL_MS = 1000;

export interface UpgradeContext {
  readonly effects: Effects;
  readonly deadlines: Deadlines;
  readonly end: (session: Session, closing: Closing) => void;
  readonly now: () => number;
  /** Shared by the servers of an object: probes of before an erasure stay until their clients have got their last frames. */
  readonly probes: Set<Session>;
}

export class TransportUpgrades {
  readonly #context: UpgradeContext;
  readonly #deadline: Deadline;
  readonly #timeoutMs: number;

  constructor(context: UpgradeContext, timeoutMs = UPGRADE_TIMEOUT_MS) {
    const { probes } = context;
    this.#context = context;
    this.#timeoutMs = timeoutMs;
    const expire = (nowMs: number): void => {
      for (const probe of probes) {
        const dueMs = probe.pingedAtMs + timeoutMs;
        if (dueMs > nowMs) this.#deadline.pull(dueMs);
        else if (!probe.probeOf!.isUpgrading || probe.probeOf!.closed) context.end(probe, CLOSINGS.connectTimeout);
      }
    };
    this.#deadline = context.deadlines.add("upgrade", expire, {
      alarmWithinMs: Math.max(0, timeoutMs - UPGRADE_USUAL_MS),
    });
    // It finds out when those of before an erasure are due.
    if (probes.size > 0) this.#deadline.set(0);
  }

  /** @returns the probe, or `undefined` if the session does not use long-polling, or has a probe */
  open(session: Session, { isExtended, nowMs }: { isExtended: boolean; nowMs: number }): Session | undefined {
    if (!session.polling || session.probe) return undefined;
    const probe = new Session(session.sid, session.handshake, nowMs);
    probe.isExtended = isExtended;
    probe.probeOf = session;
    session.probe = probe;
    this.#context.probes.add(probe);
    this.#deadline.pull(nowMs + this.#timeoutMs);
    return probe;
  }

  /** The session of the probe has ended before the client switched, and leaves it its last frames. The client may still end its post. */
  outlive(probe: Session, takeFinal: () => readonly Frame[]): void {
    probe.takeFinal = takeFinal;
    probe.pingedAtMs = this.#context.now();
    this.#deadline.pull(probe.pingedAtMs + this.#timeoutMs);
  }

  /** Called for each poll: a client that polls for so long after `3probe` does not want to switch. */
  polled({ probe, isUpgrading }: Session, nowMs: number): void {
    if (probe && isUpgrading && probe.pingedAtMs + this.#timeoutMs <= nowMs)
      this.#context.end(probe, CLOSINGS.connectTimeout);
  }

  /** Receives a frame over the probe. @returns the step that it completed, if the engine has to act on it */
  receive(probe: Session, frame: Frame): "probed" | "upgraded" | undefined {
    const { effects, end } = this.#context;
    const session = probe.probeOf!;
    if (probe.takeFinal) {
      const frames = probe.takeFinal();
      if (frames.length > 0) effects.send([probe], frames);
      end(probe, session.closing!);
      return undefined;
    }
    if (frame === ENGINE_PROBE) {
      effects.send([probe], [ENGINE_PROBED]);
      session.isUpgrading = true;
      // The client sends its next packet when its poll has ended.
      effects.endPoll(session);
      return "probed";
    }
    if (frame === ENGINE_UPGRADE) return this.#takeOver(probe, session);
    end(probe, CLOSINGS.parseError);
    return undefined;
  }

  #takeOver(probe: Session, session: Session): "upgraded" | undefined {
    const { effects } = this.#context;
    const { polling } = session;
    if (!polling) return undefined;
    // The poll came after `3probe`, so the client did not wait for it before it went on.
    if (polling.waitingSinceMs !== undefined) effects.refusePoll(session);
    const unfetched = polling.takeAll();
    session.polling = undefined;
    session.probe = undefined;
    session.isUpgrading = false;
    session.isExtended = probe.isExtended;
    probe.closed = true;
    this.#forget(probe);
    effects.adopt(session, probe);
    effects.save(session);
    if (unfetched.length > 0) effects.send([session], unfetched);
    return "upgraded";
  }

  /** Called when the probe is gone; its session goes on over long-polling. */
  ended(probe: Session): void {
    this.#forget(probe);
    const session = probe.probeOf!;
    session.probe = undefined;
    // Otherwise none of its polls would wait longer than 50 ms.
    session.isUpgrading = false;
  }

  #forget(probe: Session): void {
    const { probes } = this.#context;
    probes.delete(probe);
    // Otherwise it would wake an object that has gone to sleep meanwhile.
    if (probes.size === 0) this.#deadline.clear();
  }
}
