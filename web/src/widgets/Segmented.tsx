/** One of a few, side by side. Arrow keys move, as in a radio group. */

interface Option {
  id: string;
  title: string;
  what?: string;
}

interface Props {
  /** The group's name for screen readers. */
  label: string;
  options: readonly Option[];
  value: string;
  onChoose(id: string): void;
}

export function Segmented({ label, options, value, onChoose }: Props) {
  const move = (event: KeyboardEvent, index: number) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (index + step + options.length) % options.length;
    const group = (event.currentTarget as HTMLElement).parentElement;
    const option = options[next];
    if (option) onChoose(option.id);
    (group?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="segmented" role="radiogroup" aria-label={label}>
      {options.map(({ id, title, what }, index) => (
        <button
          key={id}
          type="button"
          role="radio"
          aria-checked={id === value}
          tabIndex={id === value ? 0 : -1}
          title={what}
          onClick={() => onChoose(id)}
          onKeyDown={(event) => move(event, index)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
