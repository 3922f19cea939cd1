// A platform of one's own: the computer is a program of this machine that answers GET /health.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BaseComputerProvisioner, type Patterns } from '@muster/muster/computers';

const PROGRAM = `
require('node:http')
  .createServer((request, response) => response.end(JSON.stringify({ healthy: true, greeting: process.argv[2] })))
  .listen(Number(process.argv[1]), '127.0.0.1');
`;

export class MyCustomProvisioner extends BaseComputerProvisioner {
  readonly customParam: string;
  #program: ChildProcess | undefined;

  constructor(port = 8000, customParam = 'default', patterns: Patterns = {}) {
    super(port, patterns);
    this.customParam = customParam;
    this._status = 'not_started';
  }

  async setup(): Promise<void> {
    this._status = 'starting';
    this.log('info', 'Starting setup…');
    // Several attempts at the start, and none at the wait: a program that is slow is not started twice.
    await this.retry(() => this.#start());
    await this.waitUntilRunning();
    this._status = 'running';
  }

  async teardown(): Promise<void> {
    this._status = 'stopping';
    const program = this.#program;
    this.#program = undefined;
    if (program?.exitCode === null && program.kill()) await once(program, 'exit');
    this._status = 'stopped';
  }

  async isRunning(): Promise<boolean> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.port}/health`, { signal: AbortSignal.timeout(5_000) });
      const { healthy } = (await answer.json()) as { healthy?: unknown };
      return healthy === true;
    } catch {
      return false;
    }
  }

  async #start(): Promise<void> {
    const program = spawn(process.execPath, ['-e', PROGRAM, String(this.port), this.customParam], { stdio: 'ignore' });
    await once(program, 'spawn');
    this.#program = program;
  }
}
