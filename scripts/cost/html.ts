// A bill as one HTML file with charts, which needs no network.
import { barChart, escapeHtml, page, table } from "../measuring/charts.ts";
import { about, count, logShare, money, titleOf, type Comparison, type CostReport } from "./text.ts";

export function htmlOf({ lookedUp, asked, remarks, scaled, sensitivities, missing }: CostReport): string {
  const { bill, workload } = asked;
  const shown = bill.lines.filter(({ dollars, quantity }) => dollars > 0 || quantity > 0);
  return page(
    "What a month costs",
    [
      `<h1>${money(bill.total)} a month</h1><p class="soft">${escapeHtml(titleOf(workload))}</p>`,
      ...remarks.map((remark) => `<p>${escapeHtml(remark)}</p>`),
      barChart(
        "By line item",
        shown.map(({ item, dollars }) => ({ name: item, value: dollars, label: money(dollars), isOurs: true })),
      ),
      table([
        ["", "quantity", "included in the plan", "a month"],
        ...shown.map(({ item, quantity, unit, included, dollars }) => [
          item,
          `${count(quantity)} ${unit}`,
          included > 0 ? count(included) : "",
          money(dollars),
        ]),
        ["total", "", "", money(bill.total)],
      ]),
      "<h2>Elsewhere</h2>",
      ...[asked, ...scaled].map(compare),
      "<h2>What would double the bill</h2>",
      table([
        ["", "now", "if twice as much", "doubles the bill at"],
        ...sensitivities.map(({ what, now, totalIfTwice, doublesAt }) => [
          what,
          count(now),
          money(totalIfTwice),
          doublesAt === undefined ? "out of reach" : about(doublesAt),
        ]),
      ]),
      `<h2>Notes</h2><p class="soft">Prices as of ${escapeHtml(lookedUp)}; sources in scripts/cost/prices.json. Heartbeats are
reckoned as incoming messages, which Cloudflare does not say they are. Without figures: ${escapeHtml(missing.join(" "))}</p>`,
    ].join("\n"),
  );
}

function compare({ workload, bill, peers }: Comparison): string {
  const most = Math.max(bill.total, ...peers.map(({ dollars }) => dollars ?? 0));
  const bars = [
    { name: "Parley", value: logShare(bill.total, most), label: money(bill.total), isOurs: true },
    ...peers.map(({ name, dollars }) => ({
      name,
      value: logShare(dollars ?? 0, most),
      label: dollars === undefined ? "on request" : money(dollars),
      isOurs: false,
    })),
  ];
  const notes = peers.map(
    ({ name, how, note }) => `<p class="soft"><b>${escapeHtml(name)}</b>: ${escapeHtml(how)}. ${escapeHtml(note)}</p>`,
  );
  return `${barChart(`${titleOf(workload)} (bars as long as the logarithm)`, bars)}${notes.join("")}`;
}
