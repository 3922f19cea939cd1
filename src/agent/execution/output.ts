import { execFile } from 'node:child_process';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import type { Log } from '#core/log.ts';
import type { Folder } from './folder.ts';
import {
  type Ends,
  type OutputIndex,
  type OutputPiece,
  type OutputStream,
  openIndex,
  STREAMS,
} from './output-index.ts';

export interface OutputLimits {
  /** The longest piece. */
  readonly pieceBytes: number;
  /** Window of unacknowledged bytes; the rest stays on disk. */
  readonly windowBytes: number;
  readonly windowPieces: number;
  /** Disk limit of one run; later output is dropped, and the cut is marked. */
  readonly diskBytes: number;
}

export const OUTPUT_LIMITS: OutputLimits = {
  pieceBytes: 64 * 1024,
  windowBytes: 4 * 2 ** 20,
  windowPieces: 512,
  diskBytes: 256 * 2 ** 20,
};

/** Output that a run has written to its files, handed on in numbered pieces. */
export interface Output {
  /** Sends what the window allows; true when nothing is left. */
  pump(): boolean;
  ack(seq: number): void;
  /** Begins again after what was last acknowledged. */
  replay(): void;
  readonly lastSeq: number;
  close(): void;
}

type Send = (piece: { seq: number; stream: OutputStream; data: Uint8Array }) => void;

// Freeing less than this is not worth a process.
const TRIM_BYTES = 16 * 2 ** 20;

export function openOutput(
  folder: Folder,
  send: Send,
  { limits, log }: { readonly limits: OutputLimits; readonly log: Log },
): Output {
  const index = openIndex(folder.indexPath);
  const files: Record<OutputStream, number> = {
    stdout: openSync(folder.outPath, 'a+', 0o600),
    stderr: openSync(folder.errPath, 'a+', 0o600),
  };
  const trim = trimmer(folder, index, log);
  let sentSeq = 0;

  const sizes = (): Ends => ({ stdout: fstatSync(files.stdout).size, stderr: fstatSync(files.stderr).size });

  function read({ stream, offset, length, note }: OutputPiece): Uint8Array {
    if (note !== undefined) return Buffer.from(note);
    const data = Buffer.allocUnsafe(length);
    const count = readSync(files[stream], data, 0, length, offset);
    return count === length ? data : data.subarray(0, count);
  }

  function sendWaiting(): void {
    for (const piece of index.waiting) {
      if (piece.seq <= sentSeq) continue;
      sentSeq = piece.seq;
      send({ seq: piece.seq, stream: piece.stream, data: read(piece) });
    }
  }

  /** Truncates output above the disk limit; writers continue at the new end of the file. */
  function holdDown(now: Ends): Ends {
    const excess = now.stdout + now.stderr - trim.freed() - limits.diskBytes;
    if (!index.cut && excess > 0) {
      index.setCut(cutOff(now, index.ends, excess));
      log('warn', 'output truncated: disk limit reached', { diskBytes: limits.diskBytes });
    }
    const { cut } = index;
    if (!cut) return now;
    for (const stream of STREAMS) if (now[stream] > cut[stream]) ftruncateSync(files[stream], cut[stream]);
    return { stdout: Math.min(now.stdout, cut.stdout), stderr: Math.min(now.stderr, cut.stderr) };
  }

  function cutPieces(now: Ends): boolean {
    let bytes = index.waiting.reduce((sum, piece) => sum + piece.length, 0);
    for (const stream of STREAMS) {
      for (let left = now[stream] - index.ends[stream]; left > 0; left = now[stream] - index.ends[stream]) {
        if (bytes >= limits.windowBytes || index.waiting.length >= limits.windowPieces) return false;
        const length = Math.min(limits.pieceBytes, left);
        index.add(stream, length);
        bytes += length;
      }
    }
    return true;
  }

  return {
    pump() {
      sendWaiting();
      const isAllCut = cutPieces(holdDown(sizes()));
      if (isAllCut && index.cut && !index.isNoted) index.addNote(cutNote(limits.diskBytes));
      sendWaiting();
      return isAllCut;
    },
    ack(seq) {
      index.ack(seq);
      trim.run();
    },
    replay: () => {
      sentSeq = 0;
    },
    get lastSeq() {
      return index.lastSeq;
    },
    close() {
      index.close();
      for (const file of Object.values(files)) closeSync(file);
    },
  };
}

function cutNote(bytes: number): string {
  const size = bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`;
  return `\n[muster: output truncated here: more than ${size} waited on the worker's disk]\n`;
}

/** Removes the excess from output without a number yet, stdout first. */
function cutOff(now: Ends, pieces: Ends, excess: number): Ends {
  const stdout = Math.max(pieces.stdout, now.stdout - excess);
  const stderr = Math.max(pieces.stderr, now.stderr - (excess - (now.stdout - stdout)));
  return { stdout, stderr };
}

/** Frees the disk space of acknowledged output, if the file system can punch holes. */
function trimmer(folder: Folder, index: OutputIndex, log: Log): { run(): void; freed(): number } {
  const freed: Record<OutputStream, number> = { stdout: 0, stderr: 0 };
  let isAble = process.platform === 'linux';
  function free(stream: OutputStream, path: string): void {
    const from = freed[stream];
    const length = index.needless[stream] - from;
    if (!isAble || length < TRIM_BYTES || !existsSync(path)) return;
    freed[stream] += length;
    execFile('fallocate', ['--punch-hole', '--offset', `${from}`, '--length', `${length}`, path], (fault) => {
      if (!fault) return;
      freed[stream] -= length;
      isAble = false;
      log('debug', 'cannot delete acknowledged output', { error: fault.message });
    });
  }
  const run = (): void => {
    free('stdout', folder.outPath);
    free('stderr', folder.errPath);
  };
  run();
  return { run, freed: () => freed.stdout + freed.stderr };
}
