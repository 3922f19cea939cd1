import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** What a user needs in order to work with a simulated cloud. */
export interface SimulatedCloud {
  readonly address: string;
  /** Where its machines have their files; empty where it has no machines. */
  readonly folder: string;
  /** Environment variables for the server and for the cloud's own tools. */
  readonly environment: Readonly<Record<string, string>>;
  /** Commands to try, one a line. */
  readonly tries: readonly string[];
}

/** A machine of node groups that runs, as its kubelet would register it. */
export interface SimulatedNode {
  readonly name: string;
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the names that pods use, in words of Kubernetes: `208`, `1871Gi`. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Machines that a Kubernetes cluster may have as nodes. */
export interface SimulatedNodes {
  /** Those that run now. */
  running(): readonly SimulatedNode[];
  /** Commands to try where they are nodes of a cluster, one a line. */
  readonly tries: readonly string[];
}

export interface RunningSimulation extends SimulatedCloud {
  /** Absent: none of its machines can be nodes. */
  readonly nodes?: SimulatedNodes | undefined;
  /** Ends it and all its machines. */
  close(): Promise<void>;
}

/** A fake cloud that users can run on their computer: the default export of `providers/<id>/fake/simulation.ts`. */
export interface Simulation {
  /** What of the cloud is simulated, in one line of help. */
  readonly summary: string;
  start(options: {
    readonly port: number;
    readonly clock: Clock;
    readonly random: Random;
    /** What starts this program, for machines that run our agent as it is: the word `agent` follows. */
    readonly agentCommand?: readonly string[] | undefined;
  }): Promise<RunningSimulation>;
}

/** One entry of the generated list; a simulation is loaded only when it is started. */
export interface ListedSimulation {
  readonly id: string;
  readonly summary: string;
  load(): Promise<Simulation>;
}
