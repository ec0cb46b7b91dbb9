/** Line icons of 16 units, drawn with the colour of the text. */

const paths = {
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  chevron: "M4 6l4 4 4-4",
  share: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.5",
  download: "M8 2.5v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.4 3.4",
  side: "M2.5 3h11v10h-11zM10 3v10",
  zoom: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3",
  back: "M6.5 3.5L3 7l3.5 3.5M3 7h6.5a3.5 3.5 0 0 1 0 7H8",
  copy: "M5.5 5.5h8v8h-8zM3 10.5v-8h8",
  warn: "M8 2.2l6.2 11.3H1.8zM8 6.5v3.2M8 11.3v.6",
  keys: "M1.5 4h13v8h-13zM4 6.5h.01M6.6 6.5h.01M9.3 6.5h.01M12 6.5h.01M4 9.5h.01M12 9.5h.01M6.5 9.5h3",
  camera: "M2 5h2.6l1.2-1.8h4.4L11.4 5H14v8H2zM8 6.6a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z",
  check: "M3 8.5l3.2 3.2L13 4.8",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
