/** What is looked at, its totals, and the page's tools. */
import { useKeys } from "./keys.ts";
import { lost, serverLost } from "../live/live.ts";
import { about, recording } from "../state/about.ts";
import { go, rec } from "../state/page.ts";
import { AT_LEAST, estimatedBytes as bytes } from "../state/estimates.ts";
import { percent, ratio, seconds } from "../text/units.ts";
import type { RecordingInfo } from "../generated/responses.ts";
import { copyText } from "../widgets/notice.ts";
import { Icon } from "../widgets/Icon.tsx";
import { ExportMenu, exportOpen } from "./ExportMenu.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { HeapFacts } from "../heap/HeapFacts.tsx";
import { ofNoRecording } from "../heap/state.ts";
import { half, halves, switchTo } from "./halves.ts";
import { helpOpen } from "./Help.tsx";
import type { Half } from "./registry.ts";
import { theme, toggleTheme } from "./theme.ts";

const HALVES = [
  { id: "allocations", title: "Allocations", what: "what was allocated, where, and for how long (g)" },
  { id: "heap", title: "Heap", what: "snapshots: what retains memory (g)" },
];

export function Header() {
  const run = recording.value;
  const allocations = half.value === "allocations";
  const other = theme.value === "dark" ? "light" : "dark";
  useKeys("Page", [
    { keys: "y", does: "copy the link to what is shown", run: copyLink },
    ...(allocations ? [{ keys: "e", does: "export what is shown", run: () => (exportOpen.value = true) }] : []),
  ]);
  return (
    <header class="header">
      <Title run={run} />
      {halves.value.length > 1 && (
        <Segmented
          label="half of the page"
          options={HALVES}
          value={half.value}
          onChoose={(id) => switchTo(id as Half)}
        />
      )}
      {run && <State run={run} />}
      {run && (allocations ? <Facts run={run} /> : <HeapFacts />)}
      <div class="tools">
        {allocations && <ExportMenu />}
        <button type="button" class="button plain" title="copy the link to what is shown (y)" onClick={copyLink}>
          <Icon name="share" /> <span class="wide">Copy link</span>
        </button>
        <button
          type="button"
          class="icon-button"
          title={`${other} theme (t)`}
          aria-label={`${other} theme`}
          onClick={toggleTheme}
        >
          <Icon name={other === "light" ? "sun" : "moon"} />
        </button>
        <button
          type="button"
          class="icon-button"
          title="keys (?)"
          aria-label="keys"
          onClick={() => (helpOpen.value = true)}
        >
          <Icon name="keys" />
        </button>
      </div>
    </header>
  );
}

function copyLink(): void {
  void copyText(location.href, "link");
}

/** The last part of a path. */
function lastPart(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}

function Title({ run }: { run: RecordingInfo | null }) {
  const all = about.value?.recordings ?? [];
  const command = run?.args.join(" ") || run?.program;
  return (
    <>
      <h1 class="clip" title={command}>
        {run ? lastPart(run.program) : "memtrail"}
      </h1>
      {all.length > 1 && (
        <select
          class="field small"
          aria-label="recording"
          value={String(rec.value)}
          onChange={(event) => go({ rec: Number(event.currentTarget.value), focus: [], more: ofNoRecording() })}
        >
          {all.map(({ name }, index) => (
            <option key={index} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** Whether it still grows, and what is wrong with it. */
function State({ run }: { run: RecordingInfo }) {
  const why = lost.value.get(rec.value);
  const warnings = [
    ...(run.damage.length > 0 ? [{ text: "damaged", why: "see the details" }] : []),
    ...(run.caveats.estimates ? [{ text: `${AT_LEAST} too low`, why: run.caveats.estimates }] : []),
    ...(run.subsampled
      ? [{ text: `subsampled to ${percent(ratio(run.subsampled.kept, run.subsampled.of))}`, why: "see the details" }]
      : []),
  ];
  return (
    <>
      {run.state === "growing" && !why && !serverLost.value && (
        <span class="recording" title="the program runs, and what is shown follows">
          recording
        </span>
      )}
      {why && (
        <span class="recording still" title={why}>
          lost
        </span>
      )}
      {warnings.map(({ text, why }) => (
        <button key={text} type="button" class="warning" title={why} onClick={() => go({ view: "info" })}>
          <Icon name="warn" /> {text}
        </button>
      ))}
    </>
  );
}

function Facts({ run }: { run: RecordingInfo }) {
  const { allocated, peak, live_end } = run.totals;
  return (
    <div class="facts" aria-label="totals of the recording">
      <span title="how long the recording is">
        <strong>{seconds(run.duration)}</strong>
      </span>
      <span title="everything that was allocated, estimated from the samples">
        <strong>{bytes(allocated.value)}</strong> allocated
      </span>
      <span title={`at ${seconds(peak.time)}`}>
        <strong>{bytes(peak.bytes)}</strong> at the peak
      </span>
      <span title="never collected">
        <strong>{bytes(live_end)}</strong> at the end
      </span>
    </div>
  );
}
