/**
 * All rows of a flame graph that is higher than the screen, narrowly: a scroll bar that shows where
 * the stacks are deep.
 */
import { useEffect, useRef } from "preact/hooks";
import type { Chart } from "./chart.ts";
import type { Look } from "./draw.ts";
import { contentOf, rowCount } from "./rows.ts";
import { coloursOf, treeOf, type Scene } from "./scene.ts";

/** CSS pixels, as in flame.css. */
export const MINIMAP_WIDTH = 44;

interface Props {
  chart: Chart;
  scene: Scene;
  look: Look;
  height: number;
  /** Changes as the view moves. */
  moves: number;
}

export function Minimap({ chart, scene, look, height, moves }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const ratio = devicePixelRatio;
    const node = canvas.current;
    const context = node?.getContext("2d", { alpha: false });
    if (!node || !context || height === 0) return;
    node.width = Math.round(MINIMAP_WIDTH * ratio);
    node.height = Math.round(height * ratio);
    paint(context, scene, look, node.width, node.height);
  }, [scene, look, height]);

  const rows = rowCount(scene.rows);
  const { visible } = chart.window;
  const scroll = (event: PointerEvent): void => {
    const { top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    chart.scrollToRow(((event.clientY - top) / height) * rows - visible / 2);
  };
  const { top } = chart.present;
  return (
    <div
      class="flame-minimap"
      aria-hidden="true"
      data-moves={moves}
      title={`${rows} rows: drag to scroll`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        scroll(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons & 1) scroll(event);
      }}
    >
      <canvas ref={canvas} />
      <div
        class="flame-minimap-view"
        style={{
          top: `${(top / rows) * height}px`,
          height: `${Math.max(6, (visible / rows) * height)}px`,
        }}
      />
    </div>
  );
}

/** Rows share pixels where there are more of them than pixels: the widest are drawn last. */
function paint(context: CanvasRenderingContext2D, scene: Scene, look: Look, width: number, height: number): void {
  context.fillStyle = look.backgroundStyle;
  context.fillRect(0, 0, width, height);
  const rows = rowCount(scene.rows);
  const step = Math.max(1, Math.floor(rows / height));
  const thick = Math.max(1, Math.ceil((height / rows) * 0.9));
  const scale = width / scene.width;
  for (let row = 0; row < rows; row += step) {
    const { part, depth } = contentOf(scene.rows, row);
    const top = Math.floor((row / rows) * height);
    const tree = treeOf(scene, part);
    if (!tree) {
      context.fillStyle = look.paints[scene.focus[depth]?.colour ?? 0]!.fill;
      context.fillRect(0, top, width, Math.max(2, thick));
      continue;
    }
    const colours = coloursOf(scene, part);
    for (let box = tree.rowStart[depth]!; box < tree.rowStart[depth + 1]!; box++) {
      const wide = tree.bytes[box]! * scale;
      if (wide < 0.5) continue;
      context.fillStyle = look.paints[colours[box]!]!.fill;
      context.fillRect(tree.left[box]! * scale, top, Math.max(1, wide), thick);
    }
  }
}
