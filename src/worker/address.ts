// Where a request comes from, as the platform says: a client cannot set this header, because the platform replaces it.

export function addressOf(request: Request): string {
  return request.headers.get("CF-Connecting-IP") ?? "unknown";
}
