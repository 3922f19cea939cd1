import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Figure } from './bench.ts';
import { isMet, MEASURES, type Measure, targetOf } from './measures.ts';

const GIGABYTE = 2 ** 30;

/** What the figures were taken on, and how busy it was. */
export function describeMachine(): string {
  const load = loadavg().map((value) => value.toFixed(1));
  const memory = `${Math.round(totalmem() / GIGABYTE)} GB`;
  return `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${memory}, Node ${process.version}, load ${load.join(' ')}`;
}

function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

const WIDTHS = [30, 10, 12, 12, 4] as const;

const columns = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(' ');

export const heading = (): string => `${columns(['measure', 'variant', 'value', 'target', 'ok'])}  what`;

export function tableLine({ name, variant = '', value, note }: Figure): string {
  const { unit, what, atMost }: Measure = MEASURES[name];
  const target = targetOf(name);
  const sign = atMost === undefined ? '≥' : '≤';
  const shownTarget = target === undefined ? '' : `${sign} ${rounded(target)} ${unit}`;
  const ok = isMet(name, value);
  const verdict = ok === undefined ? '' : ok ? 'yes' : 'NO';
  const text = note === undefined ? what : `${what} (${note})`;
  return `${columns([name, variant, `${rounded(value)} ${unit}`, shownTarget, verdict])}  ${text}`;
}

/** One object a line, for programs. */
export function jsonLine({ name, variant, value, note }: Figure): string {
  return JSON.stringify({
    name: variant === undefined ? name : `${name}/${variant}`,
    value,
    unit: MEASURES[name].unit,
    target: targetOf(name) ?? null,
    ok: isMet(name, value) ?? null,
    ...(note !== undefined && { note }),
  });
}
