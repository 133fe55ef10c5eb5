// Sets the tour up: people with stock clients, HTTP calls, and the printing of each step with its answer.
import { signToken } from "../../src/settings/tokens/tokens.ts";
import type { ErrorAnswer, Role } from "../../src/protocol/chat-events.ts";
import { Person } from "./person.ts";

const TOKEN_SECONDS = 3600;
/** Characters of an answer that are shown. */
const SHOWN_CHARS_MAX = 320;

export interface StageOptions {
  readonly url: string;
  /** The key with which the server verifies tokens. */
  readonly jwtSecret: string;
  /** Each tour has rooms of its own, so that it can be walked again. */
  readonly room: string;
  readonly say: (line: string) => void;
}

export interface CallOptions {
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Called {
  readonly status: number;
  readonly headers: Headers;
  /** JSON where it is JSON, text otherwise. */
  readonly body: unknown;
}

export class Stage {
  readonly url: string;
  readonly room: string;
  readonly #jwtSecret: string;
  readonly #say: (line: string) => void;
  readonly #people: Person[] = [];

  constructor({ url, jwtSecret, room, say }: StageOptions) {
    [this.url, this.room, this.#jwtSecret, this.#say] = [url, room, jwtSecret, say];
  }

  chapter(title: string): void {
    this.#say(`\n# ${title}`);
  }

  /** Prints a step, runs it, and prints its result. */
  async step<Result>(what: string, run: () => Promise<Result> | Result): Promise<Result> {
    this.#say(`> ${what}`);
    const result = await run();
    if (result !== undefined) this.#say(`  ${shown(result)}`);
    return result;
  }

  token(user: string, { role = "member", seconds = TOKEN_SECONDS }: { role?: Role; seconds?: number } = {}) {
    return signToken(this.#jwtSecret, { user, name: user[0]!.toUpperCase() + user.slice(1), role }, seconds);
  }

  /** A person with a stock Socket.IO client, perhaps not connected yet. */
  async person(user: string, role: Role = "member", token?: string): Promise<Person> {
    const { url, room } = this;
    const person = new Person({ url, room, user, token: token ?? (await this.token(user, { role })) });
    this.#people.push(person);
    return person;
  }

  async enter(user: string, role: Role = "member"): Promise<Person> {
    const person = await this.person(user, role);
    await person.hears("welcome");
    return person;
  }

  async call(method: string, path: string, { token, body, headers = {} }: CallOptions): Promise<Called> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && !isBytes && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  close(): void {
    for (const person of this.#people) person.leave();
  }
}

/** The data of a successful answer. @throws Error with the server's message otherwise */
export function good<Answer extends object>(answer: Answer): Exclude<Answer, ErrorAnswer> {
  const { error } = answer as Partial<ErrorAnswer>;
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return answer as Exclude<Answer, ErrorAnswer>;
}

/** @throws Error unless the answer is a refusal with this code */
export function refused(code: string, answer: object): object {
  const { error } = answer as Partial<ErrorAnswer>;
  if (error?.code !== code) throw new Error(`expected ${code}, got ${JSON.stringify(answer)}`);
  return answer;
}

/** The body of an answer with this status. @throws Error where it is another one */
export function body(status: number, called: Called): unknown {
  if (called.status !== status) {
    throw new Error(`expected ${status}, got ${called.status} ${JSON.stringify(called.body)}`);
  }
  return called.body;
}

function shown(result: unknown): string {
  const text = typeof result === "string" ? result : JSON.stringify(result);
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)} …` : text;
}
