import { Fault } from '#core/fault.ts';

/** Why the output cannot be written; undefined where the pipe was closed, as by `| head`. */
export function outputFailure({ code, message }: NodeJS.ErrnoException): Fault | undefined {
  if (code === 'EPIPE') return undefined;
  return new Fault('unavailable', `Cannot write the output: ${code ?? message}.`, {
    remedy: 'Free space at the target, or write elsewhere.',
  });
}
