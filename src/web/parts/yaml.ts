// Documents as people write them. Texts that YAML could read as something else stand in quotes, as JSON has them.

const PLAIN = /^[A-Za-z_./][\w./@%+-]*( [\w./@%+-]+)*$/;
const WORD_WITH_MEANING = /^(true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;

const scalar = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) && !WORD_WITH_MEANING.test(value) ? value : JSON.stringify(value);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** The lines of a value in YAML. */
export function yamlLines(value: unknown, depth = 0): readonly string[] {
  const indent = '  '.repeat(depth);
  if (typeof value !== 'object' || value === null) return [`${indent}${scalar(value)}`];
  if (isEmpty(value)) return [`${indent}${Array.isArray(value) ? '[]' : '{}'}`];
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const [first = '', ...rest] = yamlLines(item, depth + 1);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner !== 'object' || inner === null || isEmpty(inner))
      return [`${indent}${scalar(key)}: ${yamlLines(inner).join('')}`];
    return [`${indent}${scalar(key)}:`, ...yamlLines(inner, depth + 1)];
  });
}
