// Runs patterns as RE2 does: every state at once, one character after the other. No pattern takes more than steps in
// proportion to its size and the text, which JavaScript's own backtracking cannot promise.
import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { type Assertion, type Pattern, type PatternPart, readPattern } from './syntax.ts';

type Instruction =
  | { readonly op: 'char'; readonly matches: (code: number) => boolean }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'match' };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly groups: readonly string[];
}

const MOST_INSTRUCTIONS = 20_000;

function matcherOf(source: string, folds: boolean): (code: number) => boolean {
  const pattern = new RegExp(`^[${source}]$`, folds ? 'iu' : 'u');
  const ascii = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  return (code) => ascii[code] ?? pattern.test(String.fromCodePoint(code));
}

type Matchers = Map<string, (code: number) => boolean>;

/** One matcher for all characters of a pattern that are alike: a repeat has many. */
function sharedMatcher(
  { source, folds }: { source: string; folds: boolean },
  known: Matchers,
): (code: number) => boolean {
  // An empty class matches nothing.
  if (source === '') return () => false;
  const key = `${folds} ${source}`;
  const matcher = known.get(key) ?? matcherOf(source, folds);
  known.set(key, matcher);
  return matcher;
}

function compile(part: PatternPart, out: Instruction[], known: Matchers): void {
  if (out.length > MOST_INSTRUCTIONS) throw new Fault('invalid', 'error parsing regexp: expression too large: ``');
  switch (part.kind) {
    case 'char':
      out.push({ op: 'char', matches: sharedMatcher(part, known) });
      return;
    case 'assert':
      out.push({ op: 'assert', what: part.what });
      return;
    case 'all':
      for (const one of part.parts) compile(one, out, known);
      return;
    case 'either':
      return compileEither(part.parts, out, known);
    case 'group':
      out.push({ op: 'save', slot: 2 * part.index });
      compile(part.part, out, known);
      out.push({ op: 'save', slot: 2 * part.index + 1 });
      return;
    case 'repeat':
      return compileRepeat(part, out, known);
  }
}

function compileEither(parts: readonly PatternPart[], out: Instruction[], known: Matchers): void {
  const jumps: { op: 'jump'; to: number }[] = [];
  for (const [n, one] of parts.entries()) {
    if (n === parts.length - 1) {
      compile(one, out, known);
      break;
    }
    const split = { op: 'split' as const, first: out.length + 1, second: 0 };
    out.push(split);
    compile(one, out, known);
    const jump = { op: 'jump' as const, to: 0 };
    jumps.push(jump);
    out.push(jump);
    split.second = out.length;
  }
  for (const jump of jumps) jump.to = out.length;
}

function splitTo(out: Instruction[], isGreedy: boolean): (to: number) => void {
  const split = { op: 'split' as const, first: out.length + 1, second: out.length + 1 };
  out.push(split);
  return (to) => {
    if (isGreedy) split.second = to;
    else split.first = to;
  };
}

function compileRepeat(
  { part, least, most, isGreedy }: Extract<PatternPart, { kind: 'repeat' }>,
  out: Instruction[],
  known: Matchers,
): void {
  for (let n = 0; n < least; n++) compile(part, out, known);
  if (Number.isFinite(most)) {
    const exits: ((to: number) => void)[] = [];
    for (let n = least; n < most; n++) {
      exits.push(splitTo(out, isGreedy));
      compile(part, out, known);
    }
    for (const exit of exits) exit(out.length);
    return;
  }
  const start = out.length;
  const exit = splitTo(out, isGreedy);
  compile(part, out, known);
  out.push({ op: 'jump', to: start });
  exit(out.length);
}

/** Compiles a pattern; the matchers of its characters are what takes time, so callers may keep it. */
export function compilePattern(text: string, budget: RenderBudget): Program {
  budget.step(text.length);
  const pattern: Pattern = readPattern(text);
  const instructions: Instruction[] = [{ op: 'save', slot: 0 }];
  compile(pattern.part, instructions, new Map());
  instructions.push({ op: 'save', slot: 1 }, { op: 'match' });
  budget.step(instructions.length);
  return { instructions, groups: pattern.groups };
}

const isWord = (code: number): boolean => /^[0-9A-Za-z_]$/.test(String.fromCodePoint(Math.max(0, code)));

function holds(what: Assertion, before: number, after: number): boolean {
  switch (what) {
    case 'text start':
      return before < 0;
    case 'text end':
      return after < 0;
    case 'line start':
      return before < 0 || before === 10;
    case 'line end':
      return after < 0 || after === 10;
    case 'word':
      return isWord(before) !== isWord(after);
    case 'no word':
      return isWord(before) === isWord(after);
  }
}

type Slots = readonly number[];
interface Thread {
  readonly at: number;
  readonly slots: Slots;
}

/** The threads that wait for a character, in the order of preference. */
function follow(
  program: Program,
  start: Thread,
  place: number,
  before: number,
  after: number,
  seen: Set<number>,
  into: Thread[],
): void {
  const stack: Thread[] = [start];
  for (let thread = stack.pop(); thread; thread = stack.pop()) {
    if (seen.has(thread.at)) continue;
    seen.add(thread.at);
    const { at, slots } = thread;
    const instruction = program.instructions[at] as Instruction;
    switch (instruction.op) {
      case 'jump':
        stack.push({ at: instruction.to, slots });
        break;
      case 'split':
        stack.push({ at: instruction.second, slots }, { at: instruction.first, slots });
        break;
      case 'save':
        stack.push({ at: at + 1, slots: slots.with(instruction.slot, place) });
        break;
      case 'assert':
        if (holds(instruction.what, before, after)) stack.push({ at: at + 1, slots });
        break;
      default:
        into.push(thread);
    }
  }
}

const codeAt = (text: string, at: number): number => text.codePointAt(at) ?? -1;

function codeBefore(text: string, at: number): number {
  if (at === 0) return -1;
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? codeAt(text, at - 2) : low;
}

/** Moves every thread over one character; the slots of the first that has matched, if any. */
function advance(program: Program, threads: readonly Thread[], code: number): { moved: Thread[]; matched?: Slots } {
  const moved: Thread[] = [];
  for (const { at, slots } of threads) {
    const instruction = program.instructions[at] as Instruction;
    // Threads behind a match are of lower preference.
    if (instruction.op === 'match') return { moved, matched: slots };
    if (instruction.op === 'char' && code >= 0 && instruction.matches(code)) moved.push({ at: at + 1, slots });
  }
  return { moved };
}

/** The leftmost match from that place on, as pairs of places by group; undefined where there is none. */
export function findMatch(program: Program, text: string, from: number, budget: RenderBudget): Slots | undefined {
  const empty: Slots = new Array<number>(program.groups.length * 2).fill(-1);
  let waiting: Thread[] = [];
  let best: Slots | undefined;
  let before = codeBefore(text, from);
  for (let place = from; ; ) {
    const code = codeAt(text, place);
    const threads: Thread[] = [];
    const seen = new Set<number>();
    for (const thread of waiting) follow(program, thread, place, before, code, seen, threads);
    if (!best) follow(program, { at: 0, slots: empty }, place, before, code, seen, threads);
    budget.step(1 + threads.length / 4);
    const { moved, matched } = advance(program, threads, code);
    if (matched) best = matched;
    if (code < 0 || (best && moved.length === 0)) return best;
    waiting = moved;
    before = code;
    place += code > 0xffff ? 2 : 1;
  }
}
