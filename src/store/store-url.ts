import { resolve } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Target } from './engine.ts';

/** Reads a `store:` setting: a directory, `sqlite:<directory>` or `postgres://…`. */
export function parseStoreUrl(url: string): Target {
  if (/^postgres(ql)?:\/\//i.test(url)) return { kind: 'postgres', url };
  const directory = url.replace(/^sqlite:(\/\/)?/i, '');
  // Its rest is not repeated: it may hold a password.
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(directory)?.[1];
  if (directory && scheme === undefined) return { kind: 'sqlite', directory: resolve(directory) };
  throw new Fault('invalid', scheme ? `${scheme}:// is not a supported store.` : 'The address of the store is empty.', {
    at: 'store',
    remedy: 'Give a directory, sqlite:<directory> or postgres://user:password@host/database.',
  });
}
