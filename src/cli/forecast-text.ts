// A forecast as people see it: one line a figure, one column a policy.
import { styleText } from 'node:util';
import type { Forecast, ForecastDecided, ForecastFigures, Shadow } from '../api/wire/forecast.ts';
import { moment } from './show.ts';
import { type Column, oneLine, pairsLine, renderTable } from './table.ts';

interface Line {
  readonly title: string;
  readonly of: (figures: ForecastFigures) => string | number;
}

const LINES: readonly Line[] = [
  { title: 'sessions', of: ({ sessions }) => sessions },
  { title: 'wait p50', of: ({ waits }) => waits.p50 },
  { title: 'wait p95', of: ({ waits }) => waits.p95 },
  { title: 'wait p99', of: ({ waits }) => waits.p99 },
  { title: 'still waiting', of: ({ waiting }) => waiting },
  { title: 'machines launched', of: ({ launches }) => launches },
  { title: 'launches refused', of: ({ refused }) => refused },
  { title: 'machine hours', of: ({ machine_hours: hours }) => hours.toFixed(1) },
  { title: 'dollars', of: ({ dollars, machines_without_price: unpriced }) => dollarsText(dollars, unpriced) },
];

const dollarsText = (dollars: number, unpriced: number): string =>
  unpriced > 0 ? `${dollars.toFixed(2)}, ${unpriced} machines without a price` : dollars.toFixed(2);

export function forecastText({ pool, from, until, recorded, today, other, notes }: Forecast): string {
  const changed = other && (other.set ? changesText(other.set) : 'SHADOW');
  const column = (title: string, figures: ForecastFigures): Column<Line> => {
    return { title, value: ({ of }) => of(figures), align: 'right' };
  };
  const columns: Column<Line>[] = [
    { title: '', value: ({ title }) => title },
    ...(recorded ? [column('RECORDED', recorded)] : []),
    column('TODAY', today),
    ...(other && changed !== undefined ? [column(changed, other)] : []),
  ];
  const parts = [
    `Pool ${pool}, from ${moment(from)} to ${moment(until)}.${recorded ? ' RECORDED is what happened; the rest is computed.' : ''}`,
    renderTable(LINES, columns),
    ...(other ? [differenceText(other, changed ?? '')] : []),
    ...[...(other?.warnings ?? []).map((warning) => `${changed}: ${warning}`), ...notes].map(
      (note) => `${styleText('yellow', 'note')} ${oneLine(note)}`,
    ),
  ];
  return parts.join('\n\n');
}

export function shadowText({ pool, since, by, forecast, problem }: Shadow): string {
  const about = `Set ${moment(since)} by ${oneLine(by)}; computed again every 5 minutes. It decides nothing.`;
  const none = forecast ? [] : [`Nothing has been computed yet for pool ${pool}.`];
  const why = problem === undefined ? [] : [`${styleText('yellow', 'note')} ${oneLine(problem)}`];
  return [about, ...(forecast ? [forecastText(forecast)] : none), ...why].join('\n\n');
}

const changesText = (set: Readonly<Record<string, unknown>>): string => {
  const texts = Object.entries(set).map(([key, value]) => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return pairsLine(Object.fromEntries(texts));
};

function differenceText({ first_difference: difference }: NonNullable<Forecast['other']>, changed: string): string {
  if (!difference) return 'Both policies decide the same.';
  const { at, today, other } = difference;
  const lines = [
    ['today', today],
    [changed, other],
  ] as const;
  const decided = lines.map(([name, decision]) => `  ${name}: ${decision ? decidedText(decision) : 'nothing yet'}`);
  return [`${styleText('bold', 'First decision that differs')}: ${moment(at)}`, ...decided].join('\n');
}

const decidedText = ({ did, why }: ForecastDecided): string => `${oneLine(did)}. ${oneLine(why)}`;
