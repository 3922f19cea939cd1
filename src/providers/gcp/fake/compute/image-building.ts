// Images of the project, taken from disks; disks that outlive their instance.
import { refusal } from '#fakes/refusal.ts';
import { filterOf } from './filter.ts';
import { isGone, urlOf } from './instance.ts';
import { beginOperation, shownOperation } from './operations.ts';
import { type Body, notFound, paged, type Question } from './question.ts';
import type { ComputeState } from './state.ts';

/** An image that somebody has made; it can be used as soon as it is ready. */
export interface MadeImage {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly family: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly madeAtMs: number;
  readonly readyAtMs: number;
}

/** A boot disk that does not go with its instance. */
export interface FakeDisk {
  readonly project: string;
  readonly zone: string;
  readonly name: string;
}

const READY_MS = 20_000;
const DELETED_MS = 1_000;
const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

interface Wanted {
  readonly name?: string;
  readonly family?: string;
  readonly description?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly sourceDisk?: string;
}

const LABEL = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

function isUsed({ instances, clock }: ComputeState, { zone, name }: FakeDisk): boolean {
  return instances.some((one) => one.zone === zone && one.name === name && !isGone(one, clock.now()));
}

export function insertImage({ call, state, project, nowMs }: Question): Body {
  const { name = '', family = '', description = '', labels = {}, sourceDisk = '' } = call.body as Wanted;
  if (!NAME.test(name)) throw refusal('invalid', `Invalid value for field 'resource.name': '${name}'.`);
  for (const [key, value] of Object.entries(labels))
    if (!LABEL.test(value)) throw refusal('invalid', `Invalid value for field 'resource.labels': '${key}=${value}'.`);
  const path = `projects/${project}/global/images/${name}`;
  if (state.made.some((one) => one.project === project && one.name === name))
    throw refusal('alreadyExists', `The resource '${path}' already exists`, 409);
  const disk = state.disks.find((one) => sourceDisk.endsWith(`zones/${one.zone}/disks/${one.name}`));
  if (!disk) throw refusal('invalid', `Invalid value for field 'resource.sourceDisk': '${sourceDisk}'.`);
  if (isUsed(state, disk)) throw refusal('resourceInUseByAnotherResource', `The disk '${disk.name}' is in use.`, 400);
  const own = { id: state.nextId(), project, madeAtMs: nowMs, readyAtMs: nowMs + READY_MS };
  state.made.push({ ...own, name, family, description, labels });
  const wanted = { project, place: 'global', type: 'insert', target: `global/images/${name}`, doneInMs: READY_MS };
  return shownOperation(beginOperation(state, wanted), nowMs);
}

const madeAt = ({ state, project, subject }: Question): MadeImage => {
  const found = state.made.find((one) => one.project === project && one.name === subject);
  if (!found) throw notFound(`projects/${project}/global/images/${subject}`);
  return found;
};

export function shownMade({ project, readyAtMs, madeAtMs, ...image }: MadeImage, nowMs: number): Body {
  return {
    ...{ kind: 'compute#image', ...image, architecture: 'X86_64' },
    selfLink: urlOf(project, `global/images/${image.name}`),
    status: nowMs < readyAtMs ? 'PENDING' : 'READY',
    creationTimestamp: new Date(madeAtMs).toISOString(),
  };
}

export const getImage = (question: Question): Body => shownMade(madeAt(question), question.nowMs);

export function deleteImage(question: Question): Body {
  const { state, project, nowMs } = question;
  const image = madeAt(question);
  state.made.splice(state.made.indexOf(image), 1);
  const target = `global/images/${image.name}`;
  const wanted = { project, place: 'global', type: 'delete', target, doneInMs: DELETED_MS };
  return shownOperation(beginOperation(state, wanted), nowMs);
}

export function aggregatedDisks(question: Question): Body {
  const { state, project, call } = question;
  const isWanted = filterOf(call.query.filter);
  const all = state.disks.filter((one) => one.project === project && isWanted(one));
  const { items, token } = paged(question, all, ({ zone, name }) => `${zone}/${name}`);
  const scopes = [...Map.groupBy(items, ({ zone }) => `zones/${zone}`)].map(([place, some]) => {
    const disks = some.map(({ zone, name }) => ({ kind: 'compute#disk', name, zone: urlOf(project, `zones/${zone}`) }));
    return [place, { disks }];
  });
  return {
    kind: 'compute#diskAggregatedList',
    items: Object.fromEntries(scopes),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

export function deleteDisk({ state, project, place, subject, nowMs }: Question): Body {
  const disk = state.disks.find((one) => `zones/${one.zone}` === place && one.name === subject);
  if (!disk) throw notFound(`projects/${project}/${place}/disks/${subject}`);
  if (isUsed(state, disk))
    throw refusal(
      'resourceInUseByAnotherResource',
      `The disk resource '${subject}' is already being used by '${subject}'`,
      400,
    );
  state.disks.splice(state.disks.indexOf(disk), 1);
  const wanted = { project, place, type: 'delete', target: `${place}/disks/${subject}`, doneInMs: DELETED_MS };
  return shownOperation(beginOperation(state, wanted), nowMs);
}
