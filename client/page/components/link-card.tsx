// Draws the card of a message's first link: what the page there says of itself. Its place is there from the beginning, so that nothing moves
// when the card arrives. The message row calls it.
import { linkIn, type Message } from "parley-rooms/client";
import { useEffect, useState } from "preact/hooks";

import type { RoomView } from "../state/room-view.ts";
import type { ViewProps } from "./chat-props.ts";

export function LinkCardView({ view, message }: ViewProps & { readonly message: Message }) {
  const href = view.state.welcome?.linkCards && linkIn(message.content, message.mentions);
  // Links within the chat lead to messages and rooms.
  if (!href || new URL(href).host === new URL(view.base).host) return null;
  return <Card key={href} view={view} href={href} />;
}

function Card({ view, href }: ViewProps & { readonly href: string }) {
  const card = view.store.linkCard(href);
  // If the server finds no card, the row keeps the empty place until the page draws the row again: nothing moves under the reader.
  const [isPlaced] = useState(card !== null);
  if (!isPlaced) return null;
  // Its own words say anything; only the host is sure: the one that the link opens. Its redirects may lead the server elsewhere than a reader.
  const { host } = new URL(href);
  return (
    <a class="link-card" href={href} target="_blank" rel="noopener noreferrer nofollow ugc" data-testid="link-card">
      {/* Another element once the texts are others: a translator of the browser may have put its own into this one. */}
      <span key={card?.title} class="link-card-text">
        <span class="link-card-site">
          {host}
          {card?.site !== undefined && (
            <>
              {" · "}
              <bdi>{card.site}</bdi>
            </>
          )}
        </span>
        <strong dir="auto">{card?.title ?? href.replace(/^https?:\/\//, "")}</strong>
        {card?.description !== undefined && (
          <span class="link-card-description" dir="auto">
            {card.description}
          </span>
        )}
      </span>
      {card?.picture !== undefined && <CardPicture view={view} picture={card.picture} />}
    </a>
  );
}

function CardPicture({ view, picture }: { readonly view: RoomView; readonly picture: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    let made: string | undefined;
    const load = async (): Promise<void> => {
      const bytes = await view.store.room.linkPicture(picture, { signal: leaving.signal });
      if (!leaving.signal.aborted) setUrl((made = URL.createObjectURL(bytes)));
    };
    // Otherwise its place stays empty.
    void load().catch(() => {});
    return () => {
      leaving.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [picture]);
  return <span class="link-card-picture">{url !== undefined && <img src={url} alt="" />}</span>;
}
