import type { WebNoun } from '../noun.ts';
import { Filters, useFilters } from '../parts/filters.tsx';
import { PoolPage } from '../pool/page.tsx';
import { PoolRows } from '../pool/rows.tsx';

const FILTERS = {
  q: { title: 'Name', kind: 'text' },
  phase: { title: 'Phase', kind: 'choice', choices: ['active', 'manual', 'paused', 'removing'] },
  problem: { title: 'Only with problems', kind: 'flag' },
  order: { title: 'Order', kind: 'choice', choices: ['name', 'queued', 'dollars', 'trouble'] },
  source: { title: 'Source', kind: 'text', isHidden: true },
} as const;

function PoolsPage() {
  const filters = useFilters(FILTERS);
  return (
    <>
      <h1>Pools</h1>
      <Filters filters={filters} />
      <PoolRows path={`/pools${filters.query}`} />
    </>
  );
}

export const noun: WebNoun = {
  path: '/pools',
  title: 'Pools',
  order: 20,
  key: 'p',
  pages: [
    { path: '/pools', page: PoolsPage },
    { path: '/pools/:name', page: PoolPage },
  ],
};
