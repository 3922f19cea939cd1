import { Command } from 'commander';
import type { Fault } from '#core/fault.ts';
import type { ListedSimulation, SimulatedCloud } from '#core/simulation.ts';
import type { Forecast, ForecastIn } from '../api/wire/forecast.ts';
import { type Client, type Endpoint, openClient } from './client.ts';
import type { ImagesLocal } from './images-local.ts';
import { outputOption } from './option.ts';
import type { Format } from './show.ts';
import type { Terminal } from './terminal.ts';
import { trustToo } from './trust.ts';

/** What every command gets. */
export interface Cli {
  readonly terminal: Terminal;
  /** Aborts when the command must end: at Ctrl-C, or when its output is closed. */
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  /** A variable of this command's environment. */
  variable(name: string): string | undefined;
  /** Finds the server: the option, the environment, the current context, the file that a running server leaves, the default. */
  readonly find: (options: { address?: string; token?: string; ca?: string }) => Endpoint;
  /** Where the servers are kept that someone has named. */
  readonly contextsFile: string;
  /** This machine, and the folder that this command runs in; undefined where either is unknown. */
  readonly place: () => { readonly machine_id: string; readonly folder: string } | undefined;
  /** Differs for every machine, and after each of its starts. */
  readonly bootId?: () => string;
  /** The program of this machine that listens on a port, where this user may see it. */
  readonly listenerOf?: (port: number) => { readonly pid: number; readonly program: string } | undefined;
  /** Opens an address in the browser of this user; false where there is none. */
  readonly openBrowser: (address: string) => Promise<boolean>;
  /** Called at each Ctrl-C instead of ending the command; the returned function ends that. */
  onInterrupt(interrupted: () => void): () => void;
  /** Sets the exit code of the process; default 0. */
  exitWith(code: number): void;
}

/** A command below `muster`. `npm run gen` lists those that a file of this folder exports as `commands`. */
export interface CliCommand {
  readonly name: string;
  /** Its position in the help. */
  readonly order: number;
  make(cli: Cli, local: Local): Command;
}

export interface CommandFile {
  readonly commands: readonly CliCommand[];
}

/** The options of `muster agent`, as they were written. */
export interface AgentCommandOptions {
  readonly pool?: string;
  readonly config?: string;
  readonly serve?: string;
  readonly endCode?: string;
}

/** A forecast for a pool that no server has. */
export interface LocalForecast extends Pick<ForecastIn, 'set' | 'rate' | 'trace'> {
  readonly document: { readonly key: string; readonly text: string };
  readonly seed: number;
}

/** Commands that run without a server. */
export interface Local {
  server(options: { config?: string; keepAgents?: boolean }): Promise<void>;
  /** Answers its exit code. */
  agent(options: AgentCommandOptions): Promise<number>;
  checkConfig(file: string): Promise<{ readonly problems: readonly Fault[]; readonly warnings: readonly string[] }>;
  /** The JSON schema of a server's file or of a pool document, with the kinds of this version. */
  configSchema(file: 'server' | 'pool'): Promise<string>;
  restore(file: string, store: string): Promise<void>;
  /** A pool that is only a document, over a demand that is given. */
  forecast(question: LocalForecast, signal: AbortSignal): Promise<Forecast>;
  /** The simulated clouds that there are. */
  readonly simulations: readonly Pick<ListedSimulation, 'id' | 'summary'>[];
  /** Runs a simulated cloud until a signal or `signal` ends it. */
  simCloud(options: SimCommandOptions): Promise<void>;
  readonly kube: KubeLocal;
  readonly images: ImagesLocal;
}

/** What Muster needs in a Kubernetes cluster, as manifests; and how it leaves one. */
export interface KubeLocal {
  /** `hasRules`: with rules in CEL, for Kubernetes 1.25 and newer. */
  crd(options: {
    readonly hasRules: boolean;
    /** That of NodeProvisioners. */
    readonly ofNodes: boolean;
  }): Promise<string>;
  rbac(options: Pick<KubeInstallOptions, 'namespace' | 'served' | 'computers' | 'nodes'>): Promise<string>;
  install(options: KubeInstallOptions): Promise<string>;
  /** Answers what was released: AgentPools as `namespace/name`, nodes as `node/name`. */
  release(options: KubeReleaseOptions): Promise<readonly string[]>;
}

export interface KubeInstallOptions {
  /** Where the server runs. */
  readonly namespace?: string | undefined;
  /** The namespaces whose AgentPools are served; none: all. */
  readonly served?: readonly string[] | undefined;
  /** Whether the server may make the Deployments, Services and Secrets of computers. */
  readonly computers?: boolean | undefined;
  /** Whether the server may size GPU node groups. */
  readonly nodes?: boolean | undefined;
  readonly image?: string | undefined;
  readonly replicas?: number | undefined;
  readonly postgresSecret?: string | undefined;
  readonly storage?: string | undefined;
}

export interface KubeReleaseOptions {
  /** Of the AgentPools; none: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The Deployment of the server, which is stopped first. */
  readonly server?: { readonly namespace: string; readonly name: string } | undefined;
  /** Whether nodes are freed of what Muster wrote on them too. */
  readonly nodes?: boolean | undefined;
  readonly context?: string | undefined;
  readonly signal: AbortSignal;
}

export interface SimCommandOptions {
  readonly cloud: string;
  readonly port: number;
  /** The cluster of this computer that its GPU machines become nodes of; absent: of none. */
  readonly kubeconfig?: string | undefined;
  readonly signal: AbortSignal;
  /** Called once, when it can be used. */
  started(cloud: SimulatedCloud): void;
}

export function clientOf(cli: Cli, command: Command): Client {
  const place = cli.find(command.optsWithGlobals());
  if (place.ca !== undefined && place.address.startsWith('https:')) trustToo(place.ca);
  return openClient(place, cli.fetch);
}

export function formatOf(command: Command): Format {
  return command.optsWithGlobals<{ output?: Format }>().output ?? 'table';
}

/** A command that lists or shows something, with `-o`. */
export function showing(name: string, summary: string, formats?: readonly Format[]): Command {
  return new Command(name).description(summary).addOption(outputOption(formats));
}
