/** What is shown, as files for other tools. */
import { signal } from "@preact/signals";
import { queryOnce } from "../engine/useQuery.ts";
import { filter, focus, rec } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { notify } from "../widgets/notice.ts";
import { Popover } from "../widgets/Popover.tsx";
import { saveFile } from "../widgets/saveFile.ts";

export const exportOpen = signal(false);

const FORMATS = [
  { id: "svg", title: "SVG", what: "the flame graph as a picture" },
  { id: "pprof", title: "pprof", what: "go tool pprof" },
  { id: "speedscope", title: "speedscope", what: "speedscope.app" },
  { id: "firefox", title: "Firefox Profiler", what: "profiler.firefox.com" },
  { id: "folded", title: "Folded stacks", what: "flamegraph.pl, inferno" },
  { id: "json", title: "JSON", what: "for scripts" },
] as const;

export function ExportMenu() {
  return (
    <Popover
      class="button plain"
      title="export what the filter leaves (e)"
      aria-label="export"
      align="end"
      open={exportOpen}
      label={
        <>
          <Icon name="download" /> <span class="wide">Export</span>
        </>
      }
    >
      {(close) => (
        <>
          <p class="menu-title">What the filter leaves, as</p>
          {FORMATS.map(({ id, title, what }) => (
            <button
              key={id}
              type="button"
              class="menu-item"
              onClick={() => {
                close();
                void save(id, title);
              }}
            >
              <span>{title}</span>
              <small>{what}</small>
            </button>
          ))}
        </>
      )}
    </Popover>
  );
}

async function save(format: string, title: string): Promise<void> {
  try {
    const query = { query: "export" as const, rec: rec.value, filter: filter.value, format };
    const withFocus = focus.value.length > 0 ? { ...query, focus: focus.value } : query;
    const { filename, mime, columns } = await queryOnce(withFocus);
    saveFile(new Uint8Array(columns.u8("bytes")), mime, filename);
  } catch (error) {
    notify(`${title}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
