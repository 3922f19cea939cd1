import { useSignalEffect } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Asked, Live } from './live.ts';

export const LiveContext = createContext<Live | undefined>(undefined);

/** The live data of the page that this part stands in. */
export function useLive(): Live {
  return useContext(LiveContext) as Live;
}

export interface AskedOptions {
  /** Asks again so often, while the page is visible. */
  readonly everyMs?: number;
  /** The row of the stream that the answer is; it then changes without asking. */
  readonly table?: string;
  readonly idOf?: (value: never) => string;
}

/** The answer to a path, kept up to date while it is on the page. Nothing is asked without a path. */
export function useAsked<T>(path: string | undefined, { everyMs, table, idOf }: AskedOptions = {}): Asked<T> {
  const live = useLive();
  const known = live.known<T>(path ?? '');
  useEffect(() => {
    if (path === undefined) return;
    let cancel = (): void => {};
    let isOver = false;
    const askOnce = async (): Promise<void> => {
      await live.refresh(path);
      wait();
    };
    // A hidden page asks for nothing.
    const again = (): void => (live.isVisible() ? void askOnce() : wait());
    const wait = (): void => {
      if (everyMs !== undefined && !isOver) cancel = live.clock.after(everyMs, again);
    };
    void askOnce();
    return () => {
      isOver = true;
      cancel();
    };
  }, [live, path, everyMs]);
  const { value } = known.value;
  const id = value !== undefined && idOf ? idOf(value as never) : undefined;
  useEffect(() => {
    if (path === undefined || table === undefined || id === undefined) return;
    const askAgain = (): void => void live.refresh(path);
    return live.follow({
      table,
      ids: [id],
      // Only the API says why a row is there no more.
      changed: (_id, row) => (row === undefined ? askAgain() : live.put(path, row)),
      reset: askAgain,
    });
  }, [live, path, table, id]);
  useAgainWhenBack(path);
  return known.value;
}

/** Asks again as soon as the server is back. */
function useAgainWhenBack(path: string | undefined): void {
  const live = useLive();
  useSignalEffect(() => {
    const isBack = live.connection.state.value === 'live';
    if (isBack && path !== undefined && live.known(path).peek().problem?.kind === 'unavailable')
      void live.refresh(path);
  });
}
