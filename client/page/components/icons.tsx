// The page's icons: strokes in the colour of the text around them. They say nothing to a screen reader; their buttons do.
const PATHS = {
  menu: "M4 6h16M4 12h16M4 18h16",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.6-3.6 3-5.5 6.5-5.5s5.9 1.9 6.5 5.5M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.8c2 .7 3.2 2.5 3.5 5.2",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  send: "M4 12l16-8-5 16-3.5-6.5zM20 4l-8.5 9.5",
  attach: "M20 11.5l-8.3 8.3a5.2 5.2 0 0 1-7.4-7.4l8.6-8.6a3.5 3.5 0 0 1 5 5l-8.5 8.5a1.7 1.7 0 0 1-2.5-2.5l7.8-7.7",
  reply: "M9 6l-5 5 5 5M4 11h9c4 0 7 2.5 7 7",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5c1.8 2.4 5.2 2.4 7 0M9 9.5h.01M15 9.5h.01",
  close: "M6 6l12 12M18 6L6 18",
  go: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM16 8l-2.5 5.5L8 16l2.5-5.5z",
  globe: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9z",
  plus: "M12 5v14M5 12h14",
  at: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM16 8v5.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5",
  date: "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  muted: "M6 17V11a6 6 0 0 1 9-5M18 12v5l2 1H9M10 21h4M4 4l16 16",
  down: "M12 5v14M6 13l6 6 6-6",
  download: "M12 4v12M6 10l6 6 6-6M5 20h14",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  play: "M8 5v14l11-7z",
  previous: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01",
  thread: "M4 5h16v10h-9l-5 4v-4H4zM8 9h8M8 12h5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
  flag: "M5 21V4h12l-2 4 2 4H5",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  message: "M5 4h14v12h-8l-5 4v-4H5z",
  mute: "M4 9v6h4l5 4V5L8 9zM17 9l4 6M21 9l-4 6",
  kick: "M14 4h5v16h-5M4 12h11M11 8l4 4-4 4",
  ban: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM6 6l12 12",
  shield: "M12 3l8 3v5c0 5-3 8-8 10-5-2-8-5-8-10V6z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  light:
    "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  dark: "M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10z",
  keys: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  sound: "M4 9v6h4l5 4V5L8 9zM16.5 9a4 4 0 0 1 0 6M19 6.5a8 8 0 0 1 0 11",
  select: "M8 4h3l1 1 1-1h3M12 5v14M8 20h3l1-1 1 1h3",
  unread: "M4 5h9M4 12h16M4 19h16M18 6a1 1 0 1 0 2 0 1 1 0 0 0-2 0",
  leave: "M10 4H5v16h5M9 12h11M16 8l4 4-4 4",
} as const;

export type IconName = keyof typeof PATHS;

/** @param label read aloud, where no text beside the icon says the same */
export function Icon({ name, label }: { readonly name: IconName; readonly label?: string }) {
  const said =
    label === undefined ? ({ "aria-hidden": true } as const) : ({ role: "img", "aria-label": label } as const);
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" focusable="false" {...said}>
      <path d={PATHS[name]} />
    </svg>
  );
}
