import type { EventList } from '../../api/wire/event.ts';
import type { PoolDocumentList } from '../../api/wire/plan.ts';
import type { Pool } from '../../api/wire/pool.ts';
import { useAsked } from '../live/use.ts';
import { Facts } from '../parts/facts.tsx';
import { Shown } from '../parts/standing.tsx';
import { Ago } from '../parts/time.tsx';
import { yamlLines } from '../parts/yaml.ts';

const snake = (word: string): string => word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The keys that the last version changed; the API never tells their former values, which may be secret. */
export function changedKeys(events: EventList | undefined): readonly string[] {
  const changed = events?.items[0]?.fields?.changed;
  return Array.isArray(changed) ? changed.map((path) => snake(String(path).split('.').at(-1) ?? '')) : [];
}

/** The document that defines a pool, where it stands, and what its last version changed. */
export function Definition({ pool }: { readonly pool: Pool }) {
  const { source, key, version, team } = pool.owner;
  const documents = useAsked<PoolDocumentList>(`/pool-documents?${new URLSearchParams({ name: pool.name })}`);
  const query = new URLSearchParams({ subject: `pool/${pool.name}`, kind: 'pool.changed', limit: '1' });
  const changed = changedKeys(useAsked<EventList>(`/events?${query}`).value);
  return (
    <section aria-label="Definition">
      <h2>Definition</h2>
      <Facts
        of={[
          ['Source', <a href={`/sources/${encodeURIComponent(source)}`}>{source}</a>],
          ['Document', <span class="mono">{key}</span>],
          ['Version', <span class="mono">{version}</span>],
          ['Team', team],
          ['Changed', <Ago at={pool.changed_at} />],
          ['Changed keys', changed.length > 0 && <span class="mono">{changed.join(', ')}</span>],
        ]}
      />
      <Shown asked={documents}>
        {({ items: [document] }) =>
          document?.document ? (
            <>
              <pre class="document" tabIndex={0}>
                {yamlLines(document.document).map((line, at) => {
                  const isChanged = changed.some((one) => line.trimStart().replace(/^- /, '').startsWith(`${one}:`));
                  return (
                    <code
                      key={at}
                      class={isChanged ? 'changed' : ''}
                      title={isChanged ? 'Changed by this version' : undefined}
                    >
                      {line}
                      {'\n'}
                    </code>
                  );
                })}
              </pre>
              {document.left_out.length > 0 && (
                <p class="quiet">
                  Left out, because it is secret or not for this role: {document.left_out.join(', ')}.
                </p>
              )}
            </>
          ) : (
            <p class="quiet">{document?.fault?.message ?? 'A pool that is being removed has no document.'}</p>
          )
        }
      </Shown>
    </section>
  );
}
