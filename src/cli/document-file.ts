import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';

/** One pool document of a file. */
export interface FileDocument {
  /** The file, and which document of it where there are several. */
  readonly key: string;
  readonly text: string;
  /** The same with its lines where they stand in the file, so that what is said of a place is true there. */
  readonly placed: string;
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    throw new Fault('invalid', `Cannot read ${file}: ${code}.`, {
      remedy: code === 'EISDIR' ? `Name its files: ${join(file, '*.yaml')}` : 'Check the path.',
    });
  }
}

// In YAML three dashes at the start of a line part documents wherever they stand.
const MARKER = /^---(?=\s|$)/;
const SAYS_NOTHING = /^\s*(#.*|%.*|\.\.\.\s*)?$/;

/** The documents of a file, which may hold several, parted as YAML parts them. */
export function readDocuments(file: string): readonly FileDocument[] {
  const name = file === '-' ? 'stdin' : file;
  return splitDocuments(name, readText(file));
}

export function splitDocuments(name: string, whole: string): readonly FileDocument[] {
  const parts: { startLine: number; lines: string[] }[] = [{ startLine: 0, lines: [] }];
  for (const [at, line] of whole.split('\n').entries()) {
    if (MARKER.test(line)) parts.push({ startLine: at, lines: [line.replace(MARKER, '   ')] });
    else parts.at(-1)?.lines.push(line);
  }
  const telling = parts.filter(({ lines }) => !lines.every((line) => SAYS_NOTHING.test(line)));
  if (telling.length < 2) return [{ key: name, text: whole, placed: whole }];
  return telling.map(({ startLine, lines }, at) => {
    const text = lines.join('\n');
    return { key: `${name}#${at + 1}`, text: `${text.trim()}\n`, placed: '\n'.repeat(startLine) + text };
  });
}
