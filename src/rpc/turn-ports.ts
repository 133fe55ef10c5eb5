// Lets other objects run between the turns of long work (relay/taking-turns.ts). All objects of a workerd process share a thread, which
// serves sockets and timers only when it has nothing else to do: a chain of calls from object to object holds up all others.

/** The shortest wait of a timer, in milliseconds. */
const PAUSE_MS = 1;

export const turnPorts = {
  giveWay: (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
  now: (): number => Date.now(),
};
