// The first view of a visitor: a button that leads to the sign-in page, or a form with name, room and, if guests are not admitted, a
// token. The app draws it.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { DEFAULT_ROOM, isRoomName } from "parley-rooms/client";

import type { ChatStore } from "../state/chat-store.ts";
import { named } from "../state/names.ts";
import { Button, submitting, VERBATIM } from "./controls.tsx";

interface JoinFormProps {
  readonly store: ChatStore;
  /** The room that the address names. */
  readonly room: string | undefined;
}

export function JoinForm({ store, room }: JoinFormProps) {
  const { remembered } = store;
  const [name, setName] = useState(remembered.name);
  const [wanted, setWanted] = useState(room ?? remembered.room ?? DEFAULT_ROOM);
  const [token, setToken] = useState("");
  const [isTried, setTried] = useState(false);
  const [isTokenChosen, chooseToken] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { entrance, isTokenNeeded, isJoining } = store;
  const isTokenAsked = store.isTokenAsked || isTokenNeeded || isTokenChosen;
  const isSignInAlone = entrance?.signIn !== undefined && isTokenNeeded && !isTokenChosen;
  const user = isTokenAsked ? undefined : entrance?.user;
  // In the layout effect, before the visitor types a letter.
  useLayoutEffect(() => {
    if (room !== undefined) setWanted(room);
  }, [room]);
  const isShown = entrance !== undefined;
  useEffect(() => void store.askEntrance(), []);
  useEffect(() => {
    // A field that has just come was not left empty by the visitor.
    setTried(false);
    const fields = isTokenAsked ? ["#token", "button"] : [remembered.name === "" ? "#name" : "button", "button"];
    const [first] = fields.flatMap((field) => form.current?.querySelector<HTMLElement>(field) ?? []);
    first?.focus();
  }, [isShown, isTokenAsked]);
  const problems = {
    name: !user && name.trim() === "" ? "Enter a name." : "",
    room: isRoomName(wanted.trim())
      ? ""
      : "Only letters, digits and _ . ~ - are allowed, and the first is a letter or digit.",
    token: isTokenNeeded && token.trim() === "" ? "Paste a token." : "",
  };
  const submit = (): void => {
    setTried(true);
    const wrong = Object.entries(problems).find(([, problem]) => problem !== "");
    if (wrong) form.current?.querySelector<HTMLElement>(`#${wrong[0]}`)?.focus();
    else if (!isJoining) void store.join({ name: user?.name ?? name.trim(), room: wanted.trim(), token: token.trim() });
  };
  const problemOf = (field: keyof typeof problems): string => (isTried ? problems[field] : "");
  // A form that changes under the visitor's hands would be worse than one that comes an instant later.
  if (!entrance) return <main class="join" />;
  const goal = isRoomName(wanted.trim()) ? wanted.trim() : DEFAULT_ROOM;
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
          <p class="muted">{room === undefined ? "Sign in to talk." : `Sign in to talk in #${room}.`}</p>
        ) : (
          <>
            <p class="muted">
              {user
                ? `You are signed in as ${named(user.name)}. Choose a room.`
                : "Choose a name and a room to talk in."}
            </p>
            {!user && (
              <Field id="name" label="Your name" problem={problemOf("name")}>
                <input
                  id="name"
                  data-testid="name"
                  maxLength={64}
                  autocomplete="nickname"
                  required
                  value={name}
                  aria-invalid={problemOf("name") !== ""}
                  aria-describedby="name-problem"
                  onInput={({ currentTarget }) => setName(currentTarget.value)}
                />
              </Field>
            )}
            <Field id="room" label="Room" problem={problemOf("room")}>
              <input
                id="room"
                data-testid="room"
                maxLength={64}
                {...VERBATIM}
                required
                value={wanted}
                aria-invalid={problemOf("room") !== ""}
                aria-describedby="room-rule room-problem"
                onInput={({ currentTarget }) => setWanted(currentTarget.value)}
              />
            </Field>
            <p id="room-rule" class="hint">
              Letters, digits and _ . ~ -, at most 64; the first a letter or digit.
            </p>
          </>
        )}
        {isTokenAsked && !isSignInAlone && (
          <Field id="token" label="Token" problem={problemOf("token")}>
            <textarea
              id="token"
              data-testid="token"
              rows={3}
              {...VERBATIM}
              placeholder={isTokenNeeded ? "This server admits no guests. Paste the token that you were given." : ""}
              value={token}
              aria-invalid={problemOf("token") !== ""}
              aria-describedby="token-problem"
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
            />
          </Field>
        )}
        <p class="problem" role="alert" data-testid="join-problem">
          {store.problem}
        </p>
        {!isSignInAlone && (
          <button type="submit" class="primary" data-testid="join" aria-disabled={isJoining}>
            {isJoining ? "Joining…" : "Join"}
          </button>
        )}
        {entrance.signIn !== undefined && (
          <Button class={isSignInAlone ? "primary" : "plain"} testId="sign-in" onClick={() => store.signIn(goal)}>
            Sign in
          </Button>
        )}
        {isSignInAlone && (
          <Button class="link use-token" testId="use-token" onClick={() => chooseToken(true)}>
            Use a token
          </Button>
        )}
      </form>
    </main>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly problem: string;
  readonly children: ComponentChildren;
}

function Field({ id, label, problem, children }: FieldProps) {
  return (
    <>
      <label for={id}>{label}</label>
      {children}
      <p id={`${id}-problem`} class="problem" hidden={problem === ""}>
        {problem}
      </p>
    </>
  );
}
