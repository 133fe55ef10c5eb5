// The upgrade from long-polling to WebSocket (EIO-9): the WebSocket probes, is told it may, and takes over
// with whatever the polls have not fetched, so that nothing is lost or doubled on the way.
import { CLOSINGS } from "../wire/closings.ts";
import { ENGINE_NOOP, ENGINE_PROBE, ENGINE_PROBED, ENGINE_UPGRADE, type Frame } from "../wire/engine-io.ts";
import type { Engine } from "./engine.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

/** A frame over the WebSocket that wants to take over. */
export function receiveOverProbe(
  engine: Engine,
  outbox: Outbox,
  probe: Session,
  { frame, nowMs }: { readonly frame: Frame; readonly nowMs: number },
): void {
  const session = probe.probeOf!;
  if (probe.farewell) {
    outbox.send([probe], probe.farewell.frames);
    return engine.close(probe, probe.farewell.closing);
  }
  if (frame === ENGINE_PROBE) {
    confirm(outbox, probe, session);
    return engine.passOver(probe, nowMs);
  }
  if (frame === ENGINE_UPGRADE) return takeOver(engine, outbox, { probe, session });
  engine.close(probe, CLOSINGS.parseError);
}

function confirm(outbox: Outbox, probe: Session, session: Session): void {
  outbox.send([probe], [ENGINE_PROBED]);
  session.isUpgrading = true;
  // The client waits for its poll to end before it goes on.
  endPoll(outbox, session);
}

function takeOver(engine: Engine, outbox: Outbox, { probe, session }: { probe: Session; session: Session }): void {
  const { polling } = session;
  if (!polling) return;
  // It came after the probe's answer, so its client was not waiting for it.
  if (polling.waitingSinceMs !== undefined) outbox.refusePoll(session);
  const unfetched = polling.takeAll();
  session.polling = undefined;
  session.probe = undefined;
  session.isUpgrading = false;
  session.isExtended = probe.isExtended;
  probe.closed = true;
  outbox.adopt(session, probe);
  outbox.save(session);
  engine.adopted(session, probe);
  if (unfetched.length > 0) outbox.send([session], unfetched);
}

/** Ends the waiting poll with what there is, or with a noop. */
export function endPoll(outbox: Outbox, session: Session): void {
  const { polling } = session;
  if (polling?.waitingSinceMs === undefined) return;
  if (polling.isEmpty) polling.push([ENGINE_NOOP]);
  outbox.answerPoll(session);
}
