// Texts of others: whatever they hold, reading them must not hold up the process.
import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Parsed, problemAt } from './problem.ts';
import { openReadingThread } from './reading-thread.ts';
import type { ConfigNode } from './tree.ts';
import { type DocumentLimits, readYaml } from './yaml-document.ts';

type Tree = Parsed<ConfigNode>;

/** Reads YAML or JSON of anyone: short texts at once, others in a thread, each for a limited time. */
export interface TextReader {
  read(text: string, limits: DocumentLimits): Tree | Promise<Tree>;
}

// So much, with so little structure, is read within ten milliseconds even by a server that has read nothing yet; brackets
// alone would take a hundred.
const SHORT_CHARACTERS = 4 * 1_024;
const MOST_INDICATORS = 64;
// What begins a value within another.
const INDICATORS = /[[{?&*!]|- |: /g;

function isShort(text: string): boolean {
  if (text.length > SHORT_CHARACTERS) return false;
  let count = 0;
  for (const _ of text.matchAll(INDICATORS)) if (++count > MOST_INDICATORS) return false;
  return true;
}

// A source offers a refused document again at each sync.
const MOST_REFUSALS = 100;

export function openTextReader(clock: Clock): TextReader {
  const thread = openReadingThread(clock);
  const refusals = new Map<string, Tree>();

  function keep(key: string, tree: Tree): Tree {
    if (!tree.problems) return tree;
    refusals.set(key, tree);
    const [oldest] = refusals.keys();
    if (refusals.size > MOST_REFUSALS && oldest !== undefined) refusals.delete(oldest);
    return tree;
  }

  async function readInThread(text: string, limits: DocumentLimits): Promise<Tree> {
    try {
      const answer = await thread.ask({ text, limits, longest: Number.POSITIVE_INFINITY });
      if ('head' in answer) return answer.head;
      throw new Fault('internal', 'The thread that reads texts sent an unexpected answer.');
    } catch (thrown) {
      return { problems: [problemAt('', undefined, `the document: ${Fault.from(thrown).message}`)], warnings: [] };
    }
  }

  return {
    read(text, limits) {
      if (isShort(text) || text.length > limits.bytes) return readYaml(text, limits);
      const key = hash('sha256', `${limits.bytes} ${text}`);
      return refusals.get(key) ?? readInThread(text, limits).then((tree) => keep(key, tree));
    },
  };
}
