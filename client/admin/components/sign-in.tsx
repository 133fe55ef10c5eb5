// Asks the operator for a token, which stays in the storage of the tab. The app draws it.
import { useEffect, useRef, useState } from "preact/hooks";

import { submitting, VERBATIM } from "../../page/components/controls.tsx";
import type { AdminStore } from "../state/admin-store.ts";

export function SignIn({ store }: { readonly store: AdminStore }) {
  const [token, setToken] = useState("");
  const [isTried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { signInProblem, isBusy } = store;
  const isMissing = isTried && token.trim() === "";
  useEffect(() => field.current?.focus(), [signInProblem]);
  const submit = (): void => {
    setTried(true);
    if (token.trim() === "") field.current?.focus();
    else void store.signIn(token.trim());
  };
  return (
    <main class="join">
      <form class="card" data-testid="sign-in" noValidate aria-labelledby="sign-in-title" onSubmit={submitting(submit)}>
        <h1 id="sign-in-title">
          <img src="favicon.svg" alt="" width="40" height="40" /> Operator
        </h1>
        <p class="muted">Rooms, what they cost, and who is in them.</p>
        <label for="token">Token</label>
        <textarea
          ref={field}
          id="token"
          data-testid="token"
          rows={4}
          {...VERBATIM}
          value={token}
          aria-invalid={isMissing || signInProblem !== undefined}
          aria-describedby="token-hint token-problem"
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey) submitting(submit)(event);
          }}
        />
        <p id="token-hint" class="hint">
          Of role <code>service</code> or <code>moderator</code>. This tab keeps it until you close the tab.
        </p>
        <p id="token-problem" class="problem" role="alert" data-testid="sign-in-problem">
          {isMissing ? "Paste a token." : signInProblem && `${signInProblem.code}: ${signInProblem.message}`}
        </p>
        <button type="submit" class="primary" data-testid="sign-in-submit" aria-disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
