// Link cards by the HTTP API: what is fetched of the web, and within which bounds.
import { afterEach, describe, expect, it, vi } from "vitest";

import { CACHED_BYTES_MAX, FETCHES, FETCHES_AT_A_TIME } from "../../src/features/link-cards/http.ts";
import {
  CHUNKS_MAX,
  PAGE_BYTES_MAX,
  PICTURE_BYTES_MAX,
  REDIRECTS_MAX,
  WEB_MS_MAX,
} from "../../src/features/link-cards/http-web.ts";
import { callApi, refusal, request, type Called } from "../durable/api-caller.ts";
import { png } from "../durable/files.ts";
import { ORIGIN, RawClient } from "../durable/raw-client.ts";
import { tokenFor, withSettings, workerWith } from "../durable/rooms.ts";

interface Asked {
  readonly url: string;
  readonly headers: Headers;
}

type Site = (url: string, init: RequestInit) => Response | Promise<Response>;

let sites = 0;

/** A web of one site, whose name no other test uses: answers are cached. */
function webOf(site: Site): { readonly origin: string; readonly asked: Asked[]; readonly PUBLIC_WEB: object } {
  const asked: Asked[] = [];
  const PUBLIC_WEB = {
    fetch: async (url: string, init: RequestInit) => {
      asked.push({ url, headers: new Headers(init.headers) });
      return site(url, init);
    },
  };
  return { origin: `https://site-${++sites}.example.org`, asked, PUBLIC_WEB };
}

const html = (body: BodyInit, type = "text/html; charset=utf-8"): Response =>
  new Response(body, { headers: { "Content-Type": type } });

const redirect = (to: string, status = 302): Response => new Response(null, { status, headers: { Location: to } });

interface Options {
  readonly as?: { readonly user?: string; readonly role?: string } | null;
  readonly settings?: Readonly<Record<string, unknown>>;
}

const on = (settings: Readonly<Record<string, unknown>>) => workerWith({ LINK_CARDS: "on", ...settings });
const pathOf = (url: string, kind = ""): string => `/api/link-card${kind}?url=${encodeURIComponent(url)}`;

function cardOf(url: string, { as = { user: "ada", role: "member" }, settings = {} }: Options): Promise<Called> {
  return callApi("GET", pathOf(url), { as, fetcher: on(settings) });
}

/** The card of a site that answers everything so. */
async function cardFrom(
  answer: Site,
  path = "/",
): Promise<{ readonly card: unknown; readonly asked: readonly Asked[] }> {
  const { origin, asked, PUBLIC_WEB } = webOf(answer);
  const { status, body } = await cardOf(origin + path, { settings: { PUBLIC_WEB } });
  expect(status).toBe(200);
  return { card: body.card, asked };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("CARD-1: a link card", () => {
  it("says what the page says of itself, and wakes no room", async () => {
    const page = `<!doctype html><html><head><title>Tea | News</title>
      <meta property="og:title" content="Tea &amp; more"><META NAME="Description" CONTENT="Leaves">
      <meta property="og:site_name" content="News"><meta property='og:image' content='/tea.png'></head><body>`;
    const { origin, asked, PUBLIC_WEB } = webOf(() => html(page));
    const CHAT_ROOM = { getByName: () => expect.unreachable("no room is asked") };
    const { status, body, headers } = await cardOf(`${origin}/tea#leaves`, { settings: { PUBLIC_WEB, CHAT_ROOM } });
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        card: {
          url: `${origin}/tea`,
          title: "Tea & more",
          description: "Leaves",
          site: "News",
          picture: `${origin}/tea.png`,
        },
      },
    ]);
    expect(headers.get("Cache-Control")).toBe("private, max-age=300");
    expect(asked.map(({ url }) => url)).toEqual([`${origin}/tea`]);
  });

  it("shows the web no cookie, token or address, and says who asks", async () => {
    const { origin, asked, PUBLIC_WEB } = webOf(() => html("<title>Tea</title>"));
    const headers = { Cookie: "session=1", "CF-Connecting-IP": "203.0.113.7", Referer: ORIGIN };
    await callApi("GET", pathOf(origin), { as: { user: "ada", role: "member" }, headers, fetcher: on({ PUBLIC_WEB }) });
    expect(Object.fromEntries(asked[0]!.headers)).toEqual({
      accept: "text/html,application/xhtml+xml",
      "user-agent": expect.stringMatching(/^Mozilla\/5\.0 \(compatible; Parley\/[\d.]+; link cards\)$/),
    });
  });

  it.each([
    ["a comment", "<!-- <title>No</title> --><title>Tea</title>"],
    ["a script", '<script>"<title>No</title>"</script><title>Tea</title>'],
    ["a second title, as of a drawing", "<title>Tea</title><svg><title>No</title></svg>"],
    ["a page without a head, and bad nesting", "<b><title>Tea</title><meta name=description>"],
    ["a page whose head does not end", "<head><title>Tea</title><meta property='og:title' content=''>"],
  ])("is not misled by %s", async (_what, page) => {
    expect((await cardFrom(() => html(page))).card).toMatchObject({ title: "Tea" });
  });

  it.each([
    ["of the header", [0xe4, 0xf6], "text/html; charset=ISO-8859-1", "", "äö"],
    ["of the page", [0x93, 0xfa, 0x96, 0x7b], "text/html", '<meta charset="shift_jis">', "日本"],
    ["UTF-8, if none is named", [0xc3, 0xa4], "text/html", "", "ä"],
    ["UTF-8, if there is no such charset", [0xc3, 0xa4], "text/html; charset=klingon", "", "ä"],
  ])("reads the page in the charset %s", async (_which, title, type, before, shown) => {
    const bytes = Uint8Array.from([
      ...new TextEncoder().encode(`${before}<title>`),
      ...title,
      ...new TextEncoder().encode("</title>"),
    ]);
    expect((await cardFrom(() => html(bytes, type))).card).toMatchObject({ title: shown });
  });

  it.each<readonly [string, Site]>([
    [
      "is not there",
      () => new Response("<title>404</title>", { status: 404, headers: { "Content-Type": "text/html" } }),
    ],
    ["is no page", () => html("<title>Tea</title>", "text/plain")],
    ["has no type", () => new Response(new TextEncoder().encode("<title>Tea</title>"))],
    ["has no title", () => html("<p>Tea")],
    ["has no server", () => Promise.reject(new Error("internal error; reference = 1"))],
    [
      "breaks off",
      () =>
        html(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode("<title>Te"));
              controller.error(new Error("gone"));
            },
          }),
        ),
    ],
  ])("is none where the address %s", async (_how, site) => {
    expect((await cardFrom(site)).card).toBe(undefined);
  });

  it("needs a token", async () => {
    expect(await cardOf("https://a.example.org/", { as: null })).toMatchObject({ status: 401 });
  });
});

describe("CARD-2: inner addresses", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:127.0.0.1]/",
    "http://a.example.org:8080/",
    ORIGIN,
    "nonsense",
  ])("%s is refused before anything is fetched, page or picture", async (url) => {
    const { asked, PUBLIC_WEB } = webOf(() => html("<title>Inner</title>"));
    for (const kind of ["", "/picture"]) {
      const { status, body } = await callApi("GET", pathOf(url, kind), { fetcher: on({ PUBLIC_WEB }) });
      expect(status).toBe(400);
      expect(body).toMatchObject({ error: { code: "INVALID_PAYLOAD", issues: [{ path: "url" }] } });
    }
    expect(asked).toEqual([]);
  });

  it.each(["http://0x7f.1/", "//169.254.169.254/latest/meta-data/", "file:///etc/passwd", ORIGIN, "https://["])(
    "a redirect to %s is not followed",
    async (to) => {
      for (const status of [301, 302, 303, 307, 308]) {
        const { card, asked } = await cardFrom(() => redirect(to, status), `/${status}`);
        expect([card, asked.length]).toEqual([undefined, 1]);
      }
    },
  );

  it("redirects to public addresses are followed, so many", async () => {
    const chain =
      (length: number): Site =>
      (url) => {
        const at = Number(new URL(url).searchParams.get("at"));
        return at === length ? html(`<title>${length}</title>`) : redirect(`?at=${at + 1}`);
      };
    const { card, asked } = await cardFrom(chain(REDIRECTS_MAX));
    expect(card).toMatchObject({ title: `${REDIRECTS_MAX}`, url: asked.at(-1)!.url });
    expect(await cardFrom(chain(REDIRECTS_MAX + 1))).toMatchObject({ card: undefined });
    expect(await cardFrom((url) => redirect(url))).toMatchObject({ card: undefined });
  });

  it("without the binding PUBLIC_WEB the Worker's own fetch asks, and follows no redirect by itself", async () => {
    const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => redirect("http://127.0.0.1/"));
    const url = `https://site-${++sites}.example.org/`;
    expect((await cardOf(url, {})).body).toEqual({ ok: true });
    expect(asked.mock.calls).toEqual([[url, expect.objectContaining({ redirect: "manual" })]]);
  });
});

describe("CARD-3: bounds", () => {
  const stream = (source: UnderlyingSource): ReadableStream => new ReadableStream(source, { highWaterMark: 0 });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it("so much of a page is read", async () => {
    const title = "<title>Tea</title>";
    const page = (before: number): string => `<!--${"x".repeat(before - 7)}-->${title}`;
    expect((await cardFrom(() => html(page(PAGE_BYTES_MAX - title.length)))).card).toMatchObject({ title: "Tea" });
    expect((await cardFrom(() => html(page(PAGE_BYTES_MAX)))).card).toBe(undefined);
  });

  it("nothing is read after the head of a page", async () => {
    const parts = ["<title>Tea</title></HE", "AD><body>"];
    const cancel = vi.fn();
    const endless = stream({
      pull: (controller: ReadableStreamDefaultController) => controller.enqueue(bytes(parts.shift()!)),
      cancel,
    });
    expect((await cardFrom(() => html(endless))).card).toMatchObject({ title: "Tea" });
    expect([parts, cancel.mock.calls.length]).toEqual([[], 1]);
  });

  it("nor is what came in the same part as the end of the head", async () => {
    const page =
      "<title>Tea</title></Head><body><meta property='og:title' content='No'><meta name=description content=No>";
    expect((await cardFrom(() => html(page))).card).toEqual({ url: expect.any(String), title: "Tea" });
  });

  it("so many parts of a body are read", async () => {
    const inParts = (parts: ReadonlyArray<Uint8Array>): ReadableStream => {
      let at = 0;
      return stream({
        pull: (controller: ReadableStreamDefaultController) =>
          at < parts.length ? controller.enqueue(parts[at++]) : controller.close(),
      });
    };
    const page = (crumbs: number) =>
      html(inParts([...Array.from({ length: crumbs }, () => bytes(" ")), bytes("<title>Tea</title>")]));
    expect((await cardFrom(() => page(CHUNKS_MAX - 1))).card).toMatchObject({ title: "Tea" });
    expect((await cardFrom(() => page(CHUNKS_MAX + 1))).card).toBe(undefined);
    const picture = png(1, 1, CHUNKS_MAX + 100);
    const crumbs = Array.from(picture, (byte) => Uint8Array.of(byte));
    expect((await pictureFrom(() => html(inParts(crumbs), "image/png"))).status).toBe(404);
  });

  it("a page takes so long, and then there is none", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const silent = stream({ pull: () => void vi.advanceTimersByTime(WEB_MS_MAX) });
      expect((await cardFrom(() => html(silent))).card).toBe(undefined);
    } finally {
      vi.useRealTimers();
    }
  });

  const pictureFrom = (answer: Site, path = "/"): Promise<Response> => {
    const { origin, PUBLIC_WEB } = webOf(answer);
    return request("GET", pathOf(origin + path, "/picture"), {
      as: { user: "ada", role: "member" },
      fetcher: on({ PUBLIC_WEB }),
    });
  };

  it("a picture comes with the type of its bytes, and headers that let no page run it", async () => {
    const { status, headers } = await pictureFrom(() => html(png(200, 100), "image/gif"));
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, max-age=86400",
    });
  });

  it.each<readonly [string, () => Response]>([
    ["an SVG that claims to be a PNG", () => html("<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png")],
    ["a page that claims to be a PNG", () => html("<script>alert(1)</script>", "image/png")],
    ["a PNG that claims to be a page", () => html(png(1, 1), "text/html")],
    ["a picture without a size", () => html(png(0, 0), "image/png")],
    ["a picture of too many pixels", () => html(png(4001, 3000), "image/png")],
    ["a picture of too many bytes", () => html(png(1, 1, PICTURE_BYTES_MAX + 1), "image/png")],
  ])("%s is no picture", async (_what, answer) => {
    const response = await pictureFrom(answer);
    expect([response.status, await response.json()]).toEqual([404, refusal("NOT_FOUND")]);
  });

  it("the largest picture is whole", async () => {
    const whole = png(4000, 3000, PICTURE_BYTES_MAX);
    const response = await pictureFrom(() => html(whole, "image/png"));
    const got = new Uint8Array(await response.arrayBuffer());
    expect(got.length === whole.length && got.every((byte, at) => byte === whole[at])).toBe(true);
  });
});

describe("CARD-5: what was fetched", () => {
  it("is cached, also that there is no card, and pictures", async () => {
    let answers = 0;
    const { origin, asked, PUBLIC_WEB } = webOf((url) => {
      answers++;
      if (url.endsWith(".png")) return html(png(1, answers), "image/png");
      return url.endsWith("/none") ? html("") : html(`<title>${answers}</title>`);
    });
    const settings = { PUBLIC_WEB };
    for (const user of ["ada", "ben"]) {
      const as = { user, role: "member" };
      expect((await cardOf(`${origin}/`, { as, settings })).body.card.title).toBe("1");
      expect((await cardOf(`${origin}/none`, { as, settings })).body).toEqual({ ok: true });
      const picture = await request("GET", pathOf(`${origin}/a.png`, "/picture"), { as, fetcher: on(settings) });
      expect(new Uint8Array(await picture.arrayBuffer())).toEqual(png(1, 3));
      expect(picture.headers.get("Content-Type")).toBe("image/png");
    }
    expect(asked).toHaveLength(3);
  });

  it("is deleted from the cache where it would hold too much, the oldest first", async () => {
    const picture = png(1, 1, PICTURE_BYTES_MAX);
    const { origin, asked, PUBLIC_WEB } = webOf(() => html(picture, "image/png"));
    const fetcher = on({ PUBLIC_WEB });
    const ask = async (at: number): Promise<void> => {
      const as = { user: "collector", role: "member" };
      const response = await request("GET", pathOf(`${origin}/${at}`, "/picture"), { as, fetcher });
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, PICTURE_BYTES_MAX]);
    };
    const count = CACHED_BYTES_MAX / PICTURE_BYTES_MAX;
    for (let at = 0; at < count; at++) await ask(at);
    expect(asked).toHaveLength(count);
    await ask(count - 1);
    expect(asked).toHaveLength(count);
    await ask(0);
    expect(asked).toHaveLength(count + 1);
  });

  it("is fetched once, however many ask at the same moment", async () => {
    const { origin, asked, PUBLIC_WEB } = webOf(() => html("<title>Tea</title>"));
    const people = Array.from({ length: 20 }, (_, at) => ({ user: `reader-${at}`, role: "member" }));
    const answers = await Promise.all(people.map((as) => cardOf(origin, { as, settings: { PUBLIC_WEB } })));
    expect(answers.map(({ body }) => body.card.title)).toEqual(people.map(() => "Tea"));
    expect(asked).toHaveLength(1);
  });
});

describe("CARD-6: a user", () => {
  it("has so many addresses fetched at a time", async () => {
    const waiting: Array<() => void> = [];
    const { origin, PUBLIC_WEB } = webOf(async () => {
      await new Promise<void>((go) => waiting.push(go));
      return html("<title>Tea</title>");
    });
    const [as, settings] = [{ user: "eager", role: "member" }, { PUBLIC_WEB }];
    const asking = Array.from({ length: FETCHES_AT_A_TIME }, (_, at) => cardOf(`${origin}/${at}`, { as, settings }));
    await vi.waitFor(() => expect(waiting).toHaveLength(FETCHES_AT_A_TIME));
    const one = await cardOf(`${origin}/more`, { as, settings });
    expect([one.status, one.body.error.code, one.headers.get("Retry-After")]).toEqual([429, "RATE_LIMITED", "1"]);
    // Others are not concerned, and what is fetched already is no further one.
    const other = cardOf(`${origin}/other`, { as: { user: "ben", role: "member" }, settings });
    await vi.waitFor(() => expect(waiting).toHaveLength(FETCHES_AT_A_TIME + 1));
    const same = cardOf(`${origin}/0`, { as, settings });
    for (const go of waiting) go();
    const statuses = (await Promise.all([...asking, other, same])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("has so many fetched in a while; what is cached costs nothing", async () => {
    const { origin, PUBLIC_WEB } = webOf(() => html("<title>Tea</title>"));
    const settings = { PUBLIC_WEB, API_RATE: "1000", API_BURST: "1000" };
    const fetcher = on(settings);
    const as = { user: "greedy", role: "member" };
    const ask = async (at: number): Promise<number> =>
      (await callApi("GET", pathOf(`${origin}/${at}`), { as, fetcher })).status;
    let at = 0;
    while ((await ask(at)) === 200 && at < 2 * FETCHES.burst) at++;
    expect(at).toBeGreaterThanOrEqual(FETCHES.burst);
    expect(at).toBeLessThan(2 * FETCHES.burst);
    expect(await ask(0)).toBe(200);
  });
});

describe("CARD-7: link cards", () => {
  const welcomeOf = async (room: string): Promise<unknown> => {
    const client = await RawClient.open({ room });
    await client.connect({ token: await tokenFor("ada") });
    const { linkCards } = (await client.receives("welcome"))[0] as { readonly linkCards?: true };
    client.close();
    return linkCards;
  };

  it("are in the welcome while they are on", async () => {
    expect(await withSettings({ LINK_CARDS: "on" }, () => welcomeOf("with-cards"))).toBe(true);
    expect(await withSettings({ LINK_CARDS: "off" }, () => welcomeOf("without-cards"))).toBe(undefined);
  });

  it("fetch nothing while they are off, and the answer says why", async () => {
    const { asked, PUBLIC_WEB } = webOf(() => html("<title>Tea</title>"));
    for (const kind of ["", "/picture"]) {
      const fetcher = workerWith({ PUBLIC_WEB, LINK_CARDS: "off" });
      const { status, body } = await callApi("GET", pathOf("https://a.example.org/", kind), { fetcher });
      expect([status, body]).toEqual([403, refusal("FORBIDDEN")]);
      expect(body.error.message).toContain("LINK_CARDS");
    }
    expect(asked).toEqual([]);
  });

  it("are in the log at the start where the Worker may reach what others do not", async () => {
    const warnings = async (settings: Readonly<Record<string, unknown>>, flags: readonly string[]): Promise<number> => {
      vi.stubGlobal("Cloudflare", { compatibilityFlags: Object.fromEntries(flags.map((flag) => [flag, true])) });
      const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
      await callApi("GET", "/api/rooms", { fetcher: workerWith(settings) });
      const lines = warn.mock.calls.flat().filter((line) => String(line).includes("global_fetch_strictly_public"));
      warn.mockRestore();
      return lines.length;
    };
    const { PUBLIC_WEB } = webOf(() => html(""));
    expect(await warnings({ LINK_CARDS: "on" }, [])).toBe(1);
    expect(await warnings({ LINK_CARDS: "on" }, ["global_fetch_strictly_public"])).toBe(0);
    expect(await warnings({ LINK_CARDS: "on", PUBLIC_WEB }, [])).toBe(0);
    expect(await warnings({ LINK_CARDS: "off" }, [])).toBe(0);
  });
});
