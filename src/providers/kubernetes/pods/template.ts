import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { BackendConfig } from '../config.ts';

/** The pod template of a backend: from its configuration, or from a file that may change. */
export interface Template {
  read(): Promise<Readonly<Record<string, unknown>>>;
  /** The text of the file: pods made from another are outdated. */
  form(): Promise<string>;
}

export function openTemplate({ template, podTemplatePath: path }: BackendConfig): Template {
  if (path === undefined) {
    return { read: async () => template ?? {}, form: async () => '' };
  }
  return {
    async read() {
      const pod: unknown = parseTemplate(await readTemplate(path), path);
      if (typeof pod === 'object' && pod !== null && !Array.isArray(pod)) return pod as Record<string, unknown>;
      throw new Fault('invalid', `${path} holds no pod.`, {
        at: path,
        remedy: 'Write one pod there, as YAML or JSON.',
      });
    },
    form: () => readTemplate(path),
  };
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const remedy = 'Create the file, or correct `pod_template_path`.';
    throw new Fault('invalid', `The pod template ${path} cannot be read.`, { at: path, remedy, cause: thrown });
  }
}

function parseTemplate(text: string, path: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch (thrown) {
    const said = (thrown as Error).message;
    throw new Fault('invalid', `${path} is neither YAML nor JSON: ${said}`, { at: path, cause: thrown });
  }
}
