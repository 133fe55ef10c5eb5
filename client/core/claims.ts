// Reads user, name and role from a token without verifying it: for display, and as the key of stored data. The server
// verifies tokens.

export interface Claims {
  readonly user: string;
  readonly name?: string;
  readonly role: string;
}

export function claimsOf(token: string): Claims | undefined {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    const { sub, name, role } = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>;
    if (typeof sub !== "string") return undefined;
    return {
      user: sub,
      ...(typeof name === "string" && { name }),
      role: typeof role === "string" ? role : "member",
    };
  } catch {
    return undefined;
  }
}
