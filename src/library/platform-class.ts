// What the classes of all platforms share: options become properties, operations become states and log lines.
import { join, resolve } from 'node:path';
import { agentImageOf } from '#computers/agent-image.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { EventRow } from '#core/journal.ts';
import type { Level } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import { BaseComputerProvisioner } from './base.ts';
import { addressOf } from './health.ts';
import type { AgentDownload, ComputerOptions } from './options.ts';
import { type OwnComputer, openOwnComputer } from './own-computer.ts';
import type { LibraryParts } from './parts.ts';
import { type ClassRules, mustBeObject, readOptions } from './read-options.ts';
import { systemParts } from './system-parts.ts';

/** Where a computer is reached. */
export interface ComputerEndpoint {
  readonly host: string;
  readonly port: number;
  /** Absent: `http`. */
  readonly scheme?: 'http' | 'https' | undefined;
}

// The end of a setup is logged by its caller, once.
const EVENT_LEVELS: Readonly<Record<string, Level>> = {
  'computer.retrying': 'warn',
  'computer.machine-failed': 'debug',
  'computer.failed': 'debug',
  'computer.refused': 'debug',
};

/** A computer on a platform that Muster knows. */
export abstract class PlatformProvisioner extends BaseComputerProvisioner {
  /** The name under which the next run finds it. */
  readonly name: string;
  readonly #computer: OwnComputer;
  readonly #cannot: Fault | undefined;
  #endpoint: ComputerEndpoint | undefined;

  /** @internal */
  constructor(rules: ClassRules, given: ComputerOptions & Downloads) {
    mustBeObject(new.target.name, given);
    const parts = new.target.parts();
    const agentImage = agentImageOf(parts.outside.userAgent);
    const context = { variable: parts.variable, agentImage, kinds: parts.kinds };
    const read = readOptions(new.target.name, rules, withImage(rules, given), context);
    super(read.values.port, { ...read.values, log: given.log });
    // A caller finds each option under its own name.
    Object.assign(this, read.values);
    this.name = read.name;
    this.#cannot = lacksAgent(rules, read.values, given.agentDownloads);
    this.#computer = openOwnComputer(parts, {
      ...read,
      folder: join(resolve(given.stateDir ?? parts.stateDir), read.name),
      options: read.own,
      timeoutMs: this.timeout * SECOND_MS,
      install: given.agentDownloads && { archives: given.agentDownloads },
      log: (level, message, fields) => this.#logDetails(level, message, fields),
      heard: (event) => this.#logEvent(event),
    });
  }

  /** Sets the computer up and resolves when it answers. A computer of an earlier run under its name is taken over. */
  override async setup(): Promise<void> {
    this._status = 'starting';
    this.log('info', `Starting setup of ${this.name}…`);
    try {
      this.#endpoint = await this.#own().setup();
      this._status = 'running';
      this.log('info', `Running at ${addressOf(this.#endpoint)}`);
    } catch (thrown) {
      // Its teardown may have begun meanwhile.
      if (this._status === 'starting') this._status = 'error';
      const { message } = Fault.from(thrown);
      this.log('error', message.startsWith('Failed after') ? message : `Error during setup: ${message}`);
      throw thrown;
    }
  }

  /** Removes the computer in whatever state it is, and resolves when nothing of it is left. */
  override async teardown(): Promise<void> {
    this._status = 'stopping';
    this.log('info', `Starting teardown of ${this.name}…`);
    try {
      await this.#computer.teardown();
      this.#endpoint = undefined;
      this._status = 'stopped';
      this.log('info', 'Stopped');
    } catch (thrown) {
      this._status = 'error';
      this.log('error', `Error during teardown: ${Fault.from(thrown).message}`);
      throw thrown;
    }
  }

  /** Whether the platform says that it runs, and `GET /health` answers. */
  override async isRunning(): Promise<boolean> {
    const found = await this.#computer.find();
    this.#endpoint = found?.endpoint;
    // An operation that is under way knows better.
    const isMoving = this._status === 'starting' || this._status === 'stopping';
    if (!isMoving && (found !== undefined || this._status === 'running')) this._status = found?.status ?? 'stopped';
    return found?.endpoint !== undefined;
  }

  /** Where the computer answered last; undefined before `setup`, and after `teardown`. */
  get endpoint(): ComputerEndpoint | undefined {
    return this.#endpoint;
  }

  /** Lets other processes use the computer, and leaves it as it is. */
  close(): void {
    this.#computer.close();
  }

  #own(): OwnComputer {
    if (this.#cannot) throw this.#cannot;
    return this.#computer;
  }

  #logEvent({ kind, message }: EventRow): void {
    this.log(EVENT_LEVELS[kind] ?? 'info', message);
  }

  /** What the parts below say. The events above tell all that callers can act on, so only what went wrong is passed on. */
  #logDetails(level: Level, message: string, fields: object = {}): void {
    if (level === 'debug' || level === 'info') return;
    const said = Object.entries(fields).map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    this.log(level === 'error' ? 'error' : 'debug', [message, ...said].join(' '));
  }

  /** @internal */
  static parts(): LibraryParts {
    return systemParts();
  }

  /** @internal */
  protected override clock(): Clock {
    return (this.constructor as typeof PlatformProvisioner).parts().clock;
  }

  /** @internal */
  protected override random(): Random {
    return (this.constructor as typeof PlatformProvisioner).parts().random;
  }
}

interface Downloads {
  readonly agentDownloads?: readonly AgentDownload[] | undefined;
}

const STANDARD = 'standard';

/** An agent to be fetched is for a machine without one: of the standard image, unless another is named. */
function withImage({ image }: ClassRules, given: ComputerOptions & Downloads) {
  const named = { ...given } as ComputerOptions & Readonly<Record<string, unknown>>;
  const isFetched = (given.agentDownloads?.length ?? 0) > 0;
  return image === undefined || !isFetched ? named : { ...named, [image]: named[image] ?? STANDARD };
}

/** Why a machine would never answer: its image has no agent, and none is offered to it. */
function lacksAgent(
  { image }: ClassRules,
  values: Readonly<Record<string, unknown>>,
  downloads: readonly AgentDownload[] | undefined,
): Fault | undefined {
  if (image === undefined || values[image] !== STANDARD || (downloads?.length ?? 0) > 0) return undefined;
  return new Fault('invalid', 'The standard image has no agent, and agentDownloads is not given.', {
    at: image,
    remedy: `Leave out ${image} for the newest image that Muster has built, or give agentDownloads.`,
  });
}
