/** A program of this machine, as it is to be run. */
export interface ProgramCall {
  /** A name along PATH, or a file. */
  readonly program: string;
  readonly args: readonly string[];
  /** Where it runs. */
  readonly folder: string;
  /** All that it finds in its environment, beside PATH, HOME, LANG and TMPDIR of this program. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on its standard input; absent: nothing. */
  readonly input?: string | undefined;
  /** Each line as it comes, without its end. */
  line?(text: string, from: 'stdout' | 'stderr'): void;
  /** After SIGINT it may take this time to clean up; absent: ten seconds. */
  readonly graceMs?: number | undefined;
}

/** How a program ended: by its own exit code, or by a signal. */
export interface ProgramEnd {
  readonly code: number | undefined;
  readonly signal?: string | undefined;
}

/** How a kind runs programs of this machine; tests and simulations hand in their own. */
export interface Programs {
  /** The file that would run; absent: it is not installed. */
  find(program: string): string | undefined;
  /**
   * Resolves once it has ended and all of its output was handed on, whatever its exit code. When the signal aborts it gets
   * SIGINT, as from Ctrl-C; after its grace it is killed with all that it started. One that is not there is a fault.
   */
  run(call: ProgramCall, signal: AbortSignal): Promise<ProgramEnd>;
}
