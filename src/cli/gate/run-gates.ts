// Runs gates and prints their results.
import { conclusionOfResult, exitCodes, worstConclusion } from '../../model/conclusion.ts';
import { combineReporters } from '../../publish/reporters/reporter.ts';
import { printJson } from '../table.ts';
import type { GateCall } from './gate-call.ts';
import { gatesOf, judgeAll } from './judge-gate.ts';

/** Prints each result; returns the exit code of the worst one, or throws its error. */
export async function runGates(call: GateCall): Promise<number> {
  const { options } = call;
  const ended = options.answer
    ? await (await import('./gate-revision.ts')).judgeAndAnswer(call)
    : await judgeAll(await gatesOf(call), call, () => combineReporters([]));
  const judged = ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (options.json) {
    const results = judged.map(({ result }) => result);
    const printed = ended.length === 1 ? results[0] : results;
    if (printed !== undefined) printJson(printed);
  } else {
    for (const { result, directory } of judged) {
      const { resultText } = await import('./result-text.ts');
      process.stdout.write(resultText(result, directory));
    }
  }
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return exitCodes[worstConclusion(judged.map(({ result }) => conclusionOfResult(result)))];
}
