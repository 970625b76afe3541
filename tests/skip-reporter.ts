// Ends a test run with what was skipped and why, and with the plain line of counts.
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;

    const lines = skipped.map((test) => `  ${test.fullName}: ${reason(test)}`);
    if (lines.length > 0) console.log(['', 'Skipped:', ...lines].join('\n'));
    console.log(
      `\n${count('passed')} passed, ${count('failed')} failed, ${skipped.length} skipped`,
    );
  }
}

function reason(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
}
