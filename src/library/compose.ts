// The control plane of one computer: store, gate, clouds, machines and computers, as the server composes them, without a
// broker and an API.
import { openClouds } from '#clouds/clouds.ts';
import { openClusters } from '#clouds/clusters.ts';
import { openGate } from '#clouds/gate.ts';
import { agentImageOf } from '#computers/agent-image.ts';
import { startComputerLoop } from '#computers/reconcile.ts';
import { openComputerRequests } from '#computers/requests.ts';
import { writeAgentConfig } from '#config/agent-file.ts';
import { offerShapes } from '#config/offers.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Computers, ShownComputer } from '#core/computer.ts';
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import type { Fault } from '#core/fault.ts';
import type { EventRow } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Boot, Context, MachineEndpoint } from '#core/provider.ts';
import { openShared } from '#core/shared.ts';
import type { Store } from '#core/store.ts';
import { startJournal } from '#journal/journal.ts';
import { startMachines } from '#machines/machines.ts';
import { openHealthWatch } from './health.ts';
import type { LibraryParts } from './parts.ts';

export interface ComposeOptions {
  readonly folder: string;
  readonly log: Log;
  /** Where a machine without an agent gets one. */
  readonly install: Boot['install'];
  /** Anything may have changed. */
  news(): void;
  /** What has happened, once it is durable. */
  heard(event: EventRow): void;
}

/** All that decides and acts for the computer of one folder. */
export interface ComputerPlane {
  readonly store: Store;
  readonly computers: Computers;
  /** Where its machine answered `/health` when it was last asked. */
  healthyAt(shown: ShownComputer): MachineEndpoint | undefined;
  /** Whether its platform was listed after this plane was opened. */
  isListed(shown: ShownComputer): boolean;
  /** Why its platform cannot be opened or listed. */
  trouble(shown: ShownComputer): Fault | undefined;
  /** Rejects when the store fails. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

// The script of a user may do what its user may do: no limit of a server holds.
const NO_LIMITS = {
  templates: {},
  defaultTtl: Number.POSITIVE_INFINITY,
  maxTtl: Number.POSITIVE_INFINITY,
  allowNoTtl: true,
  maxPerToken: Number.POSITIVE_INFINITY,
};

// No agent joins.
const NO_LINK: AgentLink = { send: () => false, dismiss: () => {} };

/** The agent takes no sessions: it answers `/health`, and ends the machine at its time. */
const agentConfig = ({ port, endsAt }: { readonly port?: Boot['port']; readonly endsAt?: Boot['endsAt'] }): string =>
  writeAgentConfig({ broker: {}, slots: 1, workDir: DEFAULT_AGENT_WORK_DIR, labels: {}, serve: port, endsAt });

export async function composeComputer(parts: LibraryParts, options: ComposeOptions): Promise<ComputerPlane> {
  const { clock, random, kinds, outside } = parts;
  const { folder, log, install, news } = options;
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const opened = await parts.openStore(folder, log, fail);
  const { store } = opened;
  const base = { store, clock, random, log };
  const journal = startJournal(base);
  const gate = openGate(base);
  const direct: Context = {
    cluster: store.cluster,
    ...{ clock, random, log },
    ...outside,
    shared: openShared(),
    dataDir: folder,
    agentCommand: [],
    variable: parts.variable,
  };
  const clusters = openClusters({ kinds: kinds.clusters ?? {}, named: {}, context: direct, log });
  const context: Context = { clusterAt: clusters.at, ...direct };
  const clouds = openClouds({ ...base, gate, kinds: kinds.backends, context });
  const machines = startMachines({
    ...base,
    journal,
    clouds,
    offerShape: offerShapes(kinds.backends),
    launchToken: () => '',
    verifyLaunchToken: () => undefined,
  });
  const health = openHealthWatch({ clock, fetch: parts.probe });
  const loop = startComputerLoop({
    ...base,
    journal,
    clouds,
    machines,
    link: NO_LINK,
    boot: { agentConfig, install: () => install },
    isAnswering: (_computer, { row }) => health.endpointOf(row.id) !== undefined,
  });
  const computers = openComputerRequests({
    ...base,
    ...{ journal, clouds, context, kinds, loop },
    agentImage: agentImageOf(outside.userAgent),
    settings: () => NO_LIMITS,
    endMoved: () => {},
  });
  health.start({
    machines: () =>
      computers.list().flatMap(({ machine, endpoints }) => (machine ? [{ id: machine.id, endpoints }] : [])),
    changed() {
      for (const { computer } of computers.list()) loop.poke(computer.id);
      news();
    },
  });
  clouds.onListing(news);
  clouds.onFault(news);
  const unhear = store.onDurable((changes) => {
    for (const change of changes) if ('append' in change && change.append === 'events') options.heard(change.row);
    news();
  });

  return {
    store,
    computers,
    healthyAt: ({ machine }) => (machine ? health.endpointOf(machine.id) : undefined),
    isListed: ({ computer }) => clouds.listing(computer.offer.id) !== undefined,
    trouble: ({ computer }) => clouds.fault(computer.offer.id),
    failed,
    async stop() {
      unhear();
      health.stop();
      await loop.stop();
      await machines.stop();
      await clouds.stop();
      await clusters.closeAll();
      await journal.stop();
      await opened.close();
    },
  };
}
