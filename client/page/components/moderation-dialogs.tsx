// The dialogs in which a moderator acts on one person or on the room. The app's dialogs draw them.
import { useEffect, useState } from "preact/hooks";

import type { ModeratedUser } from "../../../src/protocol/chat-events.ts";
import { named } from "../state/names.ts";
import { exactTime } from "../state/times.ts";
import type { RoomView } from "../state/room-view.ts";
import { DialogButtons, Modal } from "./modal.tsx";
import { ReasonField } from "./reason-field.tsx";

const FOR_GOOD = "for-good";
const SPANS: ReadonlyArray<readonly [seconds: string, label: string]> = [
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "1 week"],
];
const SLOW_MODES = [0, 5, 10, 30, 60, 300, 900];

interface ModerateDialogProps {
  readonly view: RoomView;
  readonly action: "kick" | "mute" | "ban";
  readonly user: string;
  readonly onClose: () => void;
}

export function ModerateDialog({ view, action, user, onClose }: ModerateDialogProps) {
  const [span, setSpan] = useState("3600");
  const [reason, setReason] = useState("");
  const name = named(view.nameOf(user));
  const [title, submit] = {
    kick: [`Kick ${name}`, "Kick"],
    mute: [`Mute ${name}`, "Mute"],
    ban: [`Ban ${name}`, "Ban"],
  }[action] as [string, string];
  const decide = (): void => {
    const why = reason.trim() === "" ? {} : { reason: reason.trim() };
    onClose();
    if (action === "kick") void view.actions.moderate("kick", { user, ...why });
    else if (action === "mute") void view.actions.moderate("mute", { user, seconds: Number(span), ...why });
    else void view.actions.moderate("ban", { user, ...(span !== FOR_GOOD && { seconds: Number(span) }), ...why });
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          decide();
        }}
      >
        {action === "kick" && <p class="muted">They can rejoin at once.</p>}
        {action !== "kick" && (
          <>
            <label for="span">For how long</label>
            <select
              id="span"
              value={span}
              data-testid="span"
              onChange={({ currentTarget }) => setSpan(currentTarget.value)}
            >
              {SPANS.map(([seconds, label]) => (
                <option key={seconds} value={seconds}>
                  {label}
                </option>
              ))}
              {action === "ban" && <option value={FOR_GOOD}>For good</option>}
            </select>
          </>
        )}
        <ReasonField reason={reason} onInput={setReason} />
        <DialogButtons submit={submit} isGrave={action === "ban"} onCancel={onClose} />
      </form>
    </Modal>
  );
}

export function RoomDialog({ view, onClose }: { readonly view: RoomView; readonly onClose: () => void }) {
  const [users, setUsers] = useState<readonly ModeratedUser[]>();
  const load = (): void => void view.actions.moderated().then((page) => setUsers(page?.users ?? []));
  useEffect(load, []);
  const { slowModeSeconds, readOnly } = view.modes;
  const undo = async (action: "unban" | "unmute" | "revoke", user: string): Promise<void> => {
    await view.actions.moderate(action, { user });
    load();
  };
  return (
    <Modal title={`Moderate #${view.room}`} onClose={onClose}>
      <label for="slow-mode">Slow mode: a message of each person every</label>
      <select
        id="slow-mode"
        data-testid="slow-mode"
        value={String(slowModeSeconds)}
        onChange={({ currentTarget }) =>
          void view.actions.moderate("slow-mode", { seconds: Number(currentTarget.value) })
        }
      >
        {[...new Set([...SLOW_MODES, slowModeSeconds])]
          .sort((a, b) => a - b)
          .map((seconds) => (
            <option key={seconds} value={String(seconds)}>
              {seconds === 0 ? "Off" : seconds < 60 ? `${seconds} seconds` : `${seconds / 60} min`}
            </option>
          ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          data-testid="read-only"
          checked={readOnly}
          onChange={({ currentTarget }) => void view.actions.moderate("read-only", { on: currentTarget.checked })}
        />{" "}
        Only moderators may write
      </label>
      <h3>Active restrictions</h3>
      {users === undefined && <p class="muted">Loading…</p>}
      {users?.length === 0 && <p class="muted">None.</p>}
      <ul class="decisions" data-testid="decisions">
        {users?.map(({ user, banned, muted, granted }) => (
          <li key={user}>
            <bdi>{view.nameOf(user)}</bdi>
            {banned && (
              <Decided text={`banned${untilText(banned.until)}`} undo="Unban" onUndo={() => void undo("unban", user)} />
            )}
            {muted && (
              <Decided text={`muted${untilText(muted.until)}`} undo="Unmute" onUndo={() => void undo("unmute", user)} />
            )}
            {granted && <Decided text={granted.role} undo="Remove" onUndo={() => void undo("revoke", user)} />}
          </li>
        ))}
      </ul>
      <p class="dialog-buttons">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </p>
    </Modal>
  );
}

interface DecidedProps {
  readonly text: string;
  readonly undo: string;
  readonly onUndo: () => void;
}

function Decided({ text, undo, onUndo }: DecidedProps) {
  return (
    <span>
      {text}{" "}
      <button type="button" class="link" onClick={onUndo}>
        {undo}
      </button>
    </span>
  );
}

const untilText = (until: number | undefined): string => (until === undefined ? "" : ` until ${exactTime(until)}`);
