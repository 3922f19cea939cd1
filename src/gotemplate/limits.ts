import { Fault } from '#core/fault.ts';

/** How much one rendering may do. */
export interface RenderLimits {
  /** Actions, calls, iterations, elements looked at. */
  readonly steps: number;
  /** Characters of the output and of every text on the way to it. */
  readonly characters: number;
  /** Templates within templates. */
  readonly depth: number;
}

// A template of a public chart takes up to a thousand steps; fifty thousand take less than 100 ms, also on a busy machine.
export const DEFAULT_RENDER_LIMITS: RenderLimits = { steps: 50_000, characters: 2 * 1024 * 1024, depth: 400 };

/** What is left of the limits while a template is rendered. Its faults have the kind `quota`: no template can catch them. */
export interface RenderBudget {
  readonly limits: RenderLimits;
  step(count?: number): void;
  write(characters: number): void;
}

export function openRenderBudget(limits: RenderLimits): RenderBudget {
  let stepsLeft = limits.steps;
  let charactersLeft = limits.characters;
  return {
    limits,
    step(count = 1) {
      stepsLeft -= count;
      if (!(stepsLeft >= 0)) throw beyond(`takes more than ${limits.steps} steps`);
    },
    write(characters) {
      charactersLeft -= characters;
      if (!(charactersLeft >= 0)) throw beyond(`writes more than ${limits.characters} characters`);
    },
  };
}

export const beyond = (what: string): Fault =>
  new Fault('quota', `The template ${what}.`, { remedy: 'Make the template simpler, or its data smaller.' });
