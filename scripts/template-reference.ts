import { REFUSED } from '../src/gotemplate/functions/refused.ts';
import { THEMES } from '../src/gotemplate/functions/registry.ts';
import { DEFAULT_RENDER_LIMITS } from '../src/gotemplate/limits.ts';

const INTRODUCTION = `# Templates

Templates are those of Go's \`text/template\`, with the functions of Sprig 3.3 and the functions of Helm 3 that are listed below. A template gives
byte for byte what Go gives, or it is refused with Go's message and with file, line and column.

## What may differ from Go

- Whole numbers of the data are \`int\`, others \`float64\`. \`fromJson\` and \`fromYaml\` give \`float64\`, as in Go.
- \`keys\` and \`values\` come in the order of the keys. Go's order is random.
- The time zone of the machine is UTC. Names of other zones are not known: write their offset with \`-0700\`.
- \`lookup\` finds nothing: rendering reads no cluster.
- What \`fromYaml\` and \`fromYamlArray\` say of a text that they cannot read is worded differently.
- A version has its parts, \`Original\`, \`String\` and \`Compare\`. Its other methods are refused.
- Times are exact to the millisecond.
- Complex numbers, the class \`[:^name:]\` of patterns, and keys of YAML with a line feed or of more than 128 bytes are refused.
- A text that is not valid UTF-8 is refused when it is given out.
`;

const HELM = `
\`toJson\`, which Helm has too, is listed above: both are the same. Helm's \`fromToml\`, \`toToml\` and \`toYamlPretty\` are not here.

\`fromJson\` reads a map, and \`fromJsonArray\` a list, as in Helm. For any other text \`fromJson\` gives a map with the message under \`Error\`, and \`fromJsonArray\` a list with the message. Sprig's \`fromJson\`, which reads any value, is here as \`mustFromJson\`. \`fromYaml\` and \`fromYamlArray\` do the same for YAML; dates in it stay texts.
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
  const functions = Object.entries(THEMES).map(
    ([theme, all]) => `### ${theme}\n\n${quoted(Object.keys(all))}\n${theme === 'Helm' ? HELM : ''}`,
  );
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
