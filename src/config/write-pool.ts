import { Fault } from '#core/fault.ts';
import type { Offer, PoolSpec, Scaling } from '#core/pool.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { canonicalJson } from './canonical.ts';
import { readPool, schemaFor } from './pool-document.ts';
import { derivedMaxIdle, derivedResetMs } from './pool-schema.ts';
import { nodeOf } from './tree.ts';
import { type WriteOptions, writeValue } from './write-value.ts';

export type PoolDocument = Readonly<Record<string, unknown>>;

/** A definition as the document that its user would write. */
export interface WrittenPool {
  readonly document: PoolDocument;
  /** Paths of what is secret, and therefore not in it. */
  readonly leftOut: readonly string[];
}

export interface WritePoolOptions extends Pick<WriteOptions, 'hidesScripts'> {
  readonly kinds: Kinds<Backend>;
}

/** The document without its secrets. */
export function writePool(spec: PoolSpec, { kinds, hidesScripts }: WritePoolOptions): WrittenPool {
  const leftOut: string[] = [];
  const document = documentOf(spec, kinds, { hidesScripts, leaveOut: (path) => void leftOut.push(path) });
  return { document, leftOut };
}

/** The document with its secrets: to be compared, never to be shown. */
export function wholeDocument(spec: PoolSpec, kinds: Kinds<Backend>): PoolDocument {
  return documentOf(spec, kinds, {});
}

function documentOf(spec: PoolSpec, kinds: Kinds<Backend>, options: WriteOptions): PoolDocument {
  for (const { kind } of spec.offers) {
    if (kinds[kind]) continue;
    throw new Fault('unsupported', `Pool "${spec.name}" uses the backend ${kind}, which this server does not know.`, {
      remedy: 'Add its package to `plugins:` again.',
    });
  }
  const { scaling } = spec;
  const written = writeValue(
    schemaFor({ kinds, trust: 'operator' }),
    {
      name: spec.name,
      description: spec.description,
      labels: spec.labels,
      bootTimeout: scaling.bootTimeoutMs,
      drainTimeout: spec.drainTimeoutMs,
      updatePolicy: spec.updatePolicy,
      agentAuth: spec.agentAuth,
      agentNetworks: spec.agentNetworks,
      autoScaler: { ...backendsOf(spec), ...scalerOf(scaling), ...foresightOf(spec) },
    },
    options,
  ) as { auto_scaler?: object };
  const { auto_scaler: scaler = {}, ...rest } = written;
  return Object.keys(scaler).length === 0 ? rest : { ...rest, auto_scaler: scaler };
}

/** One backend without terms is written the short way. */
function backendsOf({ offers, terms }: PoolSpec): object {
  const [only, ...others] = offers;
  if (!only) return {};
  const chosen = ({ kind, config }: Offer) => ({ [kind]: config });
  if (others.length === 0 && !terms?.[only.id]) return { backend: chosen(only) };
  return { backends: offers.map((offer) => ({ ...chosen(offer), ...terms?.[offer.id] })) };
}

function scalerOf(scaling: Scaling): object {
  const isIdleDerived = scaling.maxIdleSlots === derivedMaxIdle(scaling.minIdleSlots, scaling.slotsPerAgent);
  const isResetDerived = scaling.errorResetAfterMs === derivedResetMs(scaling.retryDelayMs);
  return {
    maxAgents: scaling.maxAgents,
    minAgents: scaling.minAgents,
    minIdleAgents: scaling.minIdleSlots,
    maxIdleAgents: isIdleDerived ? undefined : scaling.maxIdleSlots,
    idleDecay: scaling.idleDecayMs,
    initialDelay: scaling.initialDelayMs,
    syncLoopInterval: scaling.syncEveryMs,
    killUnknownAfter: scaling.killUnknownAfterMs,
    defaultSlotsPerAgent: scaling.slotsPerAgent,
    mode: scaling.mode,
    scaleUpErrorRetryDelay: scaling.retryDelayMs,
    allocationErrorResetAfter: isResetDerived ? undefined : scaling.errorResetAfterMs,
    maxPricePerHour: scaling.maxPricePerHour,
  };
}

function foresightOf({ schedules, waitTarget }: PoolSpec): object {
  return {
    schedules,
    waitTarget: waitTarget && { p95: waitTarget.p95Ms, maxIdleAgents: waitTarget.maxIdleSlots },
  };
}

/**
 * Throws where the document, secrets and all, would not read back as the same definition: a kind may change what it
 * reads in ways that cannot be taken back. Its pools are not to be written wrongly, but not at all.
 */
export function mustReadBack(spec: PoolSpec, kinds: Kinds<Backend>): void {
  const read = readPool(nodeOf(wholeDocument(spec, kinds)), { kinds, trust: 'operator' });
  if (read.spec && canonicalJson(read.spec) === canonicalJson({ updatePolicy: 'replace_idle', ...spec })) return;
  const used = spec.offers.map(({ kind }) => kind).join(', ') || 'none';
  const why = read.problems?.[0];
  throw new Fault(
    'unsupported',
    `Cannot write the definition of pool "${spec.name}" as a document${why ? ` (${why.path} ${why.message})` : ''}; its backend: ${used}.`,
    { remedy: 'Use the original document of the pool.' },
  );
}

/** Why a source that the operator does not trust would refuse it. */
export function refusedElsewhere(spec: PoolSpec, kinds: Kinds<Backend>): readonly string[] {
  const { problems = [] } = readPool(nodeOf(wholeDocument(spec, kinds)), { kinds, trust: 'foreign' });
  return problems.map(({ path, message }) => `${path}: ${message}`);
}
