// For clouds that keep nothing of a machine but its name: the whole mark is written into the name.
import { Fault } from './fault.ts';
import { readLaunchName } from './id.ts';
import type { Mark } from './provider.ts';

const LONGEST = 63;
const MARKED = /^(.+)-([a-z0-9]{8})-([0-9a-f]{12}(?:-[0-9a-f]{8})?)$/;

/** The name of a machine followed by its mark: an RFC 1035 label of at most 63 characters. */
export function nameWithMark(name: string, mark: Mark): string {
  const text = `${name}-${mark.cluster}-${mark.shape}`;
  const read = text.length <= LONGEST ? readMarkedName(text) : undefined;
  const isSame =
    read?.name === name &&
    read.mark.cluster === mark.cluster &&
    read.mark.use === mark.use &&
    read.mark.owner === mark.owner &&
    read.mark.shape === mark.shape;
  if (!isSame) throw new Fault('invalid', `${name} cannot carry its mark: ${text} does not read back.`);
  return text;
}

/** The name and mark in what `nameWithMark` wrote; undefined for any other name. */
export function readMarkedName(text: string): { readonly name: string; readonly mark: Mark } | undefined {
  const [, name = '', cluster = '', shape = ''] = MARKED.exec(text) ?? [];
  const asked = readLaunchName(name);
  return asked && { name, mark: { cluster, ...asked, shape } };
}
