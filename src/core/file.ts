import { type Row, table } from './table.ts';

/** A file that was uploaded for sessions. Its bytes are elsewhere: this is who may name it, and how much room it takes. */
export interface StoredFile extends Row {
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly id: string;
  readonly bytes: number;
  /** Ids of the tokens that have uploaded it: only their sessions may name it. */
  readonly tokens: readonly string[];
  /** To the hour: each use would be a write otherwise. */
  readonly usedAt: number;
}

/** What a folder on the worker holds, as the session names it. */
export interface SessionFiles {
  /** SHA-256 of the manifest, which is an uploaded file too. */
  readonly manifest: string;
  /** Files and links. */
  readonly count: number;
  readonly bytes: number;
}

/** The manifest of a session, held until its session is committed. */
export interface HeldFiles extends SessionFiles {
  release(): void;
}

/** Files by the hash of their content. */
export interface Files {
  /** Those that this token has not uploaded, or that are no longer kept. The others count as used now. */
  missing(hashes: readonly string[], token: string): readonly string[];
  /** Keeps a file; resolves when it is durable. A `Fault` where its bytes have another hash or are too many. */
  put(hash: string, content: AsyncIterable<Uint8Array>, token: string): Promise<void>;
  /** Checks a manifest and all that it names against this token and the limits; nothing of it is deleted before `release`. */
  hold(manifest: string, token: string): Promise<HeldFiles>;
  /** Bytes of a file, piece by piece; throws `missing` where it is not kept. */
  read(hash: string): AsyncIterable<Uint8Array>;
  /** Hashes of the different files of a manifest, in the order in which it names them first. */
  contentsOf(manifest: string): Promise<readonly string[]>;
  usage(): { readonly files: number; readonly bytes: number; readonly limits: FileLimits };
}

export interface FileLimits {
  /** Of all files together. */
  readonly totalBytes: number;
  /** Of the files of one session, each counted as often as its manifest names it. */
  readonly sessionBytes: number;
  /** Files and links of one session. */
  readonly sessionFiles: number;
}

export const DEFAULT_FILE_LIMITS: FileLimits = {
  totalBytes: 10 * 1000 ** 3,
  sessionBytes: 1000 ** 3,
  sessionFiles: 50_000,
};

const SHA256 = /^[0-9a-f]{64}$/;

export const isFileHash = (text: unknown): text is string => typeof text === 'string' && SHA256.test(text);

export const fileTables = {
  files: table<StoredFile>()({ writer: 'files', indexes: {} }),
} as const;
