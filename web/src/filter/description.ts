/** Conditions in plain words, as parts of a sentence about blocks: "allocated at or after 10 s". */
import { sameMoment, type Condition, type Moment, type Name, type NameKey, type Range } from "./condition.ts";

const FRAMES: Readonly<Record<NameKey, string>> = {
  in: "inside a call to",
  module: "inside a call into module",
  file: "inside a call into file",
  by: "allocated by",
  byModule: "allocated by module",
  byFile: "allocated in file",
  thread: "allocated by thread",
  process: "allocated by process",
  hide: "hiding",
  collapse: "collapsing module",
};

export function describe(condition: Condition): string {
  const not = condition.not ? "not " : "";
  switch (condition.key) {
    case "allocated":
    case "live":
      return `${not}${condition.key} ${or(condition.values.map(when))}`;
    case "collected": {
      if (condition.not && condition.values.length === 1 && condition.values[0] === "never") return "collected";
      const words = condition.values.map((value) =>
        value === "never" ? "never collected" : `collected ${when(value)}`,
      );
      return not + or(words);
    }
    case "lifetime":
      return `${not}living ${or(condition.values.map((range) => amount(range, time)))}`;
    case "size":
      return `${not}of ${or(condition.values.map((range) => amount(range, size)))}`;
    case "heap":
      return `${not}on the ${or(condition.values)} heap`;
    case "died": {
      if (condition.not && condition.values.length === 1 && condition.values[0] === "never") return "collected";
      const words = condition.values.map((value) =>
        value === "never" ? "never collected" : `collected in the ${value} heap`,
      );
      return not + or(words);
    }
    case "domain":
      return `${not}allocated by domain ${or(condition.values.map(String))}`;
    default:
      return `${not}${FRAMES[condition.key]} ${or(condition.values.map(named))}`;
  }
}

function or(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${last}` : last;
}

function when(range: Range<Moment>): string {
  const last = range.to ?? range.from;
  const share = last !== null && typeof last !== "string" && "ppm" in last;
  return whenWords(range) + (share ? " of the time" : "");
}

function whenWords({ from, to }: Range<Moment>): string {
  if (from !== null && to !== null) {
    return sameMoment(from, to) ? `at ${moment(from)}` : `between ${moment(from)} and ${moment(to)}`;
  }
  if (from !== null) return `at or after ${moment(from)}`;
  return to === null ? "at any time" : `at or before ${moment(to)}`;
}

function moment(moment: Moment): string {
  if (typeof moment === "string") return `the ${moment}`;
  return "us" in moment ? time(moment.us) : `${moment.ppm / 1e4} %`;
}

function amount({ from, to }: Range<number>, words: (value: number) => string): string {
  if (from !== null && to !== null) {
    return from === to ? `exactly ${words(from)}` : `${words(from)} to ${words(to)}`;
  }
  if (from !== null) return `at least ${words(from)}`;
  return to === null ? "any" : `at most ${words(to)}`;
}

/** Microseconds with units: `1 min 30 s`. */
function time(us: number): string {
  if (us === 0) return "0 s";
  if (us < 1_000) return `${us} µs`;
  if (us < 1_000_000) return `${us / 1e3} ms`;
  const parts: [number, string][] = [
    [Math.floor(us / 3.6e9), "h"],
    [Math.floor(us / 6e7) % 60, "min"],
    [(us % 6e7) / 1e6, "s"],
  ];
  if (us < 60_000_000) return `${us / 1e6} s`;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, unit]) => `${number} ${unit}`)
    .join(" ");
}

function size(bytes: number): string {
  for (const [unit, bits] of [
    ["TiB", 40],
    ["GiB", 30],
    ["MiB", 20],
    ["KiB", 10],
  ] as const) {
    const number = bytes / 2 ** bits;
    if (number >= 1) return `${Math.round(number * 100) / 100} ${unit}`;
  }
  return `${bytes} B`;
}

function named(name: Name): string {
  if ("equals" in name) return name.equals || '""';
  return "contains" in name ? `…${name.contains}…` : `/${name.regex}/`;
}
