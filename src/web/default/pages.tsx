import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { UnknownPath } from '../frame/unknown-path.tsx';
import { useList } from '../live/list.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { Facts, Value, wordsOf } from '../parts/facts.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Loading, Shown } from '../parts/standing.tsx';
import { Ago } from '../parts/time.tsx';
import { type ApiDocument, type ListedNoun, listAt, listedNouns, type ShownKey } from './schema.ts';

type Row = Readonly<Record<string, unknown>>;

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function Cell({ value }: { readonly value: unknown }) {
  if (typeof value === 'string' && TIME.test(value)) return <Ago at={value} />;
  return value === undefined ? null : <Value value={value} />;
}

const columnOf = ({ key, isTime, isNumber }: ShownKey, at: number): Column<Row> => ({
  title: wordsOf(key),
  rank: at < 2 ? 1 : at < 4 ? 2 : 3,
  ...(isTime && { width: 8 }),
  ...(isNumber && { width: 6, isNumber }),
  show: (row) => <Cell value={row[key]} />,
});

/** The list of a noun, as the schema of its answer has it. */
export function DefaultList({ noun, listed }: { readonly noun: string; readonly listed: ListedNoun }) {
  const idOf = (row: Row): string => String(row[listed.nameKey]);
  const list = useList<Row>({ path: listed.path, idOf, isWhole: listed.isWhole });
  return (
    <>
      <h1 class="noun">{wordsOf(noun.replaceAll('-', ' '))}</h1>
      <p class="quiet">{listed.summary}</p>
      <Rows
        label={noun}
        list={list}
        columns={listed.keys.map(columnOf)}
        idOf={idOf}
        {...(listed.hasDetail && { href: (row: Row) => `/${noun}/${encodeURIComponent(idOf(row))}` })}
        empty={<Empty>There are none.</Empty>}
      />
    </>
  );
}

/** One of them, with all that the API says of it. */
export function DefaultDetail({ noun, name }: { readonly noun: string; readonly name: string }) {
  const asked = useAsked<Row>(`/${noun}/${encodeURIComponent(name)}`, { everyMs: 10_000 });
  return (
    <>
      <h1>{name}</h1>
      <Shown asked={asked}>
        {(row) => (
          <Facts of={Object.entries(row).map(([key, value]) => [wordsOf(key), <Cell key={key} value={value} />])} />
        )}
      </Shown>
    </>
  );
}

/** A path of no page: the list or detail of a noun of the API, or else the nearest pages. */
export function DefaultPages({ nouns }: { readonly nouns: readonly WebNoun[] }) {
  const live = useLive();
  const { path } = useLocation();
  const [document, setDocument] = useState<ApiDocument | 'none'>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const response = await live.fetch('/openapi.json', { credentials: 'same-origin' });
      setDocument(response.ok ? ((await response.json()) as ApiDocument) : 'none');
    };
    read().catch(() => setDocument('none'));
  }, [live]);
  if (document === undefined) return <Loading />;
  const [, noun = '', name, ...rest] = path.split('/').map(decodeURIComponent);
  const listed = document === 'none' ? undefined : listAt(noun, document);
  if (listed && name === undefined) return <DefaultList noun={noun} listed={listed} />;
  if (listed?.hasDetail && name !== undefined && rest.length === 0) return <DefaultDetail noun={noun} name={name} />;
  const others =
    document === 'none' ? [] : listedNouns(document).filter((one) => !nouns.some(({ path: p }) => p === `/${one}`));
  const more = others.map((one): WebNoun => ({ path: `/${one}`, title: one, order: 0, pages: [] }));
  return <UnknownPath nouns={[...nouns, ...more]} />;
}
