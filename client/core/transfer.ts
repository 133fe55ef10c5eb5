// Sends one request that uploads or downloads a file. Browsers report the progress of an upload by XMLHttpRequest only; all other
// requests use fetch. files.ts calls it.
import type { UploadProgress } from "./api.ts";

export interface Transfer {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly token: string | undefined;
  readonly body?: Blob;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

export interface Transferred {
  readonly status: number;
  readonly body: Blob;
}

/** Rejects where no answer came, or with the signal's reason. */
export async function transfer(request: Transfer): Promise<Transferred> {
  request.signal.throwIfAborted();
  const { body, onProgress } = request;
  if (body && onProgress && typeof XMLHttpRequest === "function") return transferWatched(request, body, onProgress);
  const { method, url, token, signal } = request;
  const response = await fetch(url, { method, headers: headersOf(token, body), signal, ...(body && { body }) });
  const answer = await response.blob();
  if (body && response.ok) onProgress?.({ loaded: body.size, total: body.size });
  return { status: response.status, body: answer };
}

function headersOf(token: string | undefined, body: Blob | undefined): Record<string, string> {
  return {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body && { "Content-Type": body.type || "application/octet-stream" }),
  };
}

function transferWatched(
  { method, url, token, signal }: Transfer,
  body: Blob,
  onProgress: (progress: UploadProgress) => void,
): Promise<Transferred> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries(headersOf(token, body))) request.setRequestHeader(name, value);
    request.responseType = "blob";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress({ loaded, total }));
    request.addEventListener("load", () => resolve({ status: request.status, body: request.response as Blob }));
    request.addEventListener("error", () => reject(new TypeError("the network failed")));
    request.addEventListener("abort", () => reject(signal.reason as Error));
    request.addEventListener("loadend", () => signal.removeEventListener("abort", abort));
    signal.addEventListener("abort", abort);
    request.send(body);
  });
}
