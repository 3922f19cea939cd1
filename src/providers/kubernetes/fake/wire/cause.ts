/** One thing that is wrong with an object, by its path. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}
