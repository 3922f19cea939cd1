const HIDDEN = '[hidden]';

// Shorter values occur by chance in harmless text, and hiding them would reveal them.
const SHORTEST_SECRET = 6;

const SECRET_WORDS = new Set(
  ['token', 'password', 'passwd', 'passphrase', 'secret', 'key', 'authorization', 'credential', 'cookie'].flatMap(
    (word) => [word, `${word}s`],
  ),
);

// Each looks back one character and ahead a bounded way: a text of others costs no more than its length.
const NAMED = '(?<![a-z0-9])((?:token|password|passwd|passphrase|secret|(?:api|access|secret|private)[_-]?key)';
const CAMEL_NAMED = '(?<=[a-z0-9])((?:Token|Password|Passphrase|Secret|(?:Api|Access|Secret|Private)Key)';
const SECRET_VALUES = [
  // In quotes, with an equals sign or as JSON, which may itself stand in a text: all up to the same quote.
  String.raw`(?:\s*=|\\?["']\s*:)\s*(\\?["']))(?:(?!\2)(?:\\.|[^\\]))+`,
  String.raw`\s*=\s*)[^\s,;&"'}]+`,
  // After a colon there may be a sentence: only text that does not look like a word is hidden.
  String.raw`\s*:\s*["']?)(?=[^\s"']{0,256}\d)[^\s,;&"'}]{8,}`,
];
const SECRET_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${HIDDEN}`],
  ...SECRET_VALUES.flatMap((value) => [
    [new RegExp(NAMED + value, 'gi'), `$1${HIDDEN}`] as const,
    [new RegExp(CAMEL_NAMED + value, 'g'), `$1${HIDDEN}`] as const,
  ]),
  [/((?<=[a-z0-9+.-]):\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${HIDDEN}@`],
  // Muster's own tokens, whatever stands before them: a cloud may repeat the script of a machine in its refusal.
  [/(?<![\w-])m[alj]t_[\w-]{12,}/g, HIDDEN],
];
// None of these patterns can be found without one of these words; most sentences have none of them.
const MAY_HOLD_SECRET = /bearer|basic|token|pass|secret|key|:\/\/|m[alj]t_/i;

/** Removes secrets from text before it is logged, stored or shown. */
export interface Redactor {
  /** Hides this value in every text from now on. */
  learn(secret: string): void;
  text(text: string): string;
  /** Hides by the name of a field, and known values inside any text, at every depth. */
  fields<T>(fields: T): T;
}

/** The words of a name, whether it is written in snake_case, kebab-case or camelCase. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

// Fields have few names, and every event has fields; callers may send any number of others.
const MOST_NAMES_KEPT = 1_000;
const knownNames = new Map<string, boolean>();

/** Whether values under that name are taken for secrets. */
export function isSecretName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isSecret = wordsOf(name).some((word) => SECRET_WORDS.has(word));
  if (knownNames.size < MOST_NAMES_KEPT) knownNames.set(name, isSecret);
  return isSecret;
}

export function makeRedactor(secrets: Iterable<string> = []): Redactor {
  const known = new Set<string>();

  function learn(secret: string): void {
    if (secret.length >= SHORTEST_SECRET) known.add(secret);
  }

  function text(original: string): string {
    let redacted = original;
    for (const secret of known) {
      if (redacted.includes(secret)) redacted = redacted.replaceAll(secret, HIDDEN);
    }
    if (!MAY_HOLD_SECRET.test(redacted)) return redacted;
    for (const [pattern, shown] of SECRET_IN_TEXT) redacted = redacted.replace(pattern, shown);
    return redacted;
  }

  function value(original: unknown, above: readonly object[]): unknown {
    if (typeof original === 'string') return text(original);
    if (typeof original !== 'object' || original === null) return original;
    if (original instanceof Error) return text(original.message);
    if (ArrayBuffer.isView(original)) return `[${original.byteLength} bytes]`;
    if (above.includes(original)) return '[circular]';
    const path = [...above, original];
    if (Array.isArray(original)) return original.map((item) => value(item, path));
    const entries = Object.entries(original).map(([name, inner]) => {
      const mayShow = inner === undefined || inner === null || typeof inner === 'boolean' || !isSecretName(name);
      return [name, mayShow ? value(inner, path) : HIDDEN];
    });
    return Object.fromEntries(entries);
  }

  for (const secret of secrets) learn(secret);
  return { learn, text, fields: <T>(fields: T) => value(fields, []) as T };
}
