// Runs in a thread of its own: reads one YAML text and hands it out in pieces, as it is asked for them.
import { parentPort, workerData } from 'node:worker_threads';
import type { FromYamlThread, ToYamlThread, YamlThreadData } from './long-yaml.ts';
import type { ConfigNode, ListNode } from './tree.ts';
import { readYaml } from './yaml-document.ts';

const { text, limits, longest } = workerData as YamlThreadData;
const lists = new Map<string, ListNode>();

/** Long lists at the top go piece by piece: copying them in one go would take as long as a stall may. */
function withoutLongLists(root: ConfigNode): ConfigNode {
  if (root.is !== 'map') return root;
  const entries = root.entries.map((entry) => {
    const { value, key } = entry;
    if (value.is !== 'list' || value.items.length <= longest || lists.has(key)) return entry;
    lists.set(key, value);
    return { ...entry, value: { ...value, items: [] } };
  });
  return { ...root, entries };
}

const send = (message: FromYamlThread): void => parentPort?.postMessage(message);

const read = readYaml(text, limits);
const head = read.problems ? read : { ...read, value: withoutLongLists(read.value) };
parentPort?.on('message', ({ key, from }: ToYamlThread) => {
  send({ items: lists.get(key)?.items.slice(from, from + longest) ?? [] });
});
send({ head, lists: [...lists].map(([key, { items }]) => ({ key, length: items.length })) });
