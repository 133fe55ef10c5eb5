// A page of somebody's: what is said in the lounge.
import { connectRoom, type Message } from "parley-rooms/client";

const room = connectRoom(`${location.origin}/chat`, "lounge");

room.on("chat-message", ({ name, content }: Message) => {
  document.body.append(`${name}: ${content}\n`);
});
document.addEventListener("click", () => void room.send("Hello!"));
