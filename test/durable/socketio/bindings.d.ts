// Types of the bindings that these tests import from `cloudflare:workers`: those of their own wrangler.toml.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("./worker.ts");
    durableNamespaces:
      | "WhiteboardRoom"
      | "Halls"
      | "GuestbookObject"
      | "RaceObject"
      | "TypingRace"
      | "Matchmaker"
      | "DrawingObject"
      | "FourLines"
      | "ReviewObject"
      | "AuctionObject"
      | "BoardObject"
      | "SketchObject"
      | "PitchObject"
      | "MistakenObject"
      | "Gate"
      | "RuledRoom"
      | "HttpRuledRoom"
      | "ServiceRuledRoom"
      | "BareRoom"
      | "FeaturedRoom";
  }
  interface Env {
    JWT_SECRET: string;
    RULES_URL: string;
    RULES_SECRET: string;
    WAIT_MS: number;
    TICK_MS: number;
    TYPING_RACE: DurableObjectNamespace<import("../../../docs/examples/typing-race/typing-race.ts").TypingRace>;
    MATCHMAKER: DurableObjectNamespace<import("../../../docs/examples/typing-race/matchmaker.ts").Matchmaker>;
    AUCTION: DurableObjectNamespace<import("../../../docs/examples/auction/index.ts").AuctionObject>;
    BOARD: DurableObjectNamespace<import("../../../docs/examples/board/index.ts").BoardObject>;
    GUESTBOOK: DurableObjectNamespace<import("../../../docs/examples/guestbook/index.ts").GuestbookObject>;
    MISTAKEN: DurableObjectNamespace<import("./sketches.ts").MistakenObject>;
    PITCH: DurableObjectNamespace<import("./sketches.ts").PitchObject>;
    SKETCH: DurableObjectNamespace<import("./sketches.ts").SketchObject>;
    GATE: DurableObjectNamespace<import("./gate.ts").Gate>;
    HALLS: DurableObjectNamespace<import("./halls.ts").Halls>;
    DRAWINGS: DurableObjectNamespace<import("../../../docs/examples/drawing/index.ts").DrawingObject>;
    FOUR_LINES: DurableObjectNamespace<import("../../../docs/examples/four-lines/index.ts").BoardObject>;
    RACE: DurableObjectNamespace<import("../../../docs/examples/league/index.ts").RaceObject>;
    REVIEWS: DurableObjectNamespace<import("../../../docs/examples/review/index.ts").ReviewObject>;
    FEATURED: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    BARE: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    RULED: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    RULED_BY_HTTP: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    RULED_BY_SERVICE: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    WHITEBOARD: DurableObjectNamespace<import("./whiteboard.ts").WhiteboardRoom>;
  }
}
