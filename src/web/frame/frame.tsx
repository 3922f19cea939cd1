import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Overview } from '../../api/wire/overview.ts';
import type { Me } from '../../api/wire/token.ts';
import { ME_PATH, useMe } from '../live/session.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { clockTime } from '../parts/words.ts';
import { Keys, openByButton } from './keys.tsx';
import { zone } from './preferences.ts';

const ME_EVERY_MS = 60_000;
export const OVERVIEW_PATH = '/overview';
const OVERVIEW_EVERY_MS = 2_000;
const QUIET_OVERVIEW_EVERY_MS = 30_000;

const isBelow = (path: string, of: string): boolean => (of === '/' ? path === '/' : `${path}/`.startsWith(`${of}/`));

/** Only what this server has. */
function inMenu(nouns: readonly WebNoun[], overview: Overview | undefined): readonly WebNoun[] {
  const hasAny = (part: NonNullable<WebNoun['needs']>): boolean => (overview?.[part]?.total ?? 0) > 0;
  return nouns.filter(({ isHidden, needs }) => !isHidden && (needs === undefined || hasAny(needs)));
}

function Links({ nouns }: { readonly nouns: readonly WebNoun[] }) {
  const { path } = useLocation();
  return (
    <>
      {nouns.map(({ title, path: to }) => (
        <a key={to} href={to} aria-current={isBelow(path, to) ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </>
  );
}

/** Whether the data on the page is that of now. */
function ConnectionDot() {
  const { state, goodAtMs } = useLive().connection;
  const since = clockTime(goodAtMs.value, zone.value);
  const text = {
    connecting: 'connecting',
    live: 'live',
    offline: `offline since ${since}, data of then`,
    ended: 'logged out',
  }[state.value];
  const tone = { connecting: 'wait', live: 'ok', offline: 'problem', ended: 'problem' }[state.value];
  return (
    <span class="state connection" role="status">
      <span class={`dot ${tone}`} aria-hidden="true" />
      {text}
    </span>
  );
}

function Ended() {
  return (
    <div class="banner" role="alert">
      <p>
        <strong>This browser is logged out.</strong> The data below is no longer kept up to date.
      </p>
      <p>
        Get a new link with <code>muster login</code> and open it.
      </p>
    </div>
  );
}

/** The bar above every page, and the page itself; grey while the server is away. */
export function Frame({
  nouns,
  children,
}: {
  readonly nouns: readonly WebNoun[];
  readonly children: ComponentChildren;
}) {
  const { connection } = useLive();
  const { path } = useLocation();
  useAsked<Me>(ME_PATH, { everyMs: ME_EVERY_MS });
  const everyMs = path === '/' ? OVERVIEW_EVERY_MS : QUIET_OVERVIEW_EVERY_MS;
  const overview = useAsked<Overview>(OVERVIEW_PATH, { everyMs }).value;
  const me = useMe();
  const menu = inMenu(nouns, overview);
  const state = connection.state.value;
  const title = nouns.find((noun) => isBelow(path, noun.path))?.title;
  useEffect(() => {
    const rest = path.split('/').slice(2).join('/');
    document.title = [rest && decodeURIComponent(rest), title, 'Muster'].filter(Boolean).join(' · ');
  }, [path, title]);
  return (
    <>
      <a class="skip" href="#content">
        Go to the content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          Muster
        </a>
        <nav class="wide" aria-label="Pages">
          <Links nouns={menu} />
        </nav>
        <details class="narrow menu">
          <summary>Menu</summary>
          <nav
            aria-label="All pages"
            onClick={(event) => event.currentTarget.closest('details')?.removeAttribute('open')}
          >
            <Links nouns={menu} />
          </nav>
        </details>
        <span class="space" />
        <button
          type="button"
          class="plain"
          aria-label="Go to anything by its name"
          onClick={() => openByButton('palette')}
        >
          <kbd>⌘K</kbd>
        </button>
        <ConnectionDot />
        {me && (
          <a class="me" href="/settings" title={`Logged in as ${me.name}`}>
            {me.name} ({me.role})
          </a>
        )}
      </header>
      {state === 'ended' && <Ended />}
      <main id="content" tabIndex={-1} class={state === 'offline' || state === 'ended' ? 'stale' : ''}>
        {children}
      </main>
      <Keys nouns={nouns} />
    </>
  );
}
