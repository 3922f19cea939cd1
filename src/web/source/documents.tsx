import type { SourceDocument, SourceDocumentList } from '../../api/wire/source.ts';
import { useList } from '../live/list.ts';
import { useAsked } from '../live/use.ts';
import { ProblemList } from '../parts/problem-list.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { counted } from '../parts/words.ts';
import { poolHref } from '../pool/state.ts';

const EVERY_MS = 5_000;

type Problems = NonNullable<NonNullable<SourceDocument['fault']>['problems']>;

/** Every problem; a document with one alone names its place in its fault. */
const problemsOf = ({ fault }: SourceDocument): Problems =>
  fault ? (fault.problems ?? [{ path: fault.place ?? '', message: fault.message }]) : [];

/** What is wrong with the documents of a source, each problem with line and column. */
export function Refused({ path }: { readonly path: string }) {
  const asked = useAsked<SourceDocumentList>(`${path}/documents?${new URLSearchParams({ faulty: 'true' })}`, {
    everyMs: EVERY_MS,
  });
  return (
    <Shown asked={asked} rows={2}>
      {({ items, next }) =>
        items.length > 0 && (
          <section aria-label="Refused documents">
            <h2>Refused documents</h2>
            {items.map((document) => (
              <section key={document.key} class="standing trouble" aria-label={document.key}>
                <p>
                  <strong class="mono">{document.key}</strong>
                  {document.pool !== undefined && (
                    <span class="quiet">
                      {' '}
                      Pool <a href={poolHref(document.pool)}>{document.pool}</a> goes on as its last good version.
                    </span>
                  )}
                </p>
                <ProblemList problems={problemsOf(document)} />
              </section>
            ))}
            {next !== undefined && <p class="quiet">More follow when these are corrected.</p>}
          </section>
        )
      }
    </Shown>
  );
}

const keyOf = ({ key }: SourceDocument): string => key;

function DocumentState({ document }: { readonly document: SourceDocument }) {
  const { missed, fault } = document;
  if (fault) return <State word="refused" title={fault.message} />;
  if (missed > 0) return <State word="missing" tone="wait" title={`Not in ${counted(missed, 'listing')} in a row.`} />;
  return <State word="in force" tone="ok" />;
}

const COLUMNS: readonly Column<SourceDocument>[] = [
  { title: 'Document', show: ({ key }) => <span class="mono">{key}</span> },
  { title: 'State', width: 7, show: (document) => <DocumentState document={document} /> },
  { title: 'Pool', rank: 2, show: ({ pool }) => pool !== undefined && <a href={poolHref(pool)}>{pool}</a> },
  { title: 'Team', width: 9, rank: 3, show: ({ team }) => team },
  { title: 'Version', width: 10, rank: 3, show: ({ version }) => <span class="mono">{version}</span> },
  { title: 'Since', width: 7, rank: 2, isNumber: true, show: ({ read_at: at }) => at && <Ago at={at} /> },
];

export function Documents({ path }: { readonly path: string }) {
  const list = useList<SourceDocument>({ path: `${path}/documents`, idOf: keyOf });
  return (
    <section aria-label="Documents">
      <h2>Documents</h2>
      <Rows
        label="Documents"
        list={list}
        columns={COLUMNS}
        idOf={keyOf}
        empty={<Empty>No documents. Each document of a source defines one pool.</Empty>}
      />
    </section>
  );
}
