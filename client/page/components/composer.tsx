// The field for a new message: Enter sends and Shift+Enter begins a line; on a touch screen Enter begins a line. The room's drafts
// keep the text until it is sent. The app and the panel of a thread draw it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MESSAGE_FILES_MAX, normalContent, type Attachment } from "parley-rooms/client";

import { holdText } from "../state/hold-words.ts";
import { t, tn } from "../state/language.ts";
import { linkTo, marked, type Mark } from "../state/marks.ts";
import type { Composing } from "../state/composing.ts";
import { statusOf } from "../state/shown-connection.ts";
import { typingLine } from "../state/typing-line.ts";
import type { ChatProps, WritingProps } from "./chat-props.ts";
import { pastedFilesOf } from "./clipboard.ts";
import { replaceCode, Suggestions, useCompletion } from "./completion.tsx";
import { Button, IconButton, submitting } from "./controls.tsx";
import { useNow } from "./hooks.ts";
import { isTouched, markOf } from "./keys.ts";
import { onDemand } from "./on-demand.tsx";
import { typeInto } from "./type-into.ts";

const ReplyBar = onDemand<WritingProps>(async () => (await import("./reply-bar.tsx")).ReplyBar);
const UploadList = onDemand<WritingProps>(async () => (await import("./uploads.tsx")).UploadList);

/** The composer shows the count of characters left from this many on. */
const WARN_LEFT = 100;
const ROWS_MAX = 8;

/** The name of a file with a text that was pasted. */
const PASTED = "pasted.txt";
const fileOf = (pasted: string): File => new File([pasted], PASTED, { type: "text/plain" });

export function Composer({ store, view, composing }: WritingProps) {
  const { blocked } = view;
  const { writing, uploads, thread } = composing;
  const { me, typing, typingCount, welcome } = view.state;
  const { text, files, replyTo, edit } = writing;
  const [, redraw] = useState(0);
  const [caret, setCaret] = useState(0);
  const [chosen, choose] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const isDrawn = useRef(false);
  const max = welcome?.settings.maxContentLength ?? Infinity;
  const leftOf = (text: string): number => max - Array.from(view.people.withIds(normalContent(text))).length;
  const left = leftOf(text);
  const isTooLong = (pasted: string): boolean => composing.mayAttach && leftOf(pasted) < 0;
  // Counted down.
  useNow(me.hold ? 1000 : 0);
  const [reason, time] = holdText(me.hold, view.store.now());
  const isInThread = thread !== undefined;
  // Somebody types somewhere in the room.
  const typed = !isInThread ? typingLine(typing, typingCount) : "";
  const filed = [...uploads, ...files].some(({ name }) => name === PASTED)
    ? t("Too long for a message: attached as {file}", { file: PASTED })
    : "";
  const speaks = typed + reason + filed + remaining(left) === "" ? "" : "speaks";
  const replace = (from: number, to: number, text: string): void => typeInto(field.current!, text, from, to);
  const completion = useCompletion({ store, view, text, caret, chosen, choose, replace });
  const isSuggesting = completion.suggestions.length > 0;
  // A failed file keeps nothing back: it stays above the field with its reason.
  const isWaiting = edit
    ? edit.isSaving
    : composing.fitting.length > 0 || uploads.some(({ state }) => state === "uploading");
  const [noteId, listId] = isInThread ? ["thread-note", "thread-suggestions"] : ["composer-note", "suggestions"];
  const label = edit
    ? t("Edit the message")
    : isInThread
      ? t("Reply in this thread")
      : store.heading === ""
        ? t("Message {name}", { name: store.title })
        : t("Write a message");
  const isEmpty = normalContent(text) === "" && (edit !== undefined || files.length === 0);
  const isReady = left >= 0 && !isEmpty && !isWaiting && !view.isOver && blocked === "" && me.hold?.code !== "MUTED";

  const write = (value: string): void => {
    writing.write(value);
    // Before the rest of the page is drawn.
    redraw((count) => count + 1);
    // The list opens again, at its first person.
    choose(0);
    if (!edit) view.store.typing(value.trim() !== "");
  };
  useEffect(() => {
    const refresh = (): void => writing.refresh();
    // Also after the back/forward cache, in which a page gets no `storage` events.
    const watching = new AbortController();
    const { signal } = watching;
    addEventListener("storage", refresh, { signal });
    document.addEventListener("visibilitychange", refresh, { signal });
    return () => watching.abort();
  }, [writing]);
  // In the layout effect, before the reader types the next letter.
  useLayoutEffect(() => {
    // No focus on phones, where it opens the keyboard, nor in an embedding page, which owns the focus.
    const isAsked = isDrawn.current && (replyTo !== undefined || edit !== undefined);
    isDrawn.current = true;
    if (isAsked || !(store.isEmbedded || isTouched())) field.current?.focus();
  }, [writing.asked, replyTo, edit?.id, blocked === ""]);

  const submit = (): void => {
    if (!isReady) return;
    if (edit) return void writing.save();
    post(composing, normalContent(text), files, replyTo);
    writing.sent();
    redraw((count) => count + 1);
    field.current?.focus();
  };
  const mark = (mark: Mark): void => {
    const { value, selectionStart, selectionEnd } = field.current!;
    const { from, to, text, selected } = marked(value, { from: selectionStart, to: selectionEnd }, mark);
    replace(from, to, text);
    field.current!.setSelectionRange(selected.from, selected.to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (completion.onKey(event)) return;
    const wanted = markOf(event);
    const isSending = event.ctrlKey || event.metaKey || !(event.shiftKey || isTouched());
    if (wanted) mark(wanted);
    else if (event.key === "Enter" && isSending) submit();
    else if (event.key === "Escape" && (replyTo !== undefined || edit)) writing.cancel();
    else if (event.key === "ArrowUp" && !event.altKey && text === "") editLast({ store, view, composing });
    else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const { clipboardData } = event;
    if (!clipboardData) return;
    const pasted = clipboardData.getData("text/plain");
    const { value, selectionStart, selectionEnd } = event.currentTarget as HTMLTextAreaElement;
    const given = pastedFilesOf(clipboardData) ?? (isTooLong(pasted) ? { files: [fileOf(pasted)] } : undefined);
    const link = given ? undefined : linkTo(pasted, value.slice(selectionStart, selectionEnd));
    if (given) composing.attach(given);
    else if (link !== undefined) replace(selectionStart, selectionEnd, link);
    else return;
    event.preventDefault();
  };
  const noteCaret = (): void => setCaret(field.current!.selectionStart);

  if (blocked !== "") return <Blocked store={store} view={view} />;
  return (
    <form class="composer" onSubmit={submitting(submit)}>
      {(edit ?? replyTo) !== undefined && <ReplyBar {...{ store, view, composing }} />}
      {files.length + uploads.length + composing.fitting.length > 0 && <UploadList {...{ store, view, composing }} />}
      <Suggestions completion={completion} id={listId} />
      <div class="composer-row">
        <textarea
          ref={field}
          class="draft"
          data-testid={isInThread ? "thread-composer" : "composer"}
          aria-label={label}
          placeholder={label}
          enterkeyhint={isTouched() ? "enter" : "send"}
          rows={Math.min(ROWS_MAX, text.split("\n").length)}
          // What stands in an empty field is in the page's language.
          dir={text === "" ? undefined : "auto"}
          value={text}
          readOnly={edit?.isSaving}
          aria-invalid={left < 0}
          aria-describedby={noteId}
          aria-autocomplete="list"
          aria-controls={isSuggesting ? listId : undefined}
          aria-activedescendant={isSuggesting ? `${listId}-${chosen}` : undefined}
          onInput={({ currentTarget, inputType }) => {
            write(currentTarget.value);
            setCaret(currentTarget.selectionStart);
            if (/^insert.*Text$/.test(inputType)) void replaceCode(currentTarget, store.liked);
          }}
          onKeyDown={onKeyDown}
          onKeyUp={noteCaret}
          onClick={noteCaret}
          onPaste={onPaste}
        />
        {me.canAttach && <AttachButton isOff={edit !== undefined} onFiles={(files) => composing.attach({ files })} />}
        <IconButton
          icon="smile"
          label={t("Emoji")}
          testId="emoji"
          onClick={({ currentTarget }) => store.set({ picking: { anchor: currentTarget } })}
        />
        <IconButton
          type="submit"
          icon="send"
          label={edit ? t("Save") : t("Send")}
          class="send"
          testId="send"
          disabled={!isReady}
        />
      </div>
      <p id={noteId} class={`composer-note ${speaks} ${left < 0 ? "over" : ""}`}>
        <span class="typing" data-testid="typing">
          {typed}
        </span>
        <span data-testid="hold">
          <span role="status">{reason}</span>
          {time}
        </span>
        <span role="status">{filed}</span>
        <span>{remaining(left)}</span>
      </p>
    </form>
  );
}

/** Stands in place of the field: the reason why nothing can be written, and a button to rejoin where that helps. */
function Blocked({ store, view }: ChatProps) {
  const { connection, blocked } = view;
  return (
    <div class="composer blocked">
      <p data-testid="blocked" role="status">
        {blocked}
      </p>
      {connection.kind === "stopped" && statusOf(connection, 0).action === "rejoin" && (
        <Button class="primary" testId="rejoin" onClick={() => store.comeBack()}>
          {t("Rejoin")}
        </Button>
      )}
    </div>
  );
}

interface AttachButtonProps {
  readonly isOff: boolean;
  readonly onFiles: (files: FileList) => void;
}

/** After the field in the order of Tab, so that Shift+Tab leads from the field to the messages; on the screen it comes first. */
function AttachButton({ isOff, onFiles }: AttachButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton
        icon="attach"
        label={t("Attach files")}
        class="attach"
        testId="attach"
        disabled={isOff}
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="file-input"
        onChange={({ currentTarget }) => {
          onFiles(currentTarget.files!);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Files beyond those that one message carries follow in further ones. */
function post(composing: Composing, content: string, files: readonly Attachment[], replyTo: string | undefined): void {
  const reply = replyTo === undefined ? {} : { replyTo };
  composing.post(content, { ...reply, attachments: files.slice(0, MESSAGE_FILES_MAX) });
  if (files.length > MESSAGE_FILES_MAX) post(composing, "", files.slice(MESSAGE_FILES_MAX), undefined);
}

function editLast({ store, view, composing: { thread } }: WritingProps): void {
  const messages = thread === undefined ? view.state.messages.stored : view.store.threads.of(thread).replies;
  const last = messages.findLast(({ sender, deleted }) => sender === view.self && !deleted);
  if (last && view.store.abilitiesOf(last).edit) store.edit(last);
}

function remaining(left: number): string {
  if (left > WARN_LEFT) return "";
  return left < 0
    ? tn(-left, "{n} character too many", "{n} characters too many")
    : tn(left, "{n} character left", "{n} characters left");
}
