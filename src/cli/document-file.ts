import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { Fault } from '#core/fault.ts';

/** One pool document of a file. */
export interface FileDocument {
  /** The file, and which document of it where there are several. */
  readonly key: string;
  /** Padded so that its line numbers are those of the file. */
  readonly text: string;
}

function unreadable(file: string, { code }: NodeJS.ErrnoException): Fault {
  if (code === 'ENOENT') {
    return new Fault('missing', `Cannot read ${file}: it does not exist.`, { remedy: 'Check the path.' });
  }
  return new Fault('invalid', `Cannot read ${file}: ${code}.`, {
    remedy: code === 'EISDIR' ? `Give its files: ${join(file, '*.yaml')}` : 'Check the path.',
  });
}

/** The text of a file, or of standard input for `-`. */
// Node makes stdin non-blocking, so that it cannot be read like a file: EAGAIN where the writer is slower than we.
export async function readTextOf(file: string, input: NodeJS.ReadableStream): Promise<string> {
  try {
    return file === '-' ? await textOf(input) : readFileSync(file, 'utf8');
  } catch (thrown) {
    throw unreadable(file, thrown as NodeJS.ErrnoException);
  }
}

// In YAML three dashes at the start of a line part documents wherever they stand.
const MARKER = /^---(?=\s|$)/;
const SAYS_NOTHING = /^\s*(#.*|%.*|\.\.\.\s*)?$/;

/** The documents of files, each of which may hold several, parted as YAML parts them. */
export async function readDocuments(
  files: readonly string[],
  input: NodeJS.ReadableStream,
): Promise<readonly FileDocument[]> {
  const documents: FileDocument[] = [];
  for (const file of files) {
    documents.push(...splitDocuments(file === '-' ? 'stdin' : file, await readTextOf(file, input)));
  }
  return documents;
}

export function splitDocuments(name: string, whole: string): readonly FileDocument[] {
  const parts: { startLine: number; lines: string[] }[] = [{ startLine: 0, lines: [] }];
  for (const [at, line] of whole.split('\n').entries()) {
    if (MARKER.test(line)) parts.push({ startLine: at, lines: [line.replace(MARKER, '   ')] });
    else parts.at(-1)?.lines.push(line);
  }
  const telling = parts.filter(({ lines }) => !lines.every((line) => SAYS_NOTHING.test(line)));
  if (telling.length === 0) throw tellsNothing(name, whole);
  if (telling.length === 1) return [{ key: name, text: whole }];
  return telling.map(({ startLine, lines }, at) => {
    const text = `${'\n'.repeat(startLine)}${lines.join('\n').trimEnd()}\n`;
    return { key: `${name}#${at + 1}`, text };
  });
}

function tellsNothing(name: string, whole: string): Fault {
  const why = whole.trim() === '' ? 'is empty' : 'holds no pool document';
  return new Fault('invalid', `${name} ${why}.`, { remedy: 'Write a pool document; the minimum is `name: mine`.' });
}
