import { refusal } from '#fakes/refusal.ts';
import { hexId } from '../hex-id.ts';
import { textAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { filterOf } from './filters.ts';

export function createKeyPair({ region, params, world }: Ask): Readonly<Record<string, Xml>> {
  const name = textAt(params, 'KeyName') ?? '';
  if (region.keyPairs.has(name)) throw refusal('InvalidKeyPair.Duplicate', `The keypair '${name}' already exists.`);
  region.keyPairs.add(name);
  return { keyName: name, keyPairId: hexId('key', world.random), keyFingerprint: '00', keyMaterial: 'a private key' };
}

export function describeKeyPairs({ region, params }: Ask): Readonly<Record<string, Xml>> {
  const passes = filterOf<string>(
    params,
    (name, filter) => [filter === 'key-name' ? name : undefined],
    new Set(['key-name']),
  );
  const wanted = textsAt(params, 'KeyName');
  const unknown = wanted.find((name) => !region.keyPairs.has(name));
  if (unknown !== undefined) throw refusal('InvalidKeyPair.NotFound', `The key pair '${unknown}' does not exist`);
  const names = [...region.keyPairs].filter((name) => (wanted.length === 0 || wanted.includes(name)) && passes(name));
  return { keySet: names.map((keyName) => ({ keyName, keyFingerprint: '00' })) };
}

/** One that is not there is a success, as EC2 has it. */
export function deleteKeyPair({ region, params }: Ask): Readonly<Record<string, Xml>> {
  region.keyPairs.delete(textAt(params, 'KeyName') ?? '');
  return { return: true };
}
