import type { ReasonRule, Subject, SubjectReasons } from '#core/reason.ts';

const REASONS = {
  placed: {
    means: 'A host with room was chosen by the placement rule of its provisioner.',
    with: ['host', 'placement'],
  },
  requested: { means: 'A caller asked for it.', with: [] },
  'fits-in-place': { means: 'The host of the runtime has room for its new size.', with: ['host'] },
  moved: { means: 'The runtime was moved to another host, without its data.', with: ['from', 'to'] },
  'first-apply': { means: 'Nothing was applied for the runtime yet.', with: [] },
  woken: { means: 'The runtime was hibernated and is to run again.', with: [] },
  'new-version': { means: 'The version of the runtime changed.', with: ['version'] },
  'rendered-differently': { means: 'Its templates or values now render other objects.', with: [] },
  drifted: { means: 'Objects of the runtime are missing or were changed by others.', with: [] },
  'others-updating': { means: 'As many runtimes as max_updating are being updated.', with: ['max_updating'] },
  halted: { means: 'As many runtimes as halt_after did not become ready with this version.', with: ['version'] },
  'templates-halted': {
    means: 'As many runtimes as halt_after did not become ready with the changed templates.',
    with: [],
  },
  ready: { means: 'The runtime answered.', with: [] },
} as const satisfies Record<string, ReasonRule>;

export type RuntimeReason = keyof typeof REASONS;

export const reasons: SubjectReasons = {
  subject: 'runtime',
  verbs: ['grant', 'resize', 'move', 'apply', 'repair', 'update', 'hibernate', 'wake', 'release'],
  reasons: REASONS,
};

export const runtimeSubject = (id: string): Subject => `runtime/${id}`;
