/** The text form of conditions, one spelling each. */
import { sameMoment, type Condition, type Moment, type Name, type Range } from "./condition.ts";

export function printCondition(condition: Condition): string {
  return `${condition.not ? "-" : ""}${condition.key}:${printValues(condition).join(",")}`;
}

function printValues(condition: Condition): string[] {
  switch (condition.key) {
    case "allocated":
    case "live":
      return condition.values.map(printMoments);
    case "collected":
      return condition.values.map((value) => (value === "never" ? value : printMoments(value)));
    case "lifetime":
      return condition.values.map((range) => printRange(range, printTime));
    case "size":
      return condition.values.map((range) => printRange(range, printSize));
    case "heap":
    case "died":
      return condition.values;
    case "domain":
      return condition.values.map(String);
    default:
      return condition.values.map(printName);
  }
}

export function printMoments(range: Range<Moment>): string {
  return printRange(range, printMoment);
}

function printRange<T extends Moment | number>(range: Range<T>, print: (value: T) => string): string {
  const { from, to } = range;
  if (from !== null && sameMoment(from as Moment, to as Moment)) return print(from);
  return `${from === null ? "" : print(from)}..${to === null ? "" : print(to)}`;
}

export function printMoment(moment: Moment): string {
  if (typeof moment === "string") return moment;
  return "us" in moment ? printTime(moment.us) : `${decimal(moment.ppm, 4)}%`;
}

/** Microseconds as seconds: `12.5s`. */
export function printTime(us: number): string {
  return `${decimal(us, 6)}s`;
}

/** Bytes, in the largest unit that divides them: `4K`. */
export function printSize(size: number): string {
  for (const [unit, bits] of [
    ["T", 40],
    ["G", 30],
    ["M", 20],
    ["K", 10],
  ] as const) {
    if (size > 0 && size % 2 ** bits === 0) return `${size / 2 ** bits}${unit}`;
  }
  return String(size);
}

/** `number / 10^places`, exactly, without zeros at its end. */
function decimal(number: number, places: number): string {
  const digits = String(number).padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return digits.slice(0, -places) + (fraction && `.${fraction}`);
}

export function printName(name: Name): string {
  if ("equals" in name) return quoteName(name.equals);
  if ("contains" in name) return `~${quoteName(name.contains)}`;
  return `/${name.regex.replace(/\\[^]|\//g, (part) => (part === "/" ? "\\/" : part))}/`;
}

/** A name as a condition's value: quoted if it could be taken for something else. */
export function quoteName(name: string): string {
  const plain = name !== "" && !/^[~/]|[,"]|\.\./.test(name);
  return plain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
}
