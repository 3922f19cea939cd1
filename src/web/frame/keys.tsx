import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { WebNoun } from '../noun.ts';
import { Dialog } from './dialog.tsx';
import { Palette } from './palette.tsx';

const LETTER_WITHIN_MS = 1_500;

/** Where keys write text or choose among options. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.matches('input, textarea, select, [contenteditable]') || target.closest('.terminal, dialog') !== null);

/** The first link of the next row, or of the one before. */
function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? rows.find((row) => row.getBoundingClientRect().top >= 0) : rows[at + step];
  const link = next?.querySelector<HTMLElement>('a');
  link?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

type Open = 'palette' | 'keys' | undefined;

interface KeyEffects {
  readonly nouns: readonly WebNoun[];
  route(path: string): void;
  setOpen(open: Open): void;
}

/** What each key does; `g` and a letter go to a page. */
function keyReader({ nouns, route, setOpen }: KeyEffects): (event: KeyboardEvent) => void {
  let wentAtMs = Number.NEGATIVE_INFINITY;
  const effects: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    g: ({ timeStamp }) => {
      wentAtMs = timeStamp;
    },
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    Escape: () => (document.activeElement as HTMLElement | null)?.blur(),
    '?': () => setOpen('keys'),
    '/': (event) => {
      event.preventDefault();
      setOpen('palette');
    },
  };
  return (event) => {
    const isCommand = event.metaKey || event.ctrlKey;
    if (isCommand && event.key === 'k') return effects['/']?.(event);
    if (isCommand || event.altKey || isTyping(event)) return;
    const isSecond = event.timeStamp - wentAtMs < LETTER_WITHIN_MS;
    const noun = isSecond ? nouns.find(({ key }) => key === event.key) : undefined;
    if (!noun) return effects[event.key]?.(event);
    wentAtMs = Number.NEGATIVE_INFINITY;
    route(noun.path);
  };
}

/** The keys of every page, and what they open. */
export function Keys({ nouns }: { readonly nouns: readonly WebNoun[] }) {
  const { route } = useLocation();
  const [open, setOpen] = useState<Open>();
  useEffect(() => {
    const pressed = keyReader({ nouns, route, setOpen });
    const show = (event: Event): void => setOpen((event as CustomEvent<Open>).detail);
    addEventListener('keydown', pressed);
    addEventListener(OPEN, show);
    return () => {
      removeEventListener('keydown', pressed);
      removeEventListener(OPEN, show);
    };
  }, [nouns, route]);
  const close = (): void => setOpen(undefined);
  if (open === 'palette') return <Palette nouns={nouns} onClose={close} />;
  if (open === 'keys') return <KeyList nouns={nouns} onClose={close} />;
  return null;
}

const OPEN = 'muster-open';

/** Opens what a key opens too. */
export const openByButton = (what: Exclude<Open, undefined>): void =>
  void dispatchEvent(new CustomEvent(OPEN, { detail: what }));

const GENERAL: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K or /', 'go to anything by its name'],
  ['j and k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close, or leave the row'],
  ['?', 'this list'],
];

function KeyList({ nouns, onClose }: { readonly nouns: readonly WebNoun[]; readonly onClose: () => void }) {
  const going = nouns.flatMap(({ key, title }) => (key ? [[`g ${key}`, title] as const] : []));
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="facts">
        {[...GENERAL, ...going].map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
