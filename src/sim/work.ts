import type { SessionSpec } from '#core/session.ts';

/** What a simulated session does: it takes a while, says something now and then, and ends. */
export interface Work {
  readonly durationMs: number;
  readonly exitCode: number;
  /** Pieces of output: one half at the start, the other at the end. */
  readonly pieces: number;
}

const PROGRAM = 'work';

export function commandOf({ durationMs, exitCode, pieces }: Work): readonly string[] {
  return [PROGRAM, String(Math.round(durationMs)), String(exitCode), String(pieces)];
}

export function workOf({ command }: Pick<SessionSpec, 'command'>): Work {
  const [, durationMs, exitCode, pieces] = command.map(Number);
  return { durationMs: durationMs ?? 0, exitCode: exitCode ?? 0, pieces: pieces ?? 0 };
}
