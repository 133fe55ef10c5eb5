// Link cards: what a page that somebody links to says of itself, fetched by the Worker off the way of a post. Rules: SPEC.md.
import type { Feature } from "../../extension/extension.ts";
import type { BuiltIn } from "../built-in.ts";
import { LINK_CARD_CALLS } from "./http.ts";

/** With it Cloudflare treats requests of a Worker as any from outside; without it those to its own zone go past the zone's protection. */
const FLAG = "global_fetch_strictly_public";

const FEATURE: BuiltIn = {
  name: "link-cards",
  // CARD-7
  roomPart: (_room, _chat, { settings }) => (settings.linkCards ? { welcome: () => ({ linkCards: true }) } : undefined),
  http: LINK_CARD_CALLS,
  warnings: (settings, { PUBLIC_WEB }) => {
    const flags = (globalThis as { Cloudflare?: { compatibilityFlags?: Record<string, boolean> } }).Cloudflare;
    const isPublic = PUBLIC_WEB !== undefined || flags?.compatibilityFlags?.[FLAG] === true;
    return settings.linkCards && !isPublic
      ? [`LINK_CARDS: on may reach servers behind this zone: add "${FLAG}" to compatibility_flags`]
      : [];
  },
};

export const linkCards = (): Feature => FEATURE;
