import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The dialog of the browser: it keeps the focus, closes with Escape, and gives the focus back. */
export function Dialog({ label, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next key: what a fast hand types behind `/` belongs to the dialog.
  useLayoutEffect(() => ref.current?.showModal(), []);
  return (
    <dialog
      ref={ref}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        // Only the space around the content is the dialog itself.
        if (event.target === ref.current) ref.current?.close();
      }}
    >
      <div class="inside">{children}</div>
    </dialog>
  );
}
