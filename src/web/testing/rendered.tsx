import { LocationProvider } from 'preact-iso/router';
import { renderToString } from 'preact-render-to-string';
import { Frame } from '../frame/frame.tsx';
import type { Live } from '../live/live.ts';
import { LiveContext } from '../live/use.ts';
import type { WebPage } from '../noun.ts';
import { webNouns } from '../nouns.gen.ts';
import { nowMs } from '../parts/time.tsx';
import { NAMES } from './examples.ts';
import { NOW } from './now.ts';
import { type RecordedServer, recordedServer } from './recorded-server.ts';

/** The address of a page with its names filled in. */
export const addressOf = ({ path }: WebPage): string => path.replace(/:(\w+)/, NAMES[path] ?? 'missing');

const paramsOf = ({ path }: WebPage): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => [name, NAMES[path] ?? 'missing']));

function location(address: string) {
  const url = new URL(address, 'http://127.0.0.1');
  const nothing = (): void => {};
  const query = Object.fromEntries(url.searchParams);
  return { url: address, path: url.pathname, query, route: nothing, back: nothing, forward: nothing, wasPush: false };
}

function html(live: Live, page: WebPage, address: string): string {
  const Page = page.page;
  return renderToString(
    <LiveContext.Provider value={live}>
      <LocationProvider.ctx.Provider value={location(address)}>
        <Frame nouns={webNouns}>
          <Page params={paramsOf(page)} />
        </Frame>
      </LocationProvider.ctx.Provider>
    </LiveContext.Provider>,
  );
}

export interface Rendered {
  readonly text: string;
  readonly server: RecordedServer;
  /** The page again, as it is now. */
  again(): string;
}

/** A page with what the server answers to all that it asks for; without answers it is still loading. */
export async function rendered(
  page: WebPage,
  answer?: (path: string) => unknown,
  address = addressOf(page),
): Promise<Rendered> {
  nowMs.value = Date.parse(NOW);
  const server = recordedServer();
  const asked = new Set<string>();
  const live: Live = {
    ...server.live,
    known(path) {
      asked.add(path);
      return server.live.known(path);
    },
  };
  const answered = new Set<string>();
  const again = (): string => html(live, page, address);
  let text = again();
  // What is shown may ask for more.
  while (answer && [...asked].some((path) => path !== '' && !answered.has(path))) {
    for (const path of [...asked].filter((one) => one !== '' && !answered.has(one))) {
      answered.add(path);
      const value = answer(path.split('?')[0] ?? '');
      if (value !== undefined) server.answers.set(path, () => value);
      await live.refresh(path);
    }
    text = again();
  }
  return { text, server, again };
}
