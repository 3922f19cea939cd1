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
  const isOver = useRef(false);
  function end(): void {
    if (isOver.current) return;
    isOver.current = true;
    ref.current?.close();
    onClose();
  }
  return (
    <dialog
      ref={ref}
      aria-label={label}
      // The event of the close comes after the next key: it would end the dialog that this key has opened.
      onCancel={end}
      onClose={end}
      onClick={(event) => {
        // Only the space around the content is the dialog itself.
        if (event.target === ref.current) end();
      }}
    >
      <div class="inside">{children}</div>
    </dialog>
  );
}
