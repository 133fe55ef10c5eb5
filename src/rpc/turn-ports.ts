// What taking turns needs of the platform. In workerd all objects of a process share a thread, and it looks at its sockets and
// timers only when nothing else is left to do: work that goes on and on in calls from object to object keeps all others waiting.

/** The least that a timer waits, in milliseconds. */
const PAUSE_MS = 1;

export const turnPorts = {
  giveWay: (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
  now: (): number => Date.now(),
};
