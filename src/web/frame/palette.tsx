import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Found } from '../../api/wire/find.ts';
import { useLive } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { Dialog } from './dialog.tsx';

const ASK_AFTER_MS = 120;

type Hit = Found['items'][number];

/** Pages whose title holds what was written; what the server finds comes behind them. */
function pagesFor(nouns: readonly WebNoun[], words: string): readonly Hit[] {
  return nouns
    .filter(({ title }) => title.toLowerCase().includes(words.toLowerCase()))
    .map(({ title, path }) => ({ kind: 'page', name: title, link: path, text: '' }));
}

/** Goes to any page, pool, session, worker or source by its name. */
export function Palette({ nouns, onClose }: { readonly nouns: readonly WebNoun[]; readonly onClose: () => void }) {
  const live = useLive();
  const { route } = useLocation();
  const [words, setWords] = useState('');
  const [found, setFound] = useState<readonly Hit[]>([]);
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    if (words.trim() === '') return setFound([]);
    const over = new AbortController();
    const search = async (): Promise<void> => {
      const query = new URLSearchParams({ q: words.trim() });
      const { value } = await live.ask<Found>(`/find?${query}`, { signal: over.signal });
      if (value && !over.signal.aborted) setFound(value.items);
    };
    const cancel = live.clock.after(ASK_AFTER_MS, () => void search());
    return () => {
      cancel();
      over.abort();
    };
  }, [live, words]);
  const hits = [...pagesFor(nouns, words.trim()), ...found];
  const at = Math.min(chosen, Math.max(0, hits.length - 1));
  function go(hit: Hit | undefined): void {
    if (!hit) return;
    onClose();
    route(hit.link);
  }
  function pressed(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === undefined) go(hits[at]);
    else setChosen((at + step + hits.length) % Math.max(1, hits.length));
  }
  return (
    <Dialog label="Go to" onClose={onClose}>
      <input
        class="palette-words"
        role="combobox"
        aria-label="Name of a page, pool, session, worker or source"
        aria-expanded="true"
        aria-controls="palette-hits"
        aria-activedescendant={hits[at] && `hit-${at}`}
        placeholder="Go to a pool, session, worker, source …"
        autoFocus
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={pressed}
      />
      <div id="palette-hits" class="palette-hits" role="listbox" aria-label="Found">
        {hits.map((hit, place) => (
          <div
            key={hit.link}
            id={`hit-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => go(hit)}
            tabIndex={-1}
          >
            <span class="quiet">{hit.kind}</span> <strong>{hit.name}</strong> <span class="quiet">{hit.text}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && <p class="quiet">Nothing has this name.</p>}
    </Dialog>
  );
}
