// JSON patch, RFC 6902.
import { isFields, isSame, listOf } from '../objects/object.ts';
import { refuse } from '../wire/status.ts';

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const steps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const unable = (what: string): Error =>
  refuse('Invalid', `the server rejected our request due to an error in our request: ${what}`);

function read(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const step of path) {
    const next = Array.isArray(at) ? at[Number(step)] : isFields(at) ? at[step] : undefined;
    if (next === undefined) throw unable(`nonexistent path /${path.join('/')}`);
    at = next;
  }
  return at;
}

type Edit = (holder: unknown, last: string) => unknown;

/** The document with the holder of the last step replaced. */
function edited(document: unknown, path: readonly string[], edit: Edit): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return edit(document, '');
  if (rest.length === 0) return edit(document, step);
  if (Array.isArray(document)) return document.with(Number(step), edited(document[Number(step)], rest, edit));
  if (!isFields(document) || document[step] === undefined) throw unable(`missing path: /${path.join('/')}`);
  return { ...document, [step]: edited(document[step], rest, edit) };
}

const adding =
  (value: unknown): Edit =>
  (holder, last) => {
    if (Array.isArray(holder)) return holder.toSpliced(last === '-' ? holder.length : Number(last), 0, value);
    return isFields(holder) ? { ...holder, [last]: value } : value;
  };

const removing: Edit = (holder, last) => {
  if (Array.isArray(holder)) return holder.toSpliced(Number(last), 1);
  if (!isFields(holder) || !Object.hasOwn(holder, last)) throw unable(`Unable to remove nonexistent key: ${last}`);
  const { [last]: _gone, ...rest } = holder;
  return rest;
};

const replacing =
  (value: unknown): Edit =>
  (holder, last) => {
    if (Array.isArray(holder)) return holder.with(Number(last), value);
    if (!isFields(holder) || !Object.hasOwn(holder, last))
      throw unable(`replace operation does not apply: missing ${last}`);
    return { ...holder, [last]: value };
  };

function operate(document: unknown, { op, path, from = '', value }: Operation): unknown {
  const to = steps(path);
  switch (op) {
    case 'add':
      return to.length === 0 ? value : edited(document, to, adding(value));
    case 'remove':
      return edited(document, to, removing);
    case 'replace':
      return to.length === 0 ? value : edited(document, to, replacing(value));
    case 'copy':
      return edited(document, to, adding(read(document, steps(from))));
    case 'move':
      return edited(edited(document, steps(from), removing), to, adding(read(document, steps(from))));
    case 'test':
      if (!isSame(read(document, to), value)) throw unable(`testing value ${path} failed: test failed`);
      return document;
    default:
      throw unable(`unexpected kind: ${op}`);
  }
}

export function jsonPatch(target: unknown, patch: unknown): unknown {
  return listOf(patch).reduce((document, operation) => operate(document, operation as Operation), target);
}
