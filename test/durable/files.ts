// Test files: images of each kind by their first bytes, and the calls to upload and read them.
import { exports } from "cloudflare:workers";

import type { Attachment } from "../../src/protocol/chat-events.ts";
import { ORIGIN, type UpgradeOptions } from "./raw-client.ts";
import { tokenFor } from "./rooms.ts";

/** The head of a PNG of so many pixels; `bytes` long. */
export function png(width: number, height: number, bytes = 64): Uint8Array<ArrayBuffer> {
  const image = new Uint8Array(bytes);
  image.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  const view = new DataView(image.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  for (let at = 24; at < bytes; at++) image[at] = at % 251;
  return image;
}

export const text = (content: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(content));

export interface Bearer {
  readonly user?: string;
  readonly role?: string;
  readonly rooms?: readonly string[];
}

interface FileOptions {
  /** The token's claims; `null` for no token at all. */
  readonly as?: Bearer | null;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly fetcher?: UpgradeOptions["fetcher"];
  readonly method?: string;
}

async function request(path: string, body: BodyInit | undefined, options: FileOptions): Promise<Response> {
  const { as = {}, headers = {}, fetcher = exports.default, method = "GET" } = options;
  const { user = "ada", ...claims } = as ?? {};
  const all = new Headers();
  if (as) all.set("Authorization", `Bearer ${await tokenFor(user, claims)}`);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
  return fetcher.fetch(
    new Request(new URL(path, ORIGIN), { method, headers: all, ...(body !== undefined && { body }) }),
  );
}

export interface UploadOptions extends FileOptions {
  readonly name?: string;
  readonly type?: string;
  /** The user on whose behalf a service uploads. */
  readonly for?: string;
}

/** Uploads as a browser does. */
export function requestUpload(
  room: string,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  { name, type = "image/png", for: as, headers, ...options }: UploadOptions = {},
): Promise<Response> {
  const query = new URLSearchParams({ ...(name !== undefined && { name }), ...(as !== undefined && { as }) });
  const length = body instanceof Uint8Array ? { "Content-Length": String(body.byteLength) } : {};
  return request(`/api/rooms/${room}/files?${query.toString()}`, body, {
    method: "POST",
    headers: { "Content-Type": type, ...length, ...headers },
    ...options,
  });
}

export interface Uploaded {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    ok?: true;
    attachment: Attachment;
    error?: { code: string; message: string; retryAfterMs?: number };
  };
}

export async function upload(...args: Parameters<typeof requestUpload>): Promise<Uploaded> {
  const response = await requestUpload(...args);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The attachment of an upload, ready to be posted. */
export async function uploaded(...args: Parameters<typeof requestUpload>): Promise<Attachment> {
  const { status, body } = await upload(...args);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.attachment;
}

export const read = (key: string, options: FileOptions = {}): Promise<Response> =>
  request(`/files/${key}`, undefined, options);
