import { LocationProvider, Route, Router } from 'preact-iso/router';
import { DefaultPages } from '../default/pages.tsx';
import type { Live } from '../live/live.ts';
import { LiveContext } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { webNouns } from '../nouns.gen.ts';
import { Frame } from './frame.tsx';

/** Paths that are no pages of the dashboard: the browser loads them itself. */
const SCOPE = /^\/(?!(?:api|assets|docs|login|logout|metrics|openapi\.json)(?:[/?#]|$))/;

const nouns: readonly WebNoun[] = webNouns.toSorted((a, b) => a.order - b.order);

const OtherPages = () => <DefaultPages nouns={nouns} />;

export function Dashboard({ live }: { readonly live: Live }) {
  return (
    <LiveContext.Provider value={live}>
      <LocationProvider scope={SCOPE}>
        <Frame nouns={nouns}>
          <Router>
            {nouns.flatMap(({ pages }) =>
              pages.map(({ path, page }) => <Route key={path} path={path} component={page} />),
            )}
            <Route default component={OtherPages} />
          </Router>
        </Frame>
      </LocationProvider>
    </LiveContext.Provider>
  );
}
