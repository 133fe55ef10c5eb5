// Draws a person's initials on a colour, the same one for the same user id.
import { initialsOf } from "parley-rooms/client";

import { hueOf } from "../state/hue.ts";

interface AvatarProps {
  readonly user: string;
  readonly name: string;
  readonly small?: boolean;
}

export function Avatar({ user, name, small = false }: AvatarProps) {
  return (
    <span class={small ? "avatar small" : "avatar"} style={{ "--hue": hueOf(user) }} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}
