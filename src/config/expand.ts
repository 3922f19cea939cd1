import { Fault } from '#core/fault.ts';
import type { Expansion } from './environment.ts';

/** What became of one text: expanded, or why not. */
export type Expanded =
  | { readonly text: string; readonly warning?: string; readonly problem?: undefined }
  | { readonly problem: string };

// `$${` first, so that an escaped one is never taken for a variable.
const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$/s;
const ESCAPE_HINT = 'write $${ for a plain ${';

/** Replaces `${VAR}` and `${VAR:-default}`, and unescapes `$${`; without an environment every variable is refused. */
export function expandVariables(text: string, environment: Expansion | undefined): Expanded {
  if (!text.includes('${')) return { text };
  let problem: string | undefined;
  const expanded = text.replace(REFERENCE, (reference: string, inner: string | undefined) => {
    if (inner === undefined) return '${';
    const read = readReference(reference, inner, environment);
    if (read.problem !== undefined) problem ??= read.problem;
    return read.problem === undefined ? read.text : '';
  });
  return problem === undefined ? { text: expanded } : { problem };
}

function readReference(reference: string, inner: string, environment: Expansion | undefined): Expanded {
  if (!environment) {
    return {
      problem: `${reference} is expanded only in the operator's own file, not in other documents; ${ESCAPE_HINT}`,
    };
  }
  const [, name, hasDefault, fallback = ''] = NAME_AND_DEFAULT.exec(inner) ?? [];
  if (name === undefined || !reference.endsWith('}')) {
    return { problem: `${reference} is not a variable: write \${NAME} or \${NAME:-default}; ${ESCAPE_HINT}` };
  }
  const value = environment.variable(name);
  if (hasDefault !== undefined) return { text: value || fallback };
  if (value === undefined) {
    return {
      problem: `the environment variable ${name} is not set; set it, or write \${${name}:-default}; ${ESCAPE_HINT}`,
    };
  }
  return { text: value };
}

/** Writes a text so that expanding it gives it back. */
export function escapeVariables(text: string): string {
  // A function, since `$$` in a replacement text means one `$`.
  return text.replaceAll('${', () => '$${');
}

const FILE = 'file:';

/** Reads the secret that `file:/path` names; any other text is the secret itself. */
export function expandSecretFile(text: string, environment: Expansion | undefined): Expanded {
  if (!text.startsWith(FILE)) return { text };
  if (!environment) {
    return { problem: "file: works only in the operator's own file, not in other documents" };
  }
  const path = text.slice(FILE.length).replace(/^\/\/(?=\/)/, '');
  try {
    const { text: content, isWorldReadable } = environment.secretFile(path);
    if (content === '') return { problem: `${path} is empty` };
    return isWorldReadable
      ? { text: content, warning: `every user of this machine can read ${path}; run chmod 600 on it` }
      : { text: content };
  } catch (thrown) {
    return { problem: Fault.from(thrown).message };
  }
}
