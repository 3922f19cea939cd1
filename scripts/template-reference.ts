import { REFUSED } from '../src/gotemplate/functions/refused.ts';
import { THEMES } from '../src/gotemplate/functions/registry.ts';
import { DEFAULT_RENDER_LIMITS } from '../src/gotemplate/limits.ts';

const INTRODUCTION = `# Templates

Templates are those of Go's \`text/template\`, with the functions of Sprig 3.3 and those that Helm adds. A template gives
byte for byte what Go gives, or it is refused with Go's message and with file, line and column.

## What may differ from Go

- Whole numbers of the data are \`int\`, others \`float64\`. \`fromJson\` and \`fromYaml\` give \`float64\`, as in Go.
- \`keys\` and \`values\` come in the order of the keys. Go's order is random.
- The time zone of the machine is UTC. Names of other zones are not known: write their offset with \`-0700\`.
- \`lookup\` finds nothing: rendering reads no cluster.
- What \`fromJsonArray\`, \`fromYaml\` and \`fromYamlArray\` say of a text that they cannot read is worded differently.
- Complex numbers, the class \`[:^name:]\` of patterns, and keys of YAML with a line feed or of more than 128 bytes are refused.
- A text that is not valid UTF-8 is refused when it is given out.
`;

const quoted = (names: readonly string[]): string =>
  names
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(', ');

/** The page about templates, with every function that they may call. */
export function renderTemplates(): string {
  const { steps, characters, depth } = DEFAULT_RENDER_LIMITS;
  const limits = `## Limits

A template is refused that takes more than ${steps.toLocaleString('en')} steps, writes more than ${characters / 1024 / 1024} MiB of text on its way, or nests more than ${depth} templates. Patterns take time in proportion to their text.
`;
  const functions = Object.entries(THEMES).map(([theme, all]) => `### ${theme}\n\n${quoted(Object.keys(all))}\n`);
  const byRemedy = Map.groupBy(Object.keys(REFUSED), (name) => REFUSED[name] as string);
  const refused = [...byRemedy].map(([remedy, names]) => `- ${quoted(names)}. ${remedy}`);
  return [
    INTRODUCTION,
    limits,
    '## Functions\n',
    functions.join('\n'),
    '## Functions that are refused\n',
    'They are refused by name when the template is parsed.\n',
    `${refused.join('\n')}\n`,
  ].join('\n');
}
