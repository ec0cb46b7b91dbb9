/** How a number went, as a line the height of a row. */

const WIDTH = 64;
const HEIGHT = 14;

export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => {
    const x = values.length > 1 ? (index / (values.length - 1)) * WIDTH : WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`;
  });
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
