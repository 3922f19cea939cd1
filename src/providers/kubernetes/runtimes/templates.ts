import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Fault } from '#core/fault.ts';
import { parseTemplates, type TemplateSet } from '#gotemplate/template-set.ts';
import type { goStruct } from '#gotemplate/value/data.ts';
import { type RuntimeConfig, TEMPLATES, type TemplateName } from './config.ts';

/** The templates of a provisioner; a changed file is read again. */
export interface Templates {
  /** In the order in which their objects are applied. */
  readonly names: readonly TemplateName[];
  pathOf(name: TemplateName): string;
  /** Another one when a file has changed. */
  stamp(): string;
  /** Of the texts of all: equal where only a file was written again. */
  digest(): string;
  /** The text of each for these values; a fault names file, line and column. */
  render(data: TemplateData): ReadonlyMap<TemplateName, string>;
}

export type TemplateData = ReturnType<typeof goStruct>;

interface Read {
  readonly stamp: string;
  readonly digest: string;
  readonly set: TemplateSet;
}

export function openTemplates({ templatePaths }: Pick<RuntimeConfig, 'templatePaths'>): Templates {
  const paths = templatePaths as Readonly<Partial<Record<TemplateName, string>>>;
  const names = TEMPLATES.filter((name) => paths[name] !== undefined);
  const pathOf = (name: TemplateName): string => paths[name] as string;
  let read: Read | undefined;

  const stampNow = (): string => names.map((name) => stampOf(pathOf(name))).join(' ');

  /** One set, as templates may name each other by the names of their files. */
  function current(): Read {
    const stamp = stampNow();
    if (read?.stamp === stamp) return read;
    const files = names.map((name) => ({ path: pathOf(name), text: textOf(pathOf(name)) }));
    refuseEqualNames(files.map(({ path }) => path));
    // Date and random numbers would make another object of the same runtime each time.
    const set = parseTemplates(files.map(({ path, text }) => ({ name: basename(path), text })));
    const hash = createHash('sha256');
    for (const [at, { text }] of files.entries()) hash.update(`${names[at]} ${text.length}\n${text}`);
    read = { stamp, set, digest: hash.digest('hex').slice(0, 16) };
    return read;
  }

  return {
    names,
    pathOf,
    stamp: stampNow,
    digest: () => current().digest,
    render(data) {
      const { set } = current();
      return new Map(names.map((name) => [name, rendered(set, pathOf(name), data)]));
    },
  };
}

function rendered(set: TemplateSet, path: string, data: TemplateData): string {
  const text = renderedOrRefused(set, basename(path), data);
  const at = text.split('\n').findIndex((line) => line.includes('<no value>'));
  if (at === -1) return text;
  throw new Fault('invalid', `${path}: line ${at + 1} of what it renders uses an annotation that the runtime lacks.`, {
    at: `${path}:${at + 1}`,
    remedy: 'Give the annotation with the request, or name a value for its absence with `default`.',
  });
}

function renderedOrRefused(set: TemplateSet, name: string, data: TemplateData): string {
  try {
    return set.render(name, data);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (!fault.message.includes(` in type ${data.type}`)) throw thrown;
    const known = Object.keys(data.fields).map((field) => `.${field}`);
    throw new Fault(fault.kind, fault.message, {
      at: fault.at,
      remedy: `Use one of ${known.join(', ')}.`,
      cause: fault,
    });
  }
}

/** Go finds templates by the names of their files: two files of one name would hide each other. */
function refuseEqualNames(paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const name = basename(path);
    const first = seen.get(name);
    if (first !== undefined && first !== path) {
      throw new Fault('invalid', `${first} and ${path} have the same file name.`, {
        at: path,
        remedy: 'Rename one of them: templates know each other by the names of their files.',
      });
    }
    seen.set(name, path);
  }
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (thrown) {
    throw unreadable(path, thrown);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw unreadable(path, thrown);
  }
}

function unreadable(path: string, cause: unknown): Fault {
  const remedy = 'Create the file, or correct `template_paths`.';
  return new Fault('invalid', `The template ${path} cannot be read: ${(cause as Error).message}.`, {
    at: path,
    remedy,
    cause,
  });
}
