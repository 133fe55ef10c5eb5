// Shows how much is new on the page's icon: a number in a red dot, on the tab and, where the page is installed, on the app. page.tsx calls it.
import { countText } from "./state/news.ts";

const link = document.querySelector<HTMLLinkElement>("link[rel=icon]")!;
const plain = link.href;
let drawing: Promise<string> | undefined;
let shown = "";
/** The number on the app, once this page has set it. */
let badge: number | undefined;

export async function showOnIcon(count: number): Promise<void> {
  if (count === badge) return;
  badge = count;
  const text = count === 0 ? "" : countText(count, 9);
  // Where nothing is installed, browsers refuse it or do nothing.
  void (count === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(count))?.catch(() => {});
  if (text === shown) return;
  shown = text;
  drawing ??= fetch(plain).then((response) => response.text());
  const drawn = text === "" ? "" : marked(await drawing.catch(() => (drawing = undefined)), text);
  if (text !== shown) return;
  if (link.href !== plain) URL.revokeObjectURL(link.href);
  link.href = drawn === "" ? plain : URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
}

function marked(drawing: string | undefined, text: string): string {
  const size = text.length > 1 ? 13 : 17;
  const mark =
    '<circle cx="22" cy="10" r="10" fill="#d63c2f"/>' +
    `<text x="22" y="${10 + size * 0.36}" text-anchor="middle" fill="#fff" font-family="sans-serif" font-weight="700" font-size="${size}">${text}</text>`;
  return drawing?.replace("</svg>", `${mark}</svg>`) ?? "";
}
