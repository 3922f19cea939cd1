import type { Access } from '#access/access.ts';
import type { Clouds } from '#clouds/clouds.ts';
import type { Gate } from '#clouds/gate.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Budgets } from '#core/budget.ts';
import type { BootSettings, Feature, FeatureBase, PublicFeatures, Running, Section } from '#core/feature.ts';
import type { Problem } from '#core/problem.ts';
import type { ModelThread } from '#foresight/model-turns.ts';
import type { Journal } from '#journal/journal.ts';
import type { Machines } from '#machines/machines.ts';

/** What a feature gets besides its settings. */
export interface FeatureParts extends Omit<FeatureBase<unknown>, 'settings'> {
  readonly journal: Journal;
  readonly access: Access;
  readonly clouds: Clouds;
  /** Where a feature that owns machines registers their use. */
  readonly machines: Machines;
  /** Sends commands to its agents. */
  readonly link: AgentLink;
  readonly boot: BootSettings;
  readonly gate: Gate;
  readonly kinds: KnownKinds;
  /** What a pool would do, computed beside the event loop. */
  readonly model: ModelThread;
  /** What machines may cost; undefined until all features have started, and where none keeps budgets. */
  budgets(): Budgets | undefined;
}

/** A feature of any settings; only it knows what they are. */
// biome-ignore lint/suspicious/noExplicitAny: each feature brings the schema of its own settings
export type AnyFeature = Feature<any, object, FeatureParts & FeatureBase<any>>;

/** Sections of the server's file by key, checked. */
export type Sections = Readonly<Record<string, unknown>>;

/** The features as the composition holds them. */
export interface RunningFeatures {
  /** As the API sees them. */
  readonly public: PublicFeatures;
  configure(sections: Sections): void;
  /** Why any of them refuses these sections. */
  refuses(sections: Sections): readonly Problem[];
  stop(): Promise<void>;
}

export const sectionsOf = (features: readonly AnyFeature[]): readonly Section<unknown>[] =>
  features.flatMap(({ section }) => section ?? []);

/** Starts every feature with its section, or with what an absent section means. */
export function startFeatures(
  features: readonly AnyFeature[],
  parts: FeatureParts & { readonly sections?: Sections | undefined },
): RunningFeatures {
  const { sections: atStart = {}, ...base } = parts;
  const { kinds } = base;

  function settingsOf({ section }: AnyFeature, sections: Sections): unknown {
    if (!section) return undefined;
    return section.key in sections ? sections[section.key] : section.schema(kinds).parse(undefined);
  }

  const started: { readonly feature: AnyFeature; readonly running: object & Running<unknown> }[] = [];
  for (const feature of features) {
    started.push({ feature, running: feature.start({ ...base, settings: settingsOf(feature, atStart) }) });
  }

  return {
    public: Object.fromEntries(started.map(({ feature, running }) => [feature.id, running])),
    configure(sections) {
      for (const { feature, running } of started) {
        if (feature.section) running.configure(settingsOf(feature, sections));
      }
    },
    refuses: (sections) =>
      started.flatMap(({ feature, running }) => {
        const { section } = feature;
        if (!section) return [];
        return (running.refuses?.(settingsOf(feature, sections)) ?? []).map((problem) => ({
          ...problem,
          path: [section.key, problem.path].filter(Boolean).join('.'),
        }));
      }),
    async stop() {
      for (const { running } of started.toReversed()) await running.stop();
    },
  };
}
