// Images by project and family. What its name says is its architecture.
import { DAY_MS } from '#core/clock.ts';
import { filterOf } from './filter.ts';
import { shownMade } from './image-building.ts';
import { urlOf } from './instance.ts';
import { architectureOfImage, OLDER_IMAGES } from './seed-data.ts';
import type { ComputeState } from './state.ts';

interface FakeImage {
  readonly project: string;
  readonly family: string;
  readonly name: string;
  /** Among those of its family, the oldest first. */
  readonly place: number;
}

function imagesOf({ families }: ComputeState): FakeImage[] {
  return [...families].flatMap(([key, newest]) => {
    const [project = '', family = ''] = key.split('/');
    const names = [...(OLDER_IMAGES.get(key) ?? []), newest];
    return names.map((name, place) => ({ project, family, name, place }));
  });
}

const FIRST_MS = Date.parse('2026-10-01T00:00:00Z');

function shownImage({ project, family, name, place }: FakeImage): Readonly<Record<string, unknown>> {
  return {
    kind: 'compute#image',
    name,
    family,
    selfLink: urlOf(project, `global/images/${name}`),
    status: 'READY',
    architecture: architectureOfImage(name),
    creationTimestamp: new Date(FIRST_MS + place * DAY_MS).toISOString(),
  };
}

const shownFrom = (state: ComputeState, project: string) =>
  state.made.filter((one) => one.project === project).map((one) => shownMade(one, state.clock.now()));

/** The newest image of a family. */
export function newestImage(state: ComputeState, project: string, family: string) {
  const made = shownFrom(state, project).findLast((one) => one.family === family && one.status === 'READY');
  if (made) return made;
  const found = imagesOf(state).findLast((image) => image.project === project && image.family === family);
  return found && shownImage(found);
}

/** The images of a project that a filter lets through. */
export function imagesIn(state: ComputeState, project: string, filter = '') {
  const ofFamilies = imagesOf(state).filter((image) => image.project === project);
  return [...ofFamilies.map(shownImage), ...shownFrom(state, project)].filter((one) =>
    filterOf(filter)(one as { readonly name: string }),
  );
}

/** The image that a path of a request names, of any project. */
export function imageAt(state: ComputeState, path: string): string | undefined {
  const [, project, family, image] =
    /^projects\/([^/]+)\/global\/images\/(?:family\/([^/]+)|([^/]+))$/.exec(path) ?? [];
  const fits = (one: FakeImage): boolean => one.project === project && (one.family === family || one.name === image);
  const made = state.made.findLast((one) => one.project === project && (one.family === family || one.name === image));
  return made?.name ?? imagesOf(state).findLast(fits)?.name;
}
