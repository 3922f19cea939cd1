import { useEffect, useRef, useState } from 'preact/hooks';
import { useLive } from '../live/use.ts';
import type { ConnectedTerminal } from './xterm.ts';

interface TerminalProps {
  /** The id of a session that has a terminal. */
  readonly session: string;
}

/** The terminal of a session, in place. */
export function Terminal({ session }: TerminalProps) {
  const { clock, connection } = useLive();
  const ref = useRef<HTMLDivElement>(null);
  const [said, say] = useState<string>();
  useEffect(() => {
    let isOver = false;
    let opened: ConnectedTerminal | undefined;
    const open = async (): Promise<void> => {
      const { openTerminal } = await import('./xterm.ts');
      if (!isOver && ref.current) opened = openTerminal(ref.current, { session, clock, connection, say });
    };
    open().catch(() => say('The terminal cannot be loaded: load the page again.'));
    return () => {
      isOver = true;
      opened?.close();
    };
  }, [session, clock, connection]);
  return (
    <section class="terminal" aria-label="Terminal">
      <div ref={ref} class="screen" />
      {said !== undefined && (
        <p class="quiet" role="status">
          {said}
        </p>
      )}
      <p class="quiet small">The terminal takes all keys. Ctrl Shift Esc leaves it.</p>
    </section>
  );
}
