import { expect, test } from 'vitest';
import { CONFIG_MAPS, openScene } from '../testing.ts';
import { readProtobuf } from './protobuf.ts';

const field = (number: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
};

const message = (kind: string, raw: Buffer): Buffer =>
  Buffer.concat([Buffer.from('k8s\0'), field(1, Buffer.concat([field(1, 'v1'), field(2, kind)])), field(2, raw)]);

const aConfigMap = message(
  'ConfigMap',
  Buffer.concat([
    field(1, Buffer.concat([field(1, 'a'), field(11, Buffer.concat([field(1, 'app'), field(2, 'x')]))])),
    field(2, Buffer.concat([field(1, 'key'), field(2, 'value')])),
    field(2, Buffer.concat([field(1, 'empty')])),
  ]),
);

test('a protobuf of a known kind is read as JSON', () => {
  expect(JSON.parse(readProtobuf(aConfigMap) ?? '')).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: { app: 'x' } },
    data: { key: 'value', empty: '' },
  });
});

test('one of another kind, and one without the mark of Kubernetes, is not', async () => {
  const { fake } = openScene();
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
  const post = async (body: Buffer): Promise<number> =>
    (await fake.fetch(`http://cluster.test${CONFIG_MAPS}`, { method: 'POST', headers, body: new Uint8Array(body) }))
      .status;

  expect(readProtobuf(Buffer.from('other'))).toBeUndefined();
  expect([await post(message('Unheard', Buffer.alloc(0))), await post(aConfigMap)]).toEqual([415, 201]);
});
