// Ends a test run with the skipped tests and their reasons, the names of failed tests, and a plain line of counts.
import type { Reporter, TestCase, TestModule } from 'vitest/node';

type Errors = Parameters<NonNullable<Reporter['onTestRunEnd']>>[1];

export default class EndReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: Errors): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const skipped = inState('skipped');
    const failed = [
      ...inState('failed').map(nameOf),
      ...modules.flatMap(failuresOutsideTests),
      ...unhandled.map(({ message }) => `outside of all tests: ${message}`),
    ];

    print(
      'Skipped:',
      skipped.map((test) => `${test.fullName}: ${reason(test)}`),
    );
    print('Failed:', failed);
    console.log(`\n${inState('passed').length} passed, ${failed.length} failed, ${skipped.length} skipped`);
  }
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(['', title, ...lines.map((line) => `  ${line}`)].join('\n'));
}

const nameOf = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;

/** A file that cannot be loaded has no tests that could fail, and a suite's hooks fail outside its tests. */
function failuresOutsideTests(module: TestModule): string[] {
  const suites = [...module.children.allSuites()].map((suite) => ({
    name: ` > ${suite.fullName}`,
    errors: suite.errors(),
  }));
  return [{ name: '', errors: module.errors() }, ...suites].flatMap(({ name, errors }) =>
    errors.map(({ message }) => `${module.relativeModuleId}${name}: ${message.split('\n', 1)[0]}`),
  );
}

function reason(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
}
