// The minutes of the running hour of many pools, in little memory: 1,148 bytes a pool.
import type { SeriesChange, SeriesValues } from '#core/series.ts';

const MINUTES = 60;
const COUNT_BYTES = 3;
const MOST_COUNT = 2 ** 24 - 1;
const POINT_BYTES = 5 * COUNT_BYTES + 4;
// A bit for each minute says whether it was written: one that was not has the values of the one before.
const BITS_AT = MINUTES * POINT_BYTES;
const RING_BYTES = BITS_AT + Math.ceil(MINUTES / 8);
const RINGS_A_BLOCK = 64;

export interface MinuteRings {
  readonly ids: Iterable<string>;
  has(id: string): boolean;
  /** What holds from that minute on. */
  write(id: string, minute: number, values: SeriesValues): void;
  /** Zeros where nothing was written up to that minute. */
  read(id: string, minute: number): SeriesValues;
  /** What was written, without what changed nothing. */
  changes(id: string): SeriesChange[];
  drop(id: string): void;
}

export const NO_VALUES: SeriesValues = { queued: 0, busy: 0, idle: 0, starting: 0, wanted: 0, dollars: 0 };

export const isNothing = ({ queued, busy, idle, starting, wanted, dollars }: SeriesValues): boolean =>
  queued + busy + idle + starting + wanted + dollars === 0;

/** Prices are not exact to more than that. */
const rounded = (dollars: number): number => Math.round(dollars * 1e4) / 1e4;

export function openMinuteRings(): MinuteRings {
  const slots = new Map<string, number>();
  const blocks: Buffer[] = [];
  const free: number[] = [];

  /** Where a ring begins. */
  function place(slot: number): { readonly block: Buffer; readonly start: number } {
    const block = blocks[Math.floor(slot / RINGS_A_BLOCK)] as Buffer;
    return { block, start: (slot % RINGS_A_BLOCK) * RING_BYTES };
  }

  function addBlock(): void {
    const first = blocks.length * RINGS_A_BLOCK;
    blocks.push(Buffer.alloc(RINGS_A_BLOCK * RING_BYTES));
    for (let n = RINGS_A_BLOCK - 1; n >= 0; n -= 1) free.push(first + n);
  }

  function slotFor(id: string): number {
    const known = slots.get(id);
    if (known !== undefined) return known;
    if (free.length === 0) addBlock();
    const slot = free.pop() as number;
    slots.set(id, slot);
    const { block, start } = place(slot);
    block.fill(0, start, start + RING_BYTES);
    return slot;
  }

  const isWritten = (block: Buffer, start: number, minute: number): boolean =>
    ((block[start + BITS_AT + (minute >> 3)] as number) & (1 << (minute & 7))) !== 0;

  function valuesAt(block: Buffer, start: number, minute: number): SeriesValues {
    const at = start + minute * POINT_BYTES;
    const count = (n: number): number => block.readUIntBE(at + n * COUNT_BYTES, COUNT_BYTES);
    return {
      queued: count(0),
      busy: count(1),
      idle: count(2),
      starting: count(3),
      wanted: count(4),
      dollars: rounded(block.readFloatBE(at + 5 * COUNT_BYTES)),
    };
  }

  return {
    ids: { [Symbol.iterator]: () => slots.keys() },
    has: (id) => slots.has(id),
    write(id, minute, { queued, busy, idle, starting, wanted, dollars }) {
      const { block, start } = place(slotFor(id));
      const at = start + minute * POINT_BYTES;
      for (const [n, value] of [queued, busy, idle, starting, wanted].entries())
        block.writeUIntBE(Math.min(Math.max(0, value), MOST_COUNT), at + n * COUNT_BYTES, COUNT_BYTES);
      block.writeFloatBE(dollars, at + 5 * COUNT_BYTES);
      const bits = start + BITS_AT + (minute >> 3);
      block[bits] = (block[bits] as number) | (1 << (minute & 7));
    },
    read(id, minute) {
      const slot = slots.get(id);
      if (slot === undefined) return NO_VALUES;
      const { block, start } = place(slot);
      for (let n = minute; n >= 0; n -= 1) if (isWritten(block, start, n)) return valuesAt(block, start, n);
      return NO_VALUES;
    },
    changes(id) {
      const slot = slots.get(id);
      if (slot === undefined) return [];
      const { block, start } = place(slot);
      const found: SeriesChange[] = [];
      let before = '0,0,0,0,0,0';
      for (let minute = 0; minute < MINUTES; minute += 1) {
        if (!isWritten(block, start, minute)) continue;
        const { queued, busy, idle, starting, wanted, dollars } = valuesAt(block, start, minute);
        const values = [queued, busy, idle, starting, wanted, dollars] as const;
        if (String(values) === before) continue;
        before = String(values);
        found.push([minute, ...values]);
      }
      return found;
    },
    drop(id) {
      const slot = slots.get(id);
      if (slot === undefined) return;
      slots.delete(id);
      free.push(slot);
    },
  };
}
