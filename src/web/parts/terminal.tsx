import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectedTerminal } from './xterm.ts';

interface TerminalProps {
  /** The id of a session that has a terminal. */
  readonly session: string;
}

/** The terminal of a session, in place. */
export function Terminal({ session }: TerminalProps) {
  const ref = useRef<HTMLDivElement>(null);
  const [ending, setEnding] = useState<string>();
  useEffect(() => {
    let isOver = false;
    let opened: ConnectedTerminal | undefined;
    const open = async (): Promise<void> => {
      const { openTerminal } = await import('./xterm.ts');
      if (!isOver && ref.current) opened = openTerminal(ref.current, session, setEnding);
    };
    open().catch(() => setEnding('The terminal cannot be loaded: load the page again.'));
    return () => {
      isOver = true;
      opened?.close();
    };
  }, [session]);
  return (
    <section class="terminal" aria-label="Terminal">
      <div ref={ref} class="screen" />
      {ending !== undefined && (
        <p class="quiet" role="status">
          {ending}
        </p>
      )}
      <p class="quiet small">The terminal takes all keys. Ctrl Shift Esc leaves it.</p>
    </section>
  );
}
