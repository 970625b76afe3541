// Runs `ppsgate testbeds replay`.
import { readRecording } from '../../gate/recording/read-recording.ts';
import { type Replay, replay } from '../../gate/recording/replay.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { hasColours, oneLine, print, printJson } from '../table.ts';
import { diagnosticText } from './diagnostics-text.ts';

export async function run(file: string, { json }: { json?: true }): Promise<number> {
  const replayed = await replay(readRecording(file));
  if (json) printJson(replayed);
  else printReplay(replayed);
  return replayed.differences.length === 0 ? exitCodes.pass : exitCodes.infrastructure;
}

function printReplay({ head, questions, hosts, differences, diagnostics, isTorn }: Replay): void {
  const { command, date, ppsgate } = head;
  const many = questions === 1 ? 'One command' : `${questions} commands`;
  print(
    oneLine(
      `\`ppsgate ${command}\` of ${date.slice(0, 10)} with ppsgate ${ppsgate}: ${many} to ${hosts.join(', ') || 'no machine'}.`,
    ),
  );
  for (const diagnostic of diagnostics) print(diagnosticText(diagnostic, hasColours(process.stdout)));
  if (isTorn) print('It is incomplete: the recording process was stopped.');
  for (const { sentence } of differences) print(`✗ ${sentence}.`);
  if (differences.length === 0) print('All replies are understood as before.');
}
