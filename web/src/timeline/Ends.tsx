/** A range of time, typed. */
import { useEffect, useState } from "preact/hooks";
import { whenChecked } from "../filter/checks.ts";
import { microseconds, writeSeconds } from "../filter/write.ts";
import { parseWall } from "./axis.ts";
import type { Typed } from "./ranges.ts";

interface Props {
  /** "allocated": what the two fields are of. */
  name: string;
  range: Typed | null;
  /** Seconds since 1970 at time 0: times of day can be typed. */
  startUnix: number;
  onChange(range: Typed): void;
}

export function Ends({ name, range, startUnix, onChange }: Props) {
  const { from, to } = range ?? { from: "", to: "" };
  const point = from === to && from !== "";
  return (
    <span class="ends">
      <End
        label={`${name} from`}
        text={from}
        placeholder="start"
        startUnix={startUnix}
        onChange={(moment) => onChange({ from: moment, to: point ? moment : to })}
      />
      <span class="faint">–</span>
      <End
        label={`${name} to`}
        text={to}
        placeholder="end"
        startUnix={startUnix}
        onChange={(moment) => onChange({ from, to: moment })}
      />
    </span>
  );
}

interface EndProps {
  label: string;
  text: string;
  placeholder: string;
  startUnix: number;
  /** The moment in its text form, or "". */
  onChange(moment: string): void;
}

function End({ label, text, placeholder, startUnix, onChange }: EndProps) {
  const [draft, setDraft] = useState(text);
  const [wrong, setWrong] = useState<string | null>(null);
  useEffect(() => {
    setDraft(text);
    setWrong(null);
  }, [text]);
  const commit = async () => {
    const typed = draft.trim();
    if (typed === text) return;
    const wall = parseWall(typed, startUnix);
    if (typed === "" || wall !== null) {
      onChange(wall === null ? "" : writeSeconds(microseconds(wall)));
      return;
    }
    const check = await whenChecked(`live:${typed}`);
    const [value] = "condition" in check && check.condition.values.length === 1 ? check.condition.values : [];
    if ("error" in check) setWrong(check.error.message);
    else if (value?.mode !== "at") setWrong(`${JSON.stringify(typed)} is not a time`);
    else onChange(value.a);
  };
  return (
    <input
      class="field small"
      size={7}
      aria-label={label}
      aria-invalid={wrong !== null}
      title={wrong ?? "12.5s, 1m30s, 40%, peak, or a time of day such as 14:05:30"}
      placeholder={placeholder}
      value={draft}
      spellcheck={false}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={() => void commit()}
      onKeyDown={(event) => {
        if (event.key === "Enter") void commit();
        if (event.key === "Escape") {
          setDraft(text);
          setWrong(null);
        }
      }}
    />
  );
}
