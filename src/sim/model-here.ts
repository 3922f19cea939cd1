import { answerQuestion } from '#foresight/model-question.ts';
import type { ModelThread } from '#foresight/model-turns.ts';

/** On a virtual clock a run takes no time, and a thread would answer at a moment that no seed repeats. */
export const modelHere: ModelThread = {
  run: async (prepare, { signal = new AbortController().signal } = {}) => answerQuestion(await prepare(signal)),
  async close() {},
};
