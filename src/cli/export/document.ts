import { Fault } from '#core/fault.ts';
import type { PoolDocument } from '../../api/wire/plan.ts';

/** A pool that is written somewhere else. */
export interface Exported extends PoolDocument {
  readonly document: Readonly<Record<string, unknown>>;
}

export interface ExportOptions {
  /** What the keys begin with where they are put. */
  readonly prefix?: string | undefined;
  readonly bucket?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Writes one pool, or throws a `Fault` that says why it cannot be written there. */
export type Render = (pool: Exported, options: ExportOptions) => string;

/** Its key below the prefix: in the folder of its team. */
export const keyOf = ({ team, name }: Exported): string => (team === undefined ? name : `${team}/${name}`);

/** Lines that name the secrets to be added by hand. */
export const leftOutNote = ({ name, left_out }: Exported): string =>
  left_out.map((path) => `# ${name}: ${path} left out: it is secret\n`).join('');

/** Warnings: why a source that is not `trusted` would refuse it. */
export const refusals = ({ name, refused_elsewhere }: Pick<Exported, 'name' | 'refused_elsewhere'>): string[] =>
  refused_elsewhere.map((why) => `${name}: only a trusted source may define it: ${why}`);

/** The same as lines, where the document is on its way to a source. */
export const sourceNotes = (pool: Exported): string =>
  leftOutNote(pool) +
  refusals(pool)
    .map((line) => `# ${line}\n`)
    .join('');

export function cannot(name: string, why: string, remedy: string): Fault {
  return new Fault('unsupported', `Pool ${name} was not exported: ${why}.`, { remedy });
}

export const withSlash = (prefix: string): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`);
