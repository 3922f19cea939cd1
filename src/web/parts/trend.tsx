import type { Series } from '../../api/wire/series.ts';
import { useAsked } from '../live/use.ts';

const EVERY_MS = 60_000;
const WIDTH = 96;
const HEIGHT = 20;

/** Where a line through these values goes, the largest at the top. */
export function trendPath(values: readonly number[]): string {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const y = (value: number): number => HEIGHT - 1 - (value / most) * (HEIGHT - 2);
  return values.map((value, at) => `${at === 0 ? 'M' : 'L'}${(at * step).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}

/** The demand of a pool in the last hour, small enough for a row. */
export function Trend({ pool }: { readonly pool: string }) {
  const { value } = useAsked<Series>(`/pools/${encodeURIComponent(pool)}/series`, { everyMs: EVERY_MS });
  if (!value || value.points.length < 2) return null;
  const demand = value.points.map(({ queued, busy }) => queued + busy);
  return (
    <svg
      class="trend"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Demand, at most ${Math.max(...demand)}`}
    >
      <path d={trendPath(demand)} />
    </svg>
  );
}
