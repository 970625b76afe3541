// Prints a plan's texts in every way that a process can, like the action: `node printing.ts PLAN.json`.
import { readFileSync } from 'node:fs';
import { guardOutput, log, mask } from '../../src/action/log.ts';

export type Print =
  | { way: 'stdout' | 'stderr' | 'console.log' | 'console.error' | 'emitWarning'; text: string }
  | { way: 'debug' | 'info' | 'warn' | 'error' | 'mask'; text: string }
  | { way: 'end'; to: 'stdout' | 'stderr'; text: string }
  | { way: 'bytes'; to: 'stdout' | 'stderr'; hex: string; isEncoded: boolean };

/** `end` is how the process ends. */
export type Plan = { prints: Print[]; end: 'return' | 'exit' | 'throw' | 'reject'; text: string };

if (process.argv[1] === import.meta.filename) {
  guardOutput();
  const { prints, end, text }: Plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
  for (const one of prints) print(one);
  if (end === 'exit') process.exit(0);
  if (end === 'reject') void Promise.reject(new Error(text));
  if (end === 'throw') throw new Error(text);
}

function print(one: Print): void {
  switch (one.way) {
    case 'stdout':
    case 'stderr':
      process[one.way].write(one.text);
      break;
    case 'bytes':
      if (one.isEncoded) process[one.to].write(one.hex, 'hex');
      else process[one.to].write(Buffer.from(one.hex, 'hex'));
      break;
    case 'end':
      try {
        process[one.to].end(one.text);
      } catch {}
      break;
    case 'console.log':
      console.log(one.text);
      break;
    case 'console.error':
      console.error(one.text);
      break;
    case 'emitWarning':
      process.emitWarning(one.text);
      break;
    case 'mask':
      mask(one.text);
      break;
    default:
      log[one.way](one.text);
  }
}
