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
