/** An edge that can be dragged, or moved with the arrow keys. */

interface Props {
  label: string;
  /** `upright` changes a width, `level` a height. */
  axis: "upright" | "level";
  /** CSS pixels. */
  value: number;
  min: number;
  max: number;
  /** The size grows towards the left or the top. */
  reversed?: boolean;
  onChange(value: number): void;
}

export function Splitter({ label, axis, value, min, max, reversed = false, onChange }: Props) {
  const set = (next: number) => onChange(Math.round(Math.max(min, Math.min(max, next))));
  const sign = reversed ? -1 : 1;
  const place = (event: PointerEvent) => (axis === "upright" ? event.clientX : event.clientY);

  const drag = (down: PointerEvent) => {
    if (down.button !== 0) return;
    down.preventDefault();
    const handle = down.currentTarget as HTMLElement;
    handle.setPointerCapture(down.pointerId);
    const begin = place(down);
    const move = (event: PointerEvent) => set(value + sign * (place(event) - begin));
    const end = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  };
  const [less, more] = axis === "upright" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  return (
    <div
      class={`splitter ${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={axis === "upright" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(value)}
      aria-valuemin={Math.round(min)}
      aria-valuemax={Math.round(max)}
      onPointerDown={drag}
      onKeyDown={(event) => {
        if (event.key !== less && event.key !== more) return;
        event.preventDefault();
        set(value + sign * (event.key === more ? 16 : -16));
      }}
    />
  );
}
