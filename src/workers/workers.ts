import type { Hello, JoinProof } from '#core/agent-link.ts';
import type { Actor } from '#core/journal.ts';
import type { Agent, Freeze, Worker } from '#core/worker.ts';
import type { Plan } from '../autoscaler/plan.ts';

/** Keeps the workers of every pool: launch, join, drain, loss, sweep. */
export interface Workers {
  /** Lets an agent in, or throws a `Fault`; resolves when its joining is durable. */
  join(hello: Hello, proof: JoinProof): Promise<Agent>;
  /** The stream of that connection ended; an older one than the agent's newest changes nothing. */
  leave(name: string, epoch: number): void;
  /** No new sessions; it goes when its last one has ended. */
  drain(name: string, actor: Actor): Promise<Worker>;
  /** Stops all action of one pool (by its id) or of the fleet until thawed. */
  freeze(scope: string, why: string, actor: Actor): Promise<Freeze>;
  thaw(scope: string, actor: Actor): Promise<void>;
  /** What the next pass of that pool would do, and why. */
  plan(pool: string): Plan;
  /** Looks at that pool again soon. */
  poke(pool: string): void;
  stop(): Promise<void>;
}
