import type { Tags } from './machine.ts';

/** A scale set, as far as machines are put into it. */
export interface FakeScaleSet {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly zones?: readonly string[];
  readonly tags?: Tags;
  readonly identity?: object;
  readonly plan?: object;
  readonly sku: { readonly name: string; readonly capacity: number };
  readonly properties: {
    readonly orchestrationMode: 'Flexible' | 'Uniform';
    readonly virtualMachineProfile?: Readonly<Record<string, unknown>>;
  };
}

/** What scales a set by itself. */
export interface FakeAutoscale {
  readonly id: string;
  readonly name: string;
  readonly properties: { readonly enabled: boolean; readonly targetResourceUri: string };
}
