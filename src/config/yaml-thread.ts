// Runs in a thread of its own: reads YAML texts and hands them out in pieces, as it is asked for them.
import { parentPort } from 'node:worker_threads';
import { Fault } from '#core/fault.ts';
import { boundedJson } from './json-text.ts';
import type { FromYamlThread, ToYamlThread } from './long-yaml.ts';
import type { ConfigNode, ListNode } from './tree.ts';
import { readYaml } from './yaml-document.ts';

/** The long lists of the text that was read last. */
const lists = new Map<string, ListNode>();

/** Long lists at the top go piece by piece: copying them in one go would take as long as a stall may. */
function withoutLongLists(root: ConfigNode, longest: number): ConfigNode {
  if (root.is !== 'map') return root;
  const entries = root.entries.map((entry) => {
    const { value, key } = entry;
    if (value.is !== 'list' || value.items.length <= longest || lists.has(key)) return entry;
    lists.set(key, value);
    return { ...entry, value: { ...value, items: [] } };
  });
  return { ...root, entries };
}

function readJson({ buffer, byteOffset, byteLength }: Uint8Array, mostValues: number): FromYamlThread {
  try {
    return { json: boundedJson(Buffer.from(buffer, byteOffset, byteLength), mostValues) };
  } catch (thrown) {
    return { refused: Fault.from(thrown).message };
  }
}

const send = (message: FromYamlThread): void => parentPort?.postMessage(message);

parentPort?.on('message', (asked: ToYamlThread) => {
  if ('key' in asked) return send({ items: lists.get(asked.key)?.items.slice(asked.from, asked.to) ?? [] });
  if ('json' in asked) return send(readJson(asked.json, asked.mostValues));
  lists.clear();
  const read = readYaml(asked.text, asked.limits);
  const head = read.problems ? read : { ...read, value: withoutLongLists(read.value, asked.longest) };
  send({ head, lists: [...lists].map(([key, { items }]) => ({ key, length: items.length })) });
});
