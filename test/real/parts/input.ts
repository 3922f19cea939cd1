import { spawn } from 'node:child_process';
import { Fault } from '#core/fault.ts';

/** What a program writes that is given a text on its input. */
export function runWithInput(
  program: string,
  words: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.once('error', (error) => reject(Fault.from(error)));
    child.once('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Fault('unavailable', `${program} ended with ${code}.`));
    });
    child.stdin.end(input);
  });
}
