// The icons that the first view of the page does not need: it loads them with the first menu. The items of menus and the bars are drawn with them.
import { Icon, Strokes, type IconName } from "./icons.tsx";

const PATHS = {
  globe: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9z",
  date: "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01",
  flag: "M5 21V4h12l-2 4 2 4H5",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
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
  leave: "M10 4H5v16h5M9 12h11M16 8l4 4-4 4",
  unread: "M4 5h9M4 12h16M4 19h16M18 6a1 1 0 1 0 2 0 1 1 0 0 0-2 0",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
} as const;

export type MenuIconName = IconName | keyof typeof PATHS;

const isOfMenus = (name: MenuIconName): name is keyof typeof PATHS => Object.hasOwn(PATHS, name);

interface MenuIconProps {
  readonly name: MenuIconName;
  readonly label?: string;
}

export const MenuIcon = ({ name, ...rest }: MenuIconProps) =>
  isOfMenus(name) ? <Strokes name={name} path={PATHS[name]} {...rest} /> : <Icon name={name} {...rest} />;
