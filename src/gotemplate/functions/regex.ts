import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { compilePattern, findMatch, type Program } from '../regex/machine.ts';
import { type GoSlice, GoSlice as Slice } from '../value/value.ts';
import { type Functions, fn, type TemplateRun } from './function.ts';
import { stringSlice } from './text.ts';

type Match = readonly number[];

/** All matches that do not overlap; an empty one right after another does not count. */
function allMatches(program: Program, text: string, most: number, budget: RenderBudget): Match[] {
  const found: Match[] = [];
  let previousEnd = -1;
  for (let at = 0; at <= text.length && (most < 0 || found.length < most); ) {
    const match = findMatch(program, text, at, budget);
    if (!match) break;
    const [start = 0, end = 0] = match;
    const isEmptyHere = end === at;
    const counts = !(isEmptyHere && start === previousEnd);
    at = isEmptyHere ? end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1) : end;
    previousEnd = end;
    if (counts) found.push(match);
  }
  return found;
}

const textAt = (text: string, match: Match, group: number): string => {
  const start = match[2 * group] ?? -1;
  return start < 0 ? '' : text.slice(start, match[2 * group + 1]);
};

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g;

/** `$1`, `${1}`, `$name`: the group of the match; one that is not there is empty. */
function expanded(template: string, program: Program, text: string, match: Match): string {
  return template.replace(REFERENCE, (whole: string, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return whole === '$$' ? '$' : whole;
    if (/^\d+$/.test(name)) return textAt(text, match, Number(name));
    // Go takes a name twice: the first of its groups that has matched counts.
    const group = program.groups.findIndex((known, n) => known === name && (match[2 * n] ?? -1) >= 0);
    return group < 0 ? '' : textAt(text, match, group);
  });
}

function replaced(program: Program, text: string, by: (match: Match) => string, budget: RenderBudget): string {
  let out = '';
  let done = 0;
  for (const match of allMatches(program, text, -1, budget)) {
    const part = by(match);
    budget.write(part.length);
    out += text.slice(done, match[0]) + part;
    done = match[1] ?? done;
  }
  return out + text.slice(done);
}

function findAll(program: Program, text: string, most: number, budget: RenderBudget): GoSlice {
  const matches = allMatches(program, text, most, budget);
  if (matches.length === 0) return new Slice([], 'string', true);
  return stringSlice(matches.map((match) => textAt(text, match, 0)));
}

function split(pattern: string, program: Program, text: string, most: number, budget: RenderBudget): GoSlice {
  if (most === 0) return new Slice([], 'string', true);
  if (pattern !== '' && text === '') return stringSlice(['']);
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of allMatches(program, text, most, budget)) {
    if (most > 0 && parts.length === most - 1) break;
    end = match[0] ?? 0;
    if (match[1] !== 0) parts.push(text.slice(begin, end));
    begin = match[1] ?? 0;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return stringSlice(parts);
}

const inQuotes = (pattern: string): string => (pattern.includes('`') ? JSON.stringify(pattern) : `\`${pattern}\``);

// One compiled pattern is kept for each text: charts use few, in loops.
const MOST_KEPT = 200;
const kept = new Map<string, Program>();

function compiled(pattern: string, { budget }: TemplateRun): Program {
  const known = kept.get(pattern);
  if (known) return known;
  const program = compilePattern(pattern, budget);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(pattern, program);
  return program;
}

/** Sprig's functions without `must` panic with the text of MustCompile. */
function surely(pattern: string, run: TemplateRun): Program {
  try {
    return compiled(pattern, run);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind !== 'invalid') throw thrown;
    throw new Fault('invalid', `regexp: Compile(${inQuotes(pattern)}): ${thrown.message}`);
  }
}

type Compile = (pattern: string, run: TemplateRun) => Program;

function matches(pattern: string, text: string, run: TemplateRun): boolean {
  return findMatch(compiled(pattern, run), text, 0, run.budget) !== undefined;
}

const family = (compile: Compile) => ({
  FindAll: fn(['string', 'string', 'int'], (pattern, text, most, run) =>
    findAll(compile(pattern, run), text, most, run.budget),
  ),
  Find: fn(['string', 'string'], (pattern, text, run) => {
    const match = findMatch(compile(pattern, run), text, 0, run.budget);
    return match ? textAt(text, match, 0) : '';
  }),
  ReplaceAll: fn(['string', 'string', 'string'], (pattern, text, by, run) => {
    const program = compile(pattern, run);
    return replaced(program, text, (match) => expanded(by, program, text, match), run.budget);
  }),
  ReplaceAllLiteral: fn(['string', 'string', 'string'], (pattern, text, by, run) => {
    return replaced(compile(pattern, run), text, () => by, run.budget);
  }),
  Split: fn(['string', 'string', 'int'], (pattern, text, most, run) =>
    split(pattern, compile(pattern, run), text, most, run.budget),
  ),
});

const named = (prefix: string, functions: Functions): Functions =>
  Object.fromEntries(Object.entries(functions).map(([name, definition]) => [prefix + name, definition]));

/** Sprig's functions for regular expressions, in the syntax of RE2 and without its machine's surprises. */
export const regexFunctions: Functions = {
  ...named('regex', family(surely)),
  ...named('mustRegex', family(compiled)),
  regexMatch: fn(['string', 'string'], (pattern, text, run) => {
    try {
      return matches(pattern, text, run);
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.kind === 'invalid') return false;
      throw thrown;
    }
  }),
  mustRegexMatch: fn(['string', 'string'], matches),
  regexQuoteMeta: fn(['string'], (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
