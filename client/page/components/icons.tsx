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
  plus: "M12 5v14M5 12h14",
  at: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM16 8v5.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  muted: "M6 17V11a6 6 0 0 1 9-5M18 12v5l2 1H9M10 21h4M4 4l16 16",
  down: "M12 5v14M6 13l6 6 6-6",
  download: "M12 4v12M6 10l6 6 6-6M5 20h14",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  play: "M8 5v14l11-7z",
  previous: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  thread: "M4 5h16v10h-9l-5 4v-4H4zM8 9h8M8 12h5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  message: "M5 4h14v12h-8l-5 4v-4H5z",
} as const;

export type IconName = keyof typeof PATHS;

interface IconProps {
  readonly name: IconName;
  /** Read aloud, where no text beside the icon says the same. */
  readonly label?: string;
}

export const Icon = ({ name, ...rest }: IconProps) => <Strokes name={name} path={PATHS[name]} {...rest} />;

interface StrokesProps extends Pick<IconProps, "label"> {
  readonly name: string;
  readonly path: string;
}

export function Strokes({ name, path, label }: StrokesProps) {
  const said =
    label === undefined ? ({ "aria-hidden": true } as const) : ({ role: "img", "aria-label": label } as const);
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" focusable="false" {...said}>
      <path d={path} />
    </svg>
  );
}
