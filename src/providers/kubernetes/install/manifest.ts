// Objects as text that `kubectl apply -f` takes.
import { stringify } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

const WIDTH = 120;

/** Without anchors: each object can be cut out and read by itself. */
const render = (manifest: Manifest): string =>
  stringify(manifest, { lineWidth: WIDTH, aliasDuplicateObjects: false, defaultStringType: 'PLAIN' });

/** The objects as one file, each after `---`, below a comment. */
export function renderManifests(comment: readonly string[], manifests: readonly Manifest[]): string {
  const lines = comment.map((line) => (line === '' ? '#' : `# ${line}`));
  return `${lines.join('\n')}\n${manifests.map((manifest) => `---\n${render(manifest)}`).join('')}`;
}

export const LABELS = {
  'app.kubernetes.io/name': 'muster',
  'app.kubernetes.io/component': 'server',
} as const;
