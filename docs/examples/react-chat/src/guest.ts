// Fetches a token for a guest of that name. Your own server gives your users theirs instead.
export async function guestToken(name: string): Promise<string> {
  const response = await fetch("/api/guest", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(`No guest token: status ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}
