import { useEffect } from 'preact/hooks';
import type { Pool } from '../../api/wire/pool.ts';
import type { Worker } from '../../api/wire/worker.ts';
import { useList } from '../live/list.ts';
import { toneOf } from '../parts/state.tsx';
import { counted } from '../parts/words.ts';
import { nameOf, WorkerRows, workerHref } from '../worker/rows.tsx';

/** With more workers than this each is one cell. */
const MOST_ROWS = 40;
/** As many cells as one stream follows. */
const MOST_FOLLOWED = 150;

/** Busy and idle look alike in a word's colour; as cells they must not. */
const cellTone = (phase: Worker['phase']): string => (phase === 'idle' ? 'idle' : toneOf(phase));

function Cells({ path }: { readonly path: string }) {
  const list = useList<Worker>({ path, table: 'workers', idOf: nameOf });
  const workers = list.rows.value;
  useEffect(() => list.show(0, Math.min(workers.length, MOST_FOLLOWED)), [list, workers.length]);
  return (
    <>
      <div class="cells">
        {workers.map(({ name, phase }) => (
          <a key={name} href={workerHref(name)} class={`fill ${cellTone(phase)}`} title={`${name}: ${phase}`}>
            <span class="only-read">
              {name} {phase}
            </span>
          </a>
        ))}
      </div>
      {list.hasMore.value && (
        <button type="button" onClick={() => list.loadMore()}>
          Show more
        </button>
      )}
      <p class="quiet small">
        {counted(workers.length, 'worker')}: green busy, light green idle, amber on its way, red lost.
      </p>
    </>
  );
}

/** The workers of a pool: a table of few, cells for many. */
export function PoolWorkers({ pool: { name, workers } }: { readonly pool: Pool }) {
  const query = new URLSearchParams({ pool: name });
  return (
    <section aria-label="Workers">
      <h2>
        <a href={`/workers?${query}`}>Workers</a>
      </h2>
      {workers.total > MOST_ROWS ? <Cells path={`/workers?${query}`} /> : <WorkerRows path={`/workers?${query}`} />}
    </section>
  );
}
