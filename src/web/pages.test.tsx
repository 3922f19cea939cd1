import { describe, expect, it } from 'vitest';
import type { Overview } from '../api/wire/overview.ts';
import type { WebPage } from './noun.ts';
import { webNouns } from './nouns.gen.ts';
import { ANSWERS, EMPTY_ANSWERS } from './testing/examples.ts';
import { Refusal } from './testing/recorded-server.ts';
import { addressOf, rendered } from './testing/rendered.tsx';

const PAGES = webNouns.flatMap(({ pages }) => pages);
const cases = PAGES.map((page) => [addressOf(page), page] as const);
const all = (path: string): unknown => ANSWERS[path];
/** What the frame asks for is answered, whatever becomes of the page. */
const frameOr = (refusal: Refusal) => (path: string) => (path === '/me' ? ANSWERS[path] : refusal);

const refusal = (status: number, kind: string) =>
  new Refusal(status, {
    type: `urn:muster:fault:${kind}`,
    title: 'Refused',
    status,
    kind,
    detail: `The cause of ${kind}.`,
    remedy: `The remedy of ${kind}.`,
  });

const PLANTED = '<img src=x onerror=alert(1)>';
const MEANINGFUL = /^(phase|status|role|kind|mode|when|how|wire|agent_auth|update_policy|environment|is_cookie|link)$/;
const TIME = /^\d{4}-\d\d-\d\dT/;

/** The same answer with a planted element in every text that comes from users. */
function planted(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return MEANINGFUL.test(key) || TIME.test(value) ? value : `${value}${PLANTED}`;
  if (Array.isArray(value)) return value.map((one) => planted(one, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, planted(one, inner)]));
}

describe.each(cases)('the page %s', (_address, page) => {
  it('shows what the API answers', async () => {
    const { text } = await rendered(page, all);

    expect(text).not.toContain('role="alert"');
    expect(text).not.toContain('class="loading"');
    expect(text).not.toMatch(/undefined|NaN|\[object Object\]/);
    expect(text).toMatch(/<h1/);
  });

  it('loads with rows of skeletons', async () => {
    expect((await rendered(page)).text).toContain('class="loading"');
  });

  it('says the cause and the remedy of a failure', async () => {
    const { text } = await rendered(page, frameOr(refusal(500, 'internal')));

    expect(text).toContain('The cause of internal.');
    expect(text).toContain('The remedy of internal.');
  });

  it('says which role one needs who may not see it', async () => {
    const { text } = await rendered(page, frameOr(refusal(403, 'denied')));

    expect(text).toContain('Your role may not see this.');
    expect(text).toContain('The cause of denied.');
  });

  it('turns grey and says since when, with the data of then, while the server is away', async () => {
    const { server, again } = await rendered(page, all);
    server.live.connection.failed();
    const text = again();

    expect(text).toContain('<main id="content" tabindex="-1" class="stale"');
    expect(text).toMatch(/offline since \d\d:\d\d, data of then/);
    expect(text).not.toContain('class="loading"');
  });

  it('says that the browser is logged out once its token is', async () => {
    const { server, again } = await rendered(page, all);
    server.live.connection.refused();

    expect(again()).toContain('This browser is logged out.');
  });

  it('shows what users wrote as text', async () => {
    const { text } = await rendered(page, (path) => (path in ANSWERS ? planted(ANSWERS[path]) : undefined));

    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;img src=x onerror=alert(1)');
  });

  it('shows a viewer nothing that changes anything', async () => {
    const viewer = { ...(ANSWERS['/me'] as object), role: 'viewer' };
    const asViewer = (await rendered(page, (path) => (path === '/me' ? viewer : ANSWERS[path]))).text;

    for (const verb of [
      'Run',
      'Pause',
      'Resume',
      'Drain',
      'Remove',
      'Extend by 2 h',
      'Open a terminal',
      'Check',
      'Cancel',
      'Kill',
      'Approve the removal',
      'Read now',
      'Forget',
      'Revoke',
      'Approve',
      'New session',
      'Run again',
      'Show what it wrote as text',
    ])
      expect(asViewer).not.toMatch(new RegExp(`<(button|a)[^>]*>${verb}<`));
  });
});

const isList = ({ path }: WebPage): boolean => !path.includes(':') && path !== '/settings';

describe.each(cases.filter(([, page]) => isList(page)))('the list %s', (_address, page) => {
  it('says what it would show and how to make the first, where there are none', async () => {
    const { text } = await rendered(page, (path) => EMPTY_ANSWERS[path]);

    expect(text).toMatch(/<p>No |Nothing needs you/);
    expect(text).toMatch(/<code>(muster|kubectl) /);
  });
});

it('an operator sees the actions of a pool', async () => {
  const page = PAGES.find(({ path }) => path === '/pools/:name');
  const { text } = page ? await rendered(page, all) : { text: '' };

  for (const verb of ['Run', 'Pause', 'Drain', 'Plan']) expect(text).toMatch(new RegExp(`<(button|a)[^>]*>${verb}<`));
});

it('an operator sees the actions of a session', async () => {
  const page = PAGES.find(({ path }) => path === '/sessions/:id');
  const { text } = page ? await rendered(page, all) : { text: '' };

  for (const verb of ['Cancel', 'Kill', 'Run again', 'Download'])
    expect(text).toMatch(new RegExp(`<(button|a)[^>]*>${verb}<`));
});

it('the form for a new session is filled in with the session that it names', async () => {
  const page = PAGES.find(({ path }) => path === '/sessions/new');
  const { text } = page ? await rendered(page, all, '/sessions/new?again=s1') : { text: '' };

  expect(text).toContain('python train.py &#39;a word&#39;'.replaceAll('&#39;', "'"));
  expect(text).toContain('Its variables, whose values are never shown: A.');
});

it('a list ignores a filter that is none, and says so', async () => {
  const page = PAGES.find(({ path }) => path === '/pools');
  const { text } = page ? await rendered(page, all, '/pools?phase=sleepy&colour=red') : { text: '' };

  expect(text).toContain('Ignored, because this list has no such filter: phase=sleepy, colour=red');
});

it.each([
  [{ total: 2, in_error: 0, with_refused_documents: 0 }, '2 sources, none in error<'],
  [{ total: 2, in_error: 0, with_refused_documents: 1 }, '2 sources, 1 with refused documents<'],
  [{ total: 9, in_error: 2, with_refused_documents: 1 }, '9 sources, 2 in error, 1 with refused documents<'],
])('the overview sums up sources: %j', async (sources, expected) => {
  const page = PAGES.find(({ path }) => path === '/');
  const overview = { ...(ANSWERS['/overview'] as object), sources };
  const answer = (path: string): unknown => (path === '/overview' ? overview : ANSWERS[path]);

  expect(page && (await rendered(page, answer)).text).toContain(expected);
});

it('provisioners of nodes are asked for at once: the API has no pages of them', async () => {
  const page = PAGES.find(({ path }) => path === '/nodes');
  const asked = page ? (await rendered(page, all)).server.asked : [];

  expect(asked.filter((path) => path.includes('node-provisioners'))).toEqual(['/node-provisioners']);
});

it('the last events of the overview name what they are about, where that has a page', async () => {
  const page = PAGES.find(({ path }) => path === '/');
  const [event] = (ANSWERS['/overview'] as Overview).events;
  const events = ['computer/dev', 'image/i1'].map((subject) => ({ ...event, id: subject, pool: undefined, subject }));
  const overview = { ...(ANSWERS['/overview'] as Overview), events };
  const answer = (path: string): unknown => (path === '/overview' ? overview : ANSWERS[path]);
  const text = page ? (await rendered(page, answer)).text : '';

  expect(text).toContain('<a href="/computers/dev">computer/dev</a>');
  expect(text).not.toContain('image/i1');
});

it('a source shows each problem of a document with its line and column, and what waits for approval', async () => {
  const page = PAGES.find(({ path }) => path === '/sources/:id');
  const { text } = page ? await rendered(page, all) : { text: '' };

  expect(text).toContain('3:5 </span><code>auto_scaler.max_agent </code>is not a known key');
  expect(text).toContain('The removal of 2 pools waits for approval.');
  expect(text).toMatch(/<button[^>]*>Approve the removal</);
});

it('settings show tokens to admins alone, with a button to revoke each', async () => {
  const page = PAGES.find(({ path }) => path === '/settings');
  const as = (role: string) => (path: string) =>
    path === '/me' ? { ...(ANSWERS['/me'] as object), role } : ANSWERS[path];
  const toAdmin = page ? (await rendered(page, as('admin'))).text : '';
  const toOperator = page ? (await rendered(page, as('operator'))).text : '';

  expect(toAdmin).toMatch(/<button[^>]*>Revoke</);
  expect(toOperator).toContain('<h1>Settings</h1>');
  expect(toOperator).not.toContain('Tokens');
});
