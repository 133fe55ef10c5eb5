// The conversation in the pictures: a Friday in a small team that publishes a ferry's new booking page. Times are of that day,
// UTC.
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";

const FRIDAY = "2026-11-20";
const THURSDAY = "2026-11-19";

/** When the pictures are taken. */
export const NOW = timeOf("16:42");

export const PEOPLE = {
  mara: "Mara Lindqvist",
  jonas: "Jonas Weber",
  priya: "Priya Raman",
  tomas: "Tomás Ferreira",
  aiko: "Aiko Tanaka",
  sam: "Sam Okafor",
} as const;
export type Who = keyof typeof PEOPLE;

/** Whose page is shown. */
export const READER: Who = "mara";

/** Who may pin messages, and writes the topic. */
export const MODERATOR: Who = "jonas";

export interface Line {
  readonly by: Who;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  /** Begins the text of the line that this one answers. */
  readonly answers?: string;
  readonly reactions?: Readonly<Record<string, readonly Who[]>>;
  /** Of drawings.ts, by their names. */
  readonly files?: readonly string[];
  readonly isPinned?: true;
}

export const MAIN_ROOM = "launch";
export const TOPIC = "The new booking page goes live on Friday at 15:00";

const OTHERS: readonly Who[] = ["jonas", "priya", "tomas", "aiko", "sam"];

interface StoryRoom {
  readonly room: string;
  readonly here: readonly Who[];
  /** How many of its lines the reader has not seen; absent where they have never been. */
  readonly unread?: number;
  /** What the reader has begun to write there. */
  readonly draft?: string;
  readonly lines: readonly Line[];
}

/** The main room is the last: other rooms' reports take a while. */
export const ROOMS: readonly StoryRoom[] = [
  {
    room: "general",
    here: OTHERS,
    unread: 0,
    lines: [line("aiko", "08:55", "The window in the kitchen is stuck again.", {})],
  },
  {
    room: "on-call",
    here: ["jonas"],
    unread: 0,
    draft: "Who takes the night from Sunday to",
    lines: [line("jonas", "08:30", "Mine until Sunday.", {})],
  },
  {
    room: "design",
    here: ["tomas", "priya"],
    unread: 2,
    lines: [
      line("tomas", "10:05", "New icons for the timetable are in the folder.", {}),
      line("priya", "15:40", "The map needs a dark version before Monday.", {}),
      line("tomas", "16:20", "I will have a draft tonight.", {}),
    ],
  },
  {
    room: "support",
    here: ["sam", "aiko"],
    unread: 5,
    lines: [
      "Do bicycles need a ticket?",
      "They do: the small one.",
      "And tandems?",
      "Nobody knows. Ask @mara.",
      "The tandem is on its way to the pier.",
    ].map((text, at) => line(at % 2 === 0 ? "sam" : "aiko", `16:${30 + at}`, text, {})),
  },
  { room: "bicycles", here: ["tomas"], lines: [line("tomas", "07:50", "Tailwind all the way in.", {})] },
  { room: "lunch", here: ["aiko", "sam"], lines: [line("sam", "12:05", "Soup today.", {})] },
  {
    room: MAIN_ROOM,
    here: OTHERS,
    unread: 3,
    lines: [
      line("jonas", "16:58", "The release branch is cut. From here on only fixes go in.", { day: THURSDAY }),
      line("priya", "17:05", "All 340 strings are translated, even the French ones that everybody forgot.", {
        day: THURSDAY,
        reactions: { "❤️": ["mara", "jonas", "aiko"] },
      }),
      line("mara", "09:02", "Good morning, launch day!\n**12:00** freeze, **15:00** switch over, **16:00** cake.", {
        isPinned: true,
      }),
      line("aiko", "09:04", "Lemon cake is ordered. Nobody touched the carrot one last time.", {
        reactions: { "🍋": ["mara", "sam"], "😋": ["jonas", "tomas", "priya"] },
      }),
      line("tomas", "09:20", "The landing page in three lights. Which one do we take?", {
        files: ["dawn.png", "noon.png", "night.png"],
        reactions: { "🌅": ["mara", "priya", "sam"], "🌙": ["aiko"] },
      }),
      line("priya", "09:23", "Dawn! Could the button be a step darker? It has 3.9 : 1 and should have 4.5.", {
        answers: "The landing page",
      }),
      line("tomas", "09:31", "Done, 4.8 : 1 now.", { reactions: { "✅": ["priya"] } }),
      line(
        "jonas",
        "11:47",
        `The rehearsal on staging took **42 s**. The switch, and the way back:
\`\`\`js
// At 15:00, a tenth of the visitors first.
await deploy({ version: "2.0", share: 0.1 });
if (errorsPerMinute() < 3) await deploy({ share: 1 });
else await goBack("1.9");
\`\`\``,
        { files: ["way back.md"] },
      ),
      line("mara", "14:58", "@jonas all green here. Whenever you are ready.", {}),
      line("jonas", "15:03", "We are **live**: https://tidewater.example/book", {
        reactions: { "🎉": ["mara", "priya", "tomas", "aiko", "sam"], "⛴️": ["priya", "tomas"] },
      }),
      line("aiko", "15:04", "🎉🥳🍋", {}),
      line("priya", "15:11", "First booking from a real person: two adults, one bicycle.", { answers: "We are" }),
      line("tomas", "15:12", "With the right fare?", { answers: "First booking" }),
      line("jonas", "15:14", "38.50, to the cent.", {
        answers: "With the right",
        reactions: { "👏": ["mara", "aiko"] },
      }),
      line("sam", "16:16", "The ferry of 16:15 greets the new page:", {
        files: ["horn.wav"],
        reactions: { "😂": ["mara", "tomas", "aiko"] },
      }),
      line("mara", "16:22", "One slice of the cake is left, in the kitchen, under a plate. Be quick.", {}),
      line("jonas", "16:36", "Is it still there?", { answers: "One slice" }),
      line("sam", "16:38", "@mara somebody asks whether a tandem is one bicycle or two. What do I tell them?", {}),
      line("priya", "16:41", "One bell, two saddles. I would say one and a half.", {}),
    ],
  },
];

interface Conversation {
  /** Begins it. */
  readonly by: Who;
  /** How many of its lines the reader has not seen. */
  readonly unread: number;
  readonly lines: readonly Line[];
}

/** Between the reader and another one. */
export const CONVERSATIONS: readonly Conversation[] = [
  {
    by: "tomas",
    unread: 0,
    lines: [
      line("tomas", "12:10", "Do you have the photo in large?", {}),
      line("mara", "12:14", "In the folder of Tuesday.", {}),
    ],
  },
  { by: "priya", unread: 1, lines: [line("priya", "16:25", "Five minutes about the map, when you have them?", {})] },
];

/** What the pages behind links say of themselves. Their pictures are of drawings.ts. */
export const CARDS: Readonly<Record<string, Omit<LinkCard, "url">>> = {
  "https://tidewater.example/book": {
    site: "Tidewater Ferries",
    title: "Book a crossing",
    description: "Forty minutes to the other shore, eleven times a day. Bicycles travel with you.",
    picture: "noon.png",
  },
};

function line(by: Who, time: string, text: string, { day, ...more }: Partial<Line> & { readonly day?: string }): Line {
  return { by, at: timeOf(time, day), text, ...more };
}

function timeOf(time: string, day = FRIDAY): number {
  return Date.parse(`${day}T${time}:00Z`);
}
