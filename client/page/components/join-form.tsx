// The first view of a visitor: a button that leads to the sign-in page, or a form with one field: a name, or a token if the server admits no
// guests. Whom this browser knows goes on with a click. The room is that of the address, or of the last visit; another one is behind a link.
// The app draws it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { DEFAULT_ROOM } from "parley-rooms/client";

import type { ChatStore } from "../state/chat-store.ts";
import { t } from "../state/language.ts";
import { named } from "../state/names.ts";
import { isDirect, ROOM_NAME_RULE, roomNameOf } from "../state/room-items.ts";
import { Button, Field, submitting, VERBATIM } from "./controls.tsx";

/** What is typed in a line; the server takes no more characters. */
const LINE = { maxLength: 64, required: true } as const;

interface JoinFormProps {
  readonly store: ChatStore;
  /** The room that the address names. */
  readonly room: string | undefined;
}

export function JoinForm({ store, room }: JoinFormProps) {
  const { remembered } = store;
  const [name, setName] = useState(remembered.name);
  const given = room ?? remembered.room ?? DEFAULT_ROOM;
  const [wanted, setWanted] = useState(given);
  const [token, setToken] = useState("");
  const [isTried, setTried] = useState(false);
  const [isTokenChosen, chooseToken] = useState(false);
  const [isOther, chooseOther] = useState(false);
  const [isRoomAsked, askRoom] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { entrance, isTokenNeeded, isJoining } = store;
  const isTokenAsked = store.isTokenAsked || isTokenNeeded || isTokenChosen;
  const isSignInAlone = entrance?.signIn !== undefined && isTokenNeeded && !isTokenChosen;
  const user = isTokenAsked ? undefined : entrance?.user;
  const isKnown = !isTokenAsked && (user !== undefined || (remembered.isKnown && !isOther));
  // In the layout effect, before the visitor types a letter.
  useLayoutEffect(() => {
    if (room !== undefined) setWanted(room);
  }, [room]);
  const isShown = entrance !== undefined;
  // Its name says nothing to a person: the field stays empty until the visitor writes another one.
  const isConversation = wanted === given && isDirect(given);
  const goal = roomNameOf(wanted);
  useEffect(() => void store.askEntrance(), []);
  // In the layout effect, before the visitor types the first letter.
  useLayoutEffect(() => {
    // The visitor had no time to fill in a field that has just appeared.
    setTried(false);
    const fields = isRoomAsked
      ? ["#room"]
      : isTokenAsked
        ? ["#token"]
        : isOther || remembered.name === ""
          ? ["#name"]
          : [];
    const [first] = [...fields, "button"].flatMap((field) => form.current?.querySelector<HTMLElement>(field) ?? []);
    first?.focus();
  }, [isShown, isTokenAsked, isOther, isRoomAsked]);
  const problems = {
    name: !isKnown && name.trim() === "" ? t("Enter a name.") : "",
    room: goal === undefined ? t(ROOM_NAME_RULE) : "",
    token: isTokenNeeded && token.trim() === "" ? t("Paste a token.") : "",
  };
  const submit = (): void => {
    setTried(true);
    const wrong = Object.entries(problems).find(([, problem]) => problem !== "");
    if (wrong) form.current?.querySelector<HTMLElement>(`#${wrong[0]}`)?.focus();
    else if (!isJoining)
      void store.join({ name: user?.name ?? name.trim(), room: goal!, typed: wanted, token: token.trim() });
  };
  const field = (id: keyof typeof problems, value: string, onText: (text: string) => void) => ({
    id,
    value,
    onText,
    problem: isTried ? problems[id] : "",
  });
  // The server's answer decides which fields the form has: the form waits for it, so that no field goes while the visitor types.
  if (!entrance) return <main class="join" />;
  const place = goal === undefined || isConversation ? "" : `#${goal}`;
  return (
    <main class="join">
      <form
        ref={form}
        class="card"
        data-testid="join-form"
        noValidate
        aria-labelledby="join-title"
        onSubmit={submitting(submit)}
      >
        <h1 id="join-title">
          <img src="favicon.svg" alt="" width="40" height="40" /> Parley
        </h1>
        {isSignInAlone ? (
          <p class="muted">{signInText(room)}</p>
        ) : (
          isKnown && (
            <p class="muted">
              {user ? t("You are signed in as {name}.", { name: named(user.name) }) : t("Welcome back.")}{" "}
              {isConversation
                ? t("Go on in the conversation.")
                : place !== "" && t("Go on in {room}.", { room: place })}
            </p>
          )
        )}
        {!isKnown && !isSignInAlone && (
          <Field {...field("name", name, setName)} {...LINE} label={t("Your name")} autocomplete="nickname" />
        )}
        {isRoomAsked && !isSignInAlone && (
          <Field
            {...field("room", isConversation ? "" : wanted, setWanted)}
            {...LINE}
            label={t("Room")}
            placeholder={isConversation ? t("A conversation") : ""}
            {...VERBATIM}
          />
        )}
        {isTokenAsked && !isSignInAlone && (
          <Field
            {...field("token", token, setToken)}
            label={t("Token")}
            rows={3}
            placeholder={
              isTokenNeeded ? t("This server admits no guests. Paste the token that its operator gave you.") : ""
            }
            {...VERBATIM}
          />
        )}
        <p class="problem" role="alert" data-testid="join-problem">
          {store.problem}
        </p>
        {!isSignInAlone && (
          <button type="submit" class="primary" data-testid="join" aria-disabled={isJoining}>
            {isJoining
              ? t("Entering…")
              : isKnown
                ? t("Continue as {name}", { name: named(user?.name ?? name) })
                : isConversation
                  ? t("Enter the conversation")
                  : place === ""
                    ? t("Enter")
                    : t("Enter {room}", { room: place })}
          </button>
        )}
        {entrance.signIn !== undefined && (
          <Button
            class={isSignInAlone ? "primary" : "plain edged"}
            testId="sign-in"
            onClick={() => store.signIn(goal ?? DEFAULT_ROOM)}
          >
            {t("Sign in")}
          </Button>
        )}
        <p class="otherwise">
          {isSignInAlone && (
            <Button testId="use-token" onClick={() => chooseToken(true)}>
              {t("Use a token")}
            </Button>
          )}
          {!isSignInAlone && !isRoomAsked && (
            <Button testId="other-room" onClick={() => askRoom(true)}>
              {t("Another room")}
            </Button>
          )}
          {isKnown && !user && (
            <Button
              testId="other-name"
              onClick={() => {
                setName("");
                chooseOther(true);
              }}
            >
              {t("Another name")}
            </Button>
          )}
        </p>
      </form>
    </main>
  );
}

function signInText(room: string | undefined): string {
  if (room === undefined) return t("Sign in to talk.");
  return isDirect(room) ? t("Sign in to go on with a conversation.") : t("Sign in to talk in #{room}.", { room });
}
