/** Keeps a fault of one part of the page from taking the others with it. */
import { Component, type ComponentChildren } from "preact";
import { EngineError } from "../engine/slab.ts";
import { ErrorMessage } from "./State.tsx";

interface Props {
  children: ComponentChildren;
}

export class ErrorBoundary extends Component<Props, { fault: string | null }> {
  override state = { fault: null };

  override componentDidCatch(fault: unknown): void {
    console.error(fault);
    this.setState({ fault: fault instanceof Error ? fault.message : String(fault) });
  }

  override render({ children }: Props, { fault }: { fault: string | null }) {
    if (fault === null) return children;
    return (
      <ErrorMessage
        error={new EngineError(`this part of the page failed: ${fault}`, "reload the page; please report it")}
      />
    );
  }
}
