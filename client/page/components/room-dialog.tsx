// The dialog of a room's modes and of the restrictions that are active in it. The page's dialogs draw it for moderators.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ModeratedUser } from "parley-rooms/client";

import { t, tn } from "../state/language.ts";
import { exactTime } from "../state/times.ts";
import { roleText } from "../state/people.ts";
import type { ChatProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { Choice, InfoDialog } from "./modal.tsx";

const SLOW_MODES = [0, 5, 10, 30, 60, 300, 900];

export function RoomDialog({ store, view, onClose }: ChatProps & { readonly onClose: () => void }) {
  const [users, setUsers] = useState<readonly ModeratedUser[]>();
  const load = (): void => void view.actions.moderated().then((page) => setUsers(page?.users ?? []));
  useEffect(load, []);
  const { slowModeSeconds, readOnly } = view.state.modes;
  const heading = useRef<HTMLHeadingElement>(null);
  const undo = async (action: "unban" | "unmute" | "revoke", user: string): Promise<void> => {
    const isDone = await view.actions.moderate(action, { user });
    // The button goes with the restriction.
    if (isDone) heading.current?.focus();
    load();
  };
  const spans = [...new Set([...SLOW_MODES, slowModeSeconds])].sort((a, b) => a - b);
  return (
    <InfoDialog title={t("Moderate {name}", { name: store.title })} onClose={onClose}>
      <Choice
        id="slow-mode"
        label={t("Slow mode: one message per person every")}
        options={spans.map((seconds) => [seconds, slowModeText(seconds)])}
        value={slowModeSeconds}
        onChoose={(seconds) => void view.actions.moderate("slow-mode", { seconds })}
      />
      <label class="check">
        <input
          type="checkbox"
          data-testid="read-only"
          checked={readOnly}
          onChange={({ currentTarget }) => void view.actions.moderate("read-only", { on: currentTarget.checked })}
        />{" "}
        {t("Only moderators may write")}
      </label>
      <h3 ref={heading} tabIndex={-1}>
        {t("Active restrictions")}
      </h3>
      {users === undefined && <p class="muted">{t("Loading…")}</p>}
      {users?.length === 0 && <p class="muted">{t("None.")}</p>}
      <ul class="decisions" data-testid="decisions">
        {users?.map(({ user, banned, muted, granted }) => (
          <li key={user}>
            <bdi>{view.people.nameOf(user)}</bdi>
            {banned && (
              <Decided
                text={untilText(t("banned"), banned.until)}
                undo={t("Unban")}
                onUndo={() => void undo("unban", user)}
              />
            )}
            {muted && (
              <Decided
                text={untilText(t("muted"), muted.until)}
                undo={t("Unmute")}
                onUndo={() => void undo("unmute", user)}
              />
            )}
            {granted && (
              <Decided text={roleText(granted.role)} undo={t("Remove")} onUndo={() => void undo("revoke", user)} />
            )}
          </li>
        ))}
      </ul>
    </InfoDialog>
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
      {text} <Button onClick={onUndo}>{undo}</Button>
    </span>
  );
}

function slowModeText(seconds: number): string {
  if (seconds === 0) return t("Off");
  return seconds < 60 ? tn(seconds, "{n} second", "{n} seconds") : t("{n} min", { n: seconds / 60 });
}

const untilText = (what: string, until: number | undefined): string =>
  until === undefined ? what : t("{what} until {time}", { what, time: exactTime(until) });
