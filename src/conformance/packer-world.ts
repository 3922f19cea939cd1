// The laws of an image builder, for builders that let Packer do the work: a stand-in for the program asks the fake cloud.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildMark, BuiltImage, ImageBuilder } from '#core/image-builder.ts';
import type { Programs } from '#core/programs.ts';
import type { Context } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import type { FailureRules, WireCall } from '#fakes/failure-rules.ts';
import { type Moment, openStandIn, type StandInCloud } from '#packer/testing/stand-in.ts';
import { recipeFor } from './image-builder-steps.ts';
import type { ImageBuilderWorld } from './image-builder-world.ts';
import type { Failures, Scene } from './scene.ts';

export interface PackerScene<Fake> {
  readonly scene: Scene<Fake>;
  readonly cloud: StandInCloud;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that are not set, for they would lead elsewhere. */
  readonly hidden?: RegExp;
  /** Where a killed build leaves the most. */
  readonly diesAt: Moment;
  open(context: Context): Promise<ImageBuilder>;
  images(): readonly string[];
  others(): readonly string[];
  addForeign(): Promise<BuiltImage>;
  readonly failures: Failures;
}

const SETTLED_MS = 10 * 60_000;

/** Where Packer is a stand-in. */
export function openPackerWorld<Call extends WireCall>({
  scene,
  cloud,
  variables,
  ...place
}: PackerScene<{ readonly failureRules: FailureRules<Call> }>): ImageBuilderWorld {
  const { clock, fake, during } = scene;
  const standIn = openStandIn(clock, cloud);
  // What the cloud of the builder does not declare must not reach Packer either.
  const variable = (name: string): string | undefined =>
    variables[name] ?? (place.hidden?.test(name) ? undefined : `value of ${name}`);
  const openWith = (programs: Programs) => during(place.open({ ...scene.contextFor(), variable, programs }));

  const world: ImageBuilderWorld = {
    open: () => openWith(standIn),
    settle: () => clock.advance(SETTLED_MS),
    during,
    images: place.images,
    others: place.others,
    builds: standIn.builds,
    ran: () => standIn.ran,
    addForeign: place.addForeign,
    lack: standIn.lack,
    failStep: standIn.failStep,
    async abandon(mark: BuildMark) {
      const killed = openStandIn(clock, cloud);
      killed.dieAt(place.diesAt);
      const builder = await openWith(killed);
      const recipe = await recipeFor(world, builder, { version: `9.9.${mark.startedAt}` });
      const folder = mkdtempSync(join(tmpdir(), 'muster-image-'));
      try {
        for (const [name, text] of Object.entries(builder.files(recipe))) writeFileSync(join(folder, name), text);
        // Neither it nor the program ever says a word again.
        builder.build(recipe, { ...mark, folder, step() {}, line() {} }, going()).catch(() => {});
        await clock.advance(SETTLED_MS);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    fail(kind) {
      fake.failureRules.clear();
      const what = place.failures[kind];
      if (what) fake.failureRules.add({ times: 10_000, what });
    },
    hang: standIn.hang,
    async close() {},
  };
  return world;
}
