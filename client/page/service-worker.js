// Lets the chat page open without a network: keeps its document, its scripts and its styles in this browser, and nothing of the rooms. The
// page's entry registers it; the operator page, the embed and the API never pass through it. The document comes from the server whenever the
// server answers, so that no browser stays with an old page.
// The build puts here: files by their addresses, the document first; those of parts on demand, which the document does not name; and a digest.
/* global PAGE_FILES, PAGE_PARTS, PAGE_VERSION */

/** So long a document may take, if an older one is here. */
const PATIENCE_MS = 4000;

const { scope } = self.registration;
/** Chats at other paths of the same server have caches of their own. */
const PREFIX = `parley ${scope} `;
const NAME = PREFIX + PAGE_VERSION;
const FILES = new Set(PAGE_FILES.map((file) => new URL(file, scope).href));
/** Always from here: they may be wanted long after the page was opened, and by then the browser may have ended the worker, and what it knew. */
const PARTS = new Set(PAGE_PARTS.map((file) => new URL(file, scope).href));

/** Pages whose document the server did not give: what it names is here, too. Other pages load that as if there were no worker. */
const openedHere = new Set();

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(forget((name) => name !== NAME)));
self.addEventListener("fetch", (event) => {
  const { request, clientId, resultingClientId } = event;
  if (request.method !== "GET") return;
  if (request.mode !== "navigate") {
    const isCutOff = openedHere.has(clientId) || !navigator.onLine;
    if (PARTS.has(request.url) || (isCutOff && FILES.has(request.url))) event.respondWith(fileOf(request));
  } else if (new URL(request.url).pathname === new URL(scope).pathname) {
    event.respondWith(pageOf(request, resultingClientId));
    event.waitUntil(leaveIfGone());
  }
});

async function install() {
  const cache = await caches.open(NAME);
  // A file with a hash in its name may come from the browser's own cache.
  const [, ...files] = PAGE_FILES;
  await cache.addAll(files);
  const page = await fetch(scope, { cache: "no-cache" });
  const text = await page.clone().text();
  const named = text.match(/assets\/[\w.-]+/g) ?? [];
  // A page of its own, a sign-in page, or that of another release.
  if (!page.ok || page.redirected || named.length === 0 || !named.every((file) => files.includes(file))) {
    await caches.delete(NAME);
    throw new Error("The document at this address is not that of the chat.");
  }
  await cache.put(scope, page);
  await self.skipWaiting();
}

const kept = (address) => caches.match(address, { cacheName: NAME, ignoreVary: true });

const fileOf = async (request) => (await kept(request.url)) ?? fetch(request);

async function pageOf(request, client) {
  const fresh = fetch(request);
  const late = new Promise((_resolve, reject) => setTimeout(reject, PATIENCE_MS));
  try {
    return await Promise.race([fresh, late]);
  } catch {
    const page = await kept(scope);
    if (page) openedHere.add(client);
    return page ?? fresh;
  }
}

/** A deployment that has no such page any more has no such file either. */
async function leaveIfGone() {
  const answer = await fetch(self.location.href, { cache: "no-cache" }).catch(() => undefined);
  const isGone = answer && [404, 410].includes(answer.status);
  const isOther = answer?.ok && !/javascript/.test(answer.headers.get("content-type") ?? "");
  if (!isGone && !isOther) return;
  await forget(() => true);
  await self.registration.unregister();
}

async function forget(isOld) {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && isOld(name));
  await Promise.all(names.map((name) => caches.delete(name)));
}
