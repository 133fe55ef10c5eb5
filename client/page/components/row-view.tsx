// Draws one row of the message list: a message, an outgoing message, a day, the line above new messages, or the beginning. Called
// by message-list.tsx and thread-panel.tsx.
import { t, tn } from "../state/language.ts";
import type { Row } from "../state/rows.ts";
import { dayTitle } from "../state/times.ts";
import type { ChatProps, WritingProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { invite, inviteLabel } from "./invite.ts";
import { MessageRow } from "./message-row.tsx";
import { OutgoingRow } from "./outgoing-row.tsx";
import { typeInto } from "./type-into.ts";

interface RowViewProps extends WritingProps {
  readonly row: Row;
  readonly now: number;
  /** Tab leads to this row; from here the arrow keys lead to the others. */
  readonly isTabStop: boolean;
  /** The reader points at the row, or has the focus in it. */
  readonly isActive: boolean;
  readonly hasFocus: boolean;
  readonly isTarget: boolean;
  readonly readers: readonly string[];
}

export function RowView(props: RowViewProps) {
  const { store, view, row, now } = props;
  switch (row.kind) {
    case "beginning":
      return (
        <li data-key={row.key} class="beginning">
          <h2>
            <bdi>{store.title}</bdi>
          </h2>
          {view.state.messages.stored.length === 0 ? (
            <FirstSteps store={store} view={view} />
          ) : (
            <p>
              {view.kind === "room" ? t("This is where the room begins.") : t("This is where the conversation begins.")}
            </p>
          )}
        </li>
      );
    case "day":
      return (
        <li data-key={row.key} class="day">
          <h2>
            {/* With the keyboard, a message and the menu of the room lead there. */}
            <Button
              class="day-button"
              tabIndex={-1}
              aria-haspopup="dialog"
              onClick={() => store.set({ dialog: { kind: "date", at: row.at } })}
            >
              {dayTitle(row.at, now)}
            </Button>
          </h2>
        </li>
      );
    case "unread":
      return (
        <li data-key={row.key} class="unread" data-testid="unread-line">
          <span>{t("New")}</span>
        </li>
      );
    case "not-shown": {
      const count = row.to - row.from + 1;
      return (
        <li data-key={row.key} class="not-shown" data-testid="not-shown">
          {tn(count, "{n} message was not shown: too many at once.", "{n} messages were not shown: too many at once.")}{" "}
          <Button class="plain" onClick={() => void view.store.loadNotShown(row.from)}>
            {t("Show")}
          </Button>
        </li>
      );
    }
    case "message":
      return <MessageItem {...props} row={row} />;
    case "outgoing":
      return <OutgoingItem {...props} row={row} />;
  }
}

/** What to do in a room without messages. */
function FirstSteps({ store, view }: ChatProps) {
  return (
    <>
      <p>{store.hasLink ? t("Nobody has written here yet. Begin, or bring somebody.") : t("No messages yet.")}</p>
      <p class="first-steps">
        {view.blocked === "" && (
          <Button
            class="primary"
            testId="say-hello"
            onClick={({ currentTarget }) => {
              const field = currentTarget.closest(".talk")!.querySelector<HTMLTextAreaElement>(".draft")!;
              field.focus();
              if (field.value === "") typeInto(field, t("Hello! 👋"));
            }}
          >
            {t("Say hello")}
          </Button>
        )}
        {store.hasLink && (
          <Button
            class="plain edged"
            testId="copy-link"
            onClick={({ currentTarget }) => void invite({ store, view }, currentTarget)}
          >
            {inviteLabel()}
          </Button>
        )}
        {store.hasLink && !view.state.modes.topic && view.mayDescribe("topic") && (
          <Button class="plain edged" testId="set-topic" onClick={() => store.set({ dialog: { kind: "about-room" } })}>
            {t("Set a topic")}
          </Button>
        )}
      </p>
    </>
  );
}

type Of<Kind extends Row["kind"]> = RowViewProps & { readonly row: Extract<Row, { readonly kind: Kind }> };

function MessageItem({ store, view, composing, row, isTabStop, isActive, hasFocus, isTarget, readers }: Of<"message">) {
  const { key, message, isHead } = row;
  const isOwn = message.sender === view.self;
  const isToMe = message.mentions?.includes(view.self) === true;
  return (
    <li
      data-key={key}
      class={classes("message", { head: isHead, own: isOwn, "to-me": isToMe, target: isTarget, active: isActive })}
      data-testid="message"
      data-state="sent"
      data-seq={message.seq}
      tabIndex={isTabStop ? 0 : -1}
    >
      <MessageRow {...{ store, view, composing, message, isHead, isActive, hasFocus, readers }} />
    </li>
  );
}

function OutgoingItem({ store, view, row, isTabStop }: Of<"outgoing">) {
  const { key, outgoing, isHead } = row;
  return (
    <li
      data-key={key}
      class={classes("message own", { head: isHead })}
      data-testid="message"
      data-state={outgoing.state === "failed" ? "failed" : "pending"}
      tabIndex={isTabStop ? 0 : -1}
    >
      <OutgoingRow {...{ store, view, outgoing, isHead }} />
    </li>
  );
}

const classes = (always: string, sometimes: Readonly<Record<string, boolean>>): string =>
  [always, ...Object.keys(sometimes).filter((name) => sometimes[name])].join(" ");
