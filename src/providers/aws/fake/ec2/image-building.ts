// Images of the account, taken from its instances: pending at first, and without tags until somebody sets them.
import { refusal } from '#fakes/refusal.ts';
import { hexId } from '../hex-id.ts';
import { isSet, textAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { named } from './describe-instances.ts';
import { stateAt } from './instance.ts';
import { specifiedTags } from './tags.ts';

const PENDING_MS = 30_000;
const NAME = /^[A-Za-z0-9()[\] ./\-'@_]{3,128}$/;

export function createImage(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, world, nowMs } = ask;
  const [instanceId, name] = [textAt(params, 'InstanceId') ?? '', textAt(params, 'Name') ?? ''];
  const [instance] = named(ask, [instanceId]);
  if (!NAME.test(name))
    throw refusal('InvalidAMIName.Malformed', 'AMI names must be between 3 and 128 characters long.');
  const same = [...region.images.values()].find((one) => one.name === name && one.owner === world.account);
  if (same) throw refusal('InvalidAMIName.Duplicate', `AMI name ${name} is already in use by AMI ${same.id}`);
  if (!instance || !['running', 'stopped'].includes(stateAt(instance, nowMs)))
    throw refusal('IncorrectState', `The instance '${instanceId}' is not in a state from which it can be imaged.`);
  const [id, snapshotId] = [hexId('ami', world.random), hexId('snap', world.random)];
  region.snapshots.add(snapshotId);
  region.images.set(id, {
    ...{ id, name, owner: world.account, architecture: instance.architecture },
    ...{ createdAtMs: nowMs, availableAtMs: nowMs + PENDING_MS },
    made: { instanceId, snapshotId },
    tags: specifiedTags(params, 'image'),
  });
  return { imageId: id };
}

export function deregisterImage({ region, params, world }: Ask): Readonly<Record<string, Xml>> {
  const id = textAt(params, 'ImageId') ?? '';
  const image = region.images.get(id);
  if (!image) throw refusal('InvalidAMIID.NotFound', `The image id '[${id}]' does not exist`);
  if (image.owner !== world.account) throw refusal('AuthFailure', `Not authorized for images: [${id}]`, 403);
  region.images.delete(id);
  const snapshotId = image.made?.snapshotId;
  if (!isSet(params, 'DeleteAssociatedSnapshots') || snapshotId === undefined) return { return: true };
  region.snapshots.delete(snapshotId);
  return { return: true, deleteSnapshotResultSet: [{ snapshotId, returnCode: 'success' }] };
}
