/** A table as a file: CSV for spreadsheets, JSON with everything that is known of its rows. */
import { Icon } from "../../widgets/Icon.tsx";
import { notify } from "../../widgets/notice.ts";
import { Popover } from "../../widgets/Popover.tsx";
import { saveFile } from "../../widgets/saveFile.ts";
import { csv } from "./csv.ts";

interface Props<R> {
  /** Begins the names of the files. */
  name: string;
  /** All rows, as many as a file has at most. */
  all(): Promise<readonly R[]>;
  /** The cells of a row; of `null` the titles. */
  cells(row: R | null): readonly string[];
}

export function SaveTable<R>({ name, all, cells }: Props<R>) {
  const save = (as: "csv" | "json"): void => {
    notify("collecting the rows");
    void all().then(
      (rows) =>
        as === "csv"
          ? saveFile(csv([cells(null), ...rows.map(cells)]), "text/csv", `${name}.csv`)
          : saveFile(`${JSON.stringify(rows, null, 1)}\n`, "application/json", `${name}.json`),
      (error: unknown) => notify(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <Popover
      class="icon-button"
      title="Save the table as a file"
      aria-label="Save the table as a file"
      align="end"
      label={<Icon name="download" />}
    >
      {(close) =>
        (["csv", "json"] as const).map((as) => (
          <button
            key={as}
            type="button"
            class="menu-item"
            onClick={() => {
              close();
              save(as);
            }}
          >
            {as.toUpperCase()}
          </button>
        ))
      }
    </Popover>
  );
}
