import type { KubeObject } from '../objects/object.ts';

/** What happens to pods, where it is not the usual; tests set it. */
export interface PodRule {
  /** Absent: all pods. */
  readonly when?: ((pod: KubeObject) => boolean) | undefined;
  /** The scheduler's words; the pod stays Pending. */
  readonly unschedulable?: string | undefined;
  /** Why the image cannot be pulled: first ErrImagePull, then ImagePullBackOff. */
  readonly pullError?: string | undefined;
  /** CreateContainerConfigError with this message. */
  readonly configError?: string | undefined;
  readonly startMs?: number | undefined;
  /** How long its containers take to end; infinite: they do not hear SIGTERM. */
  readonly stopMs?: number | undefined;
  /** Its containers end by themselves, each time; with what they wrote to their termination log. */
  readonly exits?: { readonly afterMs: number; readonly code: number; readonly message?: string } | undefined;
}

export interface PodRules {
  /** The newest that fits a pod counts; the returned function takes it back. */
  add(rule: PodRule): () => void;
  of(pod: KubeObject): PodRule;
}

export function openRules(changed: () => void): PodRules {
  let all: readonly PodRule[] = [];
  return {
    add(rule) {
      all = [rule, ...all];
      changed();
      return () => {
        all = all.filter((one) => one !== rule);
        changed();
      };
    },
    of: (pod) => all.find(({ when }) => when === undefined || when(pod)) ?? {},
  };
}
