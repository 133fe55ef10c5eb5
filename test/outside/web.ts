// The public web of the test servers, for link cards: two sites, of which one is hostile. All other addresses have no server. Handed to
// servers by servers.ts.
import { Response, type Request } from "miniflare";

import { PAGE_PAYLOADS } from "../attacks/page-payloads.ts";
import { png } from "./pictures.ts";

const asAttribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

const pageOf = (tags: Readonly<Record<string, string>>): Response =>
  new Response(
    Object.entries(tags)
      .map(([name, text]) => `<meta property="og:${name}" content="${asAttribute(text)}">`)
      .join("\n"),
    { headers: { "content-type": "text/html; charset=utf-8" } },
  );

export function answerOfWeb({ url }: Request): Response {
  const { hostname, pathname } = new URL(url);
  if (hostname === "example.com" && pathname.endsWith(".png"))
    return new Response(png(64, 48), { headers: { "content-type": "image/png" } });
  if (hostname === "example.com")
    return pageOf({
      title: "Where the keys are",
      description: "Each room has a drawer, each drawer a key, and each key a room.",
      site_name: "Example",
      image: "/keys.png",
    });
  if (hostname === "evil.example" && pathname === "/moved")
    return new Response(null, { status: 302, headers: { location: "https://example.com/keys" } });
  if (hostname === "evil.example")
    return pageOf({
      title: PAGE_PAYLOADS[0]!,
      description: PAGE_PAYLOADS.join(" "),
      site_name: PAGE_PAYLOADS[5]!,
      image: "http://127.0.0.1/x.png",
    });
  return new Response(null, { status: 404 });
}
