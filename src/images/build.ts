// One build from what it needs to its image, wherever the command runs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { BuildMark, BuiltImage, ImageBuilder, ImageNeed, Recipe } from '#core/image-builder.ts';
import type { Random } from '#core/random.ts';
import { type OutputTo, openOutputLog } from './output-log.ts';
import { openRunFolders, type Runner } from './run-folder.ts';

export interface BuildPlace {
  readonly clock: Clock;
  readonly random: Random;
  /** Where the folders of builds are. */
  readonly folder: string;
  /** This process. */
  readonly runner: Runner;
  isAlive(runner: Runner): boolean;
}

export interface BuildRequest {
  readonly builder: ImageBuilder;
  readonly recipe: Recipe;
  /** `HOST/NAME` of a registry. */
  readonly push?: string | undefined;
}

/** How a build went; `fault` where it made nothing. */
export interface BuildEnd {
  readonly image?: BuiltImage | undefined;
  /** False: the image of an equal recipe was there. */
  readonly isBuilt: boolean;
  readonly fault?: Fault | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly log: readonly string[];
}

/** What is missing, as one fault. */
export function needsFault(needs: readonly ImageNeed[]): Fault {
  const said = needs.map(({ program, why }) => `${program} is missing: ${why}`);
  const remedies = [...new Set(needs.map(({ get }) => get))];
  return new Fault('missing', said.join('\n'), { remedy: remedies.join('\n') });
}

const LINES_OF_FAILURE = 20;

/** A step that failed, with the last that it said. */
function withLastLines(thrown: unknown, lines: readonly string[]): Fault {
  const fault = Fault.from(thrown);
  if (!fault.at?.startsWith('steps[')) return fault;
  const said = lines.length === 0 ? ['It printed nothing.'] : lines;
  const { kind, at, remedy } = fault;
  return new Fault(kind, [fault.message, ...said.map((line) => `  ${line}`)].join('\n'), { at, remedy, cause: thrown });
}

/** Makes the image of the recipe, or finds it; never throws. */
export async function buildImage(
  { builder, recipe, push }: BuildRequest,
  { clock, random, folder: root, runner, isAlive }: BuildPlace,
  output: OutputTo,
  signal: AbortSignal,
): Promise<BuildEnd> {
  const startedAt = clock.now();
  const log = openOutputLog(output);
  let isBuilt = false;
  let image: BuiltImage | undefined;

  async function build(): Promise<BuiltImage> {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const folders = openRunFolders(root, isAlive);
    const cleaned = await builder.clean?.((mark) => folders.isOver(mark, clock.now()), signal);
    for (const name of cleaned ?? []) log.line(`removed ${name}, which an earlier build has left`);
    folders.sweep();
    const mark: BuildMark = { id: shortId(random, 12), startedAt };
    const { folder, close } = folders.open(mark, runner);
    try {
      for (const [name, text] of Object.entries(builder.files(recipe))) writeFileSync(join(folder, name), text);
      isBuilt = true;
      return await builder.build(recipe, { ...mark, folder, step: log.step, line: log.line }, signal);
    } catch (thrown) {
      throw withLastLines(thrown, log.lastOfStep(LINES_OF_FAILURE));
    } finally {
      close();
    }
  }

  async function pushed(built: BuiltImage, to: string): Promise<BuiltImage> {
    log.step(`push to ${to}`);
    if (builder.push) return builder.push(built, to, log, signal);
    throw new Fault('unsupported', 'Only images of containers go to a registry.', {
      at: '--push',
      remedy: 'Leave out --push: the image is where its machines start.',
    });
  }

  try {
    image = (await builder.find(recipe, signal)) ?? (await build());
    if (push !== undefined) image = await pushed(image, push);
    return { image, isBuilt, startedAt, endedAt: clock.now(), log: log.kept() };
  } catch (thrown) {
    const fault = signal.aborted ? new Fault('unavailable', 'The build was cancelled.') : Fault.from(thrown);
    return { image, isBuilt, fault, startedAt, endedAt: clock.now(), log: log.kept() };
  }
}
