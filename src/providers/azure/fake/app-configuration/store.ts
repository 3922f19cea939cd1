import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';

/** A key-value as App Configuration shows it. */
export interface FakeKeyValue {
  readonly etag: string;
  readonly key: string;
  readonly label: string | null;
  readonly content_type: string;
  readonly value: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly locked: boolean;
  readonly last_modified: string;
}

export interface Written {
  readonly label?: string | null | undefined;
  readonly contentType?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** One store: `https://<name>.azconfig.io`. */
export interface FakeStore {
  readonly name: string;
  /** Access keys by id, as base64; for callers without Entra. */
  readonly accessKeys: Map<string, string>;
  /** Grows with each change: replicas that have not seen it answer nobody who has. */
  readonly state: number;
  put(key: string, value: string, written?: Written): FakeKeyValue;
  get(key: string, label?: string | null): FakeKeyValue | undefined;
  remove(key: string, label?: string | null): FakeKeyValue | undefined;
  /** In the order of keys, then of labels. */
  all(): readonly FakeKeyValue[];
}

export function openStore(name: string, clock: Clock): FakeStore {
  const items = new Map<string, FakeKeyValue>();
  let [state, sorted]: [number, readonly FakeKeyValue[] | undefined] = [0, undefined];
  const placeOf = (key: string, label: string | null | undefined): string => `${key}\0${label ?? ''}`;
  const changed = (): void => {
    state += 1;
    sorted = undefined;
  };
  return {
    name,
    accessKeys: new Map(),
    get state() {
      return state;
    },
    put(key, value, { label = null, contentType = '', tags = {} } = {}) {
      changed();
      const item: FakeKeyValue = {
        etag: hash('sha256', `${name} ${state}`, 'base64url'),
        key,
        label,
        content_type: contentType,
        value,
        tags,
        locked: false,
        last_modified: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, '+00:00'),
      };
      items.set(placeOf(key, label), item);
      return item;
    },
    get: (key, label) => items.get(placeOf(key, label)),
    remove(key, label) {
      const item = items.get(placeOf(key, label));
      if (items.delete(placeOf(key, label))) changed();
      return item;
    },
    all() {
      sorted ??= [...items].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
      return sorted;
    },
  };
}
