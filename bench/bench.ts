import type { MeasureName } from './measures.ts';

/** Where a measure was taken more than once: `sqlite`, `postgres`, `tls`. */
export type Variant = string;

export interface Figure {
  readonly name: MeasureName;
  readonly variant?: Variant | undefined;
  readonly value: number;
  /** What a reader must know beside the number. */
  readonly note?: string | undefined;
}

/** Where a bench tells what it found. */
export interface Report {
  /** Fewer repeats and smaller fleets: the whole run within two minutes. */
  readonly isQuick: boolean;
  figure(name: MeasureName, value: number, more?: Pick<Figure, 'variant' | 'note'>): void;
}

/** One noun that is measured, in a process of its own with `gc` at hand. */
export interface Bench {
  readonly name: string;
  /** Its position in a run; `npm run gen` lists every file of this folder that exports one as `bench`. */
  readonly order: number;
  /** All that `run` reports. */
  readonly measures: readonly MeasureName[];
  /** After this time it is given up. */
  readonly limitMs: number;
  run(report: Report): Promise<void>;
}
