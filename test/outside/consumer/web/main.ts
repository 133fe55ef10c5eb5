// A page of an application: the messages of the lounge.
import { connectRoom, type Message } from "parley-rooms/client";

const room = connectRoom(`${location.origin}/chat`, "lounge");

room.on("chat-message", ({ name, content }: Message) => {
  document.body.append(`${name}: ${content}\n`);
});
document.addEventListener("click", () => void room.send("Hello!"));
