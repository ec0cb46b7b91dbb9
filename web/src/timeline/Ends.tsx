/** A range of time, typed. */
import { useEffect, useState } from "preact/hooks";
import { ConditionError, at, type Moment, type Range } from "../filter/condition.ts";
import { parseMoment } from "../filter/parse.ts";
import { parseWall } from "./axis.ts";
import { typed } from "./ranges.ts";

interface Props {
  /** "allocated": what the two fields are of. */
  name: string;
  range: Range<Moment> | null;
  /** Seconds since 1970 at time 0: times of day can be typed. */
  startUnix: number;
  onChange(range: Range<Moment>): void;
}

export function Ends({ name, range, startUnix, onChange }: Props) {
  const [from, to] = typed(range);
  const present = range ?? { from: null, to: null };
  const point = range !== null && from === to && from !== "";
  return (
    <span class="ends">
      <End
        label={`${name} from`}
        text={from}
        placeholder="start"
        startUnix={startUnix}
        onChange={(moment) => onChange({ ...present, from: moment, to: point ? moment : present.to })}
      />
      <span class="faint">–</span>
      <End
        label={`${name} to`}
        text={to}
        placeholder="end"
        startUnix={startUnix}
        onChange={(moment) => onChange({ ...present, to: moment })}
      />
    </span>
  );
}

interface EndProps {
  label: string;
  text: string;
  placeholder: string;
  startUnix: number;
  onChange(moment: Moment | null): void;
}

function End({ label, text, placeholder, startUnix, onChange }: EndProps) {
  const [draft, setDraft] = useState(text);
  const [wrong, setWrong] = useState<string | null>(null);
  useEffect(() => {
    setDraft(text);
    setWrong(null);
  }, [text]);
  const commit = () => {
    if (draft.trim() === text) return;
    try {
      const wall = parseWall(draft, startUnix);
      onChange(draft.trim() === "" ? null : wall === null ? parseMoment(draft) : at(wall));
      setWrong(null);
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error;
      setWrong(error.message);
    }
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
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") {
          setDraft(text);
          setWrong(null);
        }
      }}
    />
  );
}
