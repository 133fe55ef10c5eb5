// Signs POSTs, so that the operator's server can check their sender and time (HOOK-7). Called by post.ts.

/** @returns the value of the header `Parley-Signature` */
export async function sign(secret: string, timestampSeconds: number, body: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, bytes.encode(`${timestampSeconds}.${body}`));
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `v1=${hex}`;
}
