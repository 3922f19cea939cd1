// Stands in for Packer where its clouds are fakes: it reads the files of a build, asks the cloud for what Packer's builder
// asks for, ends at SIGINT as Packer does, and prints what Packer 1.6.6 prints.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import type { ProgramCall, ProgramEnd, Programs } from '#core/programs.ts';
import { BUILD_FILE, VARIABLES_FILE } from '../template.ts';

/** What the files of a build say, as far as a stand-in needs it. */
export interface Template {
  /** A value of the source, filled in. */
  text(key: string): string;
  tags(key: string): Readonly<Record<string, string>>;
}

/** What Packer's builder for one cloud does. Its calls are never cut off: Packer too ends them before it stops. */
export interface StandInCloud {
  /** Makes the machine; an error of the cloud is what Packer says of it. */
  start(template: Template): Promise<void>;
  /** Takes the image. */
  capture(template: Template): Promise<void>;
  /** What an image gets only once it is there. */
  finish?(template: Template): Promise<void>;
  /** Removes what was made on the way, however far that came. */
  end(template: Template): Promise<void>;
}

/** The machine runs; its image is there, and lacks what it gets last. */
export type Moment = 'started' | 'captured';

export interface StandIn extends Programs {
  readonly ran: readonly ProgramCall[];
  /** How many builds were begun. */
  builds(): number;
  lack(): void;
  failStep(at: number, code: number, lines: readonly string[]): void;
  hang(): void;
  /** It is killed there together with who has started it: nothing is removed, and no caller hears of it. */
  dieAt(moment: Moment): void;
}

const VERSION = 'Packer v1.6.6';
const STEP_MS = 500;
const FOR_EVER_MS = 10 ** 9;

/** The few forms of values that the templates of this folder have. */
function readTemplate(folder: string): Template & { readonly parts: readonly string[] } {
  const source = readFileSync(join(folder, BUILD_FILE), 'utf8');
  const variables = JSON.parse(readFileSync(join(folder, VARIABLES_FILE), 'utf8')) as Readonly<Record<string, unknown>>;

  const parse = (json: string): unknown => JSON.parse(json.replaceAll('" = ', '": ').replaceAll('$${', '${'));

  function value(key: string): unknown {
    const written = new RegExp(`^ +${key} = (.*)$`, 'm').exec(source)?.[1];
    if (written === undefined) throw new Error(`Error: the template has no ${key}`);
    const filled = written.replaceAll(/\bvar\.(\w+)/g, (_, name) => JSON.stringify(variables[name]));
    const [, first, second] = /^merge\((\{.*?\}), (\{.*\})\)$/.exec(filled) ?? [];
    if (first === undefined || second === undefined) return parse(filled);
    return { ...(parse(first) as object), ...(parse(second) as object) };
  }
  return {
    parts: [...source.matchAll(/echo 'muster: ([^']+)'/g)].map(([, part = '']) => part),
    text: (key) => String(value(key)),
    tags: (key) => value(key) as Readonly<Record<string, string>>,
  };
}

interface Failing {
  readonly at: number;
  readonly code: number;
  readonly lines: readonly string[];
}

const never = <T>(): Promise<T> => new Promise(() => {});

export function openStandIn(clock: Clock, cloud: StandInCloud): StandIn {
  const ran: ProgramCall[] = [];
  let [builds, isMissing, isHanging] = [0, false, false];
  let failing: Failing | undefined;
  let death: Moment | undefined;

  /** Runs one script; answers its exit code, or 1 where it was cut off. */
  async function runPart(part: string, say: (text: string) => void, signal: AbortSignal): Promise<number> {
    say(`    image.image: muster: ${part}`);
    await clock.sleep(isHanging ? FOR_EVER_MS : STEP_MS, signal);
    if (signal.aborted) return 1;
    const isBad = failing !== undefined && part.startsWith(`step ${failing.at} `);
    if (isBad) for (const line of failing?.lines ?? []) say(`    image.image: ${line}`);
    const code = isBad ? (failing?.code ?? 0) : 0;
    say(`    image.image: muster: ${part} ended with exit code ${code}`);
    return code;
  }

  async function provision(
    parts: readonly string[],
    say: (text: string) => void,
    signal: AbortSignal,
  ): Promise<number> {
    for (const part of parts) {
      const code = await runPart(part, say, signal);
      if (code !== 0) return code;
    }
    return 0;
  }

  /** Answers why there is no image. */
  async function make(folder: string, say: (text: string) => void, signal: AbortSignal): Promise<string | undefined> {
    const { parts, ...template } = readTemplate(folder);
    try {
      await cloud.start(template);
      if (death === 'started') return await never();
      const code = await provision(parts, say, signal);
      if (code !== 0) return `Script exited with non-zero exit status: ${code}. Allowed exit codes are: [0]`;
      await cloud.capture(template);
      if (death === 'captured') return await never();
      await cloud.finish?.(template);
      return undefined;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      await cloud.end(template).catch((thrown) => say(`==> image.image: Error cleaning up: ${thrown}`));
    }
  }

  async function build({ folder, line }: ProgramCall, signal: AbortSignal): Promise<ProgramEnd> {
    const say = (text: string): void => line?.(text, 'stdout');
    builds += 1;
    say('image.image: output will be in this color.');
    const why = await make(folder, say, signal);
    if (why !== undefined) say(`Build 'image.image' errored: ${why}`);
    return { code: why === undefined ? 0 : 1 };
  }

  return {
    ran,
    builds: () => builds,
    find: (program) => (program === 'packer' && !isMissing ? '/usr/bin/packer' : undefined),
    async run(call, signal) {
      ran.push(call);
      if (call.args[0] === 'build') return build(call, signal);
      call.line?.(VERSION, 'stdout');
      return { code: 0 };
    },
    lack() {
      isMissing = true;
    },
    failStep(at, code, lines) {
      failing = { at, code, lines };
    },
    hang() {
      isHanging = true;
    },
    dieAt(moment) {
      death = moment;
    },
  };
}
