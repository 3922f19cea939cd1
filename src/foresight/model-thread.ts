// Runs in a thread of its own: answers one question after the other.
import { parentPort } from 'node:worker_threads';
import { type PlainFault, plainFault } from '#store/plain-fault.ts';
import { answerQuestion, type ModelAnswer, type ModelQuestion } from './model-question.ts';

export type FromModelThread = { readonly answer: ModelAnswer } | { readonly fault: PlainFault };

function answer(question: ModelQuestion): FromModelThread {
  try {
    return { answer: answerQuestion(question) };
  } catch (thrown) {
    return { fault: plainFault(thrown) };
  }
}

parentPort?.on('message', (question: ModelQuestion) => parentPort?.postMessage(answer(question)));
