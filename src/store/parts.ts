// What a transaction writes, on its way from the program to the thread that writes it.
import type { Change, Histories, HistoryName, TableName } from '#core/store.ts';
import { columnText } from './columns.ts';

/** The rows of each kind of writing, one cell after the other in the order of these columns. */
export const COLUMNS = {
  puts: ['kind', 'id', 'body'],
  drops: ['kind', 'id'],
  events: ['id', 'at', 'kind', 'subject', 'pool', 'body'],
  decisions: ['id', 'at', 'pool', 'body'],
  ended: ['id', 'at', 'pool', 'key', 'body'],
  /** `start` and `size` say where its bytes are in the part's `data`. */
  output: ['session', 'attempt', 'seq', 'stream', 'at', 'start', 'size'],
} as const;

export type Group = keyof typeof COLUMNS;
export type Cell = string | number | null;

/** A piece of a transaction, small enough to be made without a noticeable stall. */
export interface Part {
  readonly cells: { readonly [G in Group]: Cell[] };
  readonly data: Uint8Array<ArrayBuffer>;
}

// Some 3 ms of work: measured 0.7 µs for writing a worker as JSON, and as much again for sorting and sending.
const CHANGES_PER_PART = 2_000;
const CHARACTERS_PER_PART = 4 * 1024 * 1024;

const optional = (text: string | undefined): Cell => (text === undefined ? null : columnText(text));

function newPart() {
  const cells: Part['cells'] = { puts: [], drops: [], events: [], decisions: [], ended: [], output: [] };
  const pieces: Uint8Array[] = [];
  let dataSize = 0;
  let bodySize = 0;

  function body(row: object): string {
    const text = JSON.stringify(row);
    bodySize += text.length;
    return text;
  }

  const append: { [H in HistoryName]: (row: Histories[H]) => void } = {
    events(row) {
      const { id, at, kind, subject, pool } = row;
      cells.events.push(columnText(id), at, columnText(kind), columnText(subject), optional(pool), body(row));
    },
    decisions(row) {
      cells.decisions.push(columnText(row.id), row.at, columnText(row.pool), body(row));
    },
    ended(row) {
      const at = row.end?.at ?? row.acceptedAt;
      cells.ended.push(columnText(row.id), at, columnText(row.pool), optional(row.key), body(row));
    },
    output({ session, attempt, seq, stream, at, data }) {
      cells.output.push(columnText(session), attempt, seq, stream, at, dataSize, data.byteLength);
      pieces.push(data);
      dataSize += data.byteLength;
    },
  };

  return {
    add(change: Change): void {
      if ('append' in change) append[change.append](change.row as never);
      else if (change.row) cells.puts.push(change.table, columnText(change.id), body(change.row));
      else cells.drops.push(change.table, columnText(change.id));
    },
    isFull: () => bodySize + dataSize >= CHARACTERS_PER_PART,
    // Copied into one buffer of our own: sending a slice would send all of the memory that it is a slice of.
    done: (): Part => ({ cells, data: joined(pieces, dataSize) }),
  };
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    data.set(piece, at);
    at += piece.byteLength;
  }
  return data;
}

/** Without what is overtaken: only the last state of a live row is written, and a row only once in a part. */
function standing(changes: readonly Change[]): readonly Change[] {
  const appends: Change[] = [];
  const tables = new Map<TableName, Map<string, Change>>();
  for (const change of changes) {
    if ('append' in change) {
      appends.push(change);
      continue;
    }
    const rows = tables.get(change.table);
    if (rows) rows.set(change.id, change);
    else tables.set(change.table, new Map([[change.id, change]]));
  }
  return [...tables.values()].flatMap((rows) => [...rows.values()]).concat(appends);
}

/** Changes as parts, to be written in this order within one transaction. Made one by one, as they are asked for. */
export function* partsOf(changes: readonly Change[]): Generator<Part> {
  for (let at = 0; at < changes.length; at += CHANGES_PER_PART) {
    let part = newPart();
    for (const change of standing(changes.slice(at, at + CHANGES_PER_PART))) {
      if (part.isFull()) {
        yield part.done();
        part = newPart();
      }
      part.add(change);
    }
    yield part.done();
  }
}
