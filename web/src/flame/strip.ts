/**
 * Boxes as pixels. All lines of a row look alike, so one line of pixels a row is filled here, and
 * the canvas stretches it to the row's height. Twenty thousand boxes are then a few dozen images
 * to the canvas, and not twenty thousand rectangles.
 */
export class Strip {
  private canvas: OffscreenCanvas | null = null;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private lines = 0;
  private used = 0;
  width = 0;

  /** Empties the strip; `width` in device pixels, `background` as `pixelOf` gives it. */
  begin(width: number, lines: number, background: number): void {
    if (!this.image || this.width !== width || this.lines < lines) {
      this.width = Math.max(1, width);
      this.lines = Math.max(1, lines);
      this.canvas = new OffscreenCanvas(this.width, this.lines);
      this.image = new ImageData(this.width, this.lines);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.used = lines;
    this.pixels.fill(background, 0, this.width * lines);
  }

  fill(line: number, from: number, to: number, colour: number): void {
    const start = line * this.width;
    const end = start + Math.min(this.width, to);
    for (let at = start + Math.max(0, from); at < end; at++) this.pixels[at] = colour;
  }

  /** Puts line `line` on `context` at `tops[line]`, `height` device pixels high. */
  stretch(context: CanvasRenderingContext2D, tops: readonly number[], height: number): void {
    const own = this.canvas?.getContext("2d");
    if (!own || !this.image || !this.canvas || this.used === 0) return;
    own.putImageData(this.image, 0, 0, 0, 0, this.width, this.used);
    context.imageSmoothingEnabled = false;
    tops.forEach((top, line) => {
      context.drawImage(this.canvas!, 0, line, this.width, 1, 0, top, this.width, height);
    });
  }
}

/** A colour as the four bytes of a pixel, red first in memory. */
export function pixelOf(colour: string): number {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  if (!context) return 0xff000000;
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0]!;
}
