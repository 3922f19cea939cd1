import { hash } from 'node:crypto';
import type { Mark } from './provider.ts';

/** A mark as the version before `use` and `owner` stored it: launch records, folders of local machines. */
interface WorkerMarkOfOld {
  readonly cluster: string;
  readonly pool: string;
  readonly shape: string;
}

/** A stored mark, whichever version wrote it: until marks named a use, every machine was a worker of a pool. */
export function readMark(stored: Mark | WorkerMarkOfOld): Mark {
  if (!('pool' in stored)) return stored;
  const { cluster, pool, shape } = stored;
  return { cluster, use: 'worker', owner: pool, shape };
}

const OFFER_LENGTH = 12;
const FORM_LENGTH = 8;

/** What forms a machine: the shape of its offer, and a hash of the offer's form where the cloud has one. `[a-z0-9-]`, at most 21 characters. */
export function shapeOf(offerShape: string, form: string | undefined): string {
  return form === undefined ? offerShape : `${offerShape}-${hash('sha256', form).slice(0, FORM_LENGTH)}`;
}

/** The shape of the offer in that of a machine. The previous version wrote the id of the offer, and a `.` before the form. */
export function offerShapeIn(shape: string): string {
  return shape.slice(0, OFFER_LENGTH);
}
