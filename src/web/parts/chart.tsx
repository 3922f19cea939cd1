import { useEffect, useRef, useState } from 'preact/hooks';
import type { Series } from '../../api/wire/series.ts';
import { theme, zone } from '../frame/preferences.ts';
import type { Plot, PlotData, PlotLine, PlotSpan } from './plot.ts';
import { nowMs } from './time.tsx';
import { moment, number } from './words.ts';

/** A moment of the chart that one can open. */
export interface ChartMark {
  readonly id: string;
  readonly atMs: number;
  readonly text: string;
}

interface ChartProps {
  readonly label: string;
  readonly series: Series;
  readonly limits?: { readonly min: number; readonly max: number } | undefined;
  readonly heightPx: number;
  readonly marks?: readonly ChartMark[];
  readonly chosen?: string | undefined;
  readonly choose?: (id: string) => void;
}

const LINES: readonly PlotLine[] = [
  { title: 'Demand (queued and busy)', colour: '--accent', look: 'area' },
  { title: 'Capacity', colour: '--g8', look: 'line' },
  { title: 'Wanted', colour: '--g5', look: 'thin' },
];
const LIMITS: readonly PlotLine[] = [
  { title: 'Min', colour: '--g5', look: 'thin' },
  { title: 'Max', colour: '--problem', look: 'thin' },
];

function dataOf({ points }: Series, limits: ChartProps['limits']): PlotData {
  return [
    points.map(({ at }) => Date.parse(at) / 1_000),
    points.map(({ queued, busy }) => queued + busy),
    points.map(({ busy, idle, starting }) => busy + idle + starting),
    points.map(({ wanted }) => wanted),
    ...(limits ? [points.map(() => limits.min), points.map(() => limits.max)] : []),
  ];
}

function summary({ points }: Series): string {
  const last = points.at(-1);
  if (!last) return 'No values yet.';
  const most = Math.max(...points.map(({ queued, busy }) => queued + busy));
  return `Demand now ${number(last.queued + last.busy)}, at most ${number(most)}; capacity now ${number(last.busy + last.idle + last.starting)}.`;
}

const nowS = (): number => nowMs.peek() / 1_000;

/** Marks that would cover each other share one. */
const MARK_PX = 7;

/** Of those that share a mark each click chooses the next. */
const nextOf = (marks: readonly ChartMark[], chosen: string | undefined): string =>
  marks[(marks.findIndex(({ id }) => id === chosen) + 1) % marks.length]?.id ?? '';

function Marks({ marks, span, chosen, choose }: { span: PlotSpan } & Pick<ChartProps, 'marks' | 'chosen' | 'choose'>) {
  const placed = new Map<number, ChartMark[]>();
  for (const mark of marks ?? []) {
    const share = (mark.atMs - span.fromMs) / (span.toMs - span.fromMs);
    if (share < 0 || share > 1) continue;
    const at = Math.round((span.leftPx + share * span.widthPx) / MARK_PX) * MARK_PX;
    placed.set(at, [...(placed.get(at) ?? []), mark]);
  }
  return (
    <div class="marks">
      {[...placed].map(([leftPx, here]) => {
        const [first, ...others] = here;
        if (!first) return null;
        const text = `${moment(first.atMs, zone.value)} ${first.text}${others.length > 0 ? `, and ${others.length} more` : ''}`;
        return (
          <button
            key={leftPx}
            type="button"
            style={`left: ${leftPx}px`}
            title={text}
            aria-label={text}
            aria-pressed={here.some(({ id }) => id === chosen)}
            onClick={() => choose?.(nextOf(here, chosen))}
          />
        );
      })}
    </div>
  );
}

/** Demand against capacity over time. Hovering shows the exact values. */
export function Chart({ label, series, limits, heightPx, marks, chosen, choose }: ChartProps) {
  const ref = useRef<HTMLDivElement>(null);
  const legendRef = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>();
  const [span, setSpan] = useState<PlotSpan>();
  const [hasFailed, setFailed] = useState(false);
  const data = dataOf(series, limits);
  const latest = useRef(data);
  latest.current = data;
  const hasLimits = limits !== undefined;
  const isUtc = zone.value === 'utc';
  useEffect(() => {
    let isOver = false;
    const open = async (): Promise<void> => {
      const { openPlot } = await import('./plot.ts');
      if (isOver || !ref.current || !legendRef.current) return;
      const lines = hasLimits ? [...LINES, ...LIMITS] : LINES;
      const legend = legendRef.current;
      plot.current = openPlot(ref.current, latest.current, { lines, heightPx, isUtc, legend, nowS, drawn: setSpan });
    };
    // A server of another version has other files.
    open().catch(() => setFailed(true));
    return () => {
      isOver = true;
      plot.current?.remove();
      plot.current = undefined;
    };
  }, [hasLimits, heightPx, isUtc, theme.value]);
  useEffect(() => plot.current?.set(data), [series, limits?.min, limits?.max]);
  return (
    <figure class="chart" aria-label={label}>
      <figcaption class={hasFailed ? '' : 'only-read'}>
        {summary(series)} {hasFailed && 'The chart cannot be loaded: load the page again.'}
      </figcaption>
      <div ref={ref} style={`min-height: ${heightPx}px`} aria-hidden="true" />
      {span && marks && <Marks marks={marks} span={span} chosen={chosen} {...(choose && { choose })} />}
      <div ref={legendRef} aria-hidden="true" />
    </figure>
  );
}
