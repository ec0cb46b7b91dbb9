/** The canvas of the timeline. */
import "uplot/dist/uPlot.min.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { OverviewResponse, ProcessResponse, ResidentMemory } from "../generated/responses.ts";
import type { QueryResponse } from "../engine/slab.ts";
import { theme } from "../shell/theme.ts";
import { recording } from "../state/about.ts";
import { axis } from "./lanes.ts";
import { makePlot, stacked, type Curves } from "./curves.ts";
import { rssLine, rssShown } from "./measured.ts";
import type { Scale } from "./scale.ts";

interface Props {
  response: QueryResponse<OverviewResponse> | null;
  process: ProcessResponse | null;
  width: number;
  height: number;
  scale: Scale;
  filtered: boolean;
}

export function Plot({ response, process, width, height, scale, filtered }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const range = useRef<[number, number]>([0, 1]);
  range.current = [scale.from, scale.to];
  const wallStart = axis.value === "wall" ? (recording.value?.start_unix ?? null) : null;
  const resident = rssShown.value !== "" ? (process?.memory ?? null) : null;
  const curves = useMemo(() => (response ? columns(response, resident) : null), [response, resident]);
  const data = useMemo(() => (curves ? stacked(curves, scale.from) : null), [curves, scale.from]);
  const [fontsReady, setFontsReady] = useState(false);
  useEffect(() => {
    document.fonts.ready.then(() => setFontsReady(true));
  }, []);
  const peak = response?.total.peak ?? null;

  useLayoutEffect(() => {
    if (!place.current || !data || width === 0) return undefined;
    const size = { width, height };
    plot.current = makePlot(place.current, size, data, () => range.current, { filtered, wallStart, peak });
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [data !== null && width > 0, theme.value, filtered, wallStart, peak?.time, peak?.bytes, fontsReady]);
  useLayoutEffect(() => {
    if (data) plot.current?.setData(data);
  }, [data, scale.to]);
  useLayoutEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);
  return <div ref={place} class="canvas" aria-hidden="true" />;
}

function columns({ columns }: QueryResponse<OverviewResponse>, resident: ResidentMemory | null): Curves {
  const read = (name: string) => columns.numbers(name);
  return {
    time: read("time"),
    minor: read("minor"),
    major: read("major"),
    external: read("external"),
    most: read("most"),
    selected: read("selected"),
    resident: resident && ((time) => rssLine(resident, time)),
  };
}
