// Many nodes that turned NotReady at once hold everything back that takes nodes away, until they return or an operator says
// that they are lost.
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Change, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { poolRowOf } from './pool-row.ts';
import { nodePoolSubject } from './reasons.ts';
import type { Snapshot } from './snapshot.ts';
import { hasTurnedUnready, isMassUnready, type NodeSurvey } from './survey.ts';

/** Nodes that are not ready now hold nothing back any more; those that turn so later do. */
export async function thawNodes(
  { store, journal }: { readonly store: Store; readonly journal: Journal },
  snapshot: Snapshot | undefined,
  name: string,
  by: Actor,
): Promise<void> {
  if (!snapshot) throw new Fault('missing', `There is no NodeProvisioner ${name} that this server has looked at.`);
  const { survey } = snapshot;
  if (!survey || !isMassUnready(survey))
    throw new Fault('conflict', `Nothing of ${name} is held back by nodes that are not ready.`, {
      remedy: `Look at it with muster node show ${name}.`,
    });
  const lost = survey.nodes.filter(({ fact }) => hasTurnedUnready(fact)).map(({ fact }) => fact.uid);
  const message = `${lost.length} nodes that are not ready no longer keep others from being taken away.`;
  await store.commit([
    put('nodePools', { ...poolRowOf(store, name), letGo: lost }),
    journal.event({ kind: 'node-provisioner.thawed', subject: nodePoolSubject(name), message }, by),
  ]);
}

/** A node that is ready again, or gone, counts anew when it turns NotReady the next time. */
export function withoutReturned(store: Store, { nodes }: NodeSurvey, name: string): readonly Change[] {
  const row = poolRowOf(store, name);
  const { letGo = [] } = row;
  const unready = new Set(nodes.filter(({ fact }) => hasTurnedUnready(fact)).map(({ fact }) => fact.uid));
  const left = letGo.filter((uid) => unready.has(uid));
  return left.length === letGo.length ? [] : [put('nodePools', { ...row, letGo: left })];
}
