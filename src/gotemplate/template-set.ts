import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { goQuoted } from './fmt/quote.ts';
import type { TemplateRun } from './functions/function.ts';
import { knownFunctions } from './functions/registry.ts';
import { beyond, DEFAULT_RENDER_LIMITS, openRenderBudget, type RenderLimits } from './limits.ts';
import { type MissingKey, openState, type Rendering } from './run/state.ts';
import { walkList } from './run/walk.ts';
import { isEmptyList, parseFile } from './syntax/actions.ts';
import type { TemplateDefinition } from './syntax/nodes.ts';
import { hasStrayBytes } from './value/bytes.ts';
import { type Data, goValue, type Numbers } from './value/data.ts';
import type { Value } from './value/value.ts';

export interface TemplateFile {
  /** How other templates and faults call it. */
  readonly name: string;
  readonly text: string;
}

export interface TemplateOptions {
  /** What a key that its map does not have gives; `default` prints `<no value>`, as Go does. */
  readonly missingKey?: MissingKey;
  /** How numbers of the data become ints and float64s. */
  readonly numbers?: Numbers;
  /** Without it, `now` and `ago` are refused. */
  readonly clock?: Clock;
  /** That many random bytes; without it, functions that need some are refused. */
  readonly random?: (count: number) => Uint8Array;
  readonly limits?: Partial<RenderLimits>;
}

/** Templates that see each other by name. */
export interface TemplateSet {
  readonly names: readonly string[];
  /** The text that the template gives for the data; data of `goValue` may be changed by it, as in Go, other data is not. */
  render(name: string, data: Data): string;
}

const ROOT = 'templates';

/** Adds definitions: later ones replace earlier ones, unless there is nothing in them. */
function withFile(definitions: Map<string, TemplateDefinition>, parsed: ReadonlyMap<string, TemplateDefinition>): void {
  for (const [name, definition] of parsed) {
    if (!definitions.has(name) || !isEmptyList(definition.root)) definitions.set(name, definition);
  }
}

/** A stack that overflows is a template that is nested too deeply: a fault like any other limit. */
function boundedStack<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof RangeError) throw beyond('or its data is nested too deeply');
    throw thrown;
  }
}

/** Parses Go templates with the functions of Sprig and Helm; a fault names file, line and column, in Go's words. */
export function parseTemplates(files: readonly TemplateFile[], options: TemplateOptions = {}): TemplateSet {
  const { missingKey = 'default', clock, random, numbers } = options;
  const limits = { ...DEFAULT_RENDER_LIMITS, ...options.limits };
  const functions = knownFunctions({ clock: clock !== undefined, random: random !== undefined });
  const definitions = new Map<string, TemplateDefinition>();
  for (const { name, text } of files)
    withFile(
      definitions,
      boundedStack(() => parseFile(name, text, functions)),
    );

  /** Renders into a text of its own, as the function `include` does. */
  function execute(world: Rendering, name: string, data: Value, depth: number): string {
    const definition = world.definitions.get(name);
    if (!definition) {
      throw new Fault('invalid', `template: no template ${goQuoted(name)} associated with template ${goQuoted(ROOT)}`);
    }
    if (depth > limits.depth) throw beyond(`is nested more than ${limits.depth} deep`);
    const out = { text: '' };
    walkList(openState(world, definition, out, data, depth), data, definition.root);
    return out.text;
  }

  function openWorld(): { world: Rendering; run: TemplateRun } {
    let depth = 0;
    const deeper = (act: () => string): string => {
      depth++;
      const text = act();
      depth--;
      return text;
    };
    const budget = openRenderBudget(limits);
    const worldOf = (known: ReadonlyMap<string, TemplateDefinition>): Rendering => {
      const world: Rendering = {
        definitions: known,
        missingKey,
        run: {
          budget,
          clock,
          random,
          include: (name, data) => deeper(() => execute(world, name, data ?? undefined, depth)),
          renderText(text, data) {
            budget.step(text.length);
            const inner = new Map(known);
            const parsed = parseFile(ROOT, text, functions);
            withFile(inner, parsed);
            // Even an empty text is what is rendered, not the text around it.
            inner.set(ROOT, parsed.get(ROOT) as TemplateDefinition);
            // Helm shows nothing for what has no value in a text that is a template itself.
            const rendered = deeper(() => execute(worldOf(inner), ROOT, data ?? undefined, depth));
            return rendered.replaceAll('<no value>', '');
          },
        },
      };
      return world;
    };
    const world = worldOf(definitions);
    return { world, run: world.run };
  }

  return {
    names: [...definitions.keys()],
    render(name, data) {
      if (!definitions.has(name)) throw new Fault('missing', `There is no template ${goQuoted(name)}.`);
      const text = boundedStack(() => execute(openWorld().world, name, goValue(data, numbers) ?? undefined, 0));
      if (hasStrayBytes(text)) {
        throw new Fault('invalid', `The template ${goQuoted(name)} gives a text that is not valid UTF-8.`, {
          remedy: 'Some function has cut a character in two: cut elsewhere.',
        });
      }
      return text;
    },
  };
}
