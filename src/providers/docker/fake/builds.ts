// Images with their labels, builds by the classic builder, and pushes, as version 20.10 does them.
import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import { filesIn } from './archive.ts';
import { type Instruction, instructionsIn, labelsOf } from './dockerfile.ts';
import { type FakeImages, fullName } from './images.ts';
import type { EngineCall } from './wire.ts';

type Labels = Readonly<Record<string, string>>;

export interface FakeLayer {
  readonly id: string;
  readonly labels: Labels;
  readonly parent: string | undefined;
  readonly madeAtMs: number;
}

/** What a step that fails prints, and its exit code. */
interface FailingRun {
  readonly at: number;
  readonly code: number;
  readonly lines: readonly string[];
}

export interface FakeBuilds {
  /** Every layer that exists, also those without a name. */
  readonly layers: Map<string, FakeLayer>;
  /** Builds that were begun. */
  begun(): number;
  /** What registries hold, by reference. */
  readonly pushed: string[];
  failRun(failing: FailingRun): void;
  /** Builds come to no end. */
  hang(): void;
  refusePush(words: string): void;
  /** What is left where the engine itself was killed in the middle of a build with these labels. */
  abandon(labels: Labels): void;
  build(call: EngineCall, signal: AbortSignal): Response;
  list(call: EngineCall): Response;
  tag(call: EngineCall): Response;
  push(call: EngineCall): Response;
  remove(call: EngineCall): Response;
}

export interface BuildsDeps {
  readonly clock: Clock;
  readonly images: FakeImages;
  /** The container of a step, with the labels so far; the returned function removes it. */
  runStep(labels: Labels): () => void;
  /** How long each step takes. */
  readonly stepMs: number;
}

const COUNTLESS_MS = 10 ** 9;
const JSON_TYPE = { headers: { 'content-type': 'application/json' } };

const valuesOf = (filter: readonly string[] | Labels | undefined): readonly string[] =>
  Array.isArray(filter) ? filter : Object.keys(filter ?? {});

const matches = (labels: Labels, pair: string): boolean => {
  const [key = '', ...value] = pair.split('=');
  return value.length === 0 ? key in labels : labels[key] === value.join('=');
};

export function openBuilds({ clock, images, runStep, stepMs }: BuildsDeps): FakeBuilds {
  const layers = new Map<string, FakeLayer>();
  const pushed: string[] = [];
  let [begun, serial] = [0, 0];
  let failing: FailingRun | undefined;
  let isHanging = false;
  let refused: string | undefined;

  const tagsOf = (id: string): string[] => [...images.local].flatMap(([tag, held]) => (held === id ? [tag] : []));
  const hasChild = (id: string): boolean => [...layers.values()].some(({ parent }) => parent === id);

  function addLayer(labels: Labels, parent: string | undefined): string {
    const id = `sha256:${hash('sha256', `layer ${serial++}`)}`;
    layers.set(id, { id, labels, parent, madeAtMs: clock.now() });
    return id;
  }

  interface Building {
    readonly args: Labels;
    labels: Labels;
    parent: string | undefined;
    runs: number;
  }
  type Say = (line: object) => void;

  async function runOne({ labels }: Building, place: number, say: Say, signal: AbortSignal): Promise<void> {
    const removeContainer = runStep(labels);
    try {
      await clock.sleep(isHanging ? COUNTLESS_MS : stepMs, signal);
      // Output comes in pieces of any size.
      say({ stream: 'running ' });
      say({ stream: `step ${place}\n` });
      if (failing?.at !== place) return;
      for (const line of failing.lines) say({ stream: `${line}\n` });
      const message = `The command '/bin/sh -euc …' returned a non-zero code: ${failing.code}`;
      say({ errorDetail: { code: failing.code, message }, error: message });
      throw refusal('failed', message, 500);
    } finally {
      removeContainer();
    }
  }

  async function carryOut({ word, rest }: Instruction, to: Building, say: Say, signal: AbortSignal): Promise<void> {
    if (word === 'FROM') return;
    if (word === 'RUN') await runOne(to, ++to.runs, say, signal);
    else await clock.sleep(stepMs, signal);
    if (word === 'LABEL') to.labels = { ...to.labels, ...labelsOf(rest, to.args) };
    to.parent = addLayer(to.labels, to.parent);
    say({ stream: ` ---> ${to.parent.slice(7, 19)}\n` });
  }

  async function perform(call: EngineCall, say: Say, signal: AbortSignal): Promise<void> {
    const { t = '', buildargs = '{}' } = call.query;
    const steps = instructionsIn(filesIn(call.bytes).get('Dockerfile') ?? '');
    const base = steps.find(({ word }) => word === 'FROM')?.rest ?? '';
    if (!images.local.has(fullName(base))) {
      const message = `pull access denied for ${base}, repository does not exist or may require 'docker login': denied: requested access to the resource is denied`;
      say({ errorDetail: { message }, error: message });
      return;
    }
    const building: Building = { args: JSON.parse(buildargs), labels: {}, parent: undefined, runs: 0 };
    for (const [at, step] of steps.entries()) {
      say({ stream: `Step ${at + 1}/${steps.length} : ${step.word} ${step.rest}` });
      say({ stream: '\n' });
      await carryOut(step, building, say, signal);
    }
    const id = building.parent ?? '';
    say({ aux: { ID: id } });
    images.local.set(fullName(t), id);
    say({ stream: `Successfully built ${id.slice(7, 19)}\n` });
    say({ stream: `Successfully tagged ${fullName(t)}\n` });
  }

  function build(call: EngineCall, signal: AbortSignal): Response {
    if (!filesIn(call.bytes).has('Dockerfile'))
      throw refusal('system', 'Cannot locate specified Dockerfile: Dockerfile', 500);
    instructionsIn(filesIn(call.bytes).get('Dockerfile') ?? '');
    begun += 1;
    // The engine goes on for a moment after its client has left.
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        const say: Say = (line) => {
          if (!signal.aborted) stream.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\r\n`));
        };
        signal.addEventListener('abort', () => stream.error(signal.reason), { once: true });
        perform(call, say, signal).then(
          () => signal.aborted || stream.close(),
          () => signal.aborted || stream.close(),
        );
      },
    });
    return new Response(body, JSON_TYPE);
  }

  function list({ query: { filters = '{}' } }: EngineCall): Response {
    const { label, reference } = JSON.parse(filters);
    const [wanted, names] = [valuesOf(label), valuesOf(reference)];
    const ids = new Set([...layers.keys(), ...images.local.values()]);
    const shown = [...ids].flatMap((id) => {
      const { labels = {}, madeAtMs = 0 } = layers.get(id) ?? {};
      const tags = tagsOf(id);
      const isShown = tags.length > 0 || !hasChild(id);
      const isNamed = names.length === 0 || tags.some((tag) => names.includes(tag));
      if (!isShown || !isNamed || !wanted.every((pair) => matches(labels, pair))) return [];
      const Created = Math.floor(madeAtMs / 1_000);
      return [{ Id: id, RepoTags: tags.length > 0 ? tags : ['<none>:<none>'], Created, Labels: labels }];
    });
    return Response.json(shown);
  }

  function tag({ subject, query: { repo = '', tag: name = 'latest' } }: EngineCall): Response {
    images.local.set(`${repo}:${name}`, images.idOf(subject));
    return new Response(null, { status: 201 });
  }

  function push({ subject, query: { tag: name = 'latest' }, headers }: EngineCall): Response {
    if (!headers.has('x-registry-auth'))
      throw refusal('bad_parameter', 'Bad parameters and missing X-Registry-Auth: EOF', 400);
    const reference = `${subject}:${name}`;
    if (!images.local.has(reference))
      throw refusal('not_found', `An image does not exist locally with the tag: ${subject}`, 404);
    const lines: object[] = [{ status: `The push refers to repository [${subject}]` }];
    if (refused !== undefined) lines.push({ errorDetail: { message: refused }, error: refused });
    else {
      pushed.push(reference);
      lines.push({ status: 'Pushed', id: '1a2b3c' }, { status: `${name}: digest: sha256:12ab size: 528` });
    }
    return new Response(lines.map((line) => `${JSON.stringify(line)}\r\n`).join(''), JSON_TYPE);
  }

  /** Takes a layer away, and those below it that have neither a name nor another child. */
  function prune(id: string | undefined): void {
    if (id === undefined || tagsOf(id).length > 0 || hasChild(id)) return;
    const { parent } = layers.get(id) ?? {};
    layers.delete(id);
    prune(parent);
  }

  function remove({ subject }: EngineCall): Response {
    if (subject.startsWith('sha256:')) {
      if (!layers.has(subject)) throw refusal('not_found', `No such image: ${subject}`, 404);
      if (hasChild(subject)) throw refusal('conflict', 'image has dependent child images', 409);
      for (const name of tagsOf(subject)) images.local.delete(name);
      prune(subject);
    } else {
      const id = images.idOf(subject);
      images.local.delete(fullName(subject));
      prune(id);
    }
    return Response.json([{ Untagged: subject }]);
  }

  return {
    layers,
    begun: () => begun,
    pushed,
    failRun(next) {
      failing = next;
    },
    hang() {
      isHanging = true;
    },
    refusePush(words) {
      refused = words;
    },
    abandon(labels) {
      addLayer(labels, addLayer(labels, undefined));
      runStep(labels);
    },
    build,
    list,
    tag,
    push,
    remove,
  };
}
