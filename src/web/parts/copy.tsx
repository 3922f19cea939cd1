import { useRef, useState } from 'preact/hooks';
import { useLive } from '../live/use.ts';

const SAID_FOR_MS = 2_000;

interface CopyProps {
  readonly text: string;
  readonly label: string;
}

/** A text in one block, with a button that copies it. */
export function Copyable({ text, label }: CopyProps) {
  const { clock } = useLive();
  const ref = useRef<HTMLPreElement>(null);
  const [said, setSaid] = useState<string>();
  function say(what: string): void {
    setSaid(what);
    clock.after(SAID_FOR_MS, () => setSaid(undefined));
  }
  function select(): void {
    if (ref.current) getSelection()?.selectAllChildren(ref.current);
    say('Selected: copy it now');
  }
  // Browsers give the clipboard to pages of https and localhost alone.
  const copy = (): void =>
    void (navigator.clipboard ? navigator.clipboard.writeText(text).then(() => say('Copied'), select) : select());
  return (
    <section class="copyable" aria-label={label}>
      <pre ref={ref} tabIndex={0}>
        {text}
      </pre>
      <button type="button" onClick={copy}>
        {said ?? 'Copy'}
      </button>
    </section>
  );
}
