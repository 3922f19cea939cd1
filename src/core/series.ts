import { type Row, records } from './table.ts';

/** What a pool had at a minute, or all pools together. */
export interface SeriesValues {
  readonly queued: number;
  /** Workers. */
  readonly busy: number;
  readonly idle: number;
  /** Launching or booting. */
  readonly starting: number;
  /** How many workers it must have. */
  readonly wanted: number;
  /** An hour, as far as prices are known. */
  readonly dollars: number;
}

export interface SeriesPoint extends SeriesValues {
  readonly at: number;
}

/** The minute of the hour, and the values that hold from then on. */
export type SeriesChange = readonly [
  minute: number,
  queued: number,
  busy: number,
  idle: number,
  starting: number,
  wanted: number,
  dollars: number,
];

/** One hour of a pool, or the part of it that one process has seen. */
export interface SeriesHour extends Row {
  /** Sorts by the last minute that was looked at. */
  readonly id: string;
  /** The id of the pool, or `fleet`: that one is written also where nothing went on. */
  readonly pool: string;
  /** The full hour. */
  readonly hour: number;
  /** The first and the last minute that were looked at. */
  readonly first: number;
  readonly last: number;
  readonly changes: readonly SeriesChange[];
}

export const seriesHistories = {
  series: records<SeriesHour>()({
    finds: { pool: (row) => row.pool },
    at: (row) => row.hour,
    kept: { setting: 'series', default: '30d', about: 'Retention time of the figures that charts of pools show.' },
  }),
} as const;
