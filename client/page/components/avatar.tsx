// Draws a person's initials on one of a few colours, the same one for the same user id.
import { hueOf } from "../state/hue.ts";
import { bare } from "../state/names.ts";

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

function initialsOf(name: string): string {
  const words = bare(name)
    .split(/[\s._-]+/)
    .filter((word) => word !== "");
  const letters = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  return letters.map((word) => Array.from(word)[0]!.toLocaleUpperCase()).join("") || "?";
}
