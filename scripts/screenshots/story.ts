// The conversation in the pictures: a Friday in a small team that publishes a ferry's new booking page. Times are of that day,
// UTC.
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

export interface Line {
  readonly by: Who;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  /** Begins the text of the line that this one answers. */
  readonly answers?: string;
  readonly reactions?: Readonly<Record<string, readonly Who[]>>;
  readonly picture?: string;
  readonly file?: { readonly name: string; readonly type: string; readonly text: string };
}

export const MAIN_ROOM = "launch";

const OTHERS: readonly Who[] = ["jonas", "priya", "tomas", "aiko", "sam"];

interface StoryRoom {
  readonly room: string;
  readonly here: readonly Who[];
  /** How many of its lines the reader has not seen. */
  readonly unread: number;
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
      "Two small ones.",
      "Of course.",
    ].map((text, at) => line(at % 2 === 0 ? "sam" : "aiko", `16:${30 + at}`, text, {})),
  },
  {
    room: MAIN_ROOM,
    here: OTHERS,
    unread: 0,
    lines: [
      line("jonas", "16:58", "The release branch is cut. From here on only fixes go in.", { day: THURSDAY }),
      line("priya", "17:05", "All 340 strings are translated, even the French ones that everybody forgot.", {
        day: THURSDAY,
        reactions: { "❤": ["mara", "jonas", "aiko"] },
      }),
      line("mara", "09:02", "Good morning, launch day!\n**12:00** freeze, **15:00** switch over, **16:00** cake.", {}),
      line("aiko", "09:04", "Lemon cake is ordered. Nobody touched the carrot one last time.", {
        reactions: { "☺": ["mara", "sam"], "❤": ["jonas", "tomas", "priya"] },
      }),
      line("tomas", "09:20", "The landing page with the photo from Tuesday:", { picture: "landing-page.png" }),
      line("priya", "09:23", "Lovely. Could the button be a step darker? It has 3.9 : 1 and should have 4.5.", {
        answers: "The landing page",
      }),
      line("tomas", "09:31", "Done, 4.8 : 1 now.", { reactions: { "✔": ["priya"] } }),
      line(
        "jonas",
        "11:47",
        "The rehearsal on staging took 42 s. The switch is one line:\n```\nnpm run deploy\n```",
        {},
      ),
      line("jonas", "11:48", "And the way back, should we need it.", {
        file: { name: "rollback.md", type: "text/plain", text: "Go back to the last version.\n".repeat(64) },
      }),
      line("mara", "14:58", "@jonas all green here. Whenever you are ready.", {}),
      line("jonas", "15:03", "We are **live**: https://tidewater.example/book", {
        reactions: { "❤": ["mara", "priya", "tomas", "aiko", "sam"], "☺": ["priya", "tomas"] },
      }),
      line("priya", "15:11", "First booking from a real person: two adults, one bicycle.", {
        reactions: { "☺": ["tomas", "jonas", "aiko"] },
      }),
      line("jonas", "16:36", "Is any of it left?", { answers: "Lemon cake" }),
      line("mara", "16:38", "One slice, in the kitchen, under a plate. Be quick.", {}),
      line(
        "sam",
        "16:41",
        "Support is quiet so far: three questions, all about bicycles, and one of them is a tandem.",
        {},
      ),
    ],
  },
];

function line(by: Who, time: string, text: string, { day, ...more }: Partial<Line> & { readonly day?: string }): Line {
  return { by, at: timeOf(time, day), text, ...more };
}

function timeOf(time: string, day = FRIDAY): number {
  return Date.parse(`${day}T${time}:00Z`);
}

/** The picture that Tomás posts, drawn by a browser, so that no licence is needed. */
export const LANDING_PAGE = `<!doctype html><style>
  body { margin: 0; width: 960px; height: 600px; overflow: hidden; font-family: system-ui, sans-serif; color: #fff;
    background: linear-gradient(#f9c58d 0%, #f492a5 34%, #7a6fb0 58%, #2b4a7d 58.2%, #173057 100%) }
  svg { position: absolute; inset: 0 }
  h1 { position: absolute; left: 56px; top: 44px; margin: 0; font-size: 56px; line-height: 1.1; text-shadow: 0 2px 18px #5a3a6a99 }
  p { position: absolute; left: 56px; top: 452px; margin: 0; padding: 18px 34px; border-radius: 14px; background: #0b5a6b;
    font-size: 28px; font-weight: 600 }
</style>
<svg viewBox="0 0 960 600">
  <circle cx="700" cy="330" r="74" fill="#ffe3b0"/>
  <path d="M0 349 L120 290 L210 330 L330 262 L470 349 Z" fill="#5b5590"/>
  <path d="M250 349 L400 300 L520 349 Z" fill="#4a4a80"/>
  <g fill="#ffe3b0" opacity=".55"><rect x="640" y="362" width="120" height="5" rx="2"/><rect x="662" y="380" width="80" height="5" rx="2"/>
    <rect x="620" y="402" width="150" height="6" rx="3"/><rect x="672" y="428" width="70" height="6" rx="3"/></g>
  <g transform="translate(470 318)"><path d="M0 60 H300 L270 104 H34 Z" fill="#fff"/><path d="M4 68 H297 L292 76 H8 Z" fill="#d9483b"/>
    <rect x="50" y="24" width="196" height="36" rx="6" fill="#fff"/><rect x="92" y="-4" width="96" height="30" rx="6" fill="#fff"/>
    <rect x="196" y="-30" width="26" height="56" rx="3" fill="#d9483b"/>
    <g fill="#2b4a7d"><rect x="64" y="34" width="24" height="14" rx="3"/><rect x="100" y="34" width="24" height="14" rx="3"/>
    <rect x="136" y="34" width="24" height="14" rx="3"/><rect x="172" y="34" width="24" height="14" rx="3"/>
    <rect x="208" y="34" width="24" height="14" rx="3"/><rect x="104" y="5" width="72" height="12" rx="3"/></g></g>
</svg>
<h1>The other shore<br>is 40 minutes away</h1><p>Book a crossing</p>`;
