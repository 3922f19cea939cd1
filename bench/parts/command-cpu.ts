import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SECONDS_A_MINUTE = 60;
// What the shell prints of the programs that it ran, on the second line: user and system time.
const TIMES = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/;

/** The processor time of all that a line of bash starts and waits for, and what it printed. */
export async function cpuOfCommand(
  script: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly cpuMs: number; readonly stdout: string }> {
  const { stdout } = await run('bash', ['-c', `${script} && times`], { env });
  const [, ...numbers] = TIMES.exec(stdout) ?? [];
  const [minutes = 0, seconds = 0, systemMinutes = 0, systemSeconds = 0] = numbers.map(Number);
  return { cpuMs: 1_000 * ((minutes + systemMinutes) * SECONDS_A_MINUTE + seconds + systemSeconds), stdout };
}
