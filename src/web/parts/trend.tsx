import type { Series } from '../../api/wire/series.ts';
import { useAsked } from '../live/use.ts';
import { nowMs } from './time.tsx';

const EVERY_MS = 60_000;
const SHOWN_MS = 3_600_000;
const WIDTH = 96;
const HEIGHT = 20;

/** Where a line through these values goes: an hour from left to right, the largest at the top. */
export function trendPath(values: readonly (readonly [atMs: number, value: number])[], untilMs: number): string {
  const most = Math.max(1, ...values.map(([, value]) => value));
  const x = (atMs: number): number => Math.max(0, WIDTH - ((untilMs - atMs) / SHOWN_MS) * WIDTH);
  const y = (value: number): number => HEIGHT - 1 - (value / most) * (HEIGHT - 2);
  return values
    .map(([atMs, value], at) => `${at === 0 ? 'M' : 'L'}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('');
}

/** The demand of a pool in the last hour, small enough for a row. */
export function Trend({ pool }: { readonly pool: string }) {
  const { value } = useAsked<Series>(`/pools/${encodeURIComponent(pool)}/series`, { everyMs: EVERY_MS });
  if (!value || value.points.length < 2) return null;
  const demand = value.points.map(({ at, queued, busy }) => [Date.parse(at), queued + busy] as const);
  return (
    <svg
      class="trend"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Demand, at most ${Math.max(...demand.map(([, most]) => most))}`}
    >
      <path d={trendPath(demand, nowMs.peek())} />
    </svg>
  );
}
