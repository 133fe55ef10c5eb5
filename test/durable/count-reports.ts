// Counts the reports of rooms to the lobby. Called by tests in test/durable.
import { Lobby } from "../../src/features/directory/object.ts";

/**
 * Counts the reports that arrive. A spy would hold on to answers, which belong to the object that gave them.
 * @param work gets the count so far
 */
export async function countReports(work: (soFar: () => number) => Promise<unknown>): Promise<number> {
  let reports = 0;
  const report = Reflect.get(Lobby.prototype, "report");
  Lobby.prototype.report = function (this: Lobby, given) {
    reports++;
    return report.call(this, given);
  };
  try {
    await work(() => reports);
    return reports;
  } finally {
    Lobby.prototype.report = report;
  }
}
