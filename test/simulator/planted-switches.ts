// Plants all bugs at once, each behind a switch: a function that holds planted bugs gets its text once more for each of them, and runs
// the one whose bug the plan of a run names. So one bundle and one thread, whose code is compiled and warm, serve all bugs.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";

import type { PlantedBug } from "../kit/testing.ts";
import type { PlantedChatBug } from "./planted-bugs.ts";

const ROOT = path.join(import.meta.dirname, "../..");

/** Part of a source file, from one offset to another. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A place of a source as one bug changes it. */
interface Change extends Span {
  /** The bug's place in the list, from 1 on. */
  readonly number: number;
  readonly text: string;
}

/** Code that runs each time it is reached, so that a switch in it counts. */
interface Region extends Span {
  readonly isBody: boolean;
}

interface Node extends Span {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** @throws Error where a source is not as a bug expects, or a bug is in code that runs only when its module is loaded */
export function withSwitches(bugs: readonly PlantedChatBug[]): PlantedBug[] {
  const places = bugs.flatMap((bug, at) => [bug, bug.also ?? []].flat().map((place) => ({ place, number: at + 1 })));
  return [...Map.groupBy(places, ({ place }) => place.file)].map(([file, ofFile]) => {
    const source = readFileSync(path.join(ROOT, file), "utf8");
    const changes = ofFile.map(({ place, number }) => changeOf(source, place, number));
    return { file, find: source, replace: switched(source, file, changes) };
  });
}

/** Only what differs: a bug's text may reach beyond the function that it changes. */
function changeOf(source: string, { file, find, replace }: PlantedBug, number: number): Change {
  const times = source.split(find).length - 1;
  if (times !== 1) throw new Error(`${file}: "${find}" stands there ${times} times, not once`);
  const before = commonLength(find, replace);
  const after = commonEnd(find.slice(before), replace.slice(before));
  const at = source.indexOf(find);
  return {
    number,
    start: at + before,
    end: at + find.length - after,
    text: replace.slice(before, replace.length - after),
  };
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function commonEnd(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

function switched(source: string, file: string, changes: readonly Change[]): string {
  const regions = regionsIn(parseAst(source, { lang: "ts" }) as unknown as Node);
  const byRegion = new Map<Region, Change[]>();
  for (const change of changes) {
    const around = regions.filter(({ start, end }) => start <= change.start && change.end <= end);
    if (around.length === 0) throw new Error(`${file}: bug ${change.number} is in code that runs once`);
    const smallest = around.reduce((one, other) => (other.end - other.start < one.end - one.start ? other : one));
    byRegion.set(smallest, [...(byRegion.get(smallest) ?? []), change]);
  }
  // A bug may be in a function in which there is another function with a bug: both are switched around the outer one.
  const outermost = [...byRegion.keys()].filter(
    (region) => ![...byRegion.keys()].some((other) => other !== region && isWithin(region, other)),
  );
  return outermost
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, region) => {
      const inside = [...byRegion].flatMap(([inner, given]) =>
        inner === region || isWithin(inner, region) ? given : [],
      );
      return text.slice(0, region.start) + choice(source, region, inside) + text.slice(region.end);
    }, source);
}

const isWithin = (inner: Span, outer: Span): boolean => outer.start <= inner.start && inner.end <= outer.end;

/** The text of a region as it is, and with each of its bugs, of which the one runs that the plan names. */
function choice(source: string, region: Region, changes: readonly Change[]): string {
  const variants = [...Map.groupBy(changes, ({ number }) => number)].map(([number, ofBug]) => {
    const text = ofBug
      .toSorted((one, other) => other.start - one.start)
      .reduce(
        (all, change) => all.slice(0, change.start - region.start) + change.text + all.slice(change.end - region.start),
        source.slice(region.start, region.end),
      );
    return { condition: `globalThis.plantedBug === ${number}`, text };
  });
  const asItIs = source.slice(region.start, region.end);
  if (!region.isBody)
    return variants.reduce((rest, { condition, text }) => `(${condition} ? (${text}) : ${rest})`, `(${asItIs})`);
  return variants.reduce((rest, { condition, text }) => `if (${condition}) {${text}} else {${rest}}`, asItIs);
}

/** The bodies of functions, and values of the fields of instances. */
function regionsIn(node: Node): Region[] {
  const regions: Region[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null || typeof (value as Node).type !== "string") return;
    const { type, body, value: given } = value as Node;
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) && body) {
      const { start, end, type: kind } = body as Node;
      const isBody = kind === "BlockStatement" || kind === "FunctionBody";
      regions.push(isBody ? { start: start + 1, end: end - 1, isBody } : { start, end, isBody });
    }
    if (type === "PropertyDefinition" && given && (value as Node)["static"] !== true) {
      const { start, end } = given as Node;
      regions.push({ start, end, isBody: false });
    }
    Object.values(value).forEach(visit);
  };
  visit(node);
  return regions;
}
