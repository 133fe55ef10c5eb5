// The chat page: leads from the join form into a visit of a room and back. index.html loads it.
import { isRoomName } from "../src/protocol/room-name.ts";
import { ChatView } from "./page/chat-view.ts";
import { fetchGuestToken, keepToken, keptToken, TokenNeeded } from "./page/identity.ts";
import { JoinForm, type Joining } from "./page/join-form.ts";
import { Visit } from "./page/visit.ts";

const form = new JoinForm((joining) => void join(joining));
const view = new ChatView({
  post: (content) => visit?.post(content),
  retry: (clientMsgId) => visit?.retry(clientMsgId),
  discard: (clientMsgId) => visit?.discard(clientMsgId),
  loadEarlier: () => void visit?.loadEarlier(),
  save: (attachment) => void visit?.save(attachment),
  followingChanged: (following) => {
    if (visit) visit.following = following;
  },
  dismissNotice: () => visit?.dismissNotice(),
  reconnect: () => visit?.reconnect(),
  leave: () => leave(),
});
let visit: Visit | undefined;
let frame = 0;

addEventListener("hashchange", () => {
  if (visit && roomOfHash() !== visit.room) leave();
  prefillRoom();
});
prefillRoom();
form.show();

async function join({ name, room, token }: Joining): Promise<void> {
  form.setBusy(true);
  try {
    if (token !== "") keepToken(name, token);
    await tokenOf(name);
    enter(name, room);
  } catch (error) {
    showFailure(error);
  } finally {
    form.setBusy(false);
  }
}

function showFailure(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof TokenNeeded) form.askForToken(reason);
  else form.show(reason);
}

function enter(name: string, room: string): void {
  const token = { current: () => tokenOf(name), renew: () => fetchGuestToken(name) };
  visit = new Visit(location.origin, room, token, {
    changed: draw,
    announce: (text) => view.announce(text),
    tokenNeeded: () => {
      leave();
      form.askForToken("The room did not accept your token. Paste another one.");
    },
  });
  history.replaceState(null, "", `#${room}`);
  form.hide();
  view.show(visit);
}

function leave(): void {
  visit?.leave();
  visit = undefined;
  view.hide();
  form.show();
}

async function tokenOf(name: string): Promise<string> {
  return keptToken(name) ?? (await fetchGuestToken(name));
}

/** Draws once per frame, however much has changed. */
function draw(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    if (visit) view.render(visit);
  });
}

/** An address like `/#general` names the room. */
function prefillRoom(): void {
  const room = roomOfHash();
  if (room !== undefined) form.setRoom(room);
}

function roomOfHash(): string | undefined {
  const room = location.hash.slice(1);
  return isRoomName(room) ? room : undefined;
}
