import type { z } from 'zod';
import type { Clock } from './clock.ts';
import type { ImageBuilder } from './image-builder.ts';
import type { Log } from './log.ts';
import type { NodeGroups } from './node-group.ts';
import type { Problem } from './problem.ts';
import type { Backend, Boot, Context, Kinds, Source } from './provider.ts';
import type { Random } from './random.ts';
import type { RuntimeHost } from './runtime-host.ts';
import type { Store } from './store.ts';

/** The part of the server's file that belongs to one feature. */
export interface Section<Settings> {
  /** Its key in the file, in snake case. */
  readonly key: string;
  /** Must take an absent section, and describe itself for the reference. */
  schema(kinds: {
    readonly backends: Kinds<Backend>;
    readonly sources: Kinds<Source>;
    readonly runtimes?: Kinds<RuntimeHost>;
    readonly nodeGroups?: Kinds<NodeGroups>;
    readonly images?: Kinds<ImageBuilder>;
  }): z.ZodType<Settings>;
  /**
   * Variables of the environment that hold the section where the file has none, by key: read at start, and as strict as
   * the file. `json`: JSON, with comments.
   */
  readonly variables?: Readonly<Record<string, { readonly name: string; readonly holds: 'text' | 'json' }>>;
}

/** What a feature that owns machines tells those that it launches. */
export interface BootSettings {
  /** The agent's configuration file for new machines of an owner. */
  agentConfig(owner: AgentOwner): string;
  /** Where machines without an agent get one. */
  install(): Boot['install'];
}

/** Whose machines new agents are for, and how many sessions each of them takes. */
export interface AgentOwner {
  readonly name: string;
  readonly slots: number;
  readonly port?: Boot['port'];
  readonly endsAt?: Boot['endsAt'];
}

/** What every feature is started with; `program/features.ts` says what else there is. */
export interface FeatureBase<Settings> {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly context: Context;
  /** Its section, checked. */
  readonly settings: Settings;
}

/** What the composition does with every feature that runs. */
export interface Running<Settings> {
  /** Takes the section of a reloaded file. */
  configure(settings: Settings): void;
  /** Why a reload must not be applied; paths are those within its section. Asked before anything is applied. */
  refuses?(next: Settings): readonly Problem[];
  stop(): Promise<void>;
}

/** A noun with behaviour of its own: the default export of `src/<noun>/index.ts`. */
export interface Feature<Settings, Public, Base extends FeatureBase<Settings> = FeatureBase<Settings>> {
  /** Under which the API finds it; the name of its folder. */
  readonly id: string;
  readonly section?: Section<Settings>;
  start(base: Base): Public & Running<Settings>;
}

/** The features that run, by id. Each `core/<noun>.ts` adds its own public interface by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: nouns add to it
export interface PublicFeatures {}
