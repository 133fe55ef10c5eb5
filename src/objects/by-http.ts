// A rule for posts and edits that a server of yours decides, by signed HTTP: the value of `beforePost` in a subclass of `ChatRoom`. Used by
// applications.
import type { BeforePost, PostVerdict } from "../chat/room/post-decision.ts";
import { readText } from "../http/body.ts";
import { signedPost, type SignedServer } from "../http/signed-post.ts";

/** Bytes of an answer. */
const ANSWER_BYTES_MAX = 65_536;

/** Milliseconds for an answer, unless the rule says otherwise. */
const ANSWER_MS_MAX = 5000;

/** As for webhooks: a shorter one could be guessed. */
const SECRET_LENGTH_MIN = 16;

export interface HttpRule extends SignedServer {
  /** Milliseconds that the server has for its answer: 5000 where absent. The room's own limit is `beforePostTimeoutMs`. */
  readonly timeoutMs?: number;
}

/**
 * Posts `{message, context}` and takes the answer as the decision: 2xx with JSON, or without a body to accept. Any other answer, or none, is a
 * failure of the rule.
 */
export function byHttp({ timeoutMs = ANSWER_MS_MAX, ...server }: HttpRule): BeforePost {
  return async (message, context) => {
    checkServer(server);
    const untilMs = Date.now() + timeoutMs;
    const response = await signedPost(server, { message, context }, { msMax: timeoutMs, userAgent: "Parley" });
    const text = await readText(response, ANSWER_BYTES_MAX, Math.max(1, untilMs - Date.now()));
    if (!response.ok) throw new Error(`the server of beforePost answered ${response.status}`);
    if (text === undefined) throw new Error("the server of beforePost answered too much, or too slowly");
    return text === "" ? undefined : decisionIn(text);
  };
}

/** With each request, because a room without settings for its rule must still open for its readers. */
function checkServer({ url, secret }: SignedServer): void {
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error("byHttp: url is no http or https address");
  if (typeof secret !== "string" || secret.length < SECRET_LENGTH_MIN)
    throw new Error(`byHttp: secret needs ${SECRET_LENGTH_MIN} characters`);
}

function decisionIn(text: string): PostVerdict {
  try {
    return JSON.parse(text) as PostVerdict;
  } catch {
    // The parser's own message quotes the text.
    throw new Error("the server of beforePost answered no JSON");
  }
}
