import { Fault } from '#core/fault.ts';

/** Why the output cannot be written; nothing where only nobody reads it any more, as after `| head`. */
export function outputFailure({ code, message }: NodeJS.ErrnoException): Fault | undefined {
  if (code === 'EPIPE') return undefined;
  return new Fault('unavailable', `Cannot write the output: ${code ?? message}.`, {
    remedy: 'Make room where it goes, or send it elsewhere.',
  });
}
