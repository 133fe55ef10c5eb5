// The field for a new message: Enter sends, Shift+Enter starts a line. The room's drafts keep the text until it is sent. The app
// draws one for each room.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { openMentionIn, suggestionsFor, withMention } from "../state/completion.ts";
import { mentionOf } from "../state/mentions.ts";
import { lineOf } from "../state/parsed.ts";
import type { Person } from "../state/roster.ts";
import type { Session } from "../state/session.ts";
import { statusOf } from "../state/connection-text.ts";
import type { RoomView } from "../state/room-view.ts";
import { useNow } from "./hooks.ts";
import { Icon, IconButton } from "./icons.tsx";

/** The composer shows the count of characters left from this many on. */
const WARN_LEFT = 100;
const ROWS_MAX = 8;
/** The pause in typing after which the composer looks members up, in ms. */
const LOOKUP_PAUSE_MS = 250;

interface ComposerProps {
  readonly session: Session;
  readonly view: RoomView;
  /** The files that go with the draft. */
  readonly children: ComponentChildren;
}

/** A new one for each room. */
export function Composer({ session, view, children }: ComposerProps) {
  const { writing, uploads, cooldown, blocked } = view;
  const { text, files, replyTo, edit } = writing;
  const [, redraw] = useState(0);
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isDrawn = useRef(false);
  const max = view.welcome?.settings.maxContentLength ?? Infinity;
  const left = max - Array.from(view.withIds(text.trim())).length;
  // Counted down.
  useNow(cooldown.leftMs > 0 ? 1000 : 0);
  const mention = isClosed ? undefined : openMentionIn(text, caret);
  const people = mention ? suggestionsFor(mention.query, others(view)) : [];
  useLookup(view, mention?.query ?? "");
  const isWaiting = edit ? edit.isSaving : uploads.isBusy;
  const isEmpty = text.trim() === "" && (edit !== undefined || files.length === 0);
  const isReady = left >= 0 && !isEmpty && !isWaiting && !view.isOver && blocked === "" && !cooldown.isMuted;

  const write = (value: string): void => {
    writing.write(value);
    // Sooner than the rest of the page.
    redraw((count) => count + 1);
    setClosed(false);
    setChosen(0);
    if (!edit) view.signals.typing(value.trim() !== "");
  };
  useEffect(() => {
    const refresh = (): void => writing.refresh();
    // Out of the back/forward cache, too, where nothing is heard.
    const watching = new AbortController();
    const { signal } = watching;
    addEventListener("storage", refresh, { signal });
    document.addEventListener("visibilitychange", refresh, { signal });
    return () => watching.abort();
  }, [writing]);
  // At once: what is typed in the next moment belongs here.
  useLayoutEffect(() => {
    // No focus on phones, where it opens the keyboard, nor in an embedding page, which owns the focus.
    const isAsked = isDrawn.current && (replyTo !== undefined || edit !== undefined);
    isDrawn.current = true;
    if (isAsked || !(session.isEmbedded || matchMedia("(pointer: coarse)").matches)) field.current?.focus();
  }, [replyTo, edit?.id, blocked === ""]);
  useLayoutEffect(() => {
    const { current } = field;
    // Where it stands there already, it may be the beginning of what the reader has selected.
    if (current?.matches(":focus") && current.selectionStart !== caret) current.setSelectionRange(caret, caret);
  }, [caret]);

  const submit = (): void => {
    if (!isReady) return;
    if (edit) return void writing.save();
    post(view, text.trim(), files, replyTo);
    uploads.clear();
    writing.sent();
    redraw((count) => count + 1);
    field.current?.focus();
  };
  const complete = ({ user }: Person): void => {
    // A name that cannot be written as one is an id for the reader, too.
    const label = view.people.labelOf(user) ?? mentionOf(user, "").slice(1);
    const completed = withMention(text, caret, mention!.from, label);
    write(completed.text);
    setCaret(completed.caret);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is being composed (Chinese, Japanese …), Enter belongs to the input method.
    if (event.isComposing) return;
    if (people.length > 0 && onSuggestionKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) submit();
    else if (event.key === "Escape" && (replyTo !== undefined || edit)) writing.cancel();
    else if (event.key === "ArrowUp" && text === "") editLast(session, view);
    else return;
    event.preventDefault();
  };
  const onSuggestionKey = (event: KeyboardEvent): boolean => {
    if (event.key === "ArrowDown") setChosen((chosen + 1) % people.length);
    else if (event.key === "ArrowUp") setChosen((chosen + people.length - 1) % people.length);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) complete(people[chosen]!);
    else if (event.key === "Escape") setClosed(true);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const noteCaret = (): void => setCaret(field.current!.selectionStart);

  if (blocked !== "") return <Blocked session={session} view={view} />;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <About view={view} />
      {edit && (
        <p class="problem" role="status" data-testid="edit-problem">
          {edit.problem && `Not saved. ${edit.problem}`}
        </p>
      )}
      {children}
      {people.length > 0 && <Suggestions view={view} people={people} chosen={chosen} onChoose={complete} />}
      <div class="composer-row">
        {uploads.isAllowed && !edit && <AttachButton onFiles={(files) => uploads.add(files)} />}
        <textarea
          ref={field}
          class="draft"
          data-testid="composer"
          aria-label={`Message to #${view.room}`}
          placeholder={`Message #${view.room}`}
          enterkeyhint="send"
          rows={Math.min(ROWS_MAX, text.split("\n").length)}
          dir="auto"
          value={text}
          readOnly={edit?.isSaving}
          aria-invalid={left < 0}
          aria-describedby="composer-note"
          aria-autocomplete="list"
          aria-controls={people.length > 0 ? "suggestions" : undefined}
          aria-activedescendant={people.length > 0 ? `suggestion-${chosen}` : undefined}
          onInput={({ currentTarget }) => {
            write(currentTarget.value);
            setCaret(currentTarget.selectionStart);
          }}
          onKeyDown={onKeyDown}
          onKeyUp={noteCaret}
          onClick={noteCaret}
          onPaste={(event) => uploads.add(event.clipboardData?.files)}
        />
        <button
          type="submit"
          class="send"
          data-testid="send"
          aria-label={edit ? "Save" : "Send"}
          title={edit ? "Save" : "Send"}
          disabled={!isReady}
        >
          <Icon name="send" />
        </button>
      </div>
      <p id="composer-note" class={`composer-note ${left < 0 ? "over" : ""}`}>
        <span class="typing" data-testid="typing">
          {view.presence.typists.line}
        </span>
        <span data-testid="hold" role="status">
          {cooldown.text}
        </span>
        <span>{remaining(left)}</span>
      </p>
    </form>
  );
}

/** In place of the field: why nothing can be written, and the way back in where there is one. */
function Blocked({ session, view }: Omit<ComposerProps, "children">) {
  const { connection, blocked } = view;
  return (
    <div class="composer blocked">
      <p data-testid="blocked" role="status">
        {blocked}
      </p>
      {connection.kind === "stopped" && statusOf(connection, 0).action === "rejoin" && (
        <button type="button" class="primary" data-testid="rejoin" onClick={() => session.comeBack()}>
          Rejoin
        </button>
      )}
    </div>
  );
}

/** What the draft answers, or which message is being changed. */
function About({ view }: { readonly view: RoomView }) {
  const { writing, history } = view;
  const { replyTo, edit } = writing;
  if (edit)
    return (
      <div class="about" data-testid="about">
        <p>
          {edit.isSaving ? "Saving " : "Editing "}
          <span class="muted" dir="auto">
            {lineOf(edit.before)}
          </span>
        </p>
        <IconButton icon="close" label="Cancel" onClick={() => writing.cancel()} />
      </div>
    );
  if (replyTo === undefined) return null;
  const quoted = history.quoted(replyTo);
  return (
    <div class="about" data-testid="about">
      <p>
        {writing.isEditWaiting && "Your edit waits · "}Replying to <bdi class="author">{quoted?.name}</bdi>{" "}
        <span class="muted" dir="auto">
          {quoted && (lineOf(view.withNames(quoted.content)) || quoted.attachment?.name)}
        </span>
      </p>
      <IconButton icon="close" label="Cancel" onClick={() => writing.cancel()} />
    </div>
  );
}

interface SuggestionsProps {
  readonly view: RoomView;
  readonly people: readonly Person[];
  readonly chosen: number;
  readonly onChoose: (person: Person) => void;
}

function Suggestions({ view, people, chosen, onChoose }: SuggestionsProps) {
  return (
    <ul class="suggestions" id="suggestions" role="listbox" aria-label="People to mention" data-testid="suggestions">
      {people.map((person, at) => (
        <li
          key={person.user}
          id={`suggestion-${at}`}
          role="option"
          aria-selected={at === chosen}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(person);
          }}
        >
          <bdi>{person.name}</bdi> <bdi class="muted">{view.people.tagOf(person.user)}</bdi>
        </li>
      ))}
    </ul>
  );
}

interface AttachProps {
  readonly onFiles: (files: FileList | null) => void;
}

function AttachButton({ onFiles }: AttachProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="attach" label="Attach files" testId="attach" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="file-input"
        onChange={({ currentTarget }) => {
          onFiles(currentTarget.files);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

/** A message carries one file: the first goes with the words. */
function post(view: RoomView, content: string, files: readonly Attachment[], replyTo: string | undefined): void {
  const [first, ...rest] = files;
  const reply = replyTo === undefined ? {} : { replyTo };
  void view.post(content, { ...reply, ...(first && { attachment: first }) });
  for (const attachment of rest) void view.post("", { attachment });
}

function editLast(session: Session, view: RoomView): void {
  const windowMs = (view.welcome?.settings.editWindowSeconds ?? 0) * 1000;
  const last = view.timeline.messages.findLast(({ sender, deleted }) => sender === view.self && !deleted);
  if (last && (view.isModerator || view.clock.now() - last.timestamp < windowMs)) session.edit(last);
}

/** A large room lists only some who are here: it is asked for those whose name one begins to write. */
function useLookup({ presence }: RoomView, query: string): void {
  const isAsked = query !== "" && !presence.roster.isComplete;
  useEffect(() => {
    if (!isAsked) return undefined;
    const timer = setTimeout(() => void presence.find(query), LOOKUP_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [presence, query, isAsked]);
}

/** Who may be spoken to: those who are here come first, then all who are known. */
function others({ presence, people, self }: RoomView): Person[] {
  const all = new Map([...presence.roster.people, ...people.all].map((person) => [person.user, person]));
  all.delete(self);
  return Array.from(all.values());
}

function remaining(left: number): string {
  if (left > WARN_LEFT) return "";
  return left < 0 ? `${-left} characters too many` : `${left} characters left`;
}
