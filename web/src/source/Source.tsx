/** The source of what is selected, with what each line allocates. */
import "./source.css";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useQuery } from "../engine/useQuery.ts";
import type { QueryResponse } from "../engine/slab.ts";
import type { SourceTextResponse } from "../generated/responses.ts";
import type { SidePanel } from "../shell/registry.ts";
import { about } from "../state/about.ts";
import { estimatedBytes as bytes, estimatedBytesWithError } from "../state/estimates.ts";
import { filter, rec } from "../state/page.ts";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { editorAddress, place, SOURCE, type Place } from "./place.ts";

function Source() {
  const at = place.value;
  const { response, of, error, late } = useQuery<"sourcetext", SourceTextResponse>(
    at && { query: "sourcetext", rec: rec.value, filter: filter.value, file: at.file, line: at.line },
  );
  // The response may still be of another file.
  const shown = useMemo(() => (of ? (JSON.parse(of) as { file: string; line: number }) : null), [of]);
  if (!at) return <Empty title="Select a function or a call site" />;
  if (error) return <ErrorMessage error={error} />;
  if (!response || shown?.file !== at.file) return null;
  if (response.missing !== null) return <Empty title={response.missing}>{at.file}</Empty>;
  return (
    <div class={late ? "source late" : "source"}>
      <header>
        <strong class="clip" title={response.path ?? response.name}>
          {response.name}
        </strong>
        <span class="quiet">line {at.line}</span>
        <span class="grow" />
        <EditorLink path={response.path} line={at.line} column={at.column}>
          Open in editor
        </EditorLink>
      </header>
      {response.changed && (
        <p class="source-changed">The file was changed after the recording began: lines may differ.</p>
      )}
      <Lines response={response} at={at} />
    </div>
  );
}

/** Leads to an editor, where there is one and the file is on this machine. */
function EditorLink(props: { path: string | null; line: number; column: number; children: string }) {
  const { path, line, column, children } = props;
  const template = about.value?.editor;
  if (!template || path === null) return <>{children.startsWith("Open") ? null : children}</>;
  // An editor that listens on a port must not take the place of this page.
  const target = /^https?:/i.test(template) ? "_blank" : undefined;
  const address = editorAddress(template, path, line, column + 1);
  return (
    <a href={address} target={target} rel="noreferrer" title={`Open line ${line} in the editor`}>
      {children}
    </a>
  );
}

function Lines({ response, at }: { response: QueryResponse<SourceTextResponse>; at: Place }) {
  const { columns, first, lines, count, path } = response;
  const [total, stderr, own, live] = ["total", "stderr", "own", "live"].map((name) => columns.numbers(name));
  let most = 0;
  for (const one of total!) most = Math.max(most, one);
  const current = useRef<HTMLTableRowElement>(null);
  useEffect(() => current.current?.scrollIntoView({ block: "center" }), [at, response]);
  const last = first + lines.length - 1;
  return (
    <div class="source-lines" tabIndex={0} role="region" aria-label={`Source lines ${first} to ${last}`}>
      <table>
        <thead>
          <tr>
            <th title="bytes allocated by the line, and inside the calls that it makes">Total</th>
            <th title="bytes that the line allocates itself">Self</th>
            <th>Line</th>
            <th>{lines.length < count && `lines ${first} to ${last} of ${count}`}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((text, index) => {
            const line = first + index;
            const [sum, self] = [total![index]!, own![index]!];
            const title =
              sum > 0
                ? `${estimatedBytesWithError(sum, stderr![index]!)} by this line and inside its calls, ` +
                  `${bytes(self)} by itself; ${bytes(live![index]!)} were never collected`
                : undefined;
            const isCurrent = line === at.line;
            return (
              <tr key={line} ref={isCurrent ? current : null} aria-current={isCurrent || undefined} title={title}>
                <td class="number">
                  {sum > 0 && (
                    <>
                      <span class="source-bar" style={{ width: `${(sum / most) * 100}%` }} />
                      {bytes(sum)}
                    </>
                  )}
                </td>
                <td class="number">{self > 0 && bytes(self)}</td>
                <td class="number quiet">
                  <EditorLink path={path} line={line} column={isCurrent ? at.column : 0}>
                    {String(line)}
                  </EditorLink>
                </td>
                <td class="source-text">{text}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export const sourcePanel: SidePanel = {
  id: SOURCE,
  title: "Source",
  Component: Source,
  applies: () => about.value?.sources ?? false,
};
