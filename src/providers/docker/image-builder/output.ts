// What the engine says during a build, as steps and lines.

import type { Fault } from '#core/fault.ts';
import type { Recipe } from '#core/image-builder.ts';
import { stepFailed } from '#core/image-builder.ts';
import type { BuildLine } from '../api.ts';
import { buildFault } from '../faults.ts';

export interface BuildOutput {
  step(title: string): void;
  line(text: string): void;
}

const STEP = /^Step \d+\/\d+ : (.*)$/s;

/** Takes the lines of the engine one by one; throws the fault that one of them tells. */
export function buildOutput(recipe: Recipe, to: BuildOutput) {
  // Output comes in pieces of any size.
  let held = '';
  let runs = 0;
  let isInRun = false;

  function whole(text: string): void {
    const [, instruction] = STEP.exec(text) ?? [];
    if (instruction === undefined) return void (text.trim() !== '' && to.line(text));
    isInRun = instruction.startsWith('RUN ');
    if (isInRun) runs += 1;
    to.step(isInRun ? (recipe.steps[runs - 1] ?? instruction) : instruction);
  }

  function flush(): void {
    if (held !== '') whole(held);
    held = '';
  }

  function take(piece: string): void {
    const lines = (held + piece).split(/\r?\n/);
    held = lines.pop() ?? '';
    for (const line of lines) whole(line);
  }

  function failure({ error, errorDetail }: BuildLine): Fault | undefined {
    const said = errorDetail?.message ?? error;
    if (said === undefined) return undefined;
    flush();
    return isInRun && errorDetail?.code !== undefined && errorDetail.code !== 0
      ? stepFailed(recipe, runs, errorDetail.code)
      : buildFault(said);
  }

  return {
    take(line: BuildLine): void {
      const { stream, status, id, progress } = line;
      const fault = failure(line);
      if (fault) throw fault;
      if (stream !== undefined) take(stream);
      else if (status !== undefined && !progress) to.line(id === undefined ? status : `${id}: ${status}`);
    },
    end: flush,
  };
}
