// What a build of the classic builder leaves when it is over and no image: containers of its steps, and layers without a name.
import { Fault } from '#core/fault.ts';
import type { BuildMark } from '#core/image-builder.ts';
import type { ContainerSummary, ImageSummary } from '../api.ts';
import { pathOf } from '../create.ts';
import type { Engine } from '../engine.ts';
import { nameOf } from '../marks.ts';
import { buildMarkIn, LABEL, tagsOf } from './labels.ts';

export const imagePath = (image: string, rest = ''): string =>
  `/images/${image.split('/').map(encodeURIComponent).join('/')}${rest}`;

/** All images that bear that label, also those without a name. */
export async function labelled(engine: Engine, label: string, signal: AbortSignal): Promise<readonly ImageSummary[]> {
  const query = { filters: JSON.stringify({ label: [label] }) };
  const images = await engine.ask<readonly ImageSummary[]>({ path: '/images/json', query }, signal);
  if (Array.isArray(images)) return images;
  throw new Fault('unavailable', `Docker at ${engine.address} answered a listing without images.`);
}

/** Absent is a success; so is what the engine is about to remove itself, or what somebody uses. */
async function removed(engine: Engine, path: string, signal: AbortSignal): Promise<boolean> {
  const call = { method: 'DELETE', path, query: path.startsWith('/containers/') ? { force: 1, v: 1 } : {} } as const;
  try {
    await engine.ask(call, signal);
    return true;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing' && fault.kind !== 'conflict') throw fault;
    return false;
  }
}

/** The next layer comes to light when the one above it is gone. */
const MOST_LAYERS = 200;

/** Removes containers and nameless layers of builds that are over, once; answers what it removed. */
async function cleanOnce(
  engine: Engine,
  isOver: (mark: BuildMark) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isLeft = (labels: ImageSummary['Labels']): boolean => {
    const mark = buildMarkIn(labels);
    return mark !== undefined && isOver(mark);
  };
  const gone: string[] = [];
  const query = { all: 1, filters: JSON.stringify({ label: [LABEL.build] }) };
  const containers = await engine.ask<readonly ContainerSummary[]>({ path: '/containers/json', query }, signal);
  for (const container of containers)
    if (isLeft(container.Labels) && (await removed(engine, pathOf(container.Id), signal))) gone.push(nameOf(container));
  for (let round = 0; round < MOST_LAYERS; round++) {
    const layers = (await labelled(engine, LABEL.build, signal)).filter((one) => tagsOf(one).length === 0);
    const before = gone.length;
    for (const { Id, Labels } of layers)
      if (isLeft(Labels) && (await removed(engine, imagePath(Id), signal))) gone.push(Id);
    if (gone.length === before) break;
  }
  return gone;
}

const AGAIN_AFTER_MS = 300;
const MOST_ROUNDS = 20;

/** The engine ends a build that was given up a moment after we did: looks again until nothing is left. */
export async function cleanBuilds(
  engine: Engine,
  isOver: (mark: BuildMark) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const gone: string[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = await cleanOnce(engine, isOver, signal);
    gone.push(...found);
    if (round > 0 && found.length === 0) break;
    await engine.clock.sleep(AGAIN_AFTER_MS, signal);
  }
  return gone;
}
