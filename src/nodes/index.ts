import type { Clouds } from '#clouds/clouds.ts';
import type { Gate } from '#clouds/gate.ts';
import { openKinds } from '#clouds/open-kinds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { SECOND_MS } from '#core/clock.ts';
import { Fault, retryDelayMs } from '#core/fault.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Nodes } from '#core/node.ts';
import type { Journal } from '#journal/journal.ts';
import { type ClusterView, openClusterView } from './cluster-view.ts';
import { type NodeReconciling, startNodeReconciling } from './reconcile.ts';
import { openNodeRequests } from './requests.ts';
import { type NodesSettings, nodesSection } from './section.ts';
import { thawNodes } from './thaw.ts';

type Base = FeatureBase<NodesSettings | undefined> & {
  readonly journal: Journal;
  readonly gate: Gate;
  readonly clouds: Pick<Clouds, 'offersOf' | 'cloudOf' | 'fault'>;
  readonly kinds: KnownKinds;
};

const GATHER_MS = 200;
/** A pod that waits may be for any provisioner; no object has this name. */
const ANY = '*';

/** What runs while the section is there. */
interface Serving {
  readonly snapshots: NodeReconciling['snapshots'];
  readonly defragmentation: NodeReconciling['defragmentation'];
  readonly view: ClusterView;
  stop(): Promise<void>;
}

const feature: Feature<NodesSettings | undefined, Nodes, Base> = {
  id: 'nodes',
  section: { key: 'nodes', schema: nodesSection },
  start(base) {
    const { clock, log, random, context } = base;
    let serving: Serving | undefined;
    let unopened: Fault | undefined;
    let settings = base.settings;
    /** One start or stop at a time. */
    let turn: Promise<void> = Promise.resolve();
    const stopping = new AbortController();

    /** Pods that are made together are looked at together, so that one growth serves them. */
    function gatherChanges(changed: (names: ReadonlySet<string>) => void) {
      let names = new Set<string>();
      let cancel: (() => void) | undefined;
      return {
        look(name: string): void {
          names.add(name);
          cancel ??= clock.alarm(GATHER_MS, () => {
            const gathered = names;
            names = new Set();
            cancel = undefined;
            changed(gathered);
          });
        },
        stopLooking: (): void => cancel?.(),
      };
    }

    async function serve(wanted: NodesSettings): Promise<Serving> {
      const hosts = openKinds({
        noun: 'node group',
        kinds: base.kinds.nodeGroups ?? {},
        context,
        gate: base.gate,
        log,
      });
      let loop: NodeReconciling | undefined;
      const pokeAll = (): void => {
        for (const key of view.provisioners.all().keys()) loop?.poke(key.slice(1));
      };
      const { look, stopLooking } = gatherChanges((names) => {
        if (names.has(ANY)) return pokeAll();
        for (const name of names) loop?.poke(name);
      });
      const view = await openClusterView(context, wanted.cluster, {
        provisioner(name) {
          loop?.poke(name);
          pokeAll();
        },
        nodesOf: (name) => look(name ?? ANY),
      });
      loop = startNodeReconciling({ ...base, hosts, view, settings: wanted });
      const stops = [
        base.store.onChange('freezes', pokeAll),
        base.store.onChange('nodePools', (row) => row && loop?.poke(row.id)),
      ];
      pokeAll();
      for (const { id } of base.store.view.nodePools.all()) loop.poke(id);
      for (const { provisioner } of base.store.view.nodeGroups.all()) loop.poke(provisioner);
      return {
        view,
        snapshots: loop.snapshots,
        defragmentation: loop.defragmentation,
        async stop() {
          for (const stopOne of stops) stopOne();
          stopLooking();
          await loop?.stop();
          await view.close();
          await hosts.closeAll();
        },
      };
    }

    /** Opens the cluster, again and again until it can be opened. */
    async function serveAt(wanted: NodesSettings): Promise<void> {
      for (let attempts = 1; !stopping.signal.aborted && settings === wanted; attempts++) {
        try {
          serving = await serve(wanted);
          unopened = undefined;
          return;
        } catch (thrown) {
          const fault = Fault.from(thrown);
          unopened = fault;
          log('warn', 'cluster of node groups cannot be opened', { error: fault.message, remedy: fault.remedy });
          await clock.sleep(Math.max(SECOND_MS, retryDelayMs(fault, attempts, random.next())), stopping.signal);
        }
      }
    }

    async function change(): Promise<void> {
      const former = serving;
      serving = undefined;
      unopened = undefined;
      await former?.stop();
      if (settings && !stopping.signal.aborted) await serveAt(settings);
    }

    const begin = (): void => {
      turn = turn.then(change, change);
    };
    if (settings) begin();

    return {
      defragmentation: async (name) => serving?.defragmentation(name),
      thaw: (name, by) => thawNodes(base, serving?.snapshots.get(name), name, by),
      ...openNodeRequests(
        () => serving?.snapshots ?? new Map(),
        (key) => serving?.view.pods.all().get(key),
        () => unopened ?? serving?.view.provisioners.fault(),
      ),
      configure(next) {
        if (JSON.stringify(next) === JSON.stringify(settings)) return;
        settings = next;
        begin();
      },
      async stop() {
        stopping.abort();
        await turn;
        await serving?.stop();
      },
    };
  },
};

export default feature;
