// Says at the end which tests could not be run on this machine and what they need: a skip must never look like a pass.
import type { Reporter, TestCase } from 'vitest/node';

export default class SkipReport implements Reporter {
  readonly #skipped: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'skipped') this.#skipped.push(test);
  }

  onTestRunEnd(): void {
    const lines = this.#skipped.map((test) => {
      const result = test.result();
      const why = result.state === 'skipped' ? result.note : undefined;
      return `  skipped: ${test.fullName}\n           ${why ?? 'no reason given'}`;
    });
    const title = lines.length === 0 ? 'Nothing was skipped.' : `Not proven on this machine: ${lines.length}`;
    process.stdout.write(`\n${[title, ...lines].join('\n')}\n`);
  }
}
