// Sections of features that stand in the environment instead of the file.
import type { Section } from '#core/feature.ts';
import type { Problem } from '#core/problem.ts';
import type { Environment } from './environment.ts';
import { withoutComments } from './json-comments.ts';
import { toCamel } from './keys.ts';
import type { KnownKinds } from './kinds.ts';
import { parseWith } from './parse.ts';
import { type Parsed, problemAt } from './problem.ts';
import { type ConfigNode, child, type Entry } from './tree.ts';
import { readYaml } from './yaml-document.ts';

type Sections = Readonly<Record<string, unknown>>;

/**
 * The sections that variables hold, by key, with what the file says of the rest. Where the file names a part that variables
 * may hold, that is refused: which of the two places counts must be plain.
 */
export function sectionsInEnvironment(kinds: KnownKinds, head: ConfigNode, environment: Environment): Parsed<Sections> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const section of kinds.sections ?? []) {
    const { entries, wrong } = entriesOf(section, environment);
    problems.push(...wrong);
    if (wrong.length > 0 || entries.length === 0) continue;
    const rest = entriesIn(child(head, section.key));
    const twice = rest.find(({ key }) => section.variables?.[toCamel(key)] !== undefined);
    if (twice) {
      const message = `is set, and the file has ${section.key}.${twice.key}; keep one of them`;
      problems.push(problemAt(variableOf(section, entries[0]?.key ?? ''), undefined, message));
      continue;
    }
    const whole: ConfigNode = { is: 'map', entries: [...rest, ...entries] };
    const read = parseWith(section.schema(kinds), whole, { expand: environment });
    // What is wrong with the rest is reported where the file is read.
    const inVariables = (found: readonly Problem[]): readonly Problem[] =>
      found.filter(({ path }) => !rest.some(({ key }) => keyOf(path) === key)).map((one) => inVariable(section, one));
    problems.push(...inVariables(read.problems ?? []));
    warnings.push(...inVariables(read.warnings));
    values[section.key] = read.value;
  }
  return problems.length > 0 ? { problems, warnings } : { value: values, warnings };
}

const entriesIn = (node: ConfigNode | undefined): readonly Entry[] => (node?.is === 'map' ? node.entries : []);

/** The first step of a path. */
const keyOf = (path: string): string => /^[^.[]*/.exec(path)?.[0] ?? '';

const variableOf = ({ variables = {} }: Section<unknown>, key: string): string => variables[key]?.name ?? key;

function entriesOf({ variables = {} }: Section<unknown>, environment: Environment) {
  const entries: Entry[] = [];
  const wrong: Problem[] = [];
  for (const [key, { name, holds }] of Object.entries(variables)) {
    const text = environment.variable(name) || undefined;
    if (text === undefined) continue;
    const read: Parsed<ConfigNode> =
      holds === 'text'
        ? { value: { is: 'scalar', value: text, source: text }, warnings: [] }
        : readYaml(withoutComments(text));
    if (read.value) entries.push({ key, value: read.value });
    else wrong.push(...(read.problems ?? []).map((problem) => named(name, asJson(problem), problem.path)));
  }
  return { entries, wrong };
}

const asJson = (problem: Problem): Problem => ({
  ...problem,
  message: problem.message.replace('not YAML', 'not JSON'),
});

/** A problem within the section, as one of the variable that holds that part of it. */
function inVariable(section: Section<unknown>, problem: Problem): Problem {
  const key = keyOf(problem.path);
  return named(variableOf(section, key), problem, problem.path.slice(key.length).replace(/^\./, ''));
}

/** The place is that in the variable, so it stands with its name: the file that is being read has other lines. */
function named(variable: string, { line, column, message }: Problem, path: string): Problem {
  const place = [variable, line, column].filter((part) => part !== undefined).join(':');
  return problemAt([place, path].filter(Boolean).join(' '), undefined, message);
}
