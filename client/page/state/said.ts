// Sentences of the client and of the room that readers often meet, without their ends: catalogues have them. No page loads this file, since the
// sentences come with the errors (room-answers.ts); tests of the catalogues read it.
import { phrase } from "./language.ts";

export const SAID = [
  phrase("There is no connection to the room"),
  phrase("That message is not there any more"),
  phrase("Nothing has been written since then"),
  phrase("The message waited too long"),
  phrase("The server could not be reached"),
  phrase("You were kicked from this room"),
  phrase("You are banned from this room"),
];
